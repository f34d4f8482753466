// Texts: which bytes need an escape, what is UTF-8, and UTF-16 and UTF-32 as UTF-8. Sixteen or eight bytes at
// a time where nothing is special, which is almost everywhere.
#pragma once

#include "error.hpp"
#if defined(__SSE2__)
#    include <emmintrin.h>
#endif

SP_BIND_BEGIN

inline std::uint64_t load8(const char* at) {
    std::uint64_t out;
    __builtin_memcpy(&out, at, 8);
    return out;
}
inline std::uint32_t load4(const char* at) {
    std::uint32_t out;
    __builtin_memcpy(&out, at, 4);
    return out;
}

constexpr std::uint64_t each(std::uint64_t byte) { return byte * 0x0101010101010101u; }

constexpr bool is_special(unsigned char c) { return c < 0x20 || c == '"' || c == '\\' || c >= 0x7F; }

// Whether one of eight bytes is special in a text of JSON: a control, a quote, a backslash, not ASCII.
constexpr bool any_special(std::uint64_t bytes) {
    const std::uint64_t quote = bytes ^ each('"'), slash = bytes ^ each('\\'), last = bytes ^ each(0x7F);
    const std::uint64_t found = ((bytes - each(0x20)) & ~bytes) | ((quote - each(1)) & ~quote) |
                                ((slash - each(1)) & ~slash) | ((last - each(1)) & ~last) | bytes;
    return (found & each(0x80)) != 0;
}

// How many bytes from the beginning are not special.
[[gnu::always_inline]] inline std::size_t plain_prefix(const char* text, std::size_t size) {
    std::size_t at = 0;
#if defined(__SSE2__)
    const auto special = [](const char* from) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
        // As signed numbers, what is not ASCII is below 0x20 too.
        const __m128i low = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20));
        const __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
        const __m128i slash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
        const __m128i last = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7F));
        return static_cast<unsigned>(
            _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(low, last), _mm_or_si128(quote, slash))));
    };
    for (; size - at >= 16; at += 16)
        if (const unsigned mask = special(text + at)) return at + static_cast<unsigned>(__builtin_ctz(mask));
    if (size >= 16) {  // the rest together with bytes that were checked before
        const unsigned mask = special(text + size - 16);
        return mask == 0 ? size : size - 16 + static_cast<unsigned>(__builtin_ctz(mask));
    }
#endif
    for (; size - at >= 8; at += 8)
        if (any_special(load8(text + at))) break;
    if (size >= 8 && size - at < 8 && !any_special(load8(text + size - 8))) return size;
    if (size < 8 && size >= 4 && !any_special(load4(text) | std::uint64_t{load4(text + size - 4)} << 32))
        return size;
    while (at < size && !is_special(static_cast<unsigned char>(text[at]))) ++at;
    return at;
}

// How many bytes from the beginning are ASCII: at least all before the eight that hold the first other byte.
inline std::size_t ascii_prefix(const char* text, std::size_t size) {
    std::size_t at = 0;
    while (size - at >= 8 && (load8(text + at) & each(0x80)) == 0) at += 8;
    while (at < size && static_cast<unsigned char>(text[at]) < 0x80) ++at;
    return at;
}

// Length of the character that begins here, which is not ASCII. 0: not UTF-8 (overlong, surrogate, beyond
// U+10FFFF, cut).
constexpr unsigned utf8_length(const char* text, std::size_t size) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const auto more = [&](std::size_t i) { return i < size && (byte(i) & 0xC0) == 0x80; };
    const unsigned first = byte(0);
    if (first < 0xC2 || first > 0xF4 || !more(1)) return 0;
    if (first < 0xE0) return 2;
    if (!more(2)) return 0;
    if (first < 0xF0) {
        if ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) >= 0xA0)) return 0;
        return 3;
    }
    if (!more(3) || (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) >= 0x90)) return 0;
    return 4;
}

// How many bytes from the beginning are UTF-8: all, or the offset of the first that is not.
inline std::size_t utf8_prefix(const char* text, std::size_t size) {
    std::size_t at = 0;
    while (true) {
        at += ascii_prefix(text + at, size - at);
        if (at == size) return size;
        const unsigned length = utf8_length(text + at, size - at);
        if (length == 0) return at;
        at += length;
    }
}

constexpr bool is_character(std::uint32_t point) {
    return point < 0xD800 || (point >= 0xE000 && point <= 0x10FFFF);
}

// A character as UTF-8; returns the end.
constexpr char* put_utf8(char* out, std::uint32_t point) {
    if (point < 0x80) {
        *out++ = static_cast<char>(point);
    } else if (point < 0x800) {
        *out++ = static_cast<char>(0xC0 | point >> 6);
        *out++ = static_cast<char>(0x80 | (point & 0x3F));
    } else if (point < 0x10000) {
        *out++ = static_cast<char>(0xE0 | point >> 12);
        *out++ = static_cast<char>(0x80 | (point >> 6 & 0x3F));
        *out++ = static_cast<char>(0x80 | (point & 0x3F));
    } else {
        *out++ = static_cast<char>(0xF0 | point >> 18);
        *out++ = static_cast<char>(0x80 | (point >> 12 & 0x3F));
        *out++ = static_cast<char>(0x80 | (point >> 6 & 0x3F));
        *out++ = static_cast<char>(0x80 | (point & 0x3F));
    }
    return out;
}

// The character at `at` of valid UTF-8; moves `at` behind it.
constexpr std::uint32_t next_utf8(std::string_view text, std::size_t& at) {
    const auto byte = [&](std::size_t i) {
        return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i]));
    };
    const std::uint32_t first = byte(at);
    if (first < 0x80) return at += 1, first;
    if (first < 0xE0) return at += 2, (first & 0x1F) << 6 | (byte(at - 1) & 0x3F);
    if (first < 0xF0)
        return at += 3, (first & 0x0F) << 12 | (byte(at - 2) & 0x3F) << 6 | (byte(at - 1) & 0x3F);
    return at += 4, (first & 0x07) << 18 | (byte(at - 3) & 0x3F) << 12 | (byte(at - 2) & 0x3F) << 6 |
                        (byte(at - 1) & 0x3F);
}

// The character at `at` of UTF-16 or UTF-32; moves `at` behind it. Invalid units are returned as they are.
template <class Char>
constexpr std::uint32_t next_wide(const Char* text, std::size_t size, std::size_t& at) {
    const auto unit = static_cast<std::uint32_t>(text[at++]);
    if (sizeof(Char) == 2 && (unit & 0xFC00) == 0xD800 && at < size &&
        (static_cast<std::uint32_t>(text[at]) & 0xFC00) == 0xDC00)
        return 0x10000 + ((unit & 0x3FF) << 10) + (static_cast<std::uint32_t>(text[at++]) & 0x3FF);
    return unit;
}

// Appends a character to a string of any width.
template <class String>
void append_character(String& out, std::uint32_t point) {
    using Char = typename String::value_type;
    if constexpr (sizeof(Char) == 1) {
        char room[4];
        const char* end = put_utf8(room, point);
        for (const char* from = room; from != end; ++from) out.push_back(static_cast<Char>(*from));
    } else if (sizeof(Char) == 2 && point >= 0x10000) {
        out.push_back(static_cast<Char>(0xD800 + ((point - 0x10000) >> 10)));
        out.push_back(static_cast<Char>(0xDC00 + (point & 0x3FF)));
    } else {
        out.push_back(static_cast<Char>(point));
    }
}

inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// A text that needs no escape; there must be room.
inline char* put_literally(char* out, std::string_view text) {
    __builtin_memcpy(out, text.data(), text.size());
    return out + text.size();
}

SP_BIND_END
