// Arguments of spdlog's functions: templates, checked at compile time, and values. Values whose types
// Silverpoint records keep their types. Other types are recorded as text, by their fmt::formatter or their
// operator <<.
#pragma once

#include <sstream>
#include <thread>

#include "fmt.hpp"

namespace spdlog {

namespace sp_ = silverpoint::detail;

template <class T>
concept streamed_t_ = requires(std::ostream& out, const T& value) { out << value; };

#if SP_SPDLOG_HAS_FMT
template <class T>
concept formatted_t_ = fmt::is_formattable<T, char>::value;
// An enumeration with a formatter of the program's own is recorded by that.
template <class T>
inline constexpr bool has_own_formatter_ = std::is_enum_v<T> && fmt::has_formatter<T, fmt::format_context>();
#else
template <class T>
concept formatted_t_ = false;
template <class T>
inline constexpr bool has_own_formatter_ = false;
#endif

// Recorded as text.
template <class T>
concept foreign_t_ = (!sp_::Recordable<std::remove_cvref_t<T>> && (formatted_t_<T> || streamed_t_<T>)) ||
                     has_own_formatter_<std::remove_cvref_t<T>>;

// What the record has for an argument.
template <class T>
struct argument_t_ {
    using type = T;
    static const T& of(const T& value, std::string_view) { return value; }
};
template <foreign_t_ T>
struct argument_t_<T> {
    using type = std::string;
    static std::string of(const T& value, [[maybe_unused]] std::string_view spec) {
        if constexpr (formatted_t_<T>) {
#if SP_SPDLOG_HAS_FMT
            if (spec.empty()) return fmt::format(fmt::runtime("{}"), value);
            return fmt::format(fmt::runtime(std::string("{:").append(spec).append("}")), value);
#endif
        } else {
            std::ostringstream out;
            out << value;
            return std::move(out).str();
        }
    }
};

// What the template says of each argument, and whether fmt must format all of it. That is so for widths in
// arguments, names, or a specification that Silverpoint does not have.
template <std::size_t kCount>
struct parts_t_ {
    std::string_view specs[kCount + 1] = {};
    bool has_foreign_specs = false;
    bool is_whole = false;
};

constexpr std::size_t end_of_spec_(std::string_view text, std::size_t at) {
    for (int depth = 0; at < text.size(); ++at) {
        if (text[at] == '{') ++depth;
        if (text[at] == '}' && depth-- == 0) return at;
    }
    return std::string_view::npos;
}

template <class... Ts>
constexpr parts_t_<sizeof...(Ts)> parts_of_(std::string_view text) {
    constexpr std::size_t count = sizeof...(Ts);
    constexpr bool is_foreign[] = {foreign_t_<Ts>..., false};
    constexpr sp_::Shape shapes[] = {sp_::shape_of<Ts>()..., sp_::Shape::kOther};
    parts_t_<count> parts;
    std::size_t next = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '}') ++at;
        if (at >= text.size() || text[at] != '{') continue;
        if (++at < text.size() && text[at] == '{') continue;
        std::size_t index = 0, digits = 0;
        for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, ++digits)
            index = index * 10 + static_cast<std::size_t>(text[at] - '0');
        if (digits == 0) index = next++;
        const std::size_t end = end_of_spec_(text, at);
        if (end == std::string_view::npos || index >= count) return parts;  // the check reports it
        const std::string_view rest = text.substr(at, end - at);
        if (!rest.empty() && rest[0] != ':') parts.is_whole = true;
        if (rest.size() > 1) {
            const std::string_view spec = rest.substr(1);
            if (spec.find('{') != std::string_view::npos) parts.is_whole = true;
            if (is_foreign[index]) {
                parts.specs[index] = spec;
                parts.has_foreign_specs = true;
            } else if (!sp_::is_spec(text, at + 1, shapes[index])) {
                parts.is_whole = true;
            }
        }
        at = end;
    }
    return parts;
}

// The template without what stands after the colon for arguments that are recorded as text.
template <class... Ts>
std::string without_foreign_specs_(std::string_view text) {
    constexpr bool is_foreign[] = {foreign_t_<Ts>..., false};
    std::string out;
    std::size_t next = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        out += text[at];
        const bool is_double =
            (text[at] == '{' || text[at] == '}') && at + 1 < text.size() && text[at + 1] == text[at];
        if (is_double) out += text[++at];
        if (is_double || text[at] != '{') continue;
        std::size_t index = 0, digits = 0;
        for (++at; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, ++digits) {
            index = index * 10 + static_cast<std::size_t>(text[at] - '0');
            out += text[at];
        }
        if (digits == 0) index = next++;
        const std::size_t end = end_of_spec_(text, at);
        if (end == std::string_view::npos) return std::string(text);
        if (index >= sizeof...(Ts) || !is_foreign[index]) out.append(text, at, end - at);
        out += '}';
        at = end;
    }
    return out;
}

// A template that was checked against the arguments' types, and its place.
template <class... Ts>
struct text_at_ {
    std::string_view text;
    std::source_location at;
    parts_t_<sizeof...(Ts)> parts;

    template <class S>
        requires std::convertible_to<const S&, std::string_view>
    consteval text_at_(const S& literal, std::source_location where = std::source_location::current())
        : text(literal), at(where), parts(parts_of_<Ts...>(text)) {
        check();
    }
#if SP_SPDLOG_HAS_FMT
    consteval text_at_(fmt::string_view literal, std::source_location where = std::source_location::current())
        : text(literal.data(), literal.size()), at(where), parts(parts_of_<Ts...>(text)) {
        check();
    }
#endif

  private:
    consteval void check() const {
#if SP_SPDLOG_HAS_FMT
        if constexpr ((formatted_t_<Ts> && ...)) {
            if (parts.is_whole || parts.has_foreign_specs) {
                [[maybe_unused]] const fmt::format_string<std::decay_t<Ts>...> checked(
                    fmt::string_view(text.data(), text.size()));
                return;
            }
        }
#endif
        sp_::check_template<Ts...>(text);
    }
};

// A template that is known only when the program runs.
struct runtime_at_ {
    std::string_view text;
    std::source_location at;

    runtime_at_(const runtime_text_t_& of, std::source_location where = std::source_location::current())
        : text(of.str.data(), of.str.size()), at(where) {}
#if SP_SPDLOG_HAS_FMT
    template <class... Ts>
    runtime_at_(const fmt::basic_format_string<char, Ts...>& of,
                std::source_location where = std::source_location::current())
        : text(fmt::string_view(of).data(), fmt::string_view(of).size()), at(where) {}
#endif
};

#if SP_SPDLOG_HAS_FMT
template <class T>
inline constexpr bool is_runtime_ = std::same_as<T, runtime_text_t_>;
template <class... Ts>
inline constexpr bool is_runtime_<fmt::basic_format_string<char, Ts...>> = true;
#else
template <class T>
inline constexpr bool is_runtime_ = std::same_as<T, runtime_text_t_>;
#endif

// Logged alone, and neither a template nor a literal.
template <class T>
concept message_t_ = sp_::kIsMessage<T> && !is_runtime_<std::remove_cvref_t<T>>;

}  // namespace spdlog
