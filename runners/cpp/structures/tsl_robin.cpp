// Tessil's robin-hood map: linear probing, entries ordered by distance from home.
#include "keyed.hpp"

#include <tsl/robin_map.h>

namespace {
using fathom::Xxh3;
FATHOM_MAP(Robin, tsl::robin_map<K, V>);
FATHOM_MAP(RobinXxh3, tsl::robin_map<K, V, Xxh3>);

const fathom::Listed<Robin> own("map", "cpp-robin-map+own", FATHOM_VERSION, "tsl::robin_map with std::hash.",
                                {"tsl/robin_map.h", RobinMap_written, "robin-map-dev"});
const fathom::Listed<RobinXxh3> xxh3("map", "cpp-robin-map+xxh3-64", FATHOM_VERSION, "tsl::robin_map with XXH3.",
                                     {"tsl/robin_map.h", RobinXxh3Map_written, "robin-map-dev"});
} // namespace
