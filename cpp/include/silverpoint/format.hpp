// Functions instead of macros, like std::format.
//
//     silverpoint::info("order {} at {:.2f}", id, px);          trace, debug, info, warn, error, fatal
//     silverpoint::info("no placeholders: {} stays");           a literal alone is text, braces included
//     silverpoint::info(message);                               a message that was made elsewhere
//
// The text is checked at compile time, and arguments are recorded with their types. Each call is a site of
// its own, with its file and line. It does what SP_INFO("order {} at {:.2f}", id, px) does. The differences:
// arguments are always evaluated; the category is empty; the levels cannot be compiled out.
// `silverpoint sites` does not list a call before it has run. While it is off it costs three loads and two
// branches; on, one load and two comparisons more than the macro.
#pragma once

#include "detail/call_site.hpp"
#include "silverpoint.hpp"

#define SP_DETAIL_LEVEL_FUNCTION(name, level)                                                               \
    template <class... Ts, class Tag = SP_DETAIL_THIS_CALL>                                                 \
        requires(sizeof...(Ts) > 0)                                                                         \
    SP_DETAIL_HOT void name(detail::TextAt<std::type_identity_t<Ts>...> text, const Ts&... args) {          \
        detail::record_call<true>(detail::call_site<Tag>(), "", Level::level, text.text, text.at, args...); \
    }                                                                                                       \
    template <class Tag = SP_DETAIL_THIS_CALL>                                                              \
    SP_DETAIL_HOT void name(detail::PlainAt text) {                                                         \
        detail::record_plain(detail::call_site<Tag>(), "", Level::level, text, true);                       \
    }                                                                                                       \
    template <class T, class Tag = SP_DETAIL_THIS_CALL>                                                     \
        requires detail::kIsMessage<T>                                                                      \
    SP_DETAIL_HOT void name(const T& message,                                                               \
                            const std::source_location& at = std::source_location::current()) {             \
        detail::record_call<true>(detail::call_site<Tag>(), "", Level::level, "{}", at, message);           \
    }

namespace silverpoint {
inline namespace v1 SP_DETAIL_HIDDEN {

SP_DETAIL_LEVEL_FUNCTION(trace, kTrace)
SP_DETAIL_LEVEL_FUNCTION(debug, kDebug)
SP_DETAIL_LEVEL_FUNCTION(info, kInfo)
SP_DETAIL_LEVEL_FUNCTION(warn, kWarn)
SP_DETAIL_LEVEL_FUNCTION(error, kError)
SP_DETAIL_LEVEL_FUNCTION(fatal, kFatal)

}  // namespace SP_DETAIL_HIDDEN
}  // namespace silverpoint

#undef SP_DETAIL_LEVEL_FUNCTION
