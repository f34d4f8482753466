// Numbers from decimal text, as JSON's grammar has them.
#pragma once

#include <limits>

#include "encoded.hpp"

SP_BIND_BEGIN

constexpr int hex_digit(char c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

// What JSON has as texts.
template <class T>
bool not_finite(std::string_view name, T& value) {
    constexpr T kInfinite = std::numeric_limits<T>::infinity();
    if (name == "nan") return value = std::numeric_limits<T>::quiet_NaN(), true;
    if (name == "inf") return value = kInfinite, true;
    if (name == "-inf") return value = -kInfinite, true;
    return false;
}

// The end of the number that begins here; null: none does.
constexpr const char* end_of_number(const char* p, const char* end) {
    if (p != end && *p == '-') ++p;
    if (p == end || !is_digit(*p)) return nullptr;
    if (*p == '0') {
        ++p;
    } else {
        while (p != end && is_digit(*p)) ++p;
    }
    if (p != end && *p == '.') {
        if (++p == end || !is_digit(*p)) return nullptr;
        while (p != end && is_digit(*p)) ++p;
    }
    if (p != end && (*p == 'e' || *p == 'E')) {
        ++p;
        if (p != end && (*p == '+' || *p == '-')) ++p;
        if (p == end || !is_digit(*p)) return nullptr;
        while (p != end && is_digit(*p)) ++p;
    }
    return p;
}

// Where a number that begins here breaks off. Null: none begins, or it is complete.
constexpr const char* end_of_broken_number(const char* p, const char* end) {
    if (p == end || (*p != '-' && !is_digit(*p))) return nullptr;
    const auto digits = [&] {
        const char* const from = p;
        while (p != end && is_digit(*p)) ++p;
        return p != from;
    };
    if (*p == '-') ++p;
    const char* const first = p;
    if (!digits()) return p;
    if (*first == '0' && p > first + 1) return first + 1;
    if (p != end && *p == '.' && (++p, !digits())) return p;
    if (p != end && (*p == 'e' || *p == 'E')) {
        ++p;
        if (p != end && (*p == '+' || *p == '-')) ++p;
        if (!digits()) return p;
    }
    return nullptr;
}

// The greatest magnitude, of negative numbers or of others.
template <class T>
constexpr UnsignedOf<T> most(bool negative) {
    using Bare = UnsignedOf<T>;
    const Bare all = sizeof(T) >= sizeof(Bare) ? static_cast<Bare>(~Bare{0})
                                               : static_cast<Bare>((Bare{1} << (8 * sizeof(T) - 1) << 1) - 1);
    if (!kIsSigned<T>) return negative ? Bare{0} : all;
    return static_cast<Bare>(all / 2 + (negative ? 1 : 0));
}

// The whole number that begins here, digits only. Returns its end; null if there is none or it is too large.
template <class T>
[[gnu::always_inline]] inline const char* parse_integer(const char* p, const char* end, T& value) {
    using Bare = UnsignedOf<T>;
    const bool negative = p != end && *p == '-';
    if (negative) ++p;
    if (p == end || !is_digit(*p)) return nullptr;
    const char* const from = p;
    Bare magnitude = static_cast<Bare>(*p++ - '0');
    if (magnitude != 0) {
        // Without checking the limit as long as it cannot be reached.
        constexpr int kSafe = sizeof(Bare) == 16 ? 38 : sizeof(Bare) == 8 ? 19 : 9;
        const char* const safe = end - from > kSafe ? from + kSafe : end;
        while (p != safe && is_digit(*p)) magnitude = magnitude * 10 + static_cast<Bare>(*p++ - '0');
        for (; p != end && is_digit(*p); ++p) {
            const auto digit = static_cast<Bare>(*p - '0');
            if (magnitude > (~Bare{0} - digit) / 10) return nullptr;
            magnitude = magnitude * 10 + digit;
        }
    }
    if (magnitude > most<T>(negative)) return nullptr;
    value = static_cast<T>(negative ? Bare{0} - magnitude : magnitude);
    return p;
}

template <class T>
std::string expected_integer() {
    if (sizeof(T) == 16) return "an integer of 128 bits";
    char room[100];
    char* end = put_literally(room, "an integer from ");
    if (kIsSigned<T>) *end++ = '-';
    end = put_unsigned(end, kIsSigned<T> ? most<T>(true) : UnsignedOf<T>{0});
    end = put_unsigned(put_literally(end, " to "), most<T>(false));
    return {room, end};
}

inline constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                     1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// The nearest number of the type: infinite if it is too large, zero if it is too small. Returns the end of
// its text; null: it is no number.
template <class T>
[[gnu::always_inline]] inline const char* parse_float(const char* const from, const char* const end,
                                                      T& value) {
    const char* p = from;
    const bool negative = p != end && *p == '-';
    if (negative) ++p;
    if (p == end || !is_digit(*p)) return nullptr;
    std::uint64_t digits = 0;
    const char* const first = p;
    int point = 0;
    if (*p == '0') {
        ++p;
    } else {
        while (p != end && is_digit(*p)) digits = digits * 10 + static_cast<std::uint64_t>(*p++ - '0');
    }
    std::ptrdiff_t count = p - first;
    if (p != end && *p == '.') {
        const char* const fraction = ++p;
        if (p == end || !is_digit(*p)) return nullptr;
        while (p != end && is_digit(*p)) digits = digits * 10 + static_cast<std::uint64_t>(*p++ - '0');
        count += p - fraction;
        point = p - fraction > 1000 ? -1000 : -static_cast<int>(p - fraction);
    }
    int exponent = 0;
    if (p != end && (*p == 'e' || *p == 'E')) {
        ++p;
        const bool down = p != end && *p == '-';
        if (p != end && (*p == '+' || *p == '-')) ++p;
        if (p == end || !is_digit(*p)) return nullptr;
        for (; p != end && is_digit(*p); ++p)
            if (exponent < 100'000) exponent = exponent * 10 + (*p - '0');
        if (down) exponent = -exponent;
    }
    // Both parts are exact as doubles, so their product or quotient is rounded once. (A float is not made
    // from a double: that would round twice.)
    const int scale = exponent + point;
    if constexpr (sizeof(T) == 8) {
        if (count <= 19 && digits <= (std::uint64_t{1} << 53) && scale >= -22 && scale <= 22) {
            const auto exact = static_cast<double>(digits);
            const double magnitude = scale < 0 ? exact / kPowers[-scale] : exact * kPowers[scale];
            value = static_cast<T>(negative ? -magnitude : magnitude);
            return p;
        }
    } else if constexpr (sizeof(T) == 4) {
        if (count <= 19 && digits <= (1u << 24) && scale >= -10 && scale <= 10) {
            const auto exact = static_cast<float>(digits);
            const float magnitude = scale < 0 ? exact / static_cast<float>(kPowers[-scale])
                                              : exact * static_cast<float>(kPowers[scale]);
            value = negative ? -magnitude : magnitude;
            return p;
        }
    }
    using Stored = std::conditional_t<sizeof(T) == 4, float, double>;
    Stored parsed{};
    const auto result = std::from_chars(from, p, parsed);
    if (result.ec == std::errc::result_out_of_range) {
        // Only the exponent of the first digit matters: the number is far out of range.
        std::ptrdiff_t before = 0;
        const char* q = first;
        while (q != p && (*q == '0' || *q == '.')) before -= *q++ == '.' ? 0 : 1;
        const bool after_point = before < 0;
        std::ptrdiff_t whole = 0;
        for (const char* r = first; r != p && is_digit(*r); ++r) ++whole;
        const std::ptrdiff_t size = exponent + (after_point ? whole + before : whole);
        parsed = size > 0 ? std::numeric_limits<Stored>::infinity() : Stored{0};
        if (negative) parsed = -parsed;
    }
    value = static_cast<T>(parsed);
    return p;
}

SP_BIND_END
