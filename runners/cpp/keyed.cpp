// Reads prepared workloads.
#include "keyed.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace fathom {
namespace {

// Takes numbers and bytes off the front; an end that comes too early is an error.
class Reader {
  public:
    explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

    std::span<const std::byte> take(std::size_t count) {
        if (count > rest_.size()) {
            throw std::runtime_error("the prepared workload ends too early");
        }
        const auto taken = rest_.first(count);
        rest_ = rest_.subspan(count);
        return taken;
    }

    std::uint64_t number() {
        std::uint64_t number;
        std::memcpy(&number, take(sizeof number).data(), sizeof number);
        return number;
    }

    Integers numbers() {
        const std::uint64_t count = number();
        if (count > rest_.size() / sizeof(std::uint64_t)) {
            throw std::runtime_error("the prepared workload ends too early");
        }
        Integers numbers(count);
        const auto bytes = take(count * sizeof(std::uint64_t));
        if (count > 0) {
            std::memcpy(numbers.data(), bytes.data(), bytes.size());
        }
        return numbers;
    }

    Integers values() {
        expect(number(), 0);
        return numbers();
    }

    Keys keys() {
        const std::uint64_t kind = number();
        Integers numbers = this->numbers();
        if (kind == 1) {
            return numbers;
        }
        expect(kind, 2);
        const std::uint64_t total = numbers.empty() ? 0 : numbers.back();
        const auto bytes = take(total);
        take((8 - total % 8) % 8);
        Strings strings;
        strings.reserve(numbers.size());
        std::uint64_t start = 0;
        for (const std::uint64_t end : numbers) {
            if (end < start || end > total) {
                throw std::runtime_error("a key of the prepared workload ends before it starts");
            }
            strings.emplace_back(reinterpret_cast<const char *>(bytes.data()) + start, end - start);
            start = end;
        }
        return strings;
    }

  private:
    std::span<const std::byte> rest_;

    static void expect(std::uint64_t found, std::uint64_t expected) {
        if (found != expected) {
            throw std::runtime_error("an unknown kind of section in the prepared workload");
        }
    }
};

bool has_xxh3(const Written &written) { return written.type.find("Xxh3") != std::string::npos; }

} // namespace

std::string Written::code() const {
    std::string text = "#include <" + header + ">\n#include <cstdint>\n#include <string_view>\n";
    if (has_xxh3(*this)) {
        // As in keyed.hpp.
        text += R"(#define XXH_INLINE_ALL
#include <xxhash.h>

struct Xxh3 {
    using is_avalanching = void;
    std::size_t operator()(std::string_view key) const { return XXH3_64bits(key.data(), key.size()); }
    std::size_t operator()(std::uint64_t key) const { return XXH3_64bits(&key, sizeof key); }
};
)";
    }
    text += "\nusing Map = " + type + ";";
    return note.empty() ? text : text + " // " + note;
}

std::string Written::manifest() const {
    std::string packages = package;
    if (has_xxh3(*this)) {
        packages += packages.empty() ? "libxxhash-dev" : ", libxxhash-dev";
    }
    if (packages.empty()) {
        return "";
    }
    return "// Debian: " + packages + (target.empty() ? "" : "; links " + target);
}

Prepared Prepared::of(std::span<const std::byte> bytes) {
    Reader reader(bytes);
    if (std::memcmp(reader.take(8).data(), "fathomK1", 8) != 0) {
        throw std::runtime_error("not a prepared workload of version 1");
    }
    Prepared prepared;
    prepared.entries = reader.keys();
    prepared.values = reader.values();
    prepared.probes = reader.keys();
    prepared.probe_values = reader.values();
    prepared.new_values = reader.values();
    prepared.misses = reader.keys();
    prepared.acts = reader.values();
    return prepared;
}

std::vector<Metric> percentiles(std::vector<std::int64_t> nanoseconds) {
    std::vector<std::int64_t> empty;
    for (int at = 0; at < 1000; ++at) {
        const auto start = now_ns();
        empty.push_back(now_ns() - start);
    }
    std::sort(empty.begin(), empty.end());
    std::sort(nanoseconds.begin(), nanoseconds.end());
    const auto at = [](const std::vector<std::int64_t> &sorted, double share) {
        if (sorted.empty()) {
            return 0.0;
        }
        const double rank = share * static_cast<double>(sorted.size());
        const auto index = static_cast<std::size_t>(std::max(1.0, rank + 0.999999)) - 1;
        return static_cast<double>(sorted[std::min(index, sorted.size() - 1)]);
    };
    return {{"latency_ns_timer", at(empty, 0.5)},     {"latency_ns_p50", at(nanoseconds, 0.5)},
            {"latency_ns_p90", at(nanoseconds, 0.9)}, {"latency_ns_p99", at(nanoseconds, 0.99)},
            {"latency_ns_p999", at(nanoseconds, 0.999)},
            {"latency_ns_max", at(nanoseconds, 1.0)}};
}

} // namespace fathom
