// Values as CBOR items (RFC 8949) in a buffer of fixed size, for streams whose pieces are known only when
// they are written. An item that does not fit leaves nothing behind.
//
// Text is stored as UTF-8: each invalid byte becomes U+FFFD. Durations are text, `1500 ns`. Metadata, for
// which a signature has a place, is a tag (spec/wire.md, section 10). Dates are CBOR's epoch-based time, in
// seconds, as a double. Own types are maps, enumerations their label.
#pragma once

#include "struct.hpp"

SP_DETAIL_BEGIN

class CborWriter {
  public:
    CborWriter(char* at, const char* end) : at_(at), end_(end) {}
    // How many levels of types that contain themselves may still be entered.
    unsigned deeper = 8;

    char* at() const { return at_; }
    bool has_room() const { return !full_; }

    void byte(unsigned value) {
        if (at_ == end_) {
            full_ = true;
            return;
        }
        *at_++ = static_cast<char>(value);
    }
    // Major type and number, in the shortest form.
    void head(unsigned major, std::uint64_t number) {
        const unsigned bytes = number < 24             ? 0
                               : number <= 0xFF        ? 1
                               : number <= 0xFFFF      ? 2
                               : number <= 0xFFFFFFFFu ? 4
                                                       : 8;
        const unsigned code = bytes == 0   ? static_cast<unsigned>(number)
                              : bytes == 1 ? 24
                              : bytes == 2 ? 25
                              : bytes == 4 ? 26
                                           : 27;
        byte(major << 5 | code);
        big_endian(number, bytes);
    }
    void big_endian(std::uint64_t value, unsigned bytes) {
        for (unsigned i = bytes; i-- > 0;) byte(static_cast<unsigned>(value >> (8 * i) & 0xFF));
    }
    void begin_array() { byte(0x9F); }
    void begin_map() { byte(0xBF); }
    void end() { byte(0xFF); }
    void null() { byte(0xF6); }
    // Metadata, `unit=ms`, of the item that must follow.
    void metadata(std::string_view said) {
        constexpr std::uint64_t kTag = 0x53506D64;
        head(6, kTag);
        byte(0x82);
        text(said.data(), said.size());
    }

    // As much of a text as fits, if that is more than a little; true if it is all.
    template <class Char>
    bool text(const Char* data, std::size_t size) {
        constexpr std::ptrdiff_t kLeast = 16;
        char* begin = at_;
        if (end_ - at_ < 3) {
            full_ = true;
            return false;
        }
        at_ += 3;
        std::size_t i = 0;
        bool whole = true;
        while (i < size) {
            char utf8[4];
            const std::size_t before = i;
            const unsigned len = next(data, size, i, utf8);
            if (end_ - at_ < static_cast<std::ptrdiff_t>(len) || at_ - begin > 0xFFFF) {
                i = before;
                whole = false;
                break;
            }
            SP_DETAIL_MEMCPY(at_, utf8, len);
            at_ += len;
        }
        if (!whole && at_ - begin < kLeast) {
            at_ = begin;
            full_ = true;
            return false;
        }
        const auto len = static_cast<std::uint64_t>(at_ - begin - 3);
        char* end = at_;
        at_ = begin;
        byte(0x79);
        big_endian(len, 2);
        at_ = end;
        return whole;
    }

    // As many bytes as fit, if that is more than a few; true if it is all.
    bool bytes(const char* data, std::size_t size) {
        constexpr std::size_t kHead = 3, kLeast = 16;
        const auto room = static_cast<std::size_t>(end_ - at_);
        std::size_t kept = size < 0xFFFF ? size : 0xFFFF;
        if (room < kHead || kept > room - kHead) kept = room < kHead ? 0 : room - kHead;
        if (room < kHead || (kept < size && kept < kLeast)) {
            full_ = true;
            return false;
        }
        byte(0x59);
        big_endian(kept, 2);
        if (kept > 0) SP_DETAIL_MEMCPY(at_, data, kept);
        at_ += kept;
        return kept == size;
    }

  private:
    // The next character as UTF-8.
    template <class Char>
    static unsigned next(const Char* data, std::size_t size, std::size_t& at, char* utf8) {
        std::uint32_t point = 0;
        if constexpr (sizeof(Char) == 1) {
            const auto unit = [&](std::size_t i) {
                return i < size ? static_cast<unsigned>(static_cast<unsigned char>(data[i])) : 0u;
            };
            const unsigned first = unit(at);
            const unsigned more = first < 0x80             ? 0
                                  : (first & 0xE0) == 0xC0 ? 1
                                  : (first & 0xF0) == 0xE0 ? 2
                                  : (first & 0xF8) == 0xF0 ? 3
                                                           : 4;
            point = more == 0 ? first : more < 4 ? first & (0x3Fu >> more) : kReplacement;
            bool valid = more < 4;
            for (unsigned i = 1; valid && i <= more; ++i) {
                valid = (unit(at + i) & 0xC0) == 0x80;
                point = point << 6 | (unit(at + i) & 0x3F);
            }
            constexpr std::uint32_t kShortest[] = {0, 0x80, 0x800, 0x10000};
            valid = valid && point >= kShortest[more < 4 ? more : 0] && is_character(point);
            at += valid ? more + 1 : 1;
            if (!valid) point = kReplacement;
        } else {
            point = static_cast<std::uint32_t>(data[at++]);
            if (sizeof(Char) == 2 && (point & 0xFC00) == 0xD800 && at < size &&
                (static_cast<std::uint32_t>(data[at]) & 0xFC00) == 0xDC00)
                point = 0x10000 + ((point & 0x3FF) << 10) + (static_cast<std::uint32_t>(data[at++]) & 0x3FF);
            if (!is_character(point)) point = kReplacement;
        }
        if (point < 0x80) {
            utf8[0] = static_cast<char>(point);
            return 1;
        }
        const unsigned more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
        utf8[0] = static_cast<char>((0xFF00u >> (more + 1) & 0xFFu) | point >> (6 * more));
        for (unsigned i = 1; i <= more; ++i)
            utf8[i] = static_cast<char>(0x80 | (point >> (6 * (more - i)) & 0x3F));
        return more + 1;
    }
    static constexpr std::uint32_t kReplacement = 0xFFFD;
    static constexpr bool is_character(std::uint32_t point) {
        return point < 0xD800 || (point >= 0xE000 && point <= 0x10FFFF);
    }

    char* at_;
    const char* end_;
    bool full_ = false;
};

// Digits of a number, from the end of a buffer.
inline std::string_view digits_of(std::uint64_t value, unsigned base, char (&room)[24]) {
    std::size_t at = sizeof room;
    do {
        room[--at] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value != 0);
    return {room + at, sizeof room - at};
}

template <class T>
bool put_item(CborWriter& out, const T& value);

// The members of an own type, as a map.
template <Described T>
bool put_members(CborWriter& out, const T& value) {
    bool whole = true;
    const auto put = [&](const auto& part) {
        if (out.has_room()) whole = put_item(out, part) && whole;
    };
    out.begin_map();
    std::size_t number = 0;
    Struct<T>::visit(
        value, [&](const auto&... members) { ((put(Struct<T>::kNames[number++]), put(members)), ...); });
    out.end();
    return whole;
}

// Appends one value; false when it was cut (see has_room for one that is not there at all).
template <class T>
bool put_item(CborWriter& out, const T& value) {
    bool whole = true;
    const auto put = [&](const auto& part) {
        if (out.has_room()) whole = put_item(out, part) && whole;
    };
    if constexpr (requires { Codec<T>::put_cbor(out, value); }) {
        return Codec<T>::put_cbor(out, value);
    } else if constexpr (std::same_as<T, bool>) {
        out.byte(value ? 0xF5 : 0xF4);
    } else if constexpr (Character<T>) {
        return out.text(&value, 1);
    } else if constexpr (std::is_enum_v<T>) {
        if constexpr (requires { Enum<T>::label(value); }) {
            if constexpr (requires { Enum<T>::put_flags(out, value); }) return Enum<T>::put_flags(out, value);
            const std::string_view label = Enum<T>::label(value);
            if (!label.empty()) return out.text(label.data(), label.size());
        }
        return put_item(out, static_cast<std::underlying_type_t<T>>(value));
#if SP_DETAIL_HAS_INT128
    } else if constexpr (Wide<T>) {
        const bool negative = value < 0;
        const auto magnitude = static_cast<UInt128>(negative ? ~value : value);
        if (magnitude <= ~std::uint64_t{0}) {
            out.head(negative ? 1 : 0, static_cast<std::uint64_t>(magnitude));
        } else {
            out.head(6, negative ? 3 : 2);
            out.head(2, 16);
            out.big_endian(static_cast<std::uint64_t>(magnitude >> 64), 8);
            out.big_endian(static_cast<std::uint64_t>(magnitude), 8);
        }
#endif
    } else if constexpr (std::integral<T>) {
        if (std::is_signed_v<T> && value < 0) {
            out.head(1, static_cast<std::uint64_t>(-(static_cast<std::int64_t>(value) + 1)));
        } else {
            out.head(0, static_cast<std::uint64_t>(value));
        }
    } else if constexpr (std::same_as<T, float>) {
        std::uint32_t bits;
        SP_DETAIL_MEMCPY(&bits, &value, 4);
        out.byte(0xFA);
        out.big_endian(bits, 4);
    } else if constexpr (std::floating_point<T>) {
        const auto stored = static_cast<double>(value);
        std::uint64_t bits;
        SP_DETAIL_MEMCPY(&bits, &stored, 8);
        out.byte(0xFB);
        out.big_endian(bits, 8);
    } else if constexpr (FineDuration<T>) {
        char unit[64] = "unit=";
        Signer signer{unit, 5};
        add_unit<T>(signer);
        out.metadata({unit, signer.len});
        return put_item(out, value.count());
    } else if constexpr (DurationLike<T>) {
        const std::int64_t ns = nanoseconds_of(value);
        char room[24], text[32];
        const auto digits = digits_of(
            ns < 0 ? ~static_cast<std::uint64_t>(ns) + 1 : static_cast<std::uint64_t>(ns), 10, room);
        std::size_t len = 0;
        if (ns < 0) text[len++] = '-';
        SP_DETAIL_MEMCPY(text + len, digits.data(), digits.size());
        len += digits.size();
        SP_DETAIL_MEMCPY(text + len, " ns", 3);
        return out.text(text, len + 3);
    } else if constexpr (TimePointLike<T>) {
        if constexpr (Codec<T>::kIsDate) out.head(6, 1);
        return put_item(out, static_cast<double>(Codec<T>::nanoseconds(value)) / 1e9);
    } else if constexpr (TextLike<T>) {
        return out.text(value.data(), value.size());
    } else if constexpr (std::is_array_v<T> && Character<std::remove_cv_t<std::remove_extent_t<T>>>) {
        const auto text = Codec<T>::measure_array(value);
        return out.text(text.data, text.size);
    } else if constexpr (std::is_array_v<T>) {
        out.begin_array();
        for (const auto& element : value) put(element);
        out.end();
    } else if constexpr (std::is_pointer_v<T> && Character<std::remove_cv_t<std::remove_pointer_t<T>>>) {
        const auto text = measure<std::remove_cv_t<std::remove_pointer_t<T>>>(value);
        return out.text(text.data, text.size);
    } else if constexpr (std::is_pointer_v<T> || std::is_null_pointer_v<T>) {
        char room[24], text[32] = {'0', 'x'};
        std::uint64_t address = 0;
        if constexpr (std::is_pointer_v<T>) address = reinterpret_cast<std::uintptr_t>(value);
        const auto digits = digits_of(address, 16, room);
        SP_DETAIL_MEMCPY(text + 2, digits.data(), digits.size());
        return out.text(text, digits.size() + 2);
    } else if constexpr (Described<T>) {
        return put_members(out, value);
    } else if constexpr (OptionalLike<T>) {
        if (!value.has_value()) {
            out.null();
        } else {
            return put_item<std::remove_cvref_t<decltype(*value)>>(out, *value);
        }
    } else if constexpr (MapLike<T>) {
        out.begin_map();
        for (const auto& [key, mapped] : value) {
            if (!out.has_room()) break;
            put(key);
            put(mapped);
        }
        out.end();
    } else if constexpr (RangeLike<T>) {
        out.begin_array();
        for (const auto& element : value) {
            if (!out.has_room()) break;
            put(static_cast<typename ElementOf<T>::type>(element));
        }
        out.end();
    } else if constexpr (TupleLike<T>) {
        out.begin_array();
        with_elements(value, std::make_index_sequence<std::tuple_size<T>::value>{},
                      [&](const auto&... elements) { (put(elements), ...); });
        out.end();
    } else {
        static_assert(
            sizeof(T) == 0,
            "silverpoint: this type cannot be recorded; describe it with SP_STRUCT(Type, member, ...)");
    }
    return whole;
}

SP_DETAIL_END
