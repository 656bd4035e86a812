// Judy arrays: JudyL, a 256-way radix tree, for integers; JudyHS, a hash over radix trees, for
// strings, which it cannot visit in order.
#include "keyed.hpp"

#include <Judy.h>

namespace {

template <class Key>
class Judy;

template <>
class Judy<std::uint64_t> {
  public:
    static constexpr fathom::Abilities abilities = fathom::TREE;

    Judy(std::size_t, const fathom::View<std::uint64_t> &) {}
    Judy(const Judy &) = delete;
    Judy &operator=(const Judy &) = delete;
    ~Judy() { JudyLFreeArray(&array_, nullptr); }
    std::size_t entries() const { return JudyLCount(array_, 0, ~Word_t{0}, nullptr); }
    std::optional<std::uint64_t> find(std::uint64_t key) const {
        const PPvoid_t at = JudyLGet(array_, key, nullptr);
        return at ? std::optional<std::uint64_t>(*reinterpret_cast<Word_t *>(at)) : std::nullopt;
    }
    std::optional<std::uint64_t> insert(std::uint64_t key, std::uint64_t value) {
        // JudyLIns says nothing about whether the key was there, and any value may have been: so it
        // is looked up first.
        auto *old = reinterpret_cast<Word_t *>(JudyLGet(array_, key, nullptr));
        if (old) {
            return std::exchange(*old, value);
        }
        *reinterpret_cast<Word_t *>(JudyLIns(&array_, key, nullptr)) = value;
        return std::nullopt;
    }
    std::optional<std::uint64_t> erase(std::uint64_t key) {
        const auto old = find(key);
        if (old) {
            JudyLDel(&array_, key, nullptr);
        }
        return old;
    }
    template <class F>
    void each(F visit) const {
        range(0, ~std::size_t{0}, visit);
    }
    template <class F>
    void range(std::uint64_t start, std::size_t span, F visit) const {
        Word_t key = start;
        PPvoid_t at = span > 0 ? JudyLFirst(array_, &key, nullptr) : nullptr;
        while (at) {
            visit(*reinterpret_cast<Word_t *>(at));
            at = --span > 0 ? JudyLNext(array_, &key, nullptr) : nullptr;
        }
    }

  private:
    Pvoid_t array_ = nullptr;
};

template <>
class Judy<std::string_view> {
  public:
    static constexpr fathom::Abilities abilities{true, true, false, false, false};

    Judy(std::size_t, const fathom::View<std::string_view> &) {}
    Judy(const Judy &) = delete;
    Judy &operator=(const Judy &) = delete;
    ~Judy() { JudyHSFreeArray(&array_, nullptr); }
    std::size_t entries() const { return entries_; }
    std::optional<std::uint64_t> find(std::string_view key) const {
        const PPvoid_t at = JudyHSGet(array_, bytes(key), key.size());
        return at ? std::optional<std::uint64_t>(*reinterpret_cast<Word_t *>(at)) : std::nullopt;
    }
    std::optional<std::uint64_t> insert(std::string_view key, std::uint64_t value) {
        auto *old = reinterpret_cast<Word_t *>(JudyHSGet(array_, bytes(key), key.size()));
        if (old) {
            return std::exchange(*old, value);
        }
        *reinterpret_cast<Word_t *>(JudyHSIns(&array_, bytes(key), key.size(), nullptr)) = value;
        ++entries_;
        return std::nullopt;
    }
    std::optional<std::uint64_t> erase(std::string_view key) {
        const auto old = find(key);
        if (old) {
            JudyHSDel(&array_, bytes(key), key.size(), nullptr);
            --entries_;
        }
        return old;
    }

  private:
    Pvoid_t array_ = nullptr;
    std::size_t entries_ = 0;

    // Judy reads keys through pointers that are not const.
    static void *bytes(std::string_view key) { return const_cast<char *>(key.data()); }
};

const fathom::Listed<Judy> listed("trie", "cpp-judy", FATHOM_VERSION, "JudyL for integers, JudyHS for strings.",
                                   {"Judy.h", "Pvoid_t", "libjudy-dev", "Judy",
                                    "nullptr is empty; JudyL… for integers, JudyHS… for strings"});
} // namespace
