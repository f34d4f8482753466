// Values as tests see them (testing.hpp): decoded by a signature (spec/wire.md, section 10), with their
// metadata. Nothing here is on the path of a record.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "../silverpoint.hpp"

namespace silverpoint {
inline namespace v1 SP_DETAIL_HIDDEN {
namespace testing {

// One value as it was recorded.
struct SP_DETAIL_VISIBLE Value {
    enum class Kind { kNull, kBool, kInteger, kFloat, kText, kOther };
    Kind kind = Kind::kOther;
    __extension__ __int128 integer = 0;
    double number = 0;
    std::string text;    // how it is shown, with its unit; a text itself, without quotes
    std::string type;    // `i32`, `text`, `[i32]` …
    std::string unit{};  // of SP_UNIT or a counter; empty: none

    // As it stands in a line or in a container: text in quotes.
    SP_DETAIL_OWN std::string shown() const {
        if (kind != Kind::kText) return text;
        return '"' + text + '"' + (unit.empty() ? "" : " " + unit);
    }
};

}  // namespace testing
}  // namespace SP_DETAIL_HIDDEN
}  // namespace silverpoint

SP_DETAIL_BEGIN

using testing::Value;

// The shortest text that reads back the same.
inline std::string text_of(double value) {
    char text[40];
    for (int digits = 1; digits <= 17; ++digits) {
        std::snprintf(text, sizeof text, "%.*g", digits, value);
        if (std::strtod(text, nullptr) == value) break;
    }
    return text;
}

// Decodes values by a signature (spec/wire.md, section 10). Any error ends it: `is_good`.
class ValueReader {
  public:
    ValueReader(std::string_view signature, std::string_view bytes) : type_(signature), bytes_(bytes) {}
    bool is_good() const { return good_; }
    bool has_more() const { return good_ && !type_.empty(); }
    Value next() { return value(0); }

  private:
    Value value(int depth) {
        using enum Value::Kind;
        if (type_.empty() || depth > 32 || !good_) return bad();
        const char code = type_.front();
        type_.remove_prefix(1);
        switch (code) {
            case 'n':
                return {kNull, 0, 0, "null", "null"};
            case 'b': {
                const bool is = number<std::uint8_t>() != 0;
                return {kBool, is ? 1 : 0, 0, is ? "true" : "false", "bool"};
            }
            case 'a':
                return integer<std::int8_t>("i8");
            case 'h':
                return integer<std::int16_t>("i16");
            case 'i':
                return integer<std::int32_t>("i32");
            case 'l':
                return integer<std::int64_t>("i64");
            case 'A':
                return integer<std::uint8_t>("u8");
            case 'H':
                return integer<std::uint16_t>("u16");
            case 'I':
                return integer<std::uint32_t>("u32");
            case 'L':
                return integer<std::uint64_t>("u64");
            case 'o':
                return wide("i128", true);
            case 'O':
                return wide("u128", false);
            case 'f':
                return real(static_cast<double>(number<float>()), "f32");
            case 'd':
                return real(number<double>(), "f64");
            case 'c':
                return text<char>(1, "char");
            case 'w':
                return text<char16_t>(1, "char16");
            case 'W':
                return text<char32_t>(1, "char32");
            case 's':
                return counted_text<char>();
            case 'S':
                return counted_text<char16_t>();
            case 'Z':
                return counted_text<char32_t>();
            case 'p': {
                char room[24];
                const auto address = number<std::uint64_t>();
                return {kInteger, address, 0, "0x" + std::string(digits_of(address, 16, room)), "pointer"};
            }
            case 't':
                return nanoseconds("time", " ns since 1970");
            case 'T':
                return nanoseconds("duration", " ns");
            case 'u':
                return hexadecimal(16, "uuid");
            case 'y':
                return hexadecimal(length(), "bytes");
            case 'v':
                return hexadecimal(length(), "any");
            case '?': {
                if (number<std::uint8_t>() != 0) {
                    Value inner = value(depth + 1);
                    inner.type += "?";
                    return inner;
                }
                skip_type(depth);
                return {kNull, 0, 0, "none", "none"};
            }
            case '[':
                return sequence(length(), '[', ']', depth, false);
            case '$':
                return sequence(length(), '{', '}', depth, false);
            case '{':
                return sequence(length(), '{', '}', depth, true);
            case '#':
                return sequence(decimal(), '[', ']', depth, false);
            case '(': {
                std::string out = "(";
                for (bool first = true; good_ && !type_.starts_with(')'); first = false)
                    out += (first ? "" : ", ") + shown(value(depth + 1));
                take(')');
                return {kOther, 0, 0, out + ")", "tuple"};
            }
            case '<': {
                const std::string name = until('|');
                std::string out = name + "{";
                for (bool first = true; good_ && !type_.starts_with('>'); first = false) {
                    out += (first ? "" : ", ") + until(':') + ": ";
                    out += shown(value(depth + 1));
                    take(',');
                }
                take('>');
                return {kOther, 0, 0, out + "}", name};
            }
            case 'e': {
                const std::string name = until('|');
                Value inner = value(depth + 1);
                take('|');
                const std::string number =
                    digits(static_cast<UWide>(inner.integer), inner.integer < 0, false);
                while (good_ && !type_.starts_with(';')) {
                    const std::string labelled = until('='), label = until(',');
                    if (labelled == number) inner.text = label;
                }
                take(';');
                inner.type = name;
                return inner;
            }
            case '/': {
                const unsigned index = number<std::uint8_t>();
                Value chosen{kNull, 0, 0, "none", "none"};
                for (unsigned i = 0; good_ && !type_.starts_with('|'); ++i) {
                    if (i == index) {
                        chosen = value(depth + 1);
                    } else {
                        skip_type(depth);
                    }
                }
                take('|');
                return chosen;
            }
            case '@':
                return marked(depth);
            default:
                return bad();
        }
    }
    Value bad() {
        good_ = false;
        return {Value::Kind::kOther, 0, 0, "<damaged>", "unknown"};
    }
    std::string_view take_bytes(std::size_t count) {
        if (count > bytes_.size()) {
            good_ = false;
            return {};
        }
        const auto taken = bytes_.substr(0, count);
        bytes_.remove_prefix(count);
        return taken;
    }
    template <class T>
    T number() {
        T value{};
        const auto taken = take_bytes(sizeof value);
        if (taken.size() == sizeof value) std::memcpy(&value, taken.data(), sizeof value);
        return value;
    }
    template <class T>
    Value integer(const char* type) {
        const T value = number<T>();
        return {Value::Kind::kInteger, value, 0, digits(static_cast<UWide>(value), value < T{}, hex_), type};
    }
    __extension__ using UWide = unsigned __int128;
    Value wide(const char* type, bool is_signed) {
        const UWide value = number<UWide>();
        return {Value::Kind::kInteger, static_cast<Int128>(value), 0,
                digits(value, is_signed && value >> 127 != 0, hex_), type};
    }
    static std::string digits(UWide value, bool is_negative, bool is_hex) {
        const unsigned base = is_hex ? 16 : 10;
        std::string text;
        for (UWide rest = is_negative ? ~value + 1 : value; rest != 0 || text.empty(); rest /= base)
            text.insert(text.begin(), "0123456789abcdef"[static_cast<unsigned>(rest % base)]);
        return (is_negative ? "-" : "") + std::string(is_hex ? "0x" : "") + text;
    }
    // For times: in nanoseconds, decimal no matter how integers are shown.
    Value nanoseconds(const char* type, const char* unit) {
        const auto value = number<std::int64_t>();
        return {Value::Kind::kInteger, value, 0, std::to_string(value) + unit, type};
    }
    static Value real(double value, const char* type) {
        return {Value::Kind::kFloat, 0, value, text_of(value), type};
    }
    Value hexadecimal(std::size_t count, const char* type) {
        std::string out = "0x";
        for (const char byte : take_bytes(count)) {
            out += "0123456789abcdef"[static_cast<unsigned char>(byte) >> 4];
            out += "0123456789abcdef"[static_cast<unsigned char>(byte) & 15];
        }
        return {Value::Kind::kOther, 0, 0, out, type};
    }
    // A length; the number of cut elements is kept for the value's end.
    std::size_t length() {
        const auto count = number<std::uint32_t>();
        missing_ = (count & kCut) != 0 ? number<std::uint32_t>() : 0;
        return count & ~kCut;
    }
    std::string cut_mark() {
        const std::uint32_t missing = std::exchange(missing_, 0);
        return missing == 0 ? "" : "\u2026(+" + std::to_string(missing) + ")";
    }
    template <class Char>
    Value counted_text() {
        const std::size_t count = length();
        return text<Char>(count, "text");
    }
    template <class Char>
    Value text(std::size_t count, const char* type) {
        if (count > bytes_.size() / sizeof(Char)) return bad();
        const auto raw = take_bytes(count * sizeof(Char));
        std::string out;
        if constexpr (sizeof(Char) == 1) {
            out = raw;
        } else {
            std::basic_string<Char> units(count, Char{});
            std::memcpy(units.data(), raw.data(), raw.size());
            std::string room(3 + 4 * count, '\0');
            if (room.size() > 0xFFFF) return bad();
            CborWriter writer(room.data(), room.data() + room.size());
            writer.text(units.data(), units.size());
            out.assign(room.data() + 3, writer.at());
        }
        return {Value::Kind::kText, 0, 0, out + cut_mark(), type};
    }
    Value sequence(std::size_t count, char open, char close, int depth, bool is_map) {
        const std::string mark = cut_mark();
        const std::string_view element = type_;
        std::string out(1, open), type;
        for (std::size_t i = 0; good_ && i < count; ++i) {
            type_ = element;
            const std::size_t before = bytes_.size();
            if (i != 0) out += ", ";
            const Value first = value(depth + 1);
            out += shown(first);
            if (is_map) out += ": " + shown(value(depth + 1));
            type = first.type;
            // Elements of no size have no bound in the bytes.
            if (before == bytes_.size() && i > 65536) return bad();
        }
        type_ = element;
        skip_type(depth);
        if (is_map) skip_type(depth);
        return {Value::Kind::kOther, 0, 0, out + mark + close, is_map ? "map" : "[" + type + "]"};
    }
    // A value with metadata; a key that is not known changes nothing.
    Value marked(int depth) {
        const std::string key = until('='), text = until(';');
        const bool was_hex = std::exchange(hex_, hex_ || key == "hex");
        Value inner = value(depth + 1);
        hex_ = was_hex;
        if (key == "secret") return {Value::Kind::kNull, 0, 0, "<secret>", inner.type};
        if (key == "flags" && inner.kind == Value::Kind::kInteger)
            inner.text = names_of_bits(text, static_cast<std::uint64_t>(inner.integer));
        if (key == "unit" && inner.kind != Value::Kind::kNull) {
            inner.unit = text;
            if (inner.kind != Value::Kind::kText) inner.text += " " + text;
        }
        return inner;
    }
    // `read|write|0x8` by `1=read,2=write`: bits without a name in hexadecimal; zero by its name or as `0`.
    static std::string names_of_bits(std::string_view names, std::uint64_t value) {
        std::uint64_t rest = value;
        std::string out;
        while (!names.empty()) {
            const std::string_view pair = names.substr(0, names.find(','));
            names.remove_prefix(pair.size() + (pair.size() < names.size() ? 1 : 0));
            const std::size_t equals = pair.find('=');
            if (equals == std::string_view::npos || equals == 0) continue;
            const std::string number(pair.substr(0, equals));
            const std::uint64_t bits =
                number.front() == '-' ? static_cast<std::uint64_t>(std::strtoll(number.c_str(), nullptr, 10))
                                      : std::strtoull(number.c_str(), nullptr, 10);
            const bool is_set = bits == 0 ? value == 0 : (value & bits) == bits && (rest & bits) != 0;
            if (!is_set) continue;
            rest &= ~bits;
            if (!out.empty()) out += '|';
            out += pair.substr(equals + 1);
        }
        char room[24];
        if (rest != 0) {
            out += out.empty() ? "0x" : "|0x";
            out += digits_of(rest, 16, room);
        }
        return out.empty() ? "0" : out;
    }
    static std::string shown(const Value& value) { return value.shown(); }
    // Skips one type: its value is not there. Texts of names contain none of the signs.
    void skip_type(int depth) {
        if (type_.empty() || depth > 32 || !good_) {
            good_ = false;
            return;
        }
        const char code = type_.front();
        type_.remove_prefix(1);
        if (code == '?' || code == '[' || code == '$') skip_type(depth + 1);
        if (code == '{') skip_type(depth + 1), skip_type(depth + 1);
        if (code == '#') decimal(), skip_type(depth + 1);
        if (code == '@') until(';'), skip_type(depth + 1);
        if (code == 'e') {
            until(';');
        }
        if (code == '(' || code == '/') {
            const char close = code == '(' ? ')' : '|';
            while (good_ && !type_.starts_with(close)) skip_type(depth + 1);
            take(close);
        }
        if (code == '<') {
            until('|');
            while (good_ && !type_.starts_with('>')) {
                until(':');
                skip_type(depth + 1);
                take(',');
            }
            take('>');
        }
    }
    void take(char c) {
        if (type_.starts_with(c)) {
            type_.remove_prefix(1);
        } else {
            good_ = false;
        }
    }
    std::size_t decimal() {
        std::size_t count = 0;
        for (const char c : until(':'))
            if (c >= '0' && c <= '9' && count < 1u << 24)
                count = count * 10 + static_cast<std::size_t>(c - '0');
        return count;
    }
    std::string until(char end) {
        const std::size_t at = type_.find(end);
        if (at == std::string_view::npos) {
            good_ = false;
            type_ = {};
            return {};
        }
        std::string out;
        for (std::size_t i = 0; i < at; ++i) {
            if (type_[i] == '%' && i + 2 < at) {
                const auto digit = [&](char c) { return c <= '9' ? c - '0' : c - 'A' + 10; };
                out += static_cast<char>(digit(type_[i + 1]) * 16 + digit(type_[i + 2]));
                i += 2;
            } else {
                out += type_[i];
            }
        }
        type_.remove_prefix(at + 1);
        return out;
    }

    std::string_view type_, bytes_;
    std::uint32_t missing_ = 0;
    bool good_ = true;
    bool hex_ = false;  // integers are shown in hexadecimal
};

SP_DETAIL_END
