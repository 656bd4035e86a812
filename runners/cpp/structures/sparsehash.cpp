// Google's sparsehash: the dense map, quadratic probing, and the sparse one, about two bits an entry
// over the entries themselves. Both need keys that never occur, as marks of empty and erased slots.
#include "keyed.hpp"

#include <algorithm>
#include <sparsehash/dense_hash_map>
#include <sparsehash/sparse_hash_map>

namespace {

void look_for_absent(const fathom::View<std::uint64_t> &view) {
    const auto occurs = [&](std::uint64_t key) {
        const auto in = [&](const auto &keys) {
            return std::find(keys.begin(), keys.end(), key) != keys.end();
        };
        return in(view.entries) || in(view.probes) || in(view.misses);
    };
    const auto below = [&](std::uint64_t key) {
        while (occurs(key)) {
            --key;
        }
        return key;
    };
    const std::uint64_t first = below(~std::uint64_t{0});
    view.absent = {first, below(first - 1)};
}

// Longer than any key, so their bytes do not matter.
void look_for_absent(const fathom::View<std::string_view> &view) {
    std::size_t most = 0;
    for (const auto *keys : {&view.entries, &view.probes, &view.misses}) {
        for (const auto key : *keys) {
            most = std::max(most, key.size());
        }
    }
    view.absent_bytes.assign(most + 2, 'x');
    const std::string_view longest = view.absent_bytes;
    view.absent = {longest, longest.substr(1)};
}

template <class Key, class Map>
class Sparsehash : public fathom::StandardMap<Key, Map> {
  public:
    Sparsehash(std::size_t entries, const fathom::View<Key> &view)
        : fathom::StandardMap<Key, Map>(0, view) {
        auto &map = this->map_;
        if (!view.absent) {
            look_for_absent(view);
        }
        if constexpr (requires { map.set_empty_key(view.absent->first); }) {
            map.set_empty_key(view.absent->first);
        }
        map.set_deleted_key(view.absent->second);
        if (entries > 0) {
            map.resize(entries);
        }
    }
};

using fathom::Xxh3;
FATHOM_TYPE(DenseMap, google::dense_hash_map<K, V, Xxh3>);
FATHOM_TYPE(SparseMap, google::sparse_hash_map<K, V, Xxh3>);

template <class Key>
using Dense = Sparsehash<Key, DenseMap<Key>>;
template <class Key>
using Sparse = Sparsehash<Key, SparseMap<Key>>;

const fathom::Listed<Dense> dense("map", "cpp-dense-hash-map+xxh3-64", FATHOM_VERSION,
                                  "google::dense_hash_map with XXH3.",
                                  {"sparsehash/dense_hash_map", DenseMap_written, "libsparsehash-dev", "",
                                   "set_empty_key() and set_deleted_key() with keys that never occur come first"});
const fathom::Listed<Sparse> sparse("map", "cpp-sparse-hash-map+xxh3-64", FATHOM_VERSION,
                                    "google::sparse_hash_map with XXH3: smallest, not fastest.",
                                    {"sparsehash/sparse_hash_map", SparseMap_written, "libsparsehash-dev", "",
                                     "set_deleted_key() with a key that never occurs comes before erasing"});
} // namespace
