// Renders a record's message as std::ostream would write it: by the template that line.hpp made, from the
// packed arguments. Used in the logger's thread, and where a message is needed as text at once.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

namespace google::glog_internal_namespace_ {

// How a value is written: what manipulators have set. The default is an ostream's.
struct Look {
    char base = 0;  // of integers: x, o; 0: decimal
    char real = 0;  // f, e, a; 0: g
    bool plus = false, has_base = false, has_point = false, upper = false, words = false;
    char align = '>';  // <, or = for: behind the sign
    char fill = ' ';
    std::uint16_t width = 0;
    std::int16_t precision = 6;

    bool operator==(const Look&) const = default;
};

inline void pad(std::string& out, std::size_t begin, const Look& look) {
    const std::size_t size = out.size() - begin;
    if (size >= look.width) return;
    const std::size_t missing = look.width - size;
    if (look.align == '<') {
        out.append(missing, look.fill);
    } else if (look.align == '=') {
        // Behind a sign or 0x.
        std::size_t at = begin;
        if (at < out.size() && (out[at] == '-' || out[at] == '+')) ++at;
        if (at + 1 < out.size() && out[at] == '0' && (out[at + 1] == 'x' || out[at + 1] == 'X')) at += 2;
        out.insert(at, missing, look.fill);
    } else {
        out.insert(begin, missing, look.fill);
    }
}

template <class T>
void put_integer(std::string& out, T value, const Look& look) {
    char digits[80];
    const std::size_t begin = out.size();
    const int base = look.base == 'x' ? 16 : look.base == 'o' ? 8 : 10;
    if (base == 10) {
        if constexpr (std::numeric_limits<T>::is_signed)
            if (look.plus && value >= 0) out += '+';
        const auto end = std::to_chars(digits, digits + sizeof digits, value);
        out.append(digits, end.ptr);
    } else {
        const auto bits = static_cast<std::make_unsigned_t<T>>(value);
        const auto end = std::to_chars(digits, digits + sizeof digits, bits, base);
        if (look.has_base && bits != 0) out += base == 16 ? "0x" : "0";
        out.append(digits, end.ptr);
        if (look.upper)
            for (std::size_t i = begin; i < out.size(); ++i)
                if (out[i] >= 'a' && out[i] <= 'z') out[i] = static_cast<char>(out[i] - 'a' + 'A');
    }
    pad(out, begin, look);
}

inline void put_real(std::string& out, double value, const Look& look) {
    const std::size_t begin = out.size();
    char format[16] = "%";
    std::size_t at = 1;
    if (look.plus) format[at++] = '+';
    if (look.has_point) format[at++] = '#';
    const char type = look.real == 0 ? 'g' : look.real;
    if (type != 'a') {
        format[at++] = '.';
        format[at++] = '*';
    }
    format[at++] = look.upper ? static_cast<char>(type - 'a' + 'A') : type;
    format[at] = 0;
    char room[512];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    const int precision = look.precision < 0 ? 6 : look.precision;
    const int size = type == 'a' ? std::snprintf(room, sizeof room, format, value)
                                 : std::snprintf(room, sizeof room, format, precision, value);
    if (size >= 0 && static_cast<std::size_t>(size) < sizeof room) {
        out.append(room, static_cast<std::size_t>(size));
    } else if (size > 0) {
        std::string large(static_cast<std::size_t>(size) + 1, '\0');
        if (type == 'a') {
            std::snprintf(large.data(), large.size(), format, value);
        } else {
            std::snprintf(large.data(), large.size(), format, precision, value);
        }
        large.pop_back();
        out += large;
    }
#pragma GCC diagnostic pop
    pad(out, begin, look);
}

inline void put_text(std::string& out, std::string_view text, const Look& look) {
    const std::size_t begin = out.size();
    out += text;
    pad(out, begin, look);
}

// One packed argument of a type by its code; false when the bytes do not have it.
class Arguments {
  public:
    Arguments(const void* args, std::size_t size) : at_(static_cast<const char*>(args)), left_(size) {}

    bool put(std::string& out, char code, const Look& look) {
        switch (code) {
            case 'b': {
                bool value = false;
                if (!take(value)) return false;
                if (look.words) {
                    put_text(out, value ? "true" : "false", look);
                } else {
                    put_integer(out, value ? 1 : 0, look);
                }
                return true;
            }
            case 'c': {
                char value = 0;
                if (!take(value)) return false;
                put_text(out, {&value, 1}, look);
                return true;
            }
            case 'h':
                return number<std::int16_t>(out, look);
            case 'H':
                return number<std::uint16_t>(out, look);
            case 'i':
                return number<std::int32_t>(out, look);
            case 'I':
                return number<std::uint32_t>(out, look);
            case 'l':
                return number<std::int64_t>(out, look);
            case 'L':
                return number<std::uint64_t>(out, look);
            case 'd': {
                double value = 0;
                if (!take(value)) return false;
                put_real(out, value, look);
                return true;
            }
            case 'f': {
                float value = 0;
                if (!take(value)) return false;
                put_real(out, static_cast<double>(value), look);
                return true;
            }
            case 'p': {
                std::uint64_t value = 0;
                if (!take(value)) return false;
                Look hex = look;
                hex.base = 'x';
                hex.has_base = true;
                put_integer(out, value, hex);
                return true;
            }
            case 's': {
                std::uint32_t size = 0;
                if (!take(size)) return false;
                std::uint32_t missing = 0;
                if ((size & 0x80000000u) != 0 && !take(missing)) return false;
                size &= 0x7FFFFFFFu;
                if (size > left_) return false;
                put_text(out, {at_, size}, look);
                at_ += size;
                left_ -= size;
                return true;
            }
            default:
                return false;
        }
    }

  private:
    template <class T>
    bool take(T& value) {
        if (left_ < sizeof value) return false;
        std::memcpy(&value, at_, sizeof value);
        at_ += sizeof value;
        left_ -= sizeof value;
        return true;
    }
    template <class T>
    bool number(std::string& out, const Look& look) {
        T value = 0;
        if (!take(value)) return false;
        put_integer(out, value, look);
        return true;
    }
    const char* at_;
    std::size_t left_;
};

// The look as the specification of a placeholder for a type (spec/templates.md); false if it cannot be
// expressed.
inline bool append_spec(std::string& out, char code, const Look& look) {
    const bool is_text = code == 's' || code == 'c', is_real = code == 'd' || code == 'f';
    // Flags that are not allowed in a template; a zero behind the sign is the only fill there.
    if (look.align == '=' && look.width > 0 && (look.fill != '0' || is_text)) return false;
    const std::size_t begin = out.size();
    out += ':';
    if (look.width > 0 && look.align != '=' &&
        (look.fill != ' ' || look.align == '<' || is_text || code == 'p')) {
        if (look.fill == '{' || look.fill == '}' || static_cast<unsigned char>(look.fill) >= 0x80)
            return false;
        if (look.fill != ' ') out += look.fill;
        out += look.align;
    }
    const bool is_number = !is_text && code != 'p' && (code != 'b' || !look.words);
    if (is_number && look.plus && code >= 'a') out += '+';
    if (is_real ? look.has_point : is_number && look.has_base && look.base != 0) out += '#';
    if (look.width > 0 && look.align == '=') out += '0';
    if (look.width > 0) out += std::to_string(look.width);
    char type = 0;
    if (is_real) {
        type = look.real == 0 ? 'g' : look.real;
        if (type != 'a' && look.precision != 6) out.append(".").append(std::to_string(look.precision));
    } else if (code == 'b') {
        type = look.words ? 's' : 'd';
    } else if (is_number && look.base != 0) {
        type = look.base;
    }
    if (type != 0 && type != 's')
        out += look.upper && type != 'd' && type != 'o' ? static_cast<char>(type - 'a' + 'A') : type;
    if (out.size() == begin + 1) out.pop_back();
    return true;
}

// The inverse of append_spec.
inline Look parse_spec(char code, std::string_view spec) {
    Look look;
    look.words = code == 'b';
    std::size_t at = 0;
    const auto is = [&](std::size_t where, std::string_view any) {
        return where < spec.size() && any.find(spec[where]) != std::string_view::npos;
    };
    if (is(1, "<>")) {
        look.fill = spec[0];
        look.align = spec[1];
        at = 2;
    } else if (is(0, "<>")) {
        look.align = spec[0];
        at = 1;
    }
    if (is(at, "+")) look.plus = true, ++at;
    if (is(at, "#")) look.has_base = look.has_point = true, ++at;
    if (is(at, "0")) look.align = '=', look.fill = '0', ++at;
    const auto number = [&] {
        unsigned value = 0;
        for (; is(at, "0123456789") && value < 30000; ++at)
            value = value * 10 + static_cast<unsigned>(spec[at] - '0');
        return value;
    };
    look.width = static_cast<std::uint16_t>(number());
    if (is(at, ".")) {
        ++at;
        look.precision = static_cast<std::int16_t>(number());
    }
    if (at < spec.size()) {
        look.upper = spec[at] >= 'A' && spec[at] <= 'Z';
        const char type = look.upper ? static_cast<char>(spec[at] - 'A' + 'a') : spec[at];
        look.words = false;
        if (type == 'x' || type == 'o') look.base = type;
        if (type == 'f' || type == 'e' || type == 'a') look.real = type;
    }
    return look;
}

// Whether the last piece of a template is not a value. If there was a line end, it was left out then.
inline bool ends_with_literal(std::string_view text) {
    std::size_t braces = 0;
    while (braces < text.size() && text[text.size() - 1 - braces] == '}') ++braces;
    return braces % 2 == 0;
}

inline bool is_utf8(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const auto first = static_cast<unsigned char>(text[at]);
        const std::size_t size = first < 0x80                    ? 1
                                 : first >= 0xC2 && first < 0xE0 ? 2
                                 : first >= 0xE0 && first < 0xF0 ? 3
                                 : first >= 0xF0 && first < 0xF5 ? 4
                                                                 : 0;
        if (size == 0 || at + size > text.size()) return false;
        std::uint32_t value = size == 1 ? first : first & (0xFFu >> (size + 1));
        for (std::size_t i = 1; i < size; ++i) {
            const auto byte = static_cast<unsigned char>(text[at + i]);
            if ((byte & 0xC0) != 0x80) return false;
            value = value << 6 | (byte & 0x3Fu);
        }
        if ((size == 3 && (value < 0x800 || (value >= 0xD800 && value < 0xE000))) ||
            (size == 4 && (value < 0x10000 || value > 0x10FFFF)))
            return false;
        at += size;
    }
    return true;
}

// Appends the message of a record. Arguments without a placeholder are fields: no part of the message.
inline void render(std::string& out, std::string_view text, std::string_view signature, const void* args,
                   std::size_t size) {
    Arguments arguments(args, size);
    std::size_t next = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if ((c == '{' || c == '}') && at + 1 < text.size() && text[at + 1] == c) {
            out += c;
            ++at;
        } else if (c == '{') {
            const std::size_t end = text.find('}', at + 1);
            if (end == std::string_view::npos) return;
            std::string_view spec = text.substr(at + 1, end - at - 1);
            if (!spec.empty() && spec[0] == ':') spec.remove_prefix(1);
            if (next >= signature.size()) return;
            const char code = signature[next++];
            if (!arguments.put(out, code, parse_spec(code, spec))) return;
            at = end;
        } else {
            out += c;
        }
    }
}

}  // namespace google::glog_internal_namespace_
