// Values that formats write as text: bytes in base64 (RFC 4648, section 4), points in time as RFC 3339.
#pragma once

#include "number.hpp"
#include "text.hpp"

SP_BIND_BEGIN

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

inline constexpr char kBase64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::size_t base64_size(std::size_t bytes) { return bytes / 3 * 4 + (bytes % 3 != 0 ? 4 : 0); }

inline char* put_base64(char* out, const char* data, std::size_t size) {
    const auto byte = [&](std::size_t i) {
        return i < size ? static_cast<std::uint32_t>(static_cast<unsigned char>(data[i])) : 0u;
    };
    for (std::size_t at = 0; at < size; at += 3, out += 4) {
        const std::uint32_t bits = byte(at) << 16 | byte(at + 1) << 8 | byte(at + 2);
        out[0] = kBase64[bits >> 18];
        out[1] = kBase64[bits >> 12 & 63];
        out[2] = at + 1 < size ? kBase64[bits >> 6 & 63] : '=';
        out[3] = at + 2 < size ? kBase64[bits & 63] : '=';
    }
    return out;
}

constexpr int base64_digit(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (is_digit(c)) return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

// The `=` may be missing; bits that are left over must be zero.
inline bool get_base64(std::string_view text, std::string& out) {
    out.clear();
    if (text.size() % 4 == 0)
        for (int i = 0; i < 2 && !text.empty() && text.back() == '='; ++i) text.remove_suffix(1);
    if (text.size() % 4 == 1) return false;
    out.reserve(text.size() / 4 * 3 + 2);
    std::uint32_t bits = 0;
    int held = 0;
    for (const char c : text) {
        const int digit = base64_digit(c);
        if (digit < 0) return false;
        bits = bits << 6 | static_cast<std::uint32_t>(digit);
        if ((held += 6) >= 8) {
            held -= 8;
            out += static_cast<char>(bits >> held & 0xFF);
        }
    }
    return (bits & ((1u << held) - 1)) == 0;
}

// Days since 1970-01-01 of the proleptic Gregorian calendar, and back. A year begins in March here, so that
// the leap day is its last.
constexpr std::int64_t days_from_date(std::int64_t year, unsigned month, unsigned day) {
    year -= month <= 2 ? 1 : 0;
    const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
    const std::int64_t of_era = year - era * 400;
    const unsigned of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}
struct Date {
    std::int64_t year;
    unsigned month, day;
};
constexpr Date date_from_days(std::int64_t days) {
    days += 719468;
    const std::int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    const std::int64_t day = days - era * 146097;
    const std::int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    const std::int64_t of_year = day - (365 * year + year / 4 - year / 100);
    const std::int64_t month = (5 * of_year + 2) / 153;
    return {year + era * 400 + (month >= 10 ? 1 : 0),
            static_cast<unsigned>(month < 10 ? month + 3 : month - 9),
            static_cast<unsigned>(of_year - (153 * month + 2) / 5 + 1)};
}

inline constexpr std::size_t kDateTime = 30;  // 2026-11-20T19:02:11.000000001Z

inline constexpr std::int64_t kNs = 1'000'000'000;

// False: beyond the years 0 to 9999. `ns` are the nanoseconds of the second.
inline bool put_date_time(char* out, std::int64_t seconds, std::int64_t ns) {
    std::int64_t days = seconds / 86400, rest = seconds % 86400;
    if (rest < 0) rest += 86400, --days;
    if (days < days_from_date(0, 1, 1) || days > days_from_date(9999, 12, 31)) return false;
    const Date date = date_from_days(days);
    const auto two = [&](std::size_t at, std::int64_t value) {
        __builtin_memcpy(out + at, kPairs.text + 2 * value, 2);
    };
    __builtin_memcpy(out, "0000-00-00T00:00:00.000000000Z", kDateTime);
    two(0, date.year / 100);
    two(2, date.year % 100);
    two(5, date.month);
    two(8, date.day);
    two(11, rest / 3600);
    two(14, rest / 60 % 60);
    two(17, rest % 60);
    for (std::size_t at = 28; at >= 20; --at, ns /= 10) out[at] = static_cast<char>('0' + ns % 10);
    return true;
}

// RFC 3339 with any offset, and none to nine digits of fraction.
inline bool get_date_time(std::string_view text, std::int64_t& seconds, std::int64_t& ns) {
    const auto number = [&](std::size_t at, std::size_t digits, std::int64_t most) {
        std::int64_t value = 0;
        for (std::size_t i = at; i < at + digits; ++i) {
            if (i >= text.size() || !is_digit(text[i])) return std::int64_t{-1};
            value = value * 10 + (text[i] - '0');
        }
        return value <= most ? value : std::int64_t{-1};
    };
    if (text.size() < 20 || text[4] != '-' || text[7] != '-' ||
        (text[10] != 'T' && text[10] != 't' && text[10] != ' ') || text[13] != ':' || text[16] != ':')
        return false;
    const std::int64_t year = number(0, 4, 9999), month = number(5, 2, 12), day = number(8, 2, 31),
                       hour = number(11, 2, 23), minute = number(14, 2, 59), second = number(17, 2, 59);
    if (year < 0 || month < 1 || day < 1 || hour < 0 || minute < 0 || second < 0) return false;
    const std::int64_t days = days_from_date(year, static_cast<unsigned>(month), static_cast<unsigned>(day));
    if (date_from_days(days).day != day) return false;
    std::size_t at = 19;
    ns = 0;
    if (text[at] == '.') {
        std::int64_t unit = kNs;
        const std::size_t first = ++at;
        for (; at < text.size() && is_digit(text[at]) && at < first + 9; ++at)
            ns += (unit /= 10) * (text[at] - '0');
        if (at == first) return false;
    }
    if (at == text.size()) return false;
    std::int64_t offset = 0;
    if (text[at] == '+' || text[at] == '-') {
        const std::int64_t hours = number(at + 1, 2, 23), minutes = number(at + 4, 2, 59);
        if (hours < 0 || minutes < 0 || text[at + 3] != ':') return false;
        offset = (text[at] == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
        at += 6;
    } else if (text[at] == 'Z' || text[at] == 'z') {
        ++at;
    }
    seconds = days * 86400 + hour * 3600 + minute * 60 + second - offset;
    return at == text.size();
}

SP_BIND_END
