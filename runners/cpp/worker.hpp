// What the worker protocol needs of a contender, whatever its family: a name, a way to be opened on a
// workload, samples with readings and a digest. Knows neither JSON nor any family.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

// 64-bit FNV-1a of numbers, least significant byte first.
class Digest {
  public:
    Digest &with(std::uint64_t number) {
        for (int byte = 0; byte < 8; ++byte) {
            value_ = (value_ ^ (number >> (8 * byte) & 0xff)) * 0x100000001b3;
        }
        return *this;
    }
    std::uint64_t value() const { return value_; }

  private:
    std::uint64_t value_ = 0xcbf29ce484222325;
};

// Readings over a timed region.
struct Reading {
    std::int64_t wall_ns = 0, cpu_ns = 0;
    long voluntary_switches = 0, involuntary_switches = 0, minor_faults = 0, major_faults = 0;
};

// Adds up what passes between start and stop.
class Meter {
  public:
    void start();
    void stop();
    const Reading &sum() const { return sum_; }

  private:
    Reading started_, sum_;
};

struct Metric {
    std::string name;
    double value;
};

// What one iteration works through.
struct Work {
    std::uint64_t bytes = 0, items = 0;
};

// A contender with its workload, ready to be sampled.
class Bench {
  public:
    virtual ~Bench() = default;
    virtual Work work() const = 0;
    // Times so many iterations; the digest of the last one's answer.
    virtual std::uint64_t sample(std::uint64_t iterations, Meter &meter) = 0;
    // Numbers beside time.
    virtual std::vector<Metric> metrics() { return {}; }
};

// What a contender cannot do; it then does not take part.
struct Unsupported {
    std::string reason;
};

// A workload as it was asked for. The data outlives what is opened on it.
struct Opening {
    std::string operation;
    std::map<std::string, std::string> parameters;
    std::span<const std::byte> data;

    std::uint64_t number(const std::string &name, std::uint64_t otherwise) const {
        const auto found = parameters.find(name);
        return found == parameters.end() ? otherwise : std::stoull(found->second);
    }
};

struct Contender {
    std::string family, name, version, summary;
    // Wants the workload prepared instead of its file's bytes.
    bool prepared;
    std::function<std::unique_ptr<Bench>(const Opening &)> open;
    // How a program writes it, with K and V for the types of keys and values, and what that needs; or
    // nothing.
    std::string code = {}, manifest = {};
};

// All of them, in the order in which their files were linked.
std::vector<Contender> &contenders();

std::int64_t now_ns();

// What the C library's allocator has handed out, its own rounding included.
std::uint64_t live_heap_bytes();

} // namespace fathom
