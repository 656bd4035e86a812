// Tessil's robin-hood map: linear probing, entries ordered by distance from home.
#include "keyed.hpp"

#include <tsl/robin_map.h>

namespace {
using fathom::Xxh3;
FATHOM_TYPE(RobinMap, tsl::robin_map<K, V>);
FATHOM_TYPE(RobinMapXxh3, tsl::robin_map<K, V, Xxh3>);

template <class Key>
using Robin = fathom::StandardMap<Key, RobinMap<Key>>;
template <class Key>
using RobinXxh3 = fathom::StandardMap<Key, RobinMapXxh3<Key>>;

const fathom::Listed<Robin> own("map", "cpp-robin-map+own", FATHOM_VERSION, "tsl::robin_map with std::hash.",
                                {"tsl/robin_map.h", RobinMap_written, "robin-map-dev"});
const fathom::Listed<RobinXxh3> xxh3("map", "cpp-robin-map+xxh3-64", FATHOM_VERSION, "tsl::robin_map with XXH3.",
                                     {"tsl/robin_map.h", RobinMapXxh3_written, "robin-map-dev"});
} // namespace
