// Templates, checked at compile time (spec/templates.md). Nothing of this remains in the program.
#pragma once

#include "values.hpp"

SP_DETAIL_BEGIN

// Compilers name these in their message if a template is wrong: they are not constexpr on purpose.
void template_has_an_unmatched_brace();
void template_has_more_placeholders_than_arguments();
void template_has_fewer_placeholders_than_arguments();
void template_mixes_automatic_and_explicit_numbers();
void template_has_a_malformed_format_specification();
void template_presentation_does_not_suit_the_argument();
void template_width_or_precision_exceeds_1000();

// The presentations that an argument admits.
enum class Shape { kInteger, kFloat, kText, kChar, kBool, kPointer, kOther };

template <class T>
constexpr Shape shape_of() {
    using Bare = std::remove_cvref_t<T>;
    if constexpr (std::same_as<Bare, bool>) {
        return Shape::kBool;
    } else if constexpr (requires { typename Codec<Bare>::Like; }) {
        return shape_of<typename Codec<Bare>::Like>();
    } else if constexpr (Character<Bare>) {
        return Shape::kChar;
    } else if constexpr (std::integral<Bare> || Wide<Bare>) {
        return Shape::kInteger;
    } else if constexpr (std::floating_point<Bare>) {
        return Shape::kFloat;
    } else if constexpr (TextLike<Bare>) {
        return Shape::kText;
    } else if constexpr (std::is_array_v<Bare>) {
        if constexpr (Character<std::remove_cv_t<std::remove_extent_t<Bare>>>) {
            return Shape::kText;
        } else {
            return shape_of<std::remove_extent_t<Bare>>();
        }
    } else if constexpr (std::is_pointer_v<Bare>) {
        return Character<std::remove_cv_t<std::remove_pointer_t<Bare>>> ? Shape::kText : Shape::kPointer;
    } else if constexpr (RangeLike<Bare> && !MapLike<Bare>) {
        using Element = typename ElementOf<Bare>::type;
        if constexpr (std::same_as<Element, Bare>) return Shape::kOther;
        return shape_of<std::conditional_t<std::same_as<Element, Bare>, void*, Element>>();
    } else {
        return Shape::kOther;
    }
}

constexpr bool admits(Shape shape, char type) {
    const std::string_view types = shape == Shape::kInteger   ? "bBcdoxX"
                                   : shape == Shape::kFloat   ? "aAeEfFgG"
                                   : shape == Shape::kText    ? "s?"
                                   : shape == Shape::kChar    ? "cbBdoxX?"
                                   : shape == Shape::kBool    ? "sbBdoxX"
                                   : shape == Shape::kPointer ? "p"
                                                              : "bBcdoxXaAeEfFgGsp?";
    return types.find(type) != std::string_view::npos;
}

enum class SpecFault { kNone, kMalformed, kUnsuited, kTooLarge };
struct SpecEnd {
    SpecFault fault;
    std::size_t at;  // after the closing brace
};

// Reads the specification, from `at` behind the colon to the closing brace.
constexpr SpecEnd read_spec(std::string_view text, std::size_t at, Shape shape) {
    const auto is_align = [&](std::size_t i) {
        return i < text.size() && (text[i] == '<' || text[i] == '>' || text[i] == '^');
    };
    // A fill may have several bytes; its alignment follows.
    std::size_t fill = at + 1;
    while (fill < text.size() && (static_cast<unsigned char>(text[fill]) & 0xC0) == 0x80) ++fill;
    if (at < text.size() && is_align(fill)) {
        at = fill + 1;
    } else if (is_align(at)) {
        ++at;
    }
    const auto peek = [&] { return at < text.size() ? text[at] : '\0'; };
    if (peek() == '+' || peek() == '-' || peek() == ' ') ++at;
    if (peek() == '#') ++at;
    if (peek() == '0') ++at;
    bool is_too_large = false;
    const auto number = [&] {
        std::size_t value = 0, digits = 0;
        for (; peek() >= '0' && peek() <= '9' && !is_too_large; ++at, ++digits) {
            value = value * 10 + static_cast<std::size_t>(peek() - '0');
            is_too_large = value > 1000;
        }
        return digits;
    };
    number();
    if (peek() == '.') {
        ++at;
        if (number() == 0) return {SpecFault::kMalformed, at};
        if (shape == Shape::kInteger || shape == Shape::kChar || shape == Shape::kBool ||
            shape == Shape::kPointer)
            return {SpecFault::kUnsuited, at};
    }
    if (is_too_large) return {SpecFault::kTooLarge, at};
    if (peek() != '}' && peek() != '\0') {
        if (std::string_view("bBcdoxXaAeEfFgGsp?").find(peek()) == std::string_view::npos)
            return {SpecFault::kMalformed, at};
        if (!admits(shape, peek())) return {SpecFault::kUnsuited, at};
        ++at;
    }
    if (peek() != '}') return {SpecFault::kMalformed, at};
    return {SpecFault::kNone, at + 1};
}

// Whether a template may have this specification for an argument.
constexpr bool is_spec(std::string_view text, std::size_t at, Shape shape) {
    return read_spec(text, at, shape).fault == SpecFault::kNone;
}

// Returns the offset after it; a fault is a compile-time error.
consteval std::size_t check_spec(std::string_view text, std::size_t at, Shape shape) {
    const SpecEnd end = read_spec(text, at, shape);
    if (end.fault == SpecFault::kMalformed) template_has_a_malformed_format_specification();
    if (end.fault == SpecFault::kUnsuited) template_presentation_does_not_suit_the_argument();
    if (end.fault == SpecFault::kTooLarge) template_width_or_precision_exceeds_1000();
    return end.at;
}

template <class... Ts>
consteval void check_template(std::string_view text) {
    constexpr std::size_t count = sizeof...(Ts);
    constexpr Shape shapes[count + 1] = {shape_of<Ts>()..., Shape::kOther};
    bool used[count + 1] = {};
    std::size_t next = 0;
    bool automatic = false, explicit_ = false;
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at++];
        if (c != '{' && c != '}') continue;
        if (at < text.size() && text[at] == c) {
            ++at;
            continue;
        }
        if (c == '}') template_has_an_unmatched_brace();
        std::size_t index = 0, digits = 0;
        for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, ++digits)
            index = index * 10 + static_cast<std::size_t>(text[at] - '0');
        if (digits == 0) {
            automatic = true;
            index = next++;
        } else {
            explicit_ = true;
        }
        if (automatic && explicit_) template_mixes_automatic_and_explicit_numbers();
        if (index >= count) template_has_more_placeholders_than_arguments();
        used[index < count ? index : count] = true;
        if (at >= text.size()) template_has_an_unmatched_brace();
        if (text[at] == '}') {
            ++at;
        } else if (text[at] == ':') {
            at = check_spec(text, at + 1, shapes[index < count ? index : count]);
        } else {
            template_has_a_malformed_format_specification();
        }
    }
    for (std::size_t i = 0; i < count; ++i)
        if (!used[i]) template_has_fewer_placeholders_than_arguments();
}

// A literal that was checked against the arguments' types.
template <class... Ts>
struct SP_DETAIL_VISIBLE Template {
    std::string_view text;
    template <std::size_t Length>
    consteval Template(const char (&literal)[Length]) : text(literal, Length - 1) {
        check_template<Ts...>(text);
    }
};

SP_DETAIL_END
