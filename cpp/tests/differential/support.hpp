// What the generated parts share: where expectations go, and how values look in JSON.
#pragma once

#define FMT_HEADER_ONLY
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <silverpoint/silverpoint.hpp>
#include <string>
#include <string_view>
#include <type_traits>

inline std::ofstream expected;

template <class T>
std::string json(const T& value) {
    if constexpr (std::is_same_v<T, bool>) {
        return value ? "true" : "false";
    } else if constexpr (std::is_floating_point_v<T>) {
        return std::isfinite(value) ? fmt::format("{}", value) : "-";
    } else if constexpr (std::is_same_v<T, char>) {
        return std::string("\"") + value + "\"";
    } else if constexpr (std::is_convertible_v<T, std::string_view>) {
        std::string text = "\"";
        for (const char c : std::string_view(value)) {
            if (c == '"' || c == '\\') text += '\\';
            text += c;
        }
        return text + "\"";
    } else {
        return fmt::format("{}", value);
    }
}

template <class T>
void expect(int number, const std::string& text, const T& value) {
    expected << number << '\t' << text << '\t' << json(value) << '\n';
}

#pragma GCC diagnostic ignored "-Wformat"
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
template <class T>
std::string printed(const char* format, const T& value) {
    char buffer[1024];
    const int len = std::snprintf(buffer, sizeof buffer, format, value);
    return std::string(buffer, static_cast<std::size_t>(len));
}
