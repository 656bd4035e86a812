@ABOUT@
// C++17 of GCC or Clang on a little-endian machine (128-bit integers, __builtin_prefetch). The algorithm is
// described in table.rs, its twin: the same keys make the same table.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <queue>
#include <string_view>
#include <utility>
#include <vector>

// Of several tables in one program each has a namespace of its own; where two headers are in one file, it has to be
// named: table::@OWN@::find.
namespace table {
inline namespace @OWN@ {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are little-endian");

using Key = @KEY@;
// Words of a key in a slot.
constexpr std::size_t W = @WORDS@;
// Bytes of every key, or 0; where the windows lie; whether all bytes are hashed, integers lie in order, keys lie
// elsewhere; least integer; seed.
constexpr std::size_t LENGTH = @LENGTH@, FRONT = @FRONT@u, BACK = @BACK@u;
constexpr bool THOROUGH = @THOROUGH@, IN_ORDER = @IN_ORDER@, ANY_LONG = @ANY_LONG@;
constexpr std::uint64_t LEAST = @LEAST@u, SEED = @SEED@u;
constexpr std::uint64_t STEP = 0x9e3779b97f4a7c15u;
constexpr unsigned OFFSET_BITS = 40;

struct Slot {
    std::uint64_t key[W];
    std::uint64_t value;
};

enum class Kind { absent, is_short, is_long };

struct Probe {
    std::uint64_t key[W];
    std::uint64_t hash;
    Kind kind;
};

inline std::size_t high(std::uint64_t value, std::size_t end) {
    return static_cast<std::size_t>((static_cast<unsigned __int128>(value) * end) >> 64);
}

inline std::uint64_t mixed(std::uint64_t a, std::uint64_t b, std::uint64_t seed) {
    const auto product = static_cast<unsigned __int128>(a ^ seed) * (b ^ (seed << 32 | seed >> 32) ^ STEP);
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

inline std::size_t place(std::uint64_t hash, std::uint8_t pilot, std::size_t parts, std::size_t slots) {
    const std::uint64_t step = hash * STEP * pilot;
    return high(hash, parts) * slots + high((hash << 32 | hash >> 32) + step, slots);
}

inline std::uint64_t mark(std::uint64_t hash) { return std::uint64_t{0xff} << 16 | (hash & 0xffff); }

inline std::uint64_t word(const char *bytes) {
    std::uint64_t word;
    std::memcpy(&word, bytes, 8);
    return word;
}

// At most eight bytes, zeros behind them.
inline std::uint64_t few(const char *bytes, std::size_t length) {
    if (length == 8) return word(bytes);
    if (length >= 4) {
        std::uint32_t first, last;
        std::memcpy(&first, bytes, 4);
        std::memcpy(&last, bytes + length - 4, 4);
        return first | std::uint64_t{last} << (8 * (length - 4));
    }
    const auto byte = [&](std::size_t at) { return std::uint64_t{static_cast<std::uint8_t>(bytes[at])} << (8 * at); };
    return length == 0 ? 0 : byte(0) | byte(length / 2) | byte(length - 1);
}

inline std::uint64_t hash_windows(std::string_view key) {
    if (key.size() < 8) return mixed(few(key.data(), key.size()), key.size(), SEED);
    const std::size_t last = key.size() - 8;
    const char *front = key.data() + std::min(FRONT, last), *back = key.data() + last - std::min(BACK, last);
    return mixed(word(front) + key.size(), word(back), SEED);
}

inline std::uint64_t hash_whole(std::string_view key) {
    const std::size_t pairs = key.size() / 16 * 16, rest = key.size() - pairs, first = std::min<std::size_t>(rest, 8);
    const char *tail = key.data() + pairs;
    std::uint64_t hash = mixed(few(tail, first) ^ key.size(), few(tail + first, rest - first), SEED);
    for (std::size_t at = 0; at < pairs; at += 16)
        hash = mixed(word(key.data() + at) ^ hash, word(key.data() + at + 8), SEED);
    return mixed(hash, key.size(), SEED);
}

inline Probe read(std::uint64_t key) {
    Probe probe{{}, 0, Kind::is_short};
    probe.key[0] = key;
    probe.hash = IN_ORDER ? key - LEAST : mixed(key, 0, SEED);
    if (!IN_ORDER && THOROUGH) probe.hash = mixed(probe.hash, key, SEED);
    return probe;
}

inline Probe read(std::string_view key) {
    Probe probe{{}, 0, Kind::is_short};
    const std::size_t length = key.size();
    if (LENGTH > 0) {
        if (length != LENGTH) return Probe{{}, 0, Kind::absent};
        if (LENGTH < 8) probe.key[0] = few(key.data(), length);
        else
            for (std::size_t at = 0; at < W; ++at) probe.key[at] = word(key.data() + std::min(8 * at, length - 8));
    } else if (length < 8 * W) {
        const std::size_t full = length / 8;
        for (std::size_t at = 0; at < full; ++at) probe.key[at] = word(key.data() + 8 * at);
        probe.key[full] = few(key.data() + 8 * full, length - 8 * full);
        probe.key[W - 1] |= std::uint64_t{length} << 56;
    } else {
        probe.kind = Kind::is_long;
    }
    if (THOROUGH) probe.hash = hash_whole(key);
    else if (probe.kind == Kind::is_short && W == 1) probe.hash = mixed(probe.key[0], 0, SEED);
    else if (probe.kind == Kind::is_short && W == 2) probe.hash = mixed(probe.key[0], probe.key[W - 1], SEED);
    else probe.hash = hash_windows(key);
    return probe;
}

inline std::string_view bytes(std::uint64_t) { return {}; }
inline std::string_view bytes(std::string_view key) { return key; }

// A table, to be read: what it points to must outlive it.
struct Table {
    const std::uint8_t *pilots;
    std::size_t buckets;
    const Slot *slots;
    std::size_t parts, part;
    const std::uint8_t *elsewhere;
    std::size_t bytes_elsewhere;

    std::size_t place_of(std::uint64_t hash) const {
        if (IN_ORDER) return static_cast<std::size_t>(hash);
        return buckets == 0 ? 0 : place(hash, pilots[high(hash, buckets)], parts, part);
    }

    bool is_it(const Slot &slot, const Probe &probe, Key key) const {
        if (probe.kind == Kind::is_short) {
            std::uint64_t differs = 0;
            for (std::size_t at = 0; at < W; ++at) differs |= slot.key[at] ^ probe.key[at];
            return differs == 0;
        }
        const std::uint64_t tag = slot.key[W - 1];
        if (!ANY_LONG || probe.kind == Kind::absent || tag >> OFFSET_BITS != mark(probe.hash)) return false;
        const std::string_view all = bytes(key);
        const std::size_t at = tag & ((std::uint64_t{1} << OFFSET_BITS) - 1);
        if (at + 4 + all.size() > bytes_elsewhere) return false;
        const std::uint8_t *record = elsewhere + at;
        std::uint32_t length;
        std::memcpy(&length, record, 4);
        return length == all.size() && std::memcmp(record + 4, all.data(), all.size()) == 0;
    }

    // The value of a key.
    std::optional<std::uint64_t> find(Key key) const {
        const Probe probe = read(key);
        const std::size_t at = place_of(probe.hash);
        if (at >= parts * part || !is_it(slots[at], probe, key)) return std::nullopt;
        return slots[at].value;
    }

    // Calls met(value or nothing) for each key in turn; waits for the memory of many at once.
    template <class Met> void find_batch(const Key *keys, std::size_t count, Met met) const {
        constexpr std::size_t BATCH = 32;
        Probe probes[BATCH];
        std::size_t places[BATCH];
        for (; count > 0; keys += std::min(count, BATCH), count -= std::min(count, BATCH)) {
            const std::size_t now = std::min(count, BATCH);
            for (std::size_t at = 0; at < now; ++at) probes[at] = read(keys[at]);
            for (std::size_t at = 0; at < now; ++at) {
                places[at] = place_of(probes[at].hash);
                if (places[at] >= parts * part) continue;
                __builtin_prefetch(slots + places[at]);
                __builtin_prefetch(reinterpret_cast<const char *>(slots + places[at]) + sizeof(Slot) - 1);
            }
            for (std::size_t at = 0; at < now; ++at) {
                const bool found = places[at] < parts * part && is_it(slots[places[at]], probes[at], keys[at]);
                met(found ? std::optional<std::uint64_t>{slots[places[at]].value} : std::nullopt);
            }
        }
    }

    // A number that all of the table goes into.
    std::uint64_t digest() const {
        std::uint64_t all = 0;
        const auto take = [&](std::uint64_t word) { all = mixed(all + STEP, word, 1); };
        for (std::size_t at = 0; at < parts * part; ++at) {
            for (std::uint64_t word : slots[at].key) take(word);
            take(slots[at].value);
        }
        for (std::size_t at = 0; at < buckets; ++at) take(pilots[at]);
        for (std::size_t at = 0; at < bytes_elsewhere; ++at) take(elsewhere[at]);
        return all;
    }
};
//[builder

// A table with what it refers to.
struct Built {
    std::vector<std::uint8_t> pilots, elsewhere;
    std::vector<Slot> slots;
    std::size_t parts = 1, part = 0;

    Table view() const {
        return {pilots.data(), pilots.size(), slots.data(), parts, part, elsewhere.data(), elsewhere.size()};
    }
};

// A pilot for each of `buckets` of one part, whose hashes ascend.
inline bool pilots_of(const std::uint64_t *hashes, std::size_t count, std::size_t number, std::size_t buckets,
                      const Built &built, std::uint8_t *pilots) {
    std::vector<std::size_t> starts(buckets + 1);
    const std::size_t first_bucket = number * buckets, first_slot = number * built.part;
    for (std::size_t at = 0; at < count; ++at) ++starts[high(hashes[at], built.parts * buckets) - first_bucket + 1];
    for (std::size_t at = 0; at < buckets; ++at) starts[at + 1] += starts[at];
    const auto size = [&](std::size_t bucket) { return starts[bucket + 1] - starts[bucket]; };
    const auto slot = [&](std::size_t at, std::uint8_t pilot) {
        return place(hashes[at], pilot, built.parts, built.part) - first_slot;
    };
    std::priority_queue<std::pair<std::size_t, std::size_t>> waiting;
    for (std::size_t bucket = 0; bucket < buckets; ++bucket) waiting.emplace(size(bucket), bucket);
    std::vector<std::uint32_t> owners(built.part);
    std::uint32_t recent[16] = {};
    std::vector<std::size_t> places;
    for (std::size_t again = 64 + 4 * buckets; !waiting.empty();) {
        const std::size_t bucket = waiting.top().second;
        waiting.pop();
        std::size_t least = SIZE_MAX;
        std::uint8_t best = 0;
        for (unsigned pilot = 0; pilot < 256 && least > 0; ++pilot) {
            std::size_t cost = 0;
            bool distinct = true;
            places.clear();
            for (std::size_t at = starts[bucket]; at < starts[bucket + 1]; ++at) {
                const std::size_t to = slot(at, static_cast<std::uint8_t>(pilot));
                distinct &= std::find(places.begin(), places.end(), to) == places.end();
                places.push_back(to);
                const std::uint32_t owner = owners[to];
                if (owner == 0) continue;
                const bool is_recent = std::find(recent, recent + 16, owner) != recent + 16;
                cost += is_recent ? std::size_t{1} << 20 : size(owner - 1) * size(owner - 1);
            }
            if (distinct && cost < least) least = cost, best = static_cast<std::uint8_t>(pilot);
        }
        if (least == SIZE_MAX) return false;
        pilots[bucket] = best;
        if (least > 0) recent[again % 16] = static_cast<std::uint32_t>(bucket + 1);
        for (std::size_t at = starts[bucket]; at < starts[bucket + 1]; ++at) {
            const std::size_t to = slot(at, best);
            if (owners[to] > 0) {
                const std::size_t owner = owners[to] - 1;
                for (std::size_t other = starts[owner]; other < starts[owner + 1]; ++other)
                    owners[slot(other, pilots[owner])] = 0;
                waiting.emplace(size(owner), owner);
                if (again-- == 0) return false;
            }
            owners[to] = static_cast<std::uint32_t>(bucket + 1);
        }
    }
    return true;
}

// The table of these keys and values; of equal keys the last one counts. Nothing for keys of another shape.
inline std::optional<Built> build(const std::vector<Key> &keys, const std::vector<std::uint64_t> &values) {
    Built built;
    if (keys.size() != values.size() || keys.size() >= UINT32_MAX) return std::nullopt;
    std::vector<std::pair<std::uint64_t, std::uint32_t>> order, once;
    for (std::size_t at = 0; at < keys.size(); ++at) {
        const Probe probe = read(keys[at]);
        if (probe.kind == Kind::absent) return std::nullopt;
        order.emplace_back(probe.hash, static_cast<std::uint32_t>(at));
    }
    std::sort(order.begin(), order.end());
    for (const auto &entry : order) {
        if (!once.empty() && once.back().first == entry.first) {
            if (!(keys[once.back().second] == keys[entry.second])) return std::nullopt;
            once.pop_back();
        }
        once.push_back(entry);
    }
    if (once.empty()) return built;
    if (IN_ORDER) {
        if (once.back().first > 2 * once.size()) return std::nullopt;
        built.part = static_cast<std::size_t>(once.back().first) + 1;
    } else {
        built.parts = std::max<std::size_t>(once.size() / (1 << 15), 1);
        std::vector<std::uint64_t> hashes;
        std::vector<std::size_t> ends(built.parts + 1);
        for (const auto &entry : once) hashes.push_back(entry.first), ++ends[high(entry.first, built.parts) + 1];
        const std::size_t most = *std::max_element(ends.begin(), ends.end());
        for (std::size_t part = 0; part < built.parts; ++part) ends[part + 1] += ends[part];
        const std::size_t buckets = (most + 2) / 3;
        built.part = most + most / 31;
        built.pilots.resize(built.parts * buckets);
        for (std::size_t part = 0; part < built.parts; ++part)
            if (!pilots_of(hashes.data() + ends[part], ends[part + 1] - ends[part], part, buckets, built,
                           built.pilots.data() + part * buckets))
                return std::nullopt;
    }
    built.slots.resize(built.parts * built.part);
    std::vector<bool> taken(built.slots.size());
    std::sort(once.begin(), once.end(), [](const auto &a, const auto &b) { return a.second < b.second; });
    for (const auto &entry : once) {
        const Probe probe = read(keys[entry.second]);
        const std::size_t to = built.view().place_of(entry.first);
        Slot &slot = built.slots[to];
        std::copy(probe.key, probe.key + W, slot.key);
        slot.value = values[entry.second];
        taken[to] = true;
        if (probe.kind != Kind::is_long) continue;
        const std::string_view all = bytes(keys[entry.second]);
        slot.key[W - 1] = mark(probe.hash) << OFFSET_BITS | built.elsewhere.size();
        const auto length = static_cast<std::uint32_t>(all.size());
        for (unsigned by = 0; by < 32; by += 8) built.elsewhere.push_back(static_cast<std::uint8_t>(length >> by));
        built.elsewhere.insert(built.elsewhere.end(), all.begin(), all.end());
    }
    // A key is not found in the slot of another one.
    const std::size_t full = std::find(taken.begin(), taken.end(), true) - taken.begin();
    for (std::size_t at = 0; at < taken.size(); ++at)
        if (!taken[at]) built.slots[at] = built.slots[full];
    return built;
}
//builder]
@DATA@
}  // namespace @OWN@
}  // namespace table
