// std::unordered_map and std::map of the standard library: chained buckets, and a red-black tree.
#include "keyed.hpp"

#include <map>
#include <unordered_map>

namespace {
template <class Key>
using Unordered = fathom::StandardMap<Key, std::unordered_map<Key, std::uint64_t>>;
template <class Key>
using UnorderedXxh3 = fathom::StandardMap<Key, std::unordered_map<Key, std::uint64_t, fathom::Xxh3>>;
template <class Key>
using Ordered = fathom::StandardMap<Key, std::map<Key, std::uint64_t>, fathom::TREE>;

#define LIBSTDCXX "libstdc++ " FATHOM_COMPILER
const fathom::Listed<Unordered> own("map", "cpp-std-unordered-map+own", LIBSTDCXX,
                                    "std::unordered_map with std::hash: a node per entry.");
const fathom::Listed<UnorderedXxh3> xxh3("map", "cpp-std-unordered-map+xxh3-64", LIBSTDCXX,
                                         "std::unordered_map with XXH3: a node per entry.");
const fathom::Listed<Ordered> ordered("tree", "cpp-std-map", LIBSTDCXX,
                                      "std::map, a red-black tree with a node per entry.");
} // namespace
