// Abseil: the original Swiss tables, flat and with nodes, and a B-tree.
#include "keyed.hpp"

#include <absl/container/btree_map.h>
#include <absl/container/flat_hash_map.h>
#include <absl/container/node_hash_map.h>

namespace {
using fathom::Xxh3;
FATHOM_MAP(Flat, absl::flat_hash_map<K, V>);
FATHOM_MAP(FlatXxh3, absl::flat_hash_map<K, V, Xxh3>);
FATHOM_MAP(Node, absl::node_hash_map<K, V>);
FATHOM_MAP(NodeXxh3, absl::node_hash_map<K, V, Xxh3>);
FATHOM_TYPE(BTreeMap, absl::btree_map<K, V>);

template <class Key>
using BTree = fathom::StandardMap<Key, BTreeMap<Key>, fathom::TREE>;

fathom::Written written(const char *header, const char *type, const char *target) {
    return {std::string("absl/container/") + header, type, "libabsl-dev", target};
}

const fathom::Listed<Flat> flat("map", "cpp-absl-flat+own", FATHOM_VERSION,
                                "absl::flat_hash_map with absl::Hash: entries in the table.",
                                written("flat_hash_map.h", FlatMap_written, "absl::flat_hash_map"));
const fathom::Listed<FlatXxh3>
    flat_xxh3("map", "cpp-absl-flat+xxh3-64", FATHOM_VERSION,
              "absl::flat_hash_map with XXH3: entries in the table.",
              written("flat_hash_map.h", FlatXxh3Map_written, "absl::flat_hash_map"));
const fathom::Listed<Node> node("map", "cpp-absl-node+own", FATHOM_VERSION,
                                "absl::node_hash_map with absl::Hash: a node per entry.",
                                written("node_hash_map.h", NodeMap_written, "absl::node_hash_map"));
const fathom::Listed<NodeXxh3>
    node_xxh3("map", "cpp-absl-node+xxh3-64", FATHOM_VERSION,
              "absl::node_hash_map with XXH3: a node per entry.",
              written("node_hash_map.h", NodeXxh3Map_written, "absl::node_hash_map"));
const fathom::Listed<BTree> btree("tree", "cpp-absl-btree", FATHOM_VERSION, "absl::btree_map.",
                                  written("btree_map.h", BTreeMap_written, "absl::btree"));
} // namespace
