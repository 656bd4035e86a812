// Tessil's hopscotch map: entries stay within a neighbourhood of their home bucket.
#include "keyed.hpp"

#include <tsl/hopscotch_map.h>

namespace {
using fathom::Xxh3;
FATHOM_MAP(Hopscotch, tsl::hopscotch_map<K, V>);
FATHOM_MAP(HopscotchXxh3, tsl::hopscotch_map<K, V, Xxh3>);

#define PACKAGE "libtsl-hopscotch-map-dev"
const fathom::Listed<Hopscotch> own("map", "cpp-hopscotch-map+own", FATHOM_VERSION,
                                    "tsl::hopscotch_map with std::hash.",
                                    {"tsl/hopscotch_map.h", HopscotchMap_written, PACKAGE});
const fathom::Listed<HopscotchXxh3> xxh3("map", "cpp-hopscotch-map+xxh3-64", FATHOM_VERSION,
                                         "tsl::hopscotch_map with XXH3.",
                                         {"tsl/hopscotch_map.h", HopscotchXxh3Map_written, PACKAGE});
} // namespace
