// simdjson's documents: a text is valid when it can be parsed. What a document has beyond validity, its
// numbers as doubles and its strings unescaped, is made as well: the library has no less.
#include "worker.hpp"

#include <algorithm>
#include <simdjson.h>
#include <string_view>

namespace {

// The text, and behind a zero byte each that is to be refused, as the protocol has it.
class Validity final : public fathom::Bench {
  public:
    explicit Validity(const fathom::Opening &opening) {
        if (opening.operation != "json-valid") {
            throw fathom::Unsupported{"has no " + opening.operation};
        }
        std::string_view rest(reinterpret_cast<const char *>(opening.data.data()),
                              opening.data.size());
        for (std::size_t end; (end = rest.find('\0')) != rest.npos; rest.remove_prefix(end + 1)) {
            texts_.emplace_back(rest.substr(0, end));
        }
        texts_.emplace_back(rest);
    }

    fathom::Work work() const override { return {texts_[0].size(), 1}; }

    std::uint64_t sample(std::uint64_t iterations, fathom::Meter &meter) override {
        iterations = std::max<std::uint64_t>(iterations, 1);
        std::uint64_t yes = 0;
        meter.start();
        for (std::uint64_t at = 0; at < iterations; ++at) {
            yes += is_valid(texts_[0]);
        }
        meter.stop();
        fathom::Digest digest;
        digest.with(yes == iterations);
        for (std::size_t at = 1; at < texts_.size(); ++at) {
            digest.with(is_valid(texts_[at]));
        }
        return digest.value();
    }

  private:
    // With the padding behind them that the library asks for.
    std::vector<simdjson::padded_string> texts_;
    simdjson::dom::parser parser_;

    bool is_valid(const simdjson::padded_string &text) {
        return parser_.parse(text).error() == simdjson::SUCCESS;
    }
};

struct Listed {
    Listed() {
        fathom::contenders().push_back(
            {"text", "cpp-simdjson-dom", FATHOM_VERSION,
             "simdjson's documents: a text is valid when it can be parsed, in memory of its own.",
             true, [](const fathom::Opening &opening) -> std::unique_ptr<fathom::Bench> {
                 return std::make_unique<Validity>(opening);
             }});
    }
} listed;

} // namespace
