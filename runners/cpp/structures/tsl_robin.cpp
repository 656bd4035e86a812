// Tessil's robin-hood map: linear probing, entries ordered by distance from home.
#include "keyed.hpp"

#include <tsl/robin_map.h>

namespace {
template <class Key>
using Robin = fathom::StandardMap<Key, tsl::robin_map<Key, std::uint64_t>>;
template <class Key>
using RobinXxh3 = fathom::StandardMap<Key, tsl::robin_map<Key, std::uint64_t, fathom::Xxh3>>;

const fathom::Listed<Robin> own("map", "cpp-robin-map+own", FATHOM_VERSION, "tsl::robin_map with std::hash.");
const fathom::Listed<RobinXxh3> xxh3("map", "cpp-robin-map+xxh3-64", FATHOM_VERSION, "tsl::robin_map with XXH3.");
} // namespace
