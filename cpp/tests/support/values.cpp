#include "values.hpp"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace reader {

namespace {

class Decoder {
  public:
    Decoder(std::string_view signature, std::string_view bytes) : signature_(signature), bytes_(bytes) {}

    std::string all() {
        std::string out;
        while (!signature_.empty()) {
            if (!out.empty()) out += ' ';
            out += value(signature_, true);
        }
        if (bytes_.size() >= 8) fail("bytes behind the arguments");
        for (const char byte : bytes_)
            if (byte != 0) fail("the tail is not zero");
        return out;
    }

  private:
    template <class T>
    T take() {
        if (bytes_.size() < sizeof(T)) fail("arguments end early");
        T got;
        std::memcpy(&got, bytes_.data(), sizeof got);
        bytes_.remove_prefix(sizeof got);
        return got;
    }
    static std::string wide(__int128 number, bool is_signed) {
        auto rest = static_cast<unsigned __int128>(number);
        const bool negative = is_signed && number < 0;
        if (negative) rest = -rest;
        std::string out;
        do out.insert(out.begin(), static_cast<char>('0' + static_cast<int>(rest % 10)));
        while ((rest /= 10) != 0);
        return negative ? "-" + out : out;
    }
    template <class Unit>
    static void unit(std::string& out, Unit c) {
        char buffer[16];
        const auto code = static_cast<std::uint32_t>(c);
        if (code >= ' ' && code < 0x7F) {
            out += static_cast<char>(code);
        } else {
            std::snprintf(buffer, sizeof buffer, "\\x{%X}", code);
            out += buffer;
        }
    }
    struct Length {
        std::uint32_t count;
        std::string rest;
    };
    Length length() {
        const auto word = take<std::uint32_t>();
        if ((word >> 31) == 0) return {word, ""};
        return {word & 0x7FFFFFFF, "…+" + std::to_string(take<std::uint32_t>())};
    }
    template <class Unit>
    std::string text(const char* prefix) {
        const Length len = length();
        std::string out = prefix;
        out += '"';
        for (std::uint32_t i = 0; i < len.count; ++i) {
            const auto got = take<Unit>();
            if constexpr (sizeof(Unit) == 1)
                out += static_cast<char>(got);
            else
                unit(out, got);
        }
        return out + '"' + len.rest;
    }
    static std::string name_until(std::string_view& type, char end) {
        const std::size_t at = type.find(end);
        if (at == std::string_view::npos) fail("signature");
        std::string name(type.substr(0, at));
        type.remove_prefix(at + 1);
        return name;
    }
    // The value of the type at the front of `type`, which is removed. `real` false: only the type is removed.
    std::string value(std::string_view& type, bool real) {
        if (type.empty()) fail("signature ends early");
        const char code = type.front();
        type.remove_prefix(1);
        char buffer[40];
        const auto number = [&](auto kind) -> std::string {
            if (!real) return "";
            const auto got = take<decltype(kind)>();
            if constexpr (sizeof(kind) == 16)
                return wide(static_cast<__int128>(got),
                            std::is_signed_v<decltype(kind)> || decltype(kind)(-1) < 0);
            else
                return std::to_string(got);
        };
        switch (code) {
            case 'n':
                return real ? "null" : "";
            case 'b':
                return !real ? "" : take<std::uint8_t>() != 0 ? "true" : "false";
            case 'a':
                return number(std::int8_t{});
            case 'h':
                return number(std::int16_t{});
            case 'i':
                return number(std::int32_t{});
            case 'l':
                return number(std::int64_t{});
            case 'o':
                return number(static_cast<__int128>(0));
            case 'A':
                return number(std::uint8_t{});
            case 'H':
                return number(std::uint16_t{});
            case 'I':
                return number(std::uint32_t{});
            case 'L':
                return number(std::uint64_t{});
            case 'O':
                return number(static_cast<unsigned __int128>(0));
            case 'f':
                if (real) std::snprintf(buffer, sizeof buffer, "%.9g", static_cast<double>(take<float>()));
                return real ? buffer : "";
            case 'd':
                if (real) std::snprintf(buffer, sizeof buffer, "%.17g", take<double>());
                return real ? buffer : "";
            case 'c':
            case 'w':
            case 'W': {
                std::string out = "'";
                if (real)
                    unit(out, code == 'c'   ? take<std::uint8_t>()
                              : code == 'w' ? take<std::uint16_t>()
                                            : take<std::uint32_t>());
                return out + "'";
            }
            case 'p':
                if (real)
                    std::snprintf(buffer, sizeof buffer, "0x%llx",
                                  static_cast<unsigned long long>(take<std::uint64_t>()));
                return real ? buffer : "";
            case 's':
                return real ? text<std::uint8_t>("") : "";
            case 'S':
                return real ? text<std::uint16_t>("u") : "";
            case 'Z':
                return real ? text<std::uint32_t>("U") : "";
            case 'T':
                return real ? std::to_string(take<std::int64_t>()) + "ns" : "";
            case 't':
                return real ? "@" + std::to_string(take<std::int64_t>()) : "";
            case 'u': {
                std::string out = real ? "u" : "";
                for (unsigned i = 0; real && i < 16; ++i) {
                    std::snprintf(buffer, sizeof buffer, ":%02x", take<std::uint8_t>());
                    out += buffer;
                }
                return out;
            }
            case 'v':  // a CBOR item, shown as bytes
            case 'y': {
                if (!real) return "";
                const Length len = length();
                std::string out(1, code);
                for (std::uint32_t i = 0; i < len.count; ++i) {
                    std::snprintf(buffer, sizeof buffer, ":%02x", take<std::uint8_t>());
                    out += buffer;
                }
                return out + len.rest;
            }
            case '/': {
                const unsigned index = real ? take<std::uint8_t>() : 255;
                std::string out = "none";
                for (unsigned i = 0; !type.empty() && type.front() != '|'; ++i) {
                    const std::string inner = value(type, i == index);
                    if (i == index) out = std::to_string(i) + ":" + inner;
                }
                if (type.empty()) fail("end of a variant");
                type.remove_prefix(1);
                return out;
            }
            case '?': {
                const bool has = real && take<std::uint8_t>() != 0;
                const std::string inner = value(type, has);
                return has ? inner : "none";
            }
            case '[':
                return elements(type, "[", "]", real, {});
            case '$':
                return elements(type, "${", "}", real, {});
            case '#': {
                const std::string count = name_until(type, ':');
                return elements(type, "#[", "]", real, static_cast<std::uint32_t>(std::stoul(count)));
            }
            case '{': {
                const std::uint32_t count = real ? take<std::uint32_t>() : 0;
                std::string_view after = type;
                value(after, false), value(after, false);
                std::string out = "{";
                for (std::uint32_t i = 0; i < count; ++i) {
                    std::string_view pair = type;
                    if (i != 0) out += ", ";
                    out += value(pair, true) + ": ";
                    out += value(pair, true);
                }
                type = after;
                return out + "}";
            }
            case '(': {
                std::string out = "(";
                while (!type.empty() && type.front() != ')') {
                    if (out.size() > 1) out += ", ";
                    out += value(type, real);
                }
                if (type.empty()) fail("end of a tuple");
                type.remove_prefix(1);
                return out + ")";
            }
            case '<': {
                std::string out = name_until(type, '|') + "{";
                bool first = true;
                while (!type.empty() && type.front() != '>') {
                    if (!first) out += ", ";
                    first = false;
                    out += name_until(type, ':') + ": ";
                    out += value(type, real);
                    if (type.empty() || type.front() != ',') fail("end of a field");
                    type.remove_prefix(1);
                }
                if (type.empty()) fail("end of a record");
                type.remove_prefix(1);
                return out + "}";
            }
            case 'e': {
                const std::string name = name_until(type, '|');
                const std::string got = value(type, real);
                if (type.empty() || type.front() != '|') fail("enumeration");
                type.remove_prefix(1);
                name_until(type, ';');
                return name + "(" + got + ")";
            }
            case '@':
                name_until(type, ';');
                return value(type, real);
            default:
                fail(std::string("unknown type ") + code);
        }
    }
    std::string elements(std::string_view& type, const char* open, const char* close, bool real,
                         std::optional<std::uint32_t> count) {
        Length len{0, ""};
        if (real) len = count ? Length{*count, ""} : length();
        std::string out = open;
        for (std::uint32_t i = 0; i < len.count; ++i) {
            std::string_view element = type;
            if (i != 0) out += ", ";
            out += value(element, true);
        }
        value(type, false);
        return out + close + len.rest;
    }

    std::string_view signature_, bytes_;
};

}  // namespace

std::string text_of(const Record& record, const Site& site) {
    return Decoder(site.signature, record.args).all();
}

}  // namespace reader
