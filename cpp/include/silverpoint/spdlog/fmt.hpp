// The library fmt, if it is installed, as spdlog brings it. No library needs to be linked, unless the program
// has chosen otherwise (SPDLOG_FMT_EXTERNAL, FMT_SHARED, or fmt's headers before this one). If fmt is
// missing: the few names of it that programs written for spdlog use most.
#pragma once

#include <source_location>
#include <string>
#include <string_view>

#include "../detail/call_site.hpp"
#include "../logger.h"

#if __has_include(<fmt/format.h>)
#    if !defined(FMT_VERSION) && !defined(FMT_HEADER_ONLY) && !defined(SPDLOG_FMT_EXTERNAL) && \
        !defined(FMT_SHARED)
#        define FMT_HEADER_ONLY
#    endif
#    include <fmt/format.h>
#    if FMT_VERSION >= 90000
#        define SP_SPDLOG_HAS_FMT 1
#    endif
#endif
#ifndef SP_SPDLOG_HAS_FMT
#    define SP_SPDLOG_HAS_FMT 0
#endif

namespace spdlog {

// The text of a template with arguments, by the library; templates and values as they are recorded.
template <class... Ts>
std::string message_of_(std::string_view text, const Ts&... args) {
    std::string packed(256, '\0');
    std::size_t used = 0;
    bool is_whole = true;
    constexpr std::size_t kMost = 4u << 20;
    const auto add = [&]<class T>(const T& value) {
        for (;;) {
            silverpoint::detail::Bound room{packed.data() + packed.size() - 8};
            char* const to = silverpoint::detail::Within<T>::put(room, packed.data() + used, value);
            if (to != nullptr) {
                used = static_cast<std::size_t>(to - packed.data());
                return;
            }
            // More than any record has, or a value that cannot be packed.
            if (packed.size() > kMost) {
                is_whole = false;
                return;
            }
            packed.resize(packed.size() * 2);
        }
    };
    (add(silverpoint::detail::Capture<Ts>::of(args)), ...);
    if (!is_whole) return std::string(text);
    constexpr std::string_view signature = silverpoint::detail::Captured<Ts...>::text;
    const std::size_t size = (used + 7) & ~std::size_t{7};
    packed.replace(used, size - used, size - used, '\0');
    std::string made(text.size() + 64, '\0');
    for (;;) {
        const std::size_t whole = silverpoint_format(
            {text.data(), text.size()}, {signature.data(), signature.size()},
            reinterpret_cast<const unsigned char*>(packed.data()), size, made.data(), made.size());
        const bool is_there = whole <= made.size();
        made.resize(whole);
        if (is_there) return made;
    }
}

}  // namespace spdlog

#if SP_SPDLOG_HAS_FMT

namespace spdlog {
namespace fmt_lib = ::fmt;
template <class... Ts>
using format_string_t = ::fmt::format_string<Ts...>;
using runtime_text_t_ = decltype(::fmt::runtime(::fmt::string_view()));
}  // namespace spdlog

#else

namespace spdlog {
namespace fmt_lib {

struct runtime_text_t {
    std::string_view str;
};
// Thread-safe: any thread. Cost: none.
inline runtime_text_t runtime(std::string_view text) { return {text}; }

// Checked at compile time.
// Thread-safe: any thread may read it. Cost: none; the check is the compiler's.
template <class... Ts>
struct checked_text {
    std::string_view text;
    template <class S>
        requires std::convertible_to<const S&, std::string_view>
    consteval checked_text(const S& literal) : text(literal) {
        silverpoint::detail::check_template<Ts...>(text);
    }
};
template <class... Ts>
using format_string = checked_text<std::type_identity_t<std::remove_cvref_t<Ts> >...>;
// Thread-safe: any thread. Cost: formats, and allocates.
template <class... Ts>
std::string format(format_string<Ts...> text, Ts&&... args) {
    return message_of_(text.text, std::as_const(args)...);
}
template <class Out, class... Ts>
Out format_to(Out out, format_string<Ts...> text, Ts&&... args) {
    for (const char c : message_of_(text.text, std::as_const(args)...)) *out++ = c;
    return out;
}
template <class T>
std::string to_string(const T& value) {
    return message_of_("{}", value);
}
// Thread-safe: one thread at a time. Cost: that of a std::string.
template <class Char, std::size_t = 500>
class basic_memory_buffer : public std::basic_string<Char> {
  public:
    using std::basic_string<Char>::append;
    void append(const Char* begin, const Char* end) { std::basic_string<Char>::append(begin, end); }
};
using memory_buffer = basic_memory_buffer<char>;

// Elements one after the other, with a text between them.
// Thread-safe: any thread. Cost: formats each element, and allocates.
template <class Iterator, class End>
std::string join(Iterator at, End end, std::string_view between) {
    std::string all;
    for (bool is_first = true; at != end; ++at, is_first = false)
        all.append(is_first ? std::string_view() : between).append(message_of_("{}", *at));
    return all;
}
template <class Range>
std::string join(const Range& range, std::string_view between) {
    return join(std::begin(range), std::end(range), between);
}

}  // namespace fmt_lib
template <class... Ts>
using format_string_t = fmt_lib::format_string<Ts...>;
using runtime_text_t_ = fmt_lib::runtime_text_t;
}  // namespace spdlog

namespace fmt = spdlog::fmt_lib;

#endif
