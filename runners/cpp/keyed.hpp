// What the key-value families measure: a prepared workload, the operations on it, and what a structure
// must do. Knows no particular structure and nothing of the protocol.
//
//   prepared bytes -> Prepared -> View<Key> -> Bench: one operation, sampled
//                                    ^
//   structures/*.cpp: a class template with insert, find, erase … -> Contender, listed at start-up
//
// Mirrors crates/contenders/src/keyed: same loops, same digests. Where they differ, the Rust side is
// right and this one is reported as a wrong answer.
#pragma once

#include "worker.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>
#include <variant>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace fathom {

using Integers = std::vector<std::uint64_t>;
using Strings = std::vector<std::string_view>;
using Keys = std::variant<Integers, Strings>;

// The loaded workload; strings refer to the bytes it was read from.
struct Prepared {
    Keys entries;
    Integers values;
    Keys probes;
    Integers probe_values;
    Integers new_values;
    Keys misses;
    // What is done to the probes, one after another: see `Act`.
    Integers acts;

    // Throws std::runtime_error on bytes that are no prepared workload.
    static Prepared of(std::span<const std::byte> bytes);
};

// The acts of a trace, by their numbers in a prepared workload.
enum Act : std::uint64_t { FIND = 0, INSERT = 2, ERASE = 3, SCAN = 6 };

template <class Key>
struct View {
    std::string operation;
    std::vector<Key> entries, probes, misses;
    std::span<const std::uint64_t> values, probe_values, new_values, acts;
    std::size_t span = 100;
    // Whether structures grow by inserts, where they could be sized at once.
    bool grown = false;
    // What the spans above refer to.
    std::shared_ptr<const Prepared> held;
    // Two keys that occur nowhere, once a structure that needs them has looked for them.
    mutable std::optional<std::pair<Key, Key>> absent = std::nullopt;
    mutable std::string absent_bytes = {};

    // Whether a trace has such an act.
    bool does(Act act) const { return std::find(acts.begin(), acts.end(), act) != acts.end(); }
};

// What a loop found: proof of work, the same for every right structure.
struct Tally {
    std::uint64_t count = 0;
    std::uint64_t sum = 0;

    void hit(std::optional<std::uint64_t> value) {
        if (value) {
            ++count;
            sum += *value;
        }
    }
    void inserted(std::optional<std::uint64_t> old) {
        if (old) {
            sum += *old;
        } else {
            ++count;
        }
    }
    // The order of the answers counts, and so do those that nothing was there.
    void met(std::optional<std::uint64_t> value) {
        count += value.has_value();
        sum = sum * 31 + (value ? *value + 1 : 0);
    }
    void next(std::uint64_t value) {
        ++count;
        sum = sum * 31 + value;
    }
    void any(std::uint64_t value) {
        ++count;
        sum += value;
    }
};

// What a structure can do beside building and finding.
struct Abilities {
    bool insert = true, erase = true, iterate = true, ordered = false, range = false;
};

// XXH3, 64 bits: of the bytes, or of the eight bytes of an integer.
struct Xxh3 {
    using is_avalanching = void;
    std::size_t operator()(std::string_view key) const { return XXH3_64bits(key.data(), key.size()); }
    std::size_t operator()(std::uint64_t key) const { return XXH3_64bits(&key, sizeof key); }
};

// How a program writes a structure.
struct Written {
    std::string header, type;
    // The package of Debian that brings it, and what CMake links; empty where nothing is needed.
    std::string package = {}, target = {};
    // What to know of it.
    std::string note = {};

    // Lines to paste, with K and V for the types of keys and values.
    std::string code() const;
    // A comment that says what they need.
    std::string manifest() const;
};

// A type, and how it is written, so that what is told is what is measured: after
// FATHOM_TYPE(Flat, absl::flat_hash_map<K, V>) there are Flat<Key> and Flat_written.
#define FATHOM_TYPE(name, ...)                                                                     \
    template <class K, class V = std::uint64_t>                                                    \
    using name = __VA_ARGS__;                                                                      \
    constexpr const char *name##_written = #__VA_ARGS__

// The same with Map behind the name, and the structure of that name, a StandardMap of it.
#define FATHOM_MAP(name, ...)                                                                      \
    FATHOM_TYPE(name##Map, __VA_ARGS__);                                                           \
    template <class Key>                                                                           \
    using name = fathom::StandardMap<Key, name##Map<Key>>

std::vector<Metric> percentiles(std::vector<std::int64_t> nanoseconds);

// The loops over a structure `S`, which holds keys of type Key and has
//   static constexpr Abilities abilities;
//   S(std::size_t entries, const View<Key> &view);   // 0 makes no room
//   std::size_t entries() const;
//   std::optional<std::uint64_t> find(Key), insert(Key, value), erase(Key);   // what was there
//   template <class F> void each(F visit) const;   // in key order where ordered, but for those that
//   template <class F> void scan(F visit) const;   // have this one for it
//   template <class F> void range(Key start, std::size_t span, F visit) const;
// and need not have what its abilities leave out.
template <class Key, class S>
class BenchOf final : public Bench {
  public:
    explicit BenchOf(View<Key> view) : view_(std::move(view)) {
        const std::string &op = view_.operation;
        constexpr Abilities can = S::abilities;
        const auto need = [](bool able, const char *what) {
            if (!able) {
                throw Unsupported{std::string("has no ") + what};
            }
        };
        if (op == "insert" || op == "update") {
            need(can.insert, "insert");
        } else if (op == "churn") {
            need(can.insert && can.erase, "insert and erase");
        } else if (op == "erase") {
            need(can.erase, "erase");
        } else if (op == "iterate") {
            need(can.iterate, "iterate");
        } else if (op == "scan") {
            need(can.ordered, "order");
        } else if (op == "range") {
            need(can.range, "ordered range");
        } else if (op == "replay") {
            const std::size_t steps = view_.probes.size();
            if (view_.acts.size() != steps || view_.probe_values.size() != steps) {
                throw std::runtime_error("a trace of other keys than it has steps");
            }
            const auto is_known = [](std::uint64_t act) {
                return act == FIND || act == INSERT || act == ERASE || act == SCAN;
            };
            if (!std::all_of(view_.acts.begin(), view_.acts.end(), is_known)) {
                throw std::runtime_error("a step of a trace that is none");
            }
            need(can.insert || !view_.does(INSERT), "insert");
            need(can.erase || !view_.does(ERASE), "erase");
            need(can.range || !view_.does(SCAN), "ordered range");
        } else if (op != "build" && op.rfind("find-", 0) != 0) {
            throw Unsupported{"does not measure " + op};
        }
        is_fresh_ = op == "insert" || op == "build" || op == "erase" ||
                    (op == "replay" && (view_.does(INSERT) || view_.does(ERASE)));
        if (!is_fresh_) {
            const auto before = live_heap_bytes();
            stays_ = begun();
            live_bytes_ = static_cast<double>(live_heap_bytes() - before);
        }
    }

    std::uint64_t sample(std::uint64_t iterations, Meter &meter) override {
        iterations = std::max<std::uint64_t>(iterations, 1);
        return is_fresh_ ? sample_fresh(iterations, meter) : sample_staying(iterations, meter);
    }

    Work work() const override {
        const std::string &op = view_.operation;
        const std::size_t entries = view_.entries.size(), probes = view_.probes.size();
        const auto &visits = view_.probe_values;
        return {0, op == "churn"   ? 4 * probes
                   : op == "range" ? std::accumulate(visits.begin(), visits.end(), std::uint64_t{0})
                   : op == "iterate" || op == "scan"                             ? distinct()
                   : op.rfind("find-", 0) == 0 || op == "update" || op == "erase" || op == "replay"
                       ? probes
                       : entries};
    }

    std::vector<Metric> metrics() override {
        const std::string &op = view_.operation;
        std::unique_ptr<S> fresh;
        double live = live_bytes_;
        if (is_fresh_) {
            const auto before = live_heap_bytes();
            fresh = op == "build" ? build() : op == "insert" ? filled() : begun();
            if (op == "replay") {
                replay(*fresh);
            }
            live = static_cast<double>(live_heap_bytes() - before);
        }
        S &map = is_fresh_ ? *fresh : *stays_;
        if (op == "replay" && map.entries() == 0) {
            return {};
        }
        const auto entries = std::max<std::size_t>(map.entries(), 1);
        std::vector<Metric> found = {{"live_bytes_per_entry", live / static_cast<double>(entries)}};
        const auto each = [&](const std::vector<Key> &keys, auto run) {
            append(found, each_timed(keys.size(), run));
        };
        if (op == "insert") {
            // Never two full ones at a time.
            fresh.reset();
            const auto grown = empty();
            each(view_.entries, [&](std::size_t at) {
                grown->insert(view_.entries[at], view_.values[at]);
            });
        } else if (op == "erase") {
            if constexpr (S::abilities.erase) {
                each(view_.probes, [&](std::size_t at) { keep(map.erase(view_.probes[at])); });
            }
        } else if (op == "update") {
            // Samples leave the new values, and so does this.
            each(view_.probes, [&](std::size_t at) {
                map.insert(view_.probes[at], view_.probe_values[at]);
            });
            insert_all(map, view_.probes, view_.new_values);
        } else if (op.rfind("find-", 0) == 0) {
            each(view_.probes, [&](std::size_t at) { keep(map.find(view_.probes[at])); });
        }
        return found;
    }

  private:
    View<Key> view_;
    bool is_fresh_ = false;
    bool is_updated_ = false;
    std::unique_ptr<S> stays_;
    double live_bytes_ = 0;

    // How many different keys there are: the value of a key is the place of its first occurrence.
    std::uint64_t distinct() const {
        std::uint64_t found = 0;
        for (std::size_t at = 0; at < view_.values.size(); ++at) {
            found += view_.values[at] == at;
        }
        return found;
    }

    static void keep(const std::optional<std::uint64_t> &value) {
        asm volatile("" : : "r"(&value) : "memory");
    }

    static void append(std::vector<Metric> &to, std::vector<Metric> from) {
        to.insert(to.end(), from.begin(), from.end());
    }

    template <class F>
    static std::vector<Metric> each_timed(std::size_t operations, F run) {
        std::vector<std::int64_t> took;
        took.reserve(operations);
        for (std::size_t at = 0; at < operations; ++at) {
            const auto start = now_ns();
            run(at);
            took.push_back(now_ns() - start);
        }
        return percentiles(std::move(took));
    }

    std::unique_ptr<S> empty() const { return std::make_unique<S>(0, view_); }

    std::unique_ptr<S> filled() const {
        auto map = empty();
        insert_all(*map, view_.entries, view_.values);
        return map;
    }

    std::unique_ptr<S> build() const {
        auto map = std::make_unique<S>(view_.entries.size(), view_);
        insert_all(*map, view_.entries, view_.values);
        return map;
    }

    // What finds, changes and walks begin with.
    std::unique_ptr<S> begun() const { return view_.grown ? filled() : build(); }

    [[gnu::noinline]] static Tally insert_all(S &map, const std::vector<Key> &keys,
                                              std::span<const std::uint64_t> values) {
        Tally tally;
        for (std::size_t at = 0; at < keys.size(); ++at) {
            tally.inserted(map.insert(keys[at], values[at]));
        }
        return tally;
    }

    [[gnu::noinline]] static Tally find_all(S &map, const std::vector<Key> &probes) {
        Tally tally;
        for (const Key &probe : probes) {
            tally.hit(map.find(probe));
        }
        return tally;
    }

    [[gnu::noinline]] static Tally erase_all(S &map, const std::vector<Key> &probes) {
        Tally tally;
        if constexpr (S::abilities.erase) {
            for (const Key &probe : probes) {
                tally.hit(map.erase(probe));
            }
        }
        return tally;
    }

    [[gnu::noinline]] static Tally churn(S &map, const std::vector<Key> &out,
                                         const std::vector<Key> &into,
                                         std::span<const std::uint64_t> values) {
        Tally tally;
        if constexpr (S::abilities.erase) {
            for (std::size_t at = 0; at < out.size(); ++at) {
                tally.hit(map.erase(out[at]));
                tally.inserted(map.insert(into[at], values[at]));
            }
        }
        return tally;
    }

    // The steps of the trace, one after another.
    [[gnu::noinline]] Tally replay(S &map) const {
        Tally tally;
        for (std::size_t at = 0; at < view_.probes.size(); ++at) {
            const Key key = view_.probes[at];
            const std::uint64_t value = view_.probe_values[at];
            switch (view_.acts[at]) {
            case INSERT:
                tally.met(map.insert(key, value));
                break;
            case ERASE:
                if constexpr (S::abilities.erase) {
                    tally.met(map.erase(key));
                }
                break;
            case SCAN:
                if constexpr (S::abilities.range) {
                    map.range(key, value, [&](std::uint64_t v) { tally.next(v); });
                }
                break;
            default:
                tally.met(map.find(key));
            }
        }
        return tally;
    }

    // By turns the new values and the old ones: every store changes something.
    Tally updated() {
        is_updated_ = !is_updated_;
        return insert_all(*stays_, view_.probes,
                          is_updated_ ? view_.new_values : view_.probe_values);
    }

    // One iteration on the structure that stays.
    Tally run() {
        const std::string &op = view_.operation;
        Tally tally;
        if (op == "update") {
            return updated();
        }
        if (op == "churn") {
            // There and back again, so that each iteration starts from the same keys.
            const Tally there = churn(*stays_, view_.probes, view_.misses, view_.new_values);
            const Tally back = churn(*stays_, view_.misses, view_.probes, view_.probe_values);
            return {there.count + back.count, there.sum + back.sum};
        }
        if (op == "iterate" || op == "scan") {
            if constexpr (S::abilities.iterate) {
                const auto next = [&](std::uint64_t value) { tally.next(value); };
                if (op == "iterate") {
                    stays_->each([&](std::uint64_t value) { tally.any(value); });
                } else if constexpr (requires { stays_->scan(next); }) {
                    stays_->scan(next);
                } else {
                    stays_->each(next);
                }
            }
            return tally;
        }
        if (op == "range") {
            if constexpr (S::abilities.range) {
                for (const Key &start : view_.probes) {
                    stays_->range(start, view_.span, [&](std::uint64_t v) { tally.next(v); });
                }
            }
            return tally;
        }
        if (op == "replay") {
            return replay(*stays_);
        }
        return find_all(*stays_, view_.probes);
    }

    std::uint64_t sample_staying(std::uint64_t iterations, Meter &meter) {
        Tally tally;
        meter.start();
        for (std::uint64_t at = 0; at < iterations; ++at) {
            tally = run();
            asm volatile("" : : "r"(&tally) : "memory");
        }
        meter.stop();
        // What is replaced differs between the first iteration and later ones.
        if (view_.operation == "update") {
            if (!is_updated_) {
                updated();
            }
            tally.sum = find_all(*stays_, view_.probes).sum;
        }
        return Digest().with(tally.count).with(tally.sum).with(stays_->entries()).value();
    }

    std::uint64_t sample_fresh(std::uint64_t iterations, Meter &meter) {
        // Small structures are made many at a time, so that the clock is not read around each.
        const bool is_trace = view_.operation == "replay";
        const std::size_t size = std::max<std::size_t>(
            {view_.entries.size(), is_trace ? view_.probes.size() : 0, 1});
        const std::size_t most = std::clamp<std::size_t>(100'000 / size, 1, 64);
        std::vector<std::unique_ptr<S>> maps(most);
        std::uint64_t digest = 0;
        while (iterations > 0) {
            const std::size_t batch = std::min<std::uint64_t>(most, iterations);
            iterations -= batch;
            for (std::size_t at = 0; at < batch; ++at) {
                maps[at] = view_.operation == "erase" || is_trace ? begun()
                           : view_.operation == "insert"          ? empty()
                                                                  : nullptr;
            }
            Tally tally;
            meter.start();
            for (std::size_t at = 0; at < batch; ++at) {
                if (view_.operation == "erase") {
                    tally = erase_all(*maps[at], view_.probes);
                } else if (is_trace) {
                    tally = replay(*maps[at]);
                } else if (view_.operation == "insert") {
                    tally = insert_all(*maps[at], view_.entries, view_.values);
                } else {
                    maps[at] = build();
                }
            }
            meter.stop();
            S &last = *maps[batch - 1];
            // Every probe must be there afterwards, or none; after a trace each key has its last value, or none.
            Tally found = find_all(last, view_.probes);
            if (is_trace) {
                const Tally others = find_all(last, view_.entries);
                found = {found.count + others.count, found.sum + others.sum};
            }
            digest = Digest()
                         .with(tally.count)
                         .with(tally.sum)
                         .with(last.entries())
                         .with(found.count)
                         .with(found.sum)
                         .value();
            for (auto &map : maps) {
                map.reset();
            }
        }
        return digest;
    }
};

template <class Key>
View<Key> view_of(const Opening &opening, std::shared_ptr<const Prepared> held) {
    const Prepared &prepared = *held;
    const auto keys = [](const Keys &keys) {
        const auto *typed = std::get_if<std::vector<Key>>(&keys);
        return typed ? *typed : std::vector<Key>();
    };
    // The very same bytes are in the data once.
    const bool is_same = opening.operation == "find-same";
    const auto table = opening.parameters.find("table");
    return {opening.operation,
            keys(prepared.entries),
            keys(is_same ? prepared.entries : prepared.probes),
            keys(prepared.misses),
            prepared.values,
            prepared.probe_values,
            prepared.new_values,
            prepared.acts,
            static_cast<std::size_t>(opening.number("span", 100)),
            table != opening.parameters.end() && table->second == "grown",
            std::move(held)};
}

// Lists `Template<Key>` for integers and strings. Constructed by a static in the structure's file.
template <template <class> class Structure>
struct Listed {
    Listed(std::string family, std::string name, std::string version, std::string summary,
           const Written &written) {
        contenders().push_back(
            {std::move(family), std::move(name), std::move(version), std::move(summary), true,
             [](const Opening &opening) -> std::unique_ptr<Bench> {
                 auto prepared = std::make_shared<const Prepared>(Prepared::of(opening.data));
                 if (std::holds_alternative<Integers>(prepared->entries)) {
                     return std::make_unique<BenchOf<std::uint64_t, Structure<std::uint64_t>>>(
                         view_of<std::uint64_t>(opening, prepared));
                 }
                 return std::make_unique<BenchOf<std::string_view, Structure<std::string_view>>>(
                     view_of<std::string_view>(opening, prepared));
             },
             written.code(), written.manifest()});
    }
};

// A standard-shaped map (`try_emplace` or `insert`, `find`, `erase(iterator)`) as a structure.
template <class Key, class Map, Abilities able = Abilities{}>
class StandardMap {
  public:
    static constexpr Abilities abilities = able;

    StandardMap(std::size_t entries, const View<Key> &) {
        if constexpr (requires { map_.reserve(entries); }) {
            if (entries > 0) {
                map_.reserve(entries);
            }
        }
    }
    std::size_t entries() const { return map_.size(); }
    std::optional<std::uint64_t> find(Key key) const {
        const auto at = map_.find(key);
        return at == map_.end() ? std::nullopt : std::optional(at->second);
    }
    std::optional<std::uint64_t> insert(Key key, std::uint64_t value) {
        const auto [at, is_new] = put(key, value);
        if (is_new) {
            return std::nullopt;
        }
        if constexpr (requires { at.value() = value; }) {
            return std::exchange(at.value(), value);
        } else {
            return std::exchange(at->second, value);
        }
    }
    std::optional<std::uint64_t> erase(Key key) {
        const auto at = map_.find(key);
        if (at == map_.end()) {
            return std::nullopt;
        }
        const std::uint64_t value = at->second;
        map_.erase(at);
        return value;
    }
    template <class F>
    void each(F visit) const {
        for (const auto &entry : map_) {
            visit(entry.second);
        }
    }
    template <class F>
    void range(Key start, std::size_t span, F visit) const {
        auto at = map_.lower_bound(start);
        for (; span > 0 && at != map_.end(); --span, ++at) {
            visit(at->second);
        }
    }

  protected:
    Map map_;

  private:
    auto put(Key key, std::uint64_t value) {
        if constexpr (requires { map_.try_emplace(key, value); }) {
            return map_.try_emplace(key, value);
        } else {
            return map_.insert({key, value});
        }
    }
};

// The abilities of a search tree: everything.
inline constexpr Abilities TREE{true, true, true, true, true};

} // namespace fathom
