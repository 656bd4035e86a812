// Tessil's hopscotch map: entries stay within a neighbourhood of their home bucket.
#include "keyed.hpp"

#include <tsl/hopscotch_map.h>

namespace {
template <class Key>
using Hopscotch = fathom::StandardMap<Key, tsl::hopscotch_map<Key, std::uint64_t>>;
template <class Key>
using HopscotchXxh3 = fathom::StandardMap<Key, tsl::hopscotch_map<Key, std::uint64_t, fathom::Xxh3>>;

const fathom::Listed<Hopscotch> own("map", "cpp-hopscotch-map+own", FATHOM_VERSION,
                                    "tsl::hopscotch_map with std::hash.");
const fathom::Listed<HopscotchXxh3> xxh3("map", "cpp-hopscotch-map+xxh3-64", FATHOM_VERSION,
                                         "tsl::hopscotch_map with XXH3.");
} // namespace
