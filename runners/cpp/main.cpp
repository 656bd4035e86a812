// The worker protocol (docs/protocol.md): answers one line of JSON with another. Does not decide what
// is measured, when, or what the numbers mean.
#include "worker.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <sys/resource.h>

using nlohmann::json;

namespace {

constexpr int PROTOCOL = 1;

std::vector<std::byte> shared_bytes(const json &data) {
    const std::string path = "/proc/self/fd/" + std::to_string(data.at("descriptor").get<int>());
    std::vector<std::byte> bytes(data.at("bytes").get<std::size_t>());
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()))) {
        throw std::runtime_error("cannot read " + path);
    }
    return bytes;
}

// The empty workload: what the harness costs.
class Nothing final : public fathom::Bench {
  public:
    fathom::Work work() const override { return {}; }
    std::uint64_t sample(std::uint64_t iterations, fathom::Meter &meter) override {
        meter.start();
        for (std::uint64_t at = 0; at < iterations; ++at) {
            asm volatile("" : : : "memory");
        }
        meter.stop();
        return fathom::Digest().value();
    }
};

class Worker {
  public:
    json answer(const json &request) {
        const std::string ask = request.at("ask");
        if (ask == "hello") {
            return hello(request);
        }
        if (ask == "open") {
            return open(request);
        }
        if (ask == "close") {
            bench_.reset();
            return {{"answer", "closed"}};
        }
        if (!bench_) {
            throw std::runtime_error("no contender is open");
        }
        if (ask == "sample") {
            return sample(request);
        }
        if (ask == "metrics") {
            json metrics = json::array();
            for (const auto &metric : bench_->metrics()) {
                metrics.push_back(
                    {{"name", metric.name}, {"value", metric.value}, {"less_is_better", true}});
            }
            return {{"answer", "metrics"}, {"metrics", metrics}};
        }
        throw std::runtime_error("cannot " + ask);
    }

  private:
    std::vector<std::byte> bytes_;
    std::unique_ptr<fathom::Bench> bench_;

    static json hello(const json &request) {
        if (request.at("protocol") != PROTOCOL) {
            throw std::runtime_error("speaks protocol 1 only");
        }
        json offered = json::array();
        for (const auto &contender : fathom::contenders()) {
            offered.push_back({{"family", contender.family},
                               {"name", contender.name},
                               {"version", contender.version},
                               {"summary", contender.summary},
                               {"prepared", contender.prepared},
                               {"code", contender.code},
                               {"manifest", contender.manifest}});
        }
        return {{"answer", "hello"},
                {"protocol", PROTOCOL},
                {"program", "fathom-runner-cpp, " FATHOM_COMPILER},
                {"contenders", offered}};
    }

    json open(const json &request) {
        bench_.reset();
        if (request.at("contender").is_null()) {
            bench_ = std::make_unique<Nothing>();
            return opened(request);
        }
        const std::string name = request.at("contender");
        const auto &all = fathom::contenders();
        const auto found = std::find_if(all.begin(), all.end(),
                                        [&](const auto &contender) { return contender.name == name; });
        if (found == all.end()) {
            throw std::runtime_error("no contender " + name);
        }
        if (!request.contains("data")) {
            return {{"answer", "unsupported"}, {"reason", "works on a file or prepared data alone"}};
        }
        bytes_ = shared_bytes(request.at("data"));
        const json &workload = request.at("workload");
        fathom::Opening opening{workload.at("operation"), {}, bytes_};
        if (workload.contains("parameters")) {
            workload.at("parameters").get_to(opening.parameters);
        }
        bench_ = found->open(opening);
        json answer = opened(request);
        answer["data"] = "copied to the worker's own heap";
        return answer;
    }

    json opened(const json &request) const {
        const fathom::Work done = bench_->work();
        json work = {{"bytes", done.bytes}, {"items", done.items}};
        json missing = json::array();
        for (const auto &event : request.value("events", json::array())) {
            missing.push_back(event.get<std::string>() + ": this worker counts no events");
        }
        json answer = {{"answer", "opened"}, {"work", work}, {"leaves_the_thread", false}};
        answer["missing"] = missing;
        return answer;
    }

    json sample(const json &request) {
        const std::uint64_t warm = request.at("warm");
        if (warm > 0) {
            fathom::Meter unused;
            bench_->sample(warm, unused);
        }
        fathom::Meter meter;
        const std::uint64_t digest = bench_->sample(request.at("iterations"), meter);
        char check[17];
        std::snprintf(check, sizeof check, "%016llx", static_cast<unsigned long long>(digest));
        rusage usage;
        getrusage(RUSAGE_SELF, &usage);
        const auto &sum = meter.sum();
        return {{"answer", "sample"},
                {"wall_ns", sum.wall_ns},
                {"cpu_ns", sum.cpu_ns},
                {"check", check},
                {"tags",
                 {{"voluntary_switches", sum.voluntary_switches},
                  {"involuntary_switches", sum.involuntary_switches},
                  {"minor_faults", sum.minor_faults},
                  {"major_faults", sum.major_faults},
                  {"migrations", 0}}},
                {"peak_bytes", static_cast<std::uint64_t>(usage.ru_maxrss) * 1024}};
    }
};

} // namespace

int main() {
    std::ios::sync_with_stdio(false);
    Worker worker;
    for (std::string line; std::getline(std::cin, line);) {
        json reply;
        try {
            reply = worker.answer(json::parse(line));
        } catch (const fathom::Unsupported &unsupported) {
            reply = {{"answer", "unsupported"}, {"reason", unsupported.reason}};
        } catch (const std::exception &error) {
            reply = {{"answer", "error"}, {"message", error.what()}};
        }
        std::cout << reply.dump() << std::endl;
    }
}
