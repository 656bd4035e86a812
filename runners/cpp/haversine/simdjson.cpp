// simdjson On-Demand, fed in windows of 256 KiB that stay in the cache: JSON pairs to the exactly
// rounded mean of their distances. The distances and their sum are fathom's own method (polynomials
// and order of operations of crates/haversine/src/kernel/distance.rs), so that what differs is reading.
#include "worker.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <simdjson.h>
#include <stdexcept>

namespace {

using simdjson::ondemand::parser;

constexpr double RADIANS = 0.017453292519943295;
constexpr double RADIUS = 6372.8;
constexpr double NEARLY_ANTIPODAL = 1.0 - 1.0 / (1 << 20);

constexpr double SINE_SQUARED[] = {
    1.0, -0.3333333333333302, 0.044444444444405345, -0.0031746031744111394,
    0.00014109347394353498, -4.2755591274288535e-06, 9.396772018354623e-08,
    -1.565790404324125e-09, 2.0354499585467153e-11, -1.9316532332665207e-13};
constexpr double COSINE[] = {
    1.0, -0.4999999999999997, 0.04166666666666389, -0.0013888888888773173,
    2.4801587277443962e-05, -2.7557316393535954e-07, 2.087656196015147e-09,
    -1.1462904899784429e-11, 4.60900737682665e-14};
constexpr double ARCSINE[] = {
    0.9999999999999999, 0.16666666666679053, 0.07499999997401523, 0.04464285930065036,
    0.03038185009583577, 0.022374663902399096, 0.01730886338372764, 0.014500577274875063,
    0.0068381180800798445, 0.04034525928769159, -0.13986736988453569, 0.546907807316957,
    -1.4630580772945931, 2.9607593224210245, -4.264145656223591, 4.213991012335426,
    -2.5501994976148006, 0.7356926521659594};

// The formula as the course writes it.
double reference(double x0, double y0, double x1, double y1) {
    const double d_lat = RADIANS * (y1 - y0), d_lon = RADIANS * (x1 - x0);
    const double lat0 = RADIANS * y0, lat1 = RADIANS * y1;
    const double sin_lat = std::sin(d_lat / 2.0), sin_lon = std::sin(d_lon / 2.0);
    const double a =
        sin_lat * sin_lat + std::cos(lat0) * std::cos(lat1) * (sin_lon * sin_lon);
    return RADIUS * (2.0 * std::asin(std::sqrt(std::min(a, 1.0))));
}

// So many pairs are computed at a time: whole vectors on every processor.
constexpr std::size_t LANES = 16;

// Columns of coordinates, and what comes of them.
struct Group {
    alignas(64) double x0[LANES], y0[LANES], x1[LANES], y1[LANES], distance[LANES];
    alignas(64) double a[LANES];
};

// Rounded once where there is an instruction for it, as fathom's levels do.
template <bool IsFused>
[[gnu::always_inline]] inline double multiply_add(double a, double b, double c) {
    return IsFused ? __builtin_fma(a, b, c) : a * b + c;
}

template <bool IsFused, std::size_t N>
[[gnu::always_inline]] inline double polynomial(const double (&coefficients)[N], double x) {
    double sum = coefficients[N - 1];
#pragma GCC unroll 32
    for (std::size_t at = N - 1; at > 0; --at) {
        sum = multiply_add<IsFused>(sum, x, coefficients[at - 1]);
    }
    return sum;
}

template <bool IsFused> [[gnu::always_inline]] inline void distances(Group &group) {
    for (std::size_t at = 0; at < LANES; ++at) {
        const double lat0 = group.y0[at] * RADIANS, lat1 = group.y1[at] * RADIANS;
        const double d_lat = (group.y1[at] - group.y0[at]) * (RADIANS / 2.0);
        double d_lon = std::fabs((group.x1[at] - group.x0[at]) * (RADIANS / 2.0));
        const double other = M_PI - d_lon;
        d_lon = d_lon < other ? d_lon : other;
        const double u_lat = d_lat * d_lat, u_lon = d_lon * d_lon;
        const double sine_lat = polynomial<IsFused>(SINE_SQUARED, u_lat) * u_lat;
        const double sine_lon = polynomial<IsFused>(SINE_SQUARED, u_lon) * u_lon;
        const double cosines = polynomial<IsFused>(COSINE, lat0 * lat0) * polynomial<IsFused>(COSINE, lat1 * lat1);
        const double a = multiply_add<IsFused>(cosines, sine_lon, sine_lat);
        const double z = a < 1.0 - a ? a : 1.0 - a;
        const double angle = polynomial<IsFused>(ARCSINE, z) * std::sqrt(z);
        group.a[at] = a;
        group.distance[at] = (a > 0.5 ? M_PI_2 - angle : angle) * (2.0 * RADIUS);
    }
}

#if defined(__x86_64__)
void distances_sse2(Group &group) { distances<false>(group); }

[[gnu::target("avx2,fma")]] void distances_avx2(Group &group) { distances<true>(group); }

// The level that fathom chooses, so that the bits are the same.
bool is_sse2() {
    const char *level = std::getenv("FATHOM_LEVEL");
    return (level && std::strcmp(level, "sse2") == 0) || !__builtin_cpu_supports("avx2") ||
           !__builtin_cpu_supports("fma");
}

void (*const compute)(Group &) = is_sse2() ? distances_sse2 : distances_avx2;
#else
void distances_anywhere(Group &group) { distances<true>(group); }

void (*const compute)(Group &) = distances_anywhere;
#endif

// The exact sum of distances: multiples of 2^-72, as every distance from a millimetre up is.
class ExactSum {
  public:
    void add(double value) {
        const double scaled = std::ldexp(value, 72 - 40);
        const double coarse = std::floor(scaled);
        const double fine = (scaled - coarse) * 0x1p40;
        if (!(value < 0x1p20) || fine != std::floor(fine)) {
            throw std::runtime_error("a distance below a millimetre: not in this contender");
        }
        sum_ += (static_cast<__int128>(static_cast<std::int64_t>(coarse)) << 40) +
                static_cast<std::int64_t>(fine);
        ++count_;
    }

    // Rounded once, to nearest even.
    double mean() const {
        if (count_ == 0 || sum_ == 0) {
            return 0.0;
        }
        // Shifted as far as it goes, so that the quotient has enough bits.
        auto dividend = static_cast<unsigned __int128>(sum_);
        int shift = 0;
        while (!(dividend >> 127)) {
            dividend <<= 1;
            ++shift;
        }
        unsigned __int128 quotient = dividend / count_;
        bool sticky = dividend % count_ != 0;
        int dropped = 0;
        while (quotient >> 54) {
            sticky |= quotient & 1;
            quotient >>= 1;
            ++dropped;
        }
        // 54 bits: the last one is half a unit.
        auto bits = static_cast<std::uint64_t>(quotient);
        const bool half = bits & 1;
        bits >>= 1;
        bits += half && (sticky || (bits & 1));
        return std::ldexp(static_cast<double>(bits), 1 + dropped - shift - 72);
    }

  private:
    __int128 sum_ = 0;
    std::uint64_t count_ = 0;
};

// Collects pairs until a group is full.
class Distances {
  public:
    void add(double x0, double y0, double x1, double y1) {
        group_.x0[used_] = x0;
        group_.y0[used_] = y0;
        group_.x1[used_] = x1;
        group_.y1[used_] = y1;
        if (++used_ == LANES) {
            flush();
        }
    }

    double mean() {
        flush();
        return sum_.mean();
    }

    std::uint64_t pairs = 0;

  private:
    Group group_{};
    std::size_t used_ = 0;
    ExactSum sum_;

    void flush() {
        compute(group_);
        for (std::size_t at = 0; at < used_; ++at) {
            const double x0 = group_.x0[at], y0 = group_.y0[at];
            const double x1 = group_.x1[at], y1 = group_.y1[at];
            const bool is_doubtful = std::fabs(x0) > 180.0 || std::fabs(x1) > 180.0 ||
                                     std::fabs(y0) > 90.0 || std::fabs(y1) > 90.0 ||
                                     group_.a[at] > NEARLY_ANTIPODAL;
            sum_.add(is_doubtful ? reference(x0, y0, x1, y1) : group_.distance[at]);
        }
        pairs += used_;
        used_ = 0;
    }
};

constexpr std::size_t WINDOW = 256 * 1024;

// Reads the pairs of an array of objects without objects in them.
void read_array(parser &parser, const char *text, std::size_t bytes, std::size_t room,
                Distances &distances) {
    auto document = parser.iterate(text, bytes, room);
    for (auto element : document.get_array()) {
        auto pair = element.get_object();
        const double x0 = pair["x0"], y0 = pair["y0"], x1 = pair["x1"], y1 = pair["y1"];
        distances.add(x0, y0, x1, y1);
    }
    // It tells where it is until all is read.
    if (document.current_location().error() != simdjson::OUT_OF_BOUNDS) {
        throw std::runtime_error("another array behind the pairs");
    }
}

constexpr const char *BLANKS = " \t\r\n";

// Where the first element of the array stands that is the root's member `pairs`.
std::size_t begin_of_pairs(std::string_view text) {
    int depth = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '{' || text[at] == '[') {
            ++depth;
        } else if (text[at] == '}' || text[at] == ']') {
            --depth;
        } else if (text[at] == '"') {
            const std::size_t begin = at + 1;
            for (++at; at < text.size() && text[at] != '"'; ++at) {
                at += text[at] == '\\';
            }
            const bool is_it = depth == 1 && text.substr(begin, at - begin) == "pairs";
            const std::size_t colon = is_it ? text.find_first_not_of(BLANKS, at + 1) : text.npos;
            if (colon != text.npos && text[colon] == ':') {
                const std::size_t open = text.find_first_not_of(BLANKS, colon + 1);
                if (open != text.npos && text[open] == '[') {
                    return open + 1;
                }
            }
        }
    }
    throw std::runtime_error("no array of pairs");
}

// A window ends behind the last object that is whole in it; brackets make it a document. The last array of
// the text is taken to be that of the pairs.
double mean_of(std::string_view text, parser &parser, std::vector<char> &window,
               std::uint64_t &pairs) {
    const std::size_t begin = begin_of_pairs(text);
    const std::size_t close = text.rfind(']');
    if (close == text.npos || close < begin) {
        throw std::runtime_error("an array without an end");
    }
    std::string_view rest = text.substr(begin, close - begin);
    Distances distances;
    window.resize(WINDOW + 2 + simdjson::SIMDJSON_PADDING);
    while (rest.find_first_not_of(" \t\r\n,") != rest.npos) {
        const std::size_t end = rest.substr(0, WINDOW).rfind('}');
        if (rest[rest.find_first_not_of(BLANKS)] == ']') {
            throw std::runtime_error("another array behind the pairs");
        }
        if (end == rest.npos) {
            throw std::runtime_error("an object longer than a window");
        }
        window[0] = '[';
        std::memcpy(&window[1], rest.data(), end + 1);
        window[end + 2] = ']';
        read_array(parser, window.data(), end + 3, window.size(), distances);
        rest.remove_prefix(end + 1);
        rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r\n,"), rest.size()));
    }
    const double mean = distances.mean();
    pairs = distances.pairs;
    return mean;
}

class Reader final : public fathom::Bench {
  public:
    explicit Reader(std::span<const std::byte> data)
        : text_(reinterpret_cast<const char *>(data.data()), data.size()) {
        try {
            mean_of(text_, parser_, window_, pairs_);
        } catch (const std::exception &error) {
            throw fathom::Unsupported{std::string("does not read this document: ") + error.what()};
        }
    }

    fathom::Work work() const override { return {text_.size(), pairs_}; }

    std::uint64_t sample(std::uint64_t iterations, fathom::Meter &meter) override {
        double mean = 0.0;
        meter.start();
        for (std::uint64_t at = 0; at < std::max<std::uint64_t>(iterations, 1); ++at) {
            mean = mean_of(text_, parser_, window_, pairs_);
            asm volatile("" : : "r"(&mean) : "memory");
        }
        meter.stop();
        std::uint64_t bits;
        std::memcpy(&bits, &mean, sizeof bits);
        return fathom::Digest().with(bits).value();
    }

  private:
    std::string_view text_;
    parser parser_;
    std::vector<char> window_;
    std::uint64_t pairs_ = 0;
};

struct Listed {
    Listed() {
        fathom::contenders().push_back(
            {"haversine", "cpp-simdjson", FATHOM_VERSION,
             "simdjson On-Demand in windows of 256 KiB, with fathom's vectorised distance.", true,
             [](const fathom::Opening &opening) -> std::unique_ptr<fathom::Bench> {
                 return std::make_unique<Reader>(opening.data);
             }});
    }
} listed;

} // namespace
