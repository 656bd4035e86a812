// Clocks, usage, the heap, and the list of contenders.
#include "worker.hpp"

#include <malloc.h>
#include <sys/resource.h>
#include <time.h>

namespace fathom {
namespace {

std::int64_t clock_ns(clockid_t clock) {
    timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

Reading read_now() {
    rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    Reading now;
    now.voluntary_switches = usage.ru_nvcsw;
    now.involuntary_switches = usage.ru_nivcsw;
    now.minor_faults = usage.ru_minflt;
    now.major_faults = usage.ru_majflt;
    return now;
}

} // namespace

// The clocks are read innermost, so that reading the usage is not timed.
void Meter::start() {
    started_ = read_now();
    started_.cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    started_.wall_ns = clock_ns(CLOCK_MONOTONIC);
}

void Meter::stop() {
    const std::int64_t wall_ns = clock_ns(CLOCK_MONOTONIC);
    const std::int64_t cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    const Reading now = read_now();
    sum_.wall_ns += wall_ns - started_.wall_ns;
    sum_.cpu_ns += cpu_ns - started_.cpu_ns;
    sum_.voluntary_switches += now.voluntary_switches - started_.voluntary_switches;
    sum_.involuntary_switches += now.involuntary_switches - started_.involuntary_switches;
    sum_.minor_faults += now.minor_faults - started_.minor_faults;
    sum_.major_faults += now.major_faults - started_.major_faults;
}

std::uint64_t live_heap_bytes() {
    const auto info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

std::int64_t now_ns() { return clock_ns(CLOCK_MONOTONIC); }

std::vector<Contender> &contenders() {
    static std::vector<Contender> all;
    return all;
}

} // namespace fathom
