// std::unordered_map and std::map of the standard library: chained buckets, and a red-black tree.
#include "keyed.hpp"

#include <map>
#include <unordered_map>

namespace {
using fathom::Xxh3;
FATHOM_MAP(Unordered, std::unordered_map<K, V>);
FATHOM_MAP(UnorderedXxh3, std::unordered_map<K, V, Xxh3>);
FATHOM_TYPE(OrderedMap, std::map<K, V>);

template <class Key>
using Ordered = fathom::StandardMap<Key, OrderedMap<Key>, fathom::TREE>;

#define LIBSTDCXX "libstdc++ " FATHOM_COMPILER
const fathom::Listed<Unordered> own("map", "cpp-std-unordered-map+own", LIBSTDCXX,
                                    "std::unordered_map with std::hash: a node per entry.",
                                    {"unordered_map", UnorderedMap_written});
const fathom::Listed<UnorderedXxh3> xxh3("map", "cpp-std-unordered-map+xxh3-64", LIBSTDCXX,
                                         "std::unordered_map with XXH3: a node per entry.",
                                         {"unordered_map", UnorderedXxh3Map_written});
const fathom::Listed<Ordered> ordered("tree", "cpp-std-map", LIBSTDCXX,
                                      "std::map, a red-black tree with a node per entry.",
                                      {"map", OrderedMap_written});
} // namespace
