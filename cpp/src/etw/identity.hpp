// What a provider is found by: its name, the id that tools compute from the name, and keywords of categories.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <silverpoint/detail/sys.hpp>
#include <string_view>

namespace silverpoint::etw {

using ProviderName = detail::Text<80>;

// The provider of a category: its first part, up to `::`, `.` or `/`. So one is a component's of a program,
// as usual with ETW. ASCII alone: tools disagree on how others are hashed.
inline ProviderName provider_name(std::string_view category) {
    constexpr std::size_t kMost = 60;
    ProviderName name;
    name.add("Silverpoint");
    for (std::size_t i = 0; i < category.size() && i < kMost; ++i) {
        const char c = category[i];
        if (c == '.' || c == '/' || (c == ':' && i + 1 < category.size() && category[i + 1] == ':')) break;
        const bool is_fit =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        if (i == 0) name.add("-");
        name.add(is_fit ? &c : "_", 1);
    }
    return name;
}

// SHA-1, of constants: nothing is protected by it.
class Sha1 {
  public:
    constexpr void put(unsigned char byte) {
        block_[size_++ % 64] = byte;
        if (size_ % 64 == 0) mix();
    }
    constexpr std::array<unsigned char, 20> end() {
        const std::uint64_t bits = size_ * 8;
        put(0x80);
        while (size_ % 64 != 56) put(0);
        for (int shift = 56; shift >= 0; shift -= 8) put(static_cast<unsigned char>(bits >> shift));
        std::array<unsigned char, 20> all{};
        for (std::size_t i = 0; i < all.size(); ++i)
            all[i] = static_cast<unsigned char>(state_[i / 4] >> (24 - 8 * (i % 4)));
        return all;
    }

  private:
    static constexpr std::uint32_t turned(std::uint32_t value, int by) {
        return value << by | value >> (32 - by);
    }
    constexpr void mix() {
        std::uint32_t words[80] = {};
        for (int i = 0; i < 16; ++i)
            for (int j = 0; j < 4; ++j) words[i] = words[i] << 8 | block_[4 * i + j];
        for (int i = 16; i < 80; ++i)
            words[i] = turned(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
        auto [a, b, c, d, e] = state_;
        for (int i = 0; i < 80; ++i) {
            const std::uint32_t chosen = i < 20   ? (b & c) | (~b & d)
                                         : i < 40 ? b ^ c ^ d
                                         : i < 60 ? (b & c) | (b & d) | (c & d)
                                                  : b ^ c ^ d;
            constexpr std::uint32_t added[] = {0x5A827999, 0x6ED9EBA1, 0x8F1BBCDC, 0xCA62C1D6};
            const std::uint32_t next = turned(a, 5) + chosen + e + added[i / 20] + words[i];
            e = d;
            d = c;
            c = turned(b, 30);
            b = a;
            a = next;
        }
        state_ = {state_[0] + a, state_[1] + b, state_[2] + c, state_[3] + d, state_[4] + e};
    }

    std::array<std::uint32_t, 5> state_{0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
    unsigned char block_[64] = {};
    std::uint64_t size_ = 0;
};

// A GUID in memory.
using ProviderId = std::array<unsigned char, 16>;

// As EventSource and TraceLogging compute it: tools find the provider by its name alone. The name is ASCII.
constexpr ProviderId provider_id(std::string_view name) {
    constexpr unsigned char kSpace[] = {0x48, 0x2C, 0x2D, 0xB2, 0xC3, 0x90, 0x47, 0xC8,
                                        0x87, 0xF8, 0x1A, 0x15, 0xBF, 0xC1, 0x30, 0xFB};
    Sha1 hash;
    for (const unsigned char byte : kSpace) hash.put(byte);
    // UTF-16, the high byte first.
    for (const char c : name) {
        hash.put(0);
        hash.put(static_cast<unsigned char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c));
    }
    const auto all = hash.end();
    ProviderId id{};
    for (std::size_t i = 0; i < id.size(); ++i) id[i] = all[i];
    id[7] = static_cast<unsigned char>((id[7] & 0x0F) | 0x50);
    return id;
}

// The bit of a category: a hash, so that each process and language has the same. Several categories may share
// one. The two lowest bits are for records and spans (plan.hpp), the highest 16 belong to ETW.
inline std::uint64_t keyword_of_category(std::string_view category) {
    constexpr unsigned kFirst = 2, kBits = 46;
    return std::uint64_t{1} << (kFirst + detail::fnv1a(category.data(), category.size()) % kBits);
}

}  // namespace silverpoint::etw
