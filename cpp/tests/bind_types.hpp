// The types of spec/bind.md, as they are in C++.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <silverpoint/bind.hpp>
#include <string>
#include <tuple>
#include <vector>

namespace bound {

enum class Side { Buy, Sell };
struct Point {
    int x = 0, y = 0;
};
struct Order {
    std::uint64_t id = 0;
    Side side = Side::Buy;
    double price = 0;
    std::uint32_t quantity = 0;
    std::string symbol;
    std::optional<std::string> note;
    std::vector<std::string> tags;
    std::optional<Point> at;
};
struct All {
    bool yes = false;
    std::int8_t small = 0;
    std::uint64_t big = 0;
    __extension__ __int128 wide = 0;
    double ratio = 0;
    float single = 0;
    char32_t letter = 0;
    std::string words;
    std::vector<std::byte> blob;
    std::vector<int> list;
    std::array<std::array<std::uint8_t, 2>, 2> grid{};
    std::pair<int, std::string> pair;
    std::map<std::string, int> names;
    std::map<std::uint32_t, std::string> codes;
    std::chrono::nanoseconds wait{};
    std::chrono::sys_time<std::chrono::nanoseconds> when{};
    std::optional<std::uint32_t> maybe;
    std::unique_ptr<Order> nested;
};
struct Defaults {
    int must = 0;
    std::uint16_t port = 8080;
    std::string name = "none";
    std::optional<std::uint8_t> level;
};
struct Strict {
    int a = 0;
    std::optional<int> b;
};
struct Keeping {
    int a = 0;
    silverpoint::Rest rest;
};
struct Vector {
    std::string name, type, json, cbor;
    std::vector<std::string> read_json, read_cbor;
};
struct Untyped {
    std::string name;
    std::optional<std::string> json, cbor, to_json, to_cbor, again, error;
};
struct Fault {
    std::string name, type;
    std::optional<std::string> json, cbor;
    std::size_t offset = 0, line = 0, column = 0;
    std::string path, found, expected;
};

}  // namespace bound

SP_ENUM(bound::Side, Buy, Sell)
SP_STRUCT(bound::Point, x, y)
SP_STRUCT(bound::Order, id, side, price, quantity, symbol, note, tags, at)
SP_STRUCT(bound::All, yes, small, big, wide, ratio, single, letter, words, blob, list, grid, pair, names,
          codes, wait, when, maybe, nested)
SP_STRUCT(bound::Defaults, must, port, name, level)
SP_DEFAULTS(bound::Defaults, port, name)
SP_STRUCT(bound::Strict, a, b)
SP_STRICT(bound::Strict)
SP_STRUCT(bound::Keeping, a, rest)
SP_STRUCT(bound::Vector, name, type, json, cbor, read_json, read_cbor)
SP_DEFAULTS(bound::Vector, read_json, read_cbor)
SP_STRUCT(bound::Untyped, name, json, cbor, to_json, to_cbor, again, error)
SP_STRUCT(bound::Fault, name, type, json, cbor, offset, line, column, path, found, expected)
SP_DEFAULTS(bound::Fault, line, column)

namespace bound {

inline std::string from_hex(std::string_view digits) {
    std::string out;
    for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
        const auto digit = [&](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
        out += static_cast<char>(digit(digits[i]) << 4 | digit(digits[i + 1]));
    }
    return out;
}
inline std::string to_hex(std::string_view bytes) {
    std::string out;
    for (const char c : bytes) {
        out += "0123456789abcdef"[static_cast<unsigned char>(c) >> 4];
        out += "0123456789abcdef"[static_cast<unsigned char>(c) & 15];
    }
    return out;
}

template <class T>
std::string json(const T& value, const silverpoint::JsonWriteOptions& options = {}) {
    std::string out;
    const auto result = silverpoint::to_json(value, out, options);
    return result ? out : result.text();
}
template <class T>
std::string cbor(const T& value) {
    std::string out;
    const auto result = silverpoint::to_cbor(value, out);
    return result ? to_hex(out) : result.text();
}

// Calls with a value of the type that the vectors call so; false: it is none of C++.
template <class Call>
bool with_type(std::string_view name, const Call& call) {
    if (name == "Point") return call(Point()), true;
    if (name == "list of Point") return call(std::vector<Point>()), true;
    if (name == "Order") return call(Order()), true;
    if (name == "list of Order") return call(std::vector<Order>()), true;
    if (name == "All") return call(All()), true;
    if (name == "Defaults") return call(Defaults()), true;
    if (name == "Strict") return call(Strict()), true;
    if (name == "Keeping") return call(Keeping()), true;
    if (name == "f64") return call(double()), true;
    if (name == "f32") return call(float()), true;
    return false;
}

}  // namespace bound
