// CBOR (RFC 8949): heads of definite length, the shortest form of heads, integers and floats. Several values
// make a sequence (RFC 8742).
#pragma once

#include "write.hpp"

namespace silverpoint {
inline namespace v1 SP_DETAIL_HIDDEN {

struct SP_DETAIL_VISIBLE CborWriteOptions {
    // Texts that are not Unicode: an error, or U+FFFD for each byte or unit that is not.
    bool replaces_bad_text = false;
    // Members that are empty (optionals, pointers) are left out; else they are null.
    bool skips_empty = false;
};

}  // namespace SP_DETAIL_HIDDEN
}  // namespace silverpoint

SP_BIND_BEGIN

constexpr std::size_t head_size(std::uint64_t number) {
    return number < 24 ? 1 : number <= 0xFF ? 2 : number <= 0xFFFF ? 3 : number <= 0xFFFFFFFFu ? 5 : 9;
}

// Writes a head where the compiler may do it.
constexpr std::size_t make_head(char* out, unsigned major, std::uint64_t number) {
    const std::size_t size = head_size(number);
    const unsigned code = size == 1   ? static_cast<unsigned>(number)
                          : size == 2 ? 24
                          : size == 3 ? 25
                          : size == 5 ? 26
                                      : 27;
    out[0] = static_cast<char>(major << 5 | code);
    for (std::size_t i = 1; i < size; ++i) out[i] = static_cast<char>(number >> 8 * (size - 1 - i) & 0xFF);
    return size;
}

// A member's name as an item; before the first one the head of the map.
template <class T, std::size_t kIndex>
struct CborKey {
    static constexpr std::string_view kName = Struct<T>::kNames[kIndex];
    static constexpr std::size_t kBefore = kIndex == 0 ? head_size(Struct<T>::kFields) : 0;
    static constexpr std::size_t kSize = kBefore + head_size(kName.size()) + kName.size();
    static constexpr auto kText = [] {
        KeyText<kSize> key{};
        char* const text = key.text;
        std::size_t at = kBefore == 0 ? 0 : make_head(text, 5, Struct<T>::kFields);
        at += make_head(text + at, 3, kName.size());
        for (const char c : kName) text[at++] = c;
        return key;
    }();
    static constexpr std::string_view kWhole{kText.text, kSize};
};

template <class T>
struct CborNames {
    static constexpr std::size_t size(std::size_t index) {
        const std::size_t name = Struct<T>::kNames[index].size();
        return (index == 0 ? 9 : 0) + head_size(name) + name;
    }
    template <std::size_t kIndex>
    static constexpr std::string_view token() {
        return CborKey<T, kIndex>::kWhole;
    }
    template <std::size_t kIndex>
    static constexpr std::string_view key() {
        return CborKey<T, kIndex>::kWhole.substr(CborKey<T, kIndex>::kBefore);
    }
};

SP_BIND_END

namespace silverpoint {
inline namespace v1 SP_DETAIL_HIDDEN {

// Thread-safe: one thread at a time. Cost: 512 bytes within it, then memory that doubles; with a sink, pieces
// of 64 KiB.
class CborWriter : public binding::Output {
  public:
    CborWriter() = default;
    explicit CborWriter(CborWriteOptions options) : options_(options) {}
    CborWriter(Sink sink, void* context, CborWriteOptions options = {})
        : Output(sink, context), options_(options) {}

    const CborWriteOptions& options() const { return options_; }

    // --- What write.hpp asks of a format.

    template <class T>
    static constexpr std::size_t kInteger = sizeof(T) == 16 ? 18 : 9;
    template <class T>
    static constexpr std::size_t kFloat = sizeof(T) == 4 ? 5 : 9;
    static constexpr std::size_t kBool = 1, kNull = 1, kHead = 9, kTail = 0, kComma = 0, kCharacter = 5,
                                 kTextAround = 9;
    template <class T>
    using Names = binding::CborNames<T>;

    bool skips_empty() const { return options_.skips_empty; }
    char* separate(char* p) { return p; }
    char* null(char* p) { return *p++ = '\xF6', p; }
    char* boolean(char* p, bool value) { return *p++ = value ? '\xF5' : '\xF4', p; }
    template <class T>
    char* integer(char* p, T value) {
        using Bare = binding::UnsignedOf<T>;
        const bool negative = binding::kIsSigned<T> && value < 0;
        const auto magnitude =
            static_cast<Bare>(negative ? ~static_cast<Bare>(value) : static_cast<Bare>(value));
        if constexpr (sizeof(T) == 16) {
            if (magnitude >> 64 != 0) {  // a bignum without leading zeros
                p = head(p, 6, negative ? 3 : 2);
                unsigned size = 16;
                while ((magnitude >> (8 * (size - 1))) == 0) --size;
                p = head(p, 2, size);
                for (unsigned i = size; i-- > 0;) *p++ = static_cast<char>(magnitude >> (8 * i) & 0xFF);
                return p;
            }
        }
        return head(p, negative ? 1 : 0, static_cast<std::uint64_t>(magnitude));
    }
    // 32 bits where they hold it exactly and its shortest digits are the same. One NaN for all.
    template <class T>
    char* real(char* p, T value) {
        const auto narrow = static_cast<float>(value);
        if ((static_cast<T>(narrow) == value && binding::has_same_digits(narrow, value)) || value != value) {
            std::uint32_t bits = 0x7FC00000;
            if (value == value) __builtin_memcpy(&bits, &narrow, 4);
            *p = '\xFA';
            bits = __builtin_bswap32(bits);
            __builtin_memcpy(p + 1, &bits, 4);
            return p + 5;
        }
        const auto wide = static_cast<double>(value);
        std::uint64_t bits;
        __builtin_memcpy(&bits, &wide, 8);
        *p = '\xFB';
        bits = __builtin_bswap64(bits);
        __builtin_memcpy(p + 1, &bits, 8);
        return p + 9;
    }
    char* character(char* p, std::uint32_t point) {
        char* const end = binding::put_utf8(p + 1, point);
        *p = static_cast<char>(0x60 | (end - p - 1));
        return end;
    }
    char* label(char* p, std::string_view label) {
        return binding::put_literally(head(p, 3, label.size()), label);
    }
    char* head_array(char* p, std::size_t count) { return head(p, 4, count); }
    char* head_map(char* p, std::size_t count) { return head(p, 5, count); }
    // For containers whose number of elements is not known yet: indefinite length, until the end puts the
    // number there.
    char* open_array(char* p) { return *p++ = '\x9F', p; }
    char* open_map(char* p) { return *p++ = '\xBF', p; }
    // Opened at this offset.
    char* close_array(char* p, std::size_t opened, std::size_t count) { return close(p, opened, 4, count); }
    char* close_map(char* p, std::size_t opened, std::size_t count) { return close(p, opened, 5, count); }
    char* behind_element(char* p) { return p; }
    char* behind_key(char* p) { return p; }
    char* end_array(char* p, bool) { return p; }
    char* end_map(char* p, bool) { return p; }
    char* end_members(char* p) { return p; }

    template <class Char>
    char* text(char* p, const Char* data, std::size_t size, std::size_t after) {
        if constexpr (sizeof(Char) == 1) {
            return narrow(p, reinterpret_cast<const char*>(data), size, after);
        } else {
            return wide(p, data, size, after);
        }
    }
    char* bytes(char* p, const char* data, std::size_t size, std::size_t after) {
        return block(p, 2, data, size, after);
    }
    char* raw(char* p, const Raw& value, std::size_t after);
    static constexpr std::size_t kDateTime = binding::kDateTime + 3;
    char* date_time(char* p, const char* text) { return label(head(p, 6, 0), {text, binding::kDateTime}); }
    static char* head(char* p, unsigned major, std::uint64_t number) {
        if (number < 24) return *p++ = static_cast<char>(major << 5 | number), p;
        if (number <= 0xFF) {
            p[0] = static_cast<char>(major << 5 | 24);
            p[1] = static_cast<char>(number);
            return p + 2;
        }
        return p + binding::make_head(p, major, number);
    }

  private:
    char* close(char* p, std::size_t opened, unsigned major, std::size_t count) {
        if (has_sink()) return *p++ = '\xFF', p;
        char* const first = p - (offset(p) - opened);
        const std::size_t size = binding::head_size(count);
        if (size > 1) __builtin_memmove(first + size, first + 1, static_cast<std::size_t>(p - first - 1));
        binding::make_head(first, major, count);
        return p + size - 1;
    }
    char* block(char* p, unsigned major, const char* data, std::size_t size, std::size_t after) {
        p = room(p, kHead + size + after);
        return p == nullptr ? nullptr : detail::put_block(head(p, major, size), data, size);
    }
    char* narrow(char* p, const char* data, std::size_t size, std::size_t after) {
        const std::size_t good = binding::utf8_prefix(data, size);
        if (good == size) [[likely]]
            return block(p, 3, data, size, after);
        if (!options_.replaces_bad_text) return bad_text(p, good);
        std::string mended;
        for (std::size_t at = 0; at < size;) {
            const std::size_t run = binding::utf8_prefix(data + at, size - at);
            mended.append(data + at, run);
            at += run;
            if (at < size) mended += binding::kReplacement, ++at;
        }
        return block(p, 3, mended.data(), mended.size(), after);
    }
    template <class Char>
    char* wide(char* p, const Char* data, std::size_t size, std::size_t after) {
        std::size_t length = 0;
        for (std::size_t at = 0; at < size;) {
            const std::size_t here = at;
            const std::uint32_t point = binding::next_wide(data, size, at);
            if (!binding::is_character(point) && !options_.replaces_bad_text) return bad_text(p, here);
            length += point < 0x80                                       ? 1
                      : point < 0x800                                    ? 2
                      : point < 0x10000 || !binding::is_character(point) ? 3
                                                                         : 4;
        }
        p = room(p, kHead + length + after);
        if (p == nullptr) return nullptr;
        p = head(p, 3, length);
        for (std::size_t at = 0; at < size;) {
            const std::uint32_t point = binding::next_wide(data, size, at);
            p = binding::put_utf8(p, binding::is_character(point) ? point : 0xFFFD);
        }
        return p;
    }
    std::nullptr_t bad_text(char* p, std::size_t at) {
        return fail(p, BindError::Kind::kText,
                    "a text that is not Unicode, from its unit " + std::to_string(at) + " on",
                    "UTF-8, UTF-16 or UTF-32");
    }

    CborWriteOptions options_;
};

}  // namespace SP_DETAIL_HIDDEN
}  // namespace silverpoint
