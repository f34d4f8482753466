// Debug output: a text becomes a record, as OutputDebugString would show it.
//
//     silverpoint::debug_output("loaded\n");
//     silverpoint::debug_output(L"geladen\n");
//
// The record has the category `debug_output`, the level debug, the template `{}`, and the text. Wide text is
// recorded as it is: UTF-16 or UTF-32, by its type. A null pointer is an empty text. Each call is a site of
// its own, so directives switch it by category, file or line. There is no exception, no kernel object and no
// wait for a monitor.
//
// On Windows a debugger gets the text by OutputDebugString itself. A monitor such as DebugView gets it from a
// thread of ours. The directives have no say in that.
#pragma once

#include <string_view>

#include "detail/call_site.hpp"
#include "platform/debug_delivery.hpp"
#include "silverpoint.hpp"

SP_DETAIL_BEGIN

inline constexpr const char kDebugOutput[] = "debug_output";

template <class T, class Char>
concept TextOf = std::is_null_pointer_v<T> || std::convertible_to<const T&, std::basic_string_view<Char>>;
template <class T>
concept DebugText =
    TextOf<T, char> || TextOf<T, wchar_t> || TextOf<T, char8_t> || TextOf<T, char16_t> || TextOf<T, char32_t>;

template <class Char, class T>
SP_DETAIL_HOT std::basic_string_view<Char> viewed_as([[maybe_unused]] const T& text) {
    if constexpr (std::is_null_pointer_v<T>) {
        return {};
    } else {
        if constexpr (std::is_pointer_v<T>) {
            if (text == nullptr) return {};
        }
        return text;
    }
}
// Of the characters of the text.
template <DebugText T>
SP_DETAIL_HOT auto debug_text(const T& text) {
    if constexpr (TextOf<T, char>)
        return viewed_as<char>(text);
    else if constexpr (TextOf<T, wchar_t>)
        return viewed_as<wchar_t>(text);
    else if constexpr (TextOf<T, char8_t>)
        return viewed_as<char8_t>(text);
    else if constexpr (TextOf<T, char16_t>)
        return viewed_as<char16_t>(text);
    else
        return viewed_as<char32_t>(text);
}

SP_DETAIL_END

namespace silverpoint {
inline namespace v1 SP_DETAIL_HIDDEN {

// Thread-safe: any thread. Cost: a record with the text. On Windows a debugger gets it at the call, and a
// monitor by a copy in a queue.
template <detail::DebugText T, class Tag = SP_DETAIL_THIS_CALL>
SP_DETAIL_HOT void debug_output(const T& text,
                                const std::source_location& at = std::source_location::current()) {
    const auto shown = detail::debug_text(text);
    const bool is_recorded = detail::record_call<true>(detail::call_site<Tag>(), detail::kDebugOutput,
                                                       Level::kDebug, "{}", at, shown);
    detail::deliver_debug_text(shown, is_recorded);
}

}  // namespace SP_DETAIL_HIDDEN
}  // namespace silverpoint
