// HAT-trie (dcjones' C library): a trie whose leaves are small hash tables; visits keys in order by
// sorting the leaves, and in none as they lie.
#include "keyed.hpp"

#include <bit>
#include <cstring>
#include <hat-trie/hat-trie.h>

namespace {

// The bytes of a key, whose order is that of the keys.
class Raw {
  public:
    explicit Raw(std::string_view key) : view_(key) {}
    explicit Raw(std::uint64_t key) : integer_(std::endian::native == std::endian::little ? __builtin_bswap64(key) : key),
                                      view_(reinterpret_cast<const char *>(&integer_), sizeof integer_) {}
    Raw(const Raw &) = delete;
    const char *data() const { return view_.data(); }
    std::size_t size() const { return view_.size(); }

  private:
    std::uint64_t integer_ = 0;
    std::string_view view_;
};

template <class Key>
class HatTrie {
  public:
    static constexpr fathom::Abilities abilities{true, true, true, true, false};

    HatTrie(std::size_t, const fathom::View<Key> &) : trie_(hattrie_create()) {}
    HatTrie(const HatTrie &) = delete;
    HatTrie &operator=(const HatTrie &) = delete;
    ~HatTrie() { hattrie_free(trie_); }
    std::size_t entries() const { return hattrie_size(trie_); }
    std::optional<std::uint64_t> find(Key key) const {
        const Raw raw(key);
        const value_t *at = hattrie_tryget(trie_, raw.data(), raw.size());
        return at ? std::optional<std::uint64_t>(*at) : std::nullopt;
    }
    std::optional<std::uint64_t> insert(Key key, std::uint64_t value) {
        const Raw raw(key);
        const std::size_t before = entries();
        value_t *at = hattrie_get(trie_, raw.data(), raw.size());
        const std::uint64_t old = std::exchange(*at, value);
        return entries() > before ? std::nullopt : std::optional(old);
    }
    std::optional<std::uint64_t> erase(Key key) {
        const Raw raw(key);
        const value_t *at = hattrie_tryget(trie_, raw.data(), raw.size());
        if (!at) {
            return std::nullopt;
        }
        const std::uint64_t old = *at;
        hattrie_del(trie_, raw.data(), raw.size());
        return old;
    }
    template <class F>
    void each(F visit) const {
        walk(false, visit);
    }
    template <class F>
    void scan(F visit) const {
        walk(true, visit);
    }

  private:
    hattrie_t *trie_;

    // In key order the leaves are sorted first.
    template <class F>
    void walk(bool is_sorted, F visit) const {
        hattrie_iter_t *at = hattrie_iter_begin(trie_, is_sorted);
        for (; !hattrie_iter_finished(at); hattrie_iter_next(at)) {
            visit(*hattrie_iter_val(at));
        }
        hattrie_iter_free(at);
    }
};

const fathom::Listed<HatTrie> listed("trie", "cpp-hat-trie", FATHOM_VERSION, "dcjones' HAT-trie.",
                                      {"hat-trie/hat-trie.h", "hattrie_t *", "libhat-trie-dev", "hat-trie",
                                       "hattrie_create, hattrie_get, hattrie_tryget, hattrie_free; keys are bytes"});
} // namespace
