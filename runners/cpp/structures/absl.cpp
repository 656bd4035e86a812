// Abseil: the original Swiss tables, flat and with nodes, and a B-tree.
#include "keyed.hpp"

#include <absl/container/btree_map.h>
#include <absl/container/flat_hash_map.h>
#include <absl/container/node_hash_map.h>

namespace {
template <class Key>
using Flat = fathom::StandardMap<Key, absl::flat_hash_map<Key, std::uint64_t>>;
template <class Key>
using FlatXxh3 = fathom::StandardMap<Key, absl::flat_hash_map<Key, std::uint64_t, fathom::Xxh3>>;
template <class Key>
using Node = fathom::StandardMap<Key, absl::node_hash_map<Key, std::uint64_t>>;
template <class Key>
using NodeXxh3 = fathom::StandardMap<Key, absl::node_hash_map<Key, std::uint64_t, fathom::Xxh3>>;
template <class Key>
using BTree = fathom::StandardMap<Key, absl::btree_map<Key, std::uint64_t>, fathom::TREE>;

const fathom::Listed<Flat> flat("map", "cpp-absl-flat+own", FATHOM_VERSION,
                                "absl::flat_hash_map with absl::Hash: entries in the table.");
const fathom::Listed<FlatXxh3> flat_xxh3("map", "cpp-absl-flat+xxh3-64", FATHOM_VERSION,
                                         "absl::flat_hash_map with XXH3: entries in the table.");
const fathom::Listed<Node> node("map", "cpp-absl-node+own", FATHOM_VERSION,
                                "absl::node_hash_map with absl::Hash: a node per entry.");
const fathom::Listed<NodeXxh3> node_xxh3("map", "cpp-absl-node+xxh3-64", FATHOM_VERSION,
                                         "absl::node_hash_map with XXH3: a node per entry.");
const fathom::Listed<BTree> btree("tree", "cpp-absl-btree", FATHOM_VERSION, "absl::btree_map.");
} // namespace
