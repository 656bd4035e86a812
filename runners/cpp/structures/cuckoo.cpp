// libcuckoo: kvbench's cuckoo map. Concurrent: every operation takes locks, also on one thread.
#include "keyed.hpp"

#include <libcuckoo/cuckoohash_map.hh>

namespace {
using fathom::Xxh3;
FATHOM_TYPE(CuckooMap, libcuckoo::cuckoohash_map<K, V>);
FATHOM_TYPE(CuckooMapXxh3, libcuckoo::cuckoohash_map<K, V, Xxh3>);

template <class Key, class Map>
class Cuckoo {
  public:
    static constexpr fathom::Abilities abilities{};

    // Its own default is room for 262,144 entries; this is not about an empty table's size.
    Cuckoo(std::size_t entries, const fathom::View<Key> &) : map_(entries > 16 ? entries : 16) {}
    std::size_t entries() const { return map_.size(); }
    std::optional<std::uint64_t> find(Key key) const {
        std::uint64_t value;
        return map_.find(key, value) ? std::optional(value) : std::nullopt;
    }
    std::optional<std::uint64_t> insert(Key key, std::uint64_t value) {
        std::optional<std::uint64_t> old;
        map_.upsert(
            key, [&](std::uint64_t &there) { old = std::exchange(there, value); }, value);
        return old;
    }
    std::optional<std::uint64_t> erase(Key key) {
        std::optional<std::uint64_t> old;
        map_.erase_fn(key, [&](std::uint64_t &there) {
            old = there;
            return true;
        });
        return old;
    }
    template <class F>
    void each(F visit) const {
        // Iteration is offered by a locked table only, which is not const.
        auto locked = const_cast<Map &>(map_).lock_table();
        for (const auto &entry : locked) {
            visit(entry.second);
        }
    }

  private:
    Map map_;
};

template <class Key>
using Own = Cuckoo<Key, CuckooMap<Key>>;
template <class Key>
using WithXxh3 = Cuckoo<Key, CuckooMapXxh3<Key>>;

const fathom::Listed<Own> own("map", "cpp-libcuckoo+own", FATHOM_VERSION, "libcuckoo with std::hash; locks.",
                              {"libcuckoo/cuckoohash_map.hh", CuckooMap_written, "libcuckoo-dev"});
const fathom::Listed<WithXxh3> xxh3("map", "cpp-libcuckoo+xxh3-64", FATHOM_VERSION, "libcuckoo with XXH3; locks.",
                                    {"libcuckoo/cuckoohash_map.hh", CuckooMapXxh3_written, "libcuckoo-dev"});
} // namespace
