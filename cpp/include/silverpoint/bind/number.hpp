// Numbers as decimal text.
#pragma once

#include <charconv>
#include <cmath>
#include <type_traits>

#include "../detail/codec.hpp"
#include "text.hpp"

SP_BIND_BEGIN

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

template <class T>
inline constexpr bool kIsSigned = std::is_signed_v<T> || std::is_same_v<T, Int128>;

// The unsigned type of the same size.
template <class T>
using UnsignedOf = std::conditional_t<sizeof(T) == 16, UInt128,
                                      std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>;

// Sign and digits of the longest.
template <class T>
inline constexpr std::size_t kDigits = sizeof(T) == 1   ? 4
                                       : sizeof(T) == 2 ? 6
                                       : sizeof(T) == 4 ? 11
                                       : sizeof(T) == 8 ? 20
                                                        : 40;

struct DigitPairs {
    char text[200];
};
inline constexpr DigitPairs kPairs = [] {
    DigitPairs out{};
    for (int i = 0; i < 100; ++i) {
        out.text[2 * i] = static_cast<char>('0' + i / 10);
        out.text[2 * i + 1] = static_cast<char>('0' + i % 10);
    }
    return out;
}();

template <class Bare>
constexpr unsigned digits_in(Bare value) {
    unsigned count = 1;
    while (true) {
        if (value < 10) return count;
        if (value < 100) return count + 1;
        if (value < 1000) return count + 2;
        if (value < 10000) return count + 3;
        value /= 10000;
        count += 4;
    }
}

// Two digits a division; returns the end. (Room for kDigits.)
template <class Bare>
inline char* put_unsigned(char* out, Bare value) {
    if constexpr (sizeof(Bare) == 16) {
        if (value >> 64 != 0) {  // nineteen digits at a time
            constexpr std::uint64_t kStep = 10'000'000'000'000'000'000u;
            out = put_unsigned(out, value / kStep);
            auto rest = static_cast<std::uint64_t>(value % kStep);
            for (int i = 18; i >= 0; --i, rest /= 10) out[i] = static_cast<char>('0' + rest % 10);
            return out + 19;
        }
        return put_unsigned(out, static_cast<std::uint64_t>(value));
    } else {
        if (value < 10) return *out = static_cast<char>('0' + value), out + 1;
        const unsigned count = digits_in(value);
        char* at = out + count;
        while (value >= 100) {
            at -= 2;
            __builtin_memcpy(at, kPairs.text + 2 * (value % 100), 2);
            value /= 100;
        }
        if (value >= 10) {
            __builtin_memcpy(at - 2, kPairs.text + 2 * value, 2);
        } else {
            at[-1] = static_cast<char>('0' + value);
        }
        return out + count;
    }
}

template <class T>
inline char* put_integer(char* out, T value) {
    using Bare = UnsignedOf<T>;
    auto magnitude = static_cast<Bare>(value);
    if (kIsSigned<T> && value < 0) {
        *out++ = '-';
        magnitude = Bare{0} - magnitude;
    }
    return put_unsigned(out, magnitude);
}

// Of the longest: `-123456789012345.6` (float: `-1234567000000000.0`), `-1.7976931348623157e308`.
template <class T>
inline constexpr std::size_t kFloatDigits = sizeof(T) == 4 ? 20 : 27;

// Tries a decimal with few digits behind the point. Every decimal of up to 15 digits (float: 6) survives in
// the type. So if this one equals the number, no other decimal as short does, and none is shorter.
template <class T>
inline char* put_short_decimal(char* out, T value) {
    constexpr T kScale = 10'000, kMost = sizeof(T) == 4 ? T(1e6) : T(1e15);
    const T scaled = value * kScale;
    if (!(scaled < kMost && scaled > -kMost)) return nullptr;
    auto digits = static_cast<std::int64_t>(scaled + (value < 0 ? T(-0.5) : T(0.5)));
    if (static_cast<T>(digits) / kScale != value || digits == 0) return nullptr;
    if (digits < 0) {
        *out++ = '-';
        digits = -digits;
    }
    out = put_unsigned(out, static_cast<std::uint64_t>(digits / 10'000));
    const auto rest = static_cast<unsigned>(digits % 10'000);
    *out++ = '.';
    __builtin_memcpy(out, kPairs.text + 2 * (rest / 100), 2);
    __builtin_memcpy(out + 2, kPairs.text + 2 * (rest % 100), 2);
    out += 4;
    while (out[-1] == '0' && out[-2] != '.') --out;
    return out;
}

// The shortest digits that read back as the same number (finite). From 1e-5 to below 1e16: no exponent,
// always a point. Otherwise: an exponent, and a point if there is more than one digit.
template <class T>
inline char* put_float(char* out, T value) {
    if (value == 0) return put_literally(out, std::signbit(value) ? "-0.0" : "0.0");
    if (char* const end = put_short_decimal(out, value)) return end;
    char text[40];
    const char* const end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr;
    const char* from = text;
    if (*from == '-') *out++ = *from++;
    // d.ddde±xx
    const char* mark = end - 1;
    while (*mark != 'e') --mark;
    int exponent = 0;
    for (const char* p = mark + 2; p != end; ++p) exponent = exponent * 10 + (*p - '0');
    if (mark[1] == '-') exponent = -exponent;
    char digits[20] = {*from};
    const int count = mark - from == 1 ? 1 : static_cast<int>(mark - from) - 1;
    for (int i = 1; i < count; ++i) digits[i] = from[i + 1];
    if (exponent < -5 || exponent > 15) {
        *out++ = digits[0];
        if (count > 1) {
            *out++ = '.';
            for (int i = 1; i < count; ++i) *out++ = digits[i];
        }
        *out++ = 'e';
        return put_integer(out, exponent);
    }
    if (exponent < 0) {
        *out++ = '0';
        *out++ = '.';
        for (int i = -1; i > exponent; --i) *out++ = '0';
        for (int i = 0; i < count; ++i) *out++ = digits[i];
        return out;
    }
    for (int i = 0; i <= exponent; ++i) *out++ = i < count ? digits[i] : '0';
    *out++ = '.';
    if (count <= exponent + 1) *out++ = '0';
    for (int i = exponent + 1; i < count; ++i) *out++ = digits[i];
    return out;
}

[[gnu::cold]] inline bool reads_back(float narrow, double value) {
    char text[40];
    const char* const end =
        std::to_chars(text, text + sizeof text, narrow, std::chars_format::scientific).ptr;
    double read = 0;
    std::from_chars(text, end, read);
    return std::isinf(narrow) || read == value;
}

// Whether the shortest digits of a float and of the same number in 64 bits are the same. If not, JSON that is
// made of the float is another number for who reads 64 bits: of 123456792 it has `123456790.0`.
template <class T>
inline bool has_same_digits(float narrow, T value) {
    if constexpr (sizeof(T) == 4) {
        return true;
    } else {
        const auto wide = static_cast<double>(value);
        const double magnitude = wide < 0 ? -wide : wide;
        // No decimal with fewer digits lies within half a step of these.
        const auto is_short = [magnitude](double scale, double most) {
            return magnitude <= most &&
                   static_cast<double>(static_cast<std::int64_t>(magnitude * scale)) == magnitude * scale;
        };
        return is_short(1, 16'777'216) || is_short(16, 1024) || reads_back(narrow, wide);
    }
}

SP_BIND_END
