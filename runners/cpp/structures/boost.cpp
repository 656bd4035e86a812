// Boost's open-addressing map, from version 1.81 on.
#include "keyed.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

namespace {
using fathom::Xxh3;
FATHOM_MAP(Flat, boost::unordered_flat_map<K, V>);
FATHOM_MAP(FlatXxh3, boost::unordered_flat_map<K, V, Xxh3>);

fathom::Written written(const char *type) {
    return {"boost/unordered/unordered_flat_map.hpp", type, "libboost1.81-dev", "Boost::headers"};
}

const fathom::Listed<Flat> own("map", "cpp-boost-flat+own", FATHOM_VERSION,
                               "boost::unordered_flat_map with boost::hash.", written(FlatMap_written));
const fathom::Listed<FlatXxh3> xxh3("map", "cpp-boost-flat+xxh3-64", FATHOM_VERSION,
                                    "boost::unordered_flat_map with XXH3.", written(FlatXxh3Map_written));
} // namespace
