// The printf forms of qDebug(). Arguments keep their types if the text is a literal whose conversions mean
// here the same as for QString::vasprintf. Otherwise the text is recorded that it makes.
#pragma once

#include <cstdarg>

#include "../detail/percent.hpp"
#include "handler.hpp"
#include "stream.hpp"

SP_DETAIL_BEGIN

// As Qt does.
inline QString format_qt(const char* text, ...) {
    va_list args;
    va_start(args, text);
    const QString made = QString::vasprintf(text, args);
    va_end(args);
    return made;
}

// What passes through `...`: arrays as pointers, everything else as it is.
template <class T>
constexpr auto pass_qt(const T& value) {
    return value;
}
template <class T, std::size_t Length>
constexpr const T* pass_qt(const T (&value)[Length]) {
    return value;
}

// Whether arguments of these types may be recorded for a text. Its conversions may be d i u o x X c e E f F g
// G s, without `*`. Not allowed is what Qt handles differently from C: `h`, precisions of integers and texts,
// `#` of integers, signs of unsigned ones. Widths of texts are not allowed either (Qt counts characters).
template <class... Ts>
bool suits_qt(std::string_view text) {
    constexpr std::size_t count = sizeof...(Ts);
    constexpr PercentType types[count + 1] = {percent_type<Ts>()..., {}};
    const auto is_one_of = [&text](std::size_t at, std::string_view any) {
        return at < text.size() && any.find(text[at]) != std::string_view::npos;
    };
    std::size_t next = 0, at = 0;
    while (at < text.size()) {
        if (text[at++] != '%') continue;
        if (is_one_of(at, "%")) {
            ++at;
            continue;
        }
        bool has_sign = false, has_form = false;
        for (; is_one_of(at, "-+ #0"); ++at) {
            has_sign = has_sign || text[at] == '+' || text[at] == ' ';
            has_form = has_form || text[at] == '#';
        }
        std::size_t digits = at;
        while (is_one_of(at, "0123456789")) ++at;
        bool suits = at - digits < 4;
        const bool has_width = at > digits;
        const bool has_precision = is_one_of(at, ".");
        if (has_precision) digits = ++at;
        while (is_one_of(at, "0123456789")) ++at;
        suits = suits && at - digits < 4;
        const std::size_t length = at;
        while (is_one_of(at, "hljzt")) ++at;
        const std::string_view modifier = text.substr(length, at - length);
        if (!suits || next >= count || at >= text.size()) return false;
        const PercentType type = types[next++];
        const char conversion = text[at++];
        const bool is_long =
            modifier == "l" || modifier == "ll" || modifier == "z" || modifier == "j" || modifier == "t";
        if (is_one_of(at - 1, "diuoxX")) {
            if (type.what != PercentType::kInteger || (type.size == 8) != is_long || type.size > 8 ||
                has_precision || has_form || modifier.find('h') != std::string_view::npos ||
                (has_sign && !is_one_of(at - 1, "di")))
                return false;
        } else if (conversion == 'c') {
            if (type.what != PercentType::kInteger || type.size > 4 || !modifier.empty()) return false;
        } else if (conversion == 's') {
            if ((type.what != PercentType::kText && type.what != PercentType::kTextPointer) ||
                has_precision || has_width || !modifier.empty() || type.size != 1)
                return false;
        } else if (is_one_of(at - 1, "eEfFgG")) {
            if (type.what != PercentType::kFloat || type.is_long_double ||
                !(modifier.empty() || modifier == "l"))
                return false;
        } else {
            return false;
        }
    }
    return next == count;
}

// Values that Qt shows differently: no text, of which it shows nothing, and characters (look.hpp).
template <class T>
SP_DETAIL_HOT bool passes_alike([[maybe_unused]] const T& value) {
    if constexpr (std::same_as<T, char*> || std::same_as<T, const char*>) {
        return value != nullptr && shows_alike(static_cast<const char*>(value));
    } else if constexpr (std::is_array_v<T> &&
                         std::same_as<std::remove_cv_t<std::remove_extent_t<T>>, char>) {
        return shows_alike(static_cast<const char*>(value));
    } else if constexpr (ShowsOtherwise<T> && std::is_arithmetic_v<T>) {
        return shows_alike(value);
    } else {
        return true;
    }
}

// A floating-point number that Qt rounds: a value in the middle away from zero; zero has no sign.
struct QtRounded {
    double value;
};
template <>
struct Codec<QtRounded> {
    static constexpr bool kIsFlat = true;
    static constexpr std::size_t fixed = sizeof(double);
    static constexpr void sign(Signer& out) { out.add("@notation=qdebug;d"); }
    static constexpr std::size_t size(const QtRounded&) { return fixed; }
    SP_DETAIL_HOT static char* put(char* out, const QtRounded& of) { return put_bytes(out, of.value); }
};
// The recorded form of an argument: numbers and characters as they are passed.
template <class T>
SP_DETAIL_HOT const T& as_qt_takes(const T& value) {
    return value;
}
template <Character T>
SP_DETAIL_HOT auto as_qt_takes(const T& value) {
    return +value;
}
SP_DETAIL_HOT QtRounded as_qt_takes(const double& value) { return {value}; }
SP_DETAIL_HOT QtRounded as_qt_takes(const float& value) { return {static_cast<double>(value)}; }
template <class T>
using QtPercentOf = std::remove_cvref_t<decltype(as_qt_takes(std::declval<const T&>()))>;

// (By value: by reference the compiler would lose the length of a literal.)
template <class... Ts>
SP_DETAIL_COLD void record_unusual_qt_percent(QtPlace& place, const char* text, Ts... args) {
    StreamSite& site = place.site;
    const bool is_complete = complete_qt(place, &kQtShape<Ts...>, [&] {
        if (!is_read_only(text) || !is_utf8_for_qt(text) || !suits_qt<Ts...>(text)) return false;
        site.literals[0].store(text, std::memory_order_relaxed);
        return complete_site<QtPercentOf<Ts>...>(site.site, Kind::kPercent, {}, text) != 0;
    });
    if (is_complete && site.literals[0].load(std::memory_order_relaxed) == text &&
        (passes_alike(args) && ...)) {
        record(site.site, Kind::kPercent, {}, text, as_qt_takes(args)...);
    } else {
        record_qt_whole(site, format_qt(text, pass_qt(args)...));
    }
}

template <class... Ts>
SP_DETAIL_HOT void record_qt_percent(QtPlace& place, const char* text, const Ts&... args) {
    StreamSite& site = place.site;
    if (place.shape.load(std::memory_order_acquire) == &kQtShape<Ts...> &&
        site.literals[0].load(std::memory_order_relaxed) == text && (passes_alike(args) && ...)) [[likely]] {
        record(site.site, Kind::kPercent, {}, text, as_qt_takes(args)...);
    } else {
        record_unusual_qt_percent<Ts...>(place, text, args...);
    }
}

SP_DETAIL_END
