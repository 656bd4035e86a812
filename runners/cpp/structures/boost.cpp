// Boost's open-addressing map, from version 1.81 on.
#include "keyed.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

namespace {
template <class Key>
using Flat = fathom::StandardMap<Key, boost::unordered_flat_map<Key, std::uint64_t>>;
template <class Key>
using FlatXxh3 = fathom::StandardMap<Key, boost::unordered_flat_map<Key, std::uint64_t, fathom::Xxh3>>;

const fathom::Listed<Flat> own("map", "cpp-boost-flat+own", FATHOM_VERSION,
                               "boost::unordered_flat_map with boost::hash.");
const fathom::Listed<FlatXxh3> xxh3("map", "cpp-boost-flat+xxh3-64", FATHOM_VERSION,
                                    "boost::unordered_flat_map with XXH3.");
} // namespace
