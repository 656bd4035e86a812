// Tests table.hpp on the pairs of keys.bin: every key has its value, what is no key is not found, a batch
// finds the same, and the table is the one that was measured.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "table.hpp"

static void check(bool holds, const char *what) {
    if (holds) return;
    std::fprintf(stderr, "wrong: %s\n", what);
    std::exit(1);
}

static std::string file;

static std::size_t number(std::size_t at, std::size_t bytes) {
    check(at + bytes <= file.size(), "keys.bin is whole");
    std::uint64_t number = 0;
    std::memcpy(&number, file.data() + at, bytes);
    return number;
}

[[maybe_unused]] static void as(std::string_view bytes, std::string_view &key) { key = bytes; }
[[maybe_unused]] static void as(std::string_view bytes, std::uint64_t &key) { std::memcpy(&key, bytes.data(), 8); }

int main(int count, char **words) {
    std::ifstream stream(count > 1 ? words[1] : "keys.bin", std::ios::binary);
    file.assign(std::istreambuf_iterator<char>(stream), {});
    std::vector<table::Key> keys;
    std::vector<std::uint64_t> values;
    for (std::size_t at = 4, left = number(0, 4); left > 0; --left) {
        const std::size_t length = number(at, 4);
        check(at + 16 + length <= file.size(), "keys.bin is whole");
        keys.emplace_back();
        as(std::string_view(file).substr(at + 8, length), keys.back());
        values.push_back(number(at + 8 + length, 8));
        at += 16 + length;
    }
    @TABLE@
    check(table.digest() == @DIGEST@u, "the table is the one that was measured");
    for (std::size_t at = 0; at < keys.size(); ++at) check(table.find(keys[at]) == values[at], "a key has its value");
    const std::set<table::Key> all(keys.begin(), keys.end());
    std::size_t misses = 0;
    const auto absent = [&](table::Key key) {
        if (all.count(key) > 0) return;
        ++misses;
        check(!table.find(key), "what is no key is not found");
        table.find_batch(&key, 1, [&](std::optional<std::uint64_t> value) {
            check(!value, "what is no key is not found in a batch");
        });
    };
    for (const table::Key key : keys) {
        std::string bytes(sizeof(std::uint64_t), 0);
        if (table::bytes(key).data()) bytes = table::bytes(key);
        else std::memcpy(bytes.data(), &key, sizeof(std::uint64_t));
        table::Key other;
        for (const std::size_t at : {std::size_t{0}, bytes.size() / 2, bytes.size() - 1}) {
            bytes[at] ^= 1;
            as(bytes, other);
            absent(other);
            bytes[at] ^= 1;
        }
        // All bits; integers may be closed under a change of any of them, but not under what carries.
        for (char &byte : bytes) byte = static_cast<char>(~byte);
        as(bytes, other);
        absent(other);
        for (char &byte : bytes) byte = static_cast<char>(~byte);
        std::string carried = bytes;
        for (std::size_t at = 0; at < carried.size(); ++at) carried[at] = static_cast<char>(carried[at] * 167 + static_cast<int>(at) + 13);
        as(carried, other);
        absent(other);
        if (!table::bytes(key).data()) continue;
        as(std::string_view(bytes).substr(1), other);
        absent(other);
        bytes += 'x';
        as(bytes, other);
        absent(other);
    }
    std::size_t at = 0;
    table.find_batch(keys.data(), keys.size(), [&](std::optional<std::uint64_t> value) {
        check(value == values[at++], "a batch finds the same");
    });
    check(at == keys.size() && misses > 0, "something was looked for");
    std::printf("ok: %zu keys, %zu misses\n", keys.size(), misses);
}
