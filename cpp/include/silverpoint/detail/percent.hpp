// printf style: SP_INFOF("order %d at %.2f", id, px), for all levels (SP_TRACEF … SP_FATALF).
//
// The text is checked at compile time: each argument must be what its conversion wants, as for -Wformat.
// Nothing is formatted here: arguments are recorded with their own types, and readers write what printf would
// (spec/templates.md). Besides what printf accepts, `%s` accepts std::string and std::string_view; long
// double is kept as double.
#pragma once

#include "front.hpp"

SP_DETAIL_BEGIN

// Compilers name these in their message if a text is wrong: they are not constexpr on purpose.
void printf_ends_within_a_conversion();
void printf_has_an_unknown_conversion();
void printf_has_more_conversions_than_arguments();
void printf_has_fewer_conversions_than_arguments();
void printf_conversion_does_not_suit_the_argument();
void printf_length_modifier_does_not_suit_the_argument();
void printf_width_or_precision_wants_an_int();
void printf_width_or_precision_exceeds_1000();
void printf_positional_arguments_are_not_supported();
void printf_pointer_to_characters_wants_a_cast_to_void_pointer();

// The class of an argument for printf.
struct PercentType {
    enum What { kNothing, kInteger, kFloat, kText, kPointer, kTextPointer } what = kNothing;
    std::size_t size = 0;  // of an integer after promotion, of a text's characters
    bool is_long_double = false;
};

template <class T>
constexpr PercentType percent_type() {
    using Bare = std::remove_cvref_t<T>;
    if constexpr (std::is_enum_v<Bare>) {
        return std::is_convertible_v<Bare, int>
                   ? PercentType{PercentType::kInteger, sizeof(Bare) < 4 ? 4 : sizeof(Bare)}
                   : PercentType{};
    } else if constexpr (std::integral<Bare>) {
        return {PercentType::kInteger, sizeof(Bare) < 4 ? 4 : sizeof(Bare)};
    } else if constexpr (std::floating_point<Bare>) {
        return {PercentType::kFloat, 0, std::same_as<Bare, long double>};
    } else if constexpr (TextLike<Bare>) {
        return {PercentType::kText, sizeof(*std::declval<const Bare&>().data())};
    } else if constexpr (std::is_array_v<Bare>) {
        using Enumeration = std::remove_cv_t<std::remove_extent_t<Bare>>;
        return Character<Enumeration> ? PercentType{PercentType::kText, sizeof(Enumeration)} : PercentType{};
    } else if constexpr (std::is_pointer_v<Bare>) {
        using Enumeration = std::remove_cv_t<std::remove_pointer_t<Bare>>;
        if constexpr (Character<Enumeration>) {
            return {PercentType::kTextPointer, sizeof(Enumeration)};
        } else {
            return {PercentType::kPointer};
        }
    } else if constexpr (std::is_null_pointer_v<Bare>) {
        return {PercentType::kPointer};
    } else {
        return {};
    }
}

consteval bool is_length(std::string_view length, std::initializer_list<std::string_view> any) {
    for (const auto one : any)
        if (one == length) return true;
    return false;
}

// The most units of a text that its conversion reads: no limit, or the value of the argument before.
inline constexpr int kWhole = -1, kAsBefore = -2;

consteval void check_conversion(char conversion, std::string_view length, PercentType type) {
    using enum PercentType::What;
    switch (conversion) {
        case 'd':
        case 'i':
        case 'u':
        case 'o':
        case 'x':
        case 'X':
            if (type.what != kInteger || type.size > 8) printf_conversion_does_not_suit_the_argument();
            if (length == "l" ? type.size != sizeof(long)
                              : !(type.size == 8 ? is_length(length, {"ll", "j", "z", "t"})
                                                 : is_length(length, {"", "h", "hh"})))
                printf_length_modifier_does_not_suit_the_argument();
            return;
        case 'c':
            if (type.what != kInteger || type.size > 4) printf_conversion_does_not_suit_the_argument();
            if (!is_length(length, {"", "l"})) printf_length_modifier_does_not_suit_the_argument();
            return;
        case 's':
            if (type.what != kText && type.what != kTextPointer)
                printf_conversion_does_not_suit_the_argument();
            if (!(type.size == 1 ? length.empty() : length == "l" && type.size == sizeof(wchar_t)))
                printf_length_modifier_does_not_suit_the_argument();
            return;
        case 'p':
            if (type.what == kTextPointer) printf_pointer_to_characters_wants_a_cast_to_void_pointer();
            if (type.what != kPointer) printf_conversion_does_not_suit_the_argument();
            if (!length.empty()) printf_length_modifier_does_not_suit_the_argument();
            return;
        case 'a':
        case 'A':
        case 'e':
        case 'E':
        case 'f':
        case 'F':
        case 'g':
        case 'G':
            if (type.what != kFloat) printf_conversion_does_not_suit_the_argument();
            if (!(type.is_long_double ? length == "L" : is_length(length, {"", "l"})))
                printf_length_modifier_does_not_suit_the_argument();
            return;
        default:
            printf_has_an_unknown_conversion();
    }
}

// `most` gets the limits of the arguments' texts; whether there is any.
template <class... Ts>
consteval bool check_percent(std::string_view text, int* most) {
    constexpr std::size_t count = sizeof...(Ts);
    constexpr PercentType types[count + 1] = {percent_type<Ts>()..., {}};
    bool is_any = false;
    std::size_t next = 0, at = 0;
    const auto peek = [&] {
        if (at >= text.size()) printf_ends_within_a_conversion();
        return text[at];
    };
    const auto take = [&] {
        if (next >= count) printf_has_more_conversions_than_arguments();
        return types[next++];
    };
    const auto amount = [&] {
        int value = 0;
        if (peek() == '*') {
            ++at;
            const PercentType type = take();
            if (type.what != PercentType::kInteger || type.size > 4) printf_width_or_precision_wants_an_int();
            return kAsBefore;
        }
        for (; peek() >= '0' && peek() <= '9'; ++at) {
            value = value * 10 + (peek() - '0');
            if (value > 1000) printf_width_or_precision_exceeds_1000();
        }
        if (peek() == '$') printf_positional_arguments_are_not_supported();
        return value;
    };
    while (at < text.size()) {
        if (text[at++] != '%') continue;
        if (peek() == '%') {
            ++at;
            continue;
        }
        while (std::string_view("-+ #0").find(peek()) != std::string_view::npos) ++at;
        amount();
        int precision = kWhole;
        if (peek() == '.') {
            ++at;
            precision = amount();
        }
        const std::size_t length = at;
        while (std::string_view("hljztL").find(peek()) != std::string_view::npos) ++at;
        const std::string_view modifier = text.substr(length, at - length);
        const char conversion = peek();
        ++at;
        if (std::string_view("diuoxXcspaAeEfFgG").find(conversion) == std::string_view::npos)
            printf_has_an_unknown_conversion();
        check_conversion(conversion, modifier, take());
        if (conversion == 's' && precision != kWhole) {
            most[next - 1] = precision;
            is_any = true;
        }
    }
    if (next != count) printf_has_fewer_conversions_than_arguments();
    return is_any;
}

// A literal that was checked against the arguments' types.
template <class... Ts>
struct SP_DETAIL_VISIBLE Percent {
    std::string_view text;
    bool is_bounded;
    int most[sizeof...(Ts) + 1];
    template <std::size_t Length>
    consteval Percent(const char (&literal)[Length]) : text(literal, Length - 1) {
        for (int& one : most) one = kWhole;
        is_bounded = check_percent<Ts...>(text, most);
    }
};

// An argument that is read only as far as its conversion wants: text behind a pointer then need not end with
// a zero (`%.4s`, `%.*s`).
template <class T>
SP_DETAIL_HOT decltype(auto) bounded(const T& arg, [[maybe_unused]] int most, [[maybe_unused]] int before) {
    if constexpr (percent_type<T>().what == PercentType::kTextPointer) {
        using Char = std::remove_cv_t<std::remove_pointer_t<T>>;
        if (most == kAsBefore) most = before;
        // A negative precision counts as none.
        if (arg == nullptr || most < 0) {
            const auto whole = measure<Char>(arg);
            return std::basic_string_view<Char>(whole.data, whole.size);
        }
        std::size_t size = 0;
        while (size < static_cast<std::size_t>(most) && arg[size] != 0) ++size;
        return std::basic_string_view<Char>(arg, size);
    } else {
        return arg;
    }
}

template <class T>
SP_DETAIL_HOT int amount_of([[maybe_unused]] const T& arg) {
    if constexpr (std::is_convertible_v<const T&, int> && percent_type<T>().what == PercentType::kInteger) {
        return static_cast<int>(arg);
    } else {
        return kWhole;
    }
}

struct SP_DETAIL_VISIBLE StartPercent {
    StreamSite& site;

    SP_DETAIL_HOT Done operator()(Percent<> text) const { return put<>(text); }
    template <class Before, class T>
    SP_DETAIL_HOT Done operator()(typename Given<Before, T>::template Text<Percent> text,
                                  const Given<Before, T>& given) const {
        with_given(given, [&](const auto&... args) SP_DETAIL_HOT_LAMBDA { put(text, args...); });
        return {};
    }

  private:
    template <class... Ts>
    SP_DETAIL_HOT Done put(const Percent<std::type_identity_t<Ts>...>& text, const Ts&... args) const {
        if constexpr ((kMayBeBounded<Ts> || ...)) {
            if (text.is_bounded) {
                [&]<std::size_t... Index>(std::index_sequence<Index...>) SP_DETAIL_HOT_LAMBDA {
                    const int amounts[] = {kWhole, amount_of(args)...};
                    record(site.site, Kind::kPercent, {}, text.text,
                           bounded(args, text.most[Index], amounts[Index])...);
                }(std::index_sequence_for<Ts...>());
                return {};
            }
        }
        record(site.site, Kind::kPercent, {}, text.text, args...);
        return {};
    }

    template <class T>
    static constexpr bool kMayBeBounded = percent_type<T>().what == PercentType::kTextPointer;
};

SP_DETAIL_END

#define SP_DETAIL_PERCENT(level, ...)                                                                    \
    for (void* sp_site_ = SP_DETAIL_ON(level, kPercent, "", SP_DETAIL_FIRST(__VA_ARGS__, ""));           \
         sp_site_ != nullptr; sp_site_ = nullptr)                                                        \
    ::silverpoint::detail::Sink{} & SP_DETAIL_START_PERCENT(sp_site_, SP_DETAIL_FIRST(__VA_ARGS__, ""))( \
                                        SP_DETAIL_TEXT_GIVEN(__VA_ARGS__))

#define SP_TRACEF(...) SP_DETAIL_PERCENT(trace, __VA_ARGS__)
#define SP_DEBUGF(...) SP_DETAIL_PERCENT(debug, __VA_ARGS__)
#define SP_INFOF(...) SP_DETAIL_PERCENT(info, __VA_ARGS__)
#define SP_WARNF(...) SP_DETAIL_PERCENT(warn, __VA_ARGS__)
#define SP_ERRORF(...) SP_DETAIL_PERCENT(error, __VA_ARGS__)
#define SP_FATALF(...) SP_DETAIL_PERCENT(fatal, __VA_ARGS__)
