// What the tracepoints' macros expand to, with USDT probes (-DSILVERPOINT_USDT) or without. `found` is what
// SP_DETAIL_FOUND gives: null, or the place.
#pragma once

#ifndef SILVERPOINT_USDT

#    define SP_DETAIL_MARK(found, place) static_cast<void>(0)
#    define SP_DETAIL_UNTIL_END(found) (found)
#    define SP_DETAIL_SINK(found, category) \
        ::silverpoint::detail::Sink {}
#    define SP_DETAIL_START(found)                        \
        ::silverpoint::detail::Start {                    \
            { ::silverpoint::detail::stream_site(found) } \
        }
#    define SP_DETAIL_START_TO(found)                     \
        ::silverpoint::detail::StartTo {                  \
            { ::silverpoint::detail::stream_site(found) } \
        }
#    define SP_DETAIL_START_PERCENT(found, text) \
        ::silverpoint::detail::StartPercent { ::silverpoint::detail::stream_site(found) }
#    define SP_DETAIL_AT(found, category, text, list) at(list)
#    define SP_DETAIL_RECORD(found, kind, name, names, ...)                                 \
        ::silverpoint::detail::record_given(::silverpoint::detail::stream_site(found).site, \
                                            ::silverpoint::detail::Kind::kind, name, names, \
                                            SP_DETAIL_GIVEN(__VA_ARGS__))
#    define SP_DETAIL_RECORD_NAMED(found, kind, name, names, ...)                           \
        ::silverpoint::detail::record_named(::silverpoint::detail::stream_site(found).site, \
                                            ::silverpoint::detail::Kind::kind, name, names, __VA_ARGS__)
#    define SP_DETAIL_SPAN(name, found, ...)                                                                 \
        const ::silverpoint::Span SP_DETAIL_JOIN(sp_span_,                                                   \
                                                 __COUNTER__) = [&](void* sp_site_) -> ::silverpoint::Span { \
            if (sp_site_ == nullptr) return {};                                                              \
            return {::silverpoint::detail::stream_site(sp_site_).site,                                       \
                    SP_DETAIL_RECORD(sp_site_, kSpan, name, #__VA_ARGS__ __VA_OPT__(, ) __VA_ARGS__)};       \
        }(found)
#    define SP_DETAIL_SCOPE(found)                                                                         \
        const ::silverpoint::Span SP_DETAIL_JOIN(                                                          \
            sp_span_, __COUNTER__) = [](void* sp_site_, const char* sp_function_) -> ::silverpoint::Span { \
            if (sp_site_ == nullptr) return {};                                                            \
            return {::silverpoint::detail::stream_site(sp_site_).site,                                     \
                    ::silverpoint::detail::record_scope(::silverpoint::detail::stream_site(sp_site_).site, \
                                                        sp_function_)};                                    \
        }(found, SP_DETAIL_FUNCTION)
#    define SP_DETAIL_ASYNC_SPAN(found, name, source, id, given) \
        ::silverpoint::detail::begin_async_span(found, name, source, id, given)

#else

#    include "usdt.hpp"

// An object whose type gives the names of a probe.
#    define SP_DETAIL_USDT_NAMES(category, text, is) \
        SP_DETAIL_USDT_NAMES_OF(category, SP_DETAIL_KNOWN(text), is)
#    define SP_DETAIL_USDT_NAMES_OF(category, text, is)                                                 \
        __extension__({                                                                                 \
            constexpr const char* sp_usdt_category_ = category;                                         \
            constexpr const char* sp_usdt_text_ = text;                                                 \
            [] {                                                                                        \
                return ::silverpoint::detail::usdt_names(sp_usdt_category_, sp_usdt_text_,              \
                                                         ::silverpoint::detail::UsdtText::is, __FILE__, \
                                                         __LINE__);                                     \
            };                                                                                          \
        })
#    define SP_DETAIL_MARK(found, place)                            \
        if (::silverpoint::detail::usdt_is_attached()) [[unlikely]] \
        found = ::silverpoint::detail::usdt_mark(found, place)
#    define SP_DETAIL_UNTIL_END(found) \
        ::silverpoint::detail::usdt_held(SP_DETAIL_USDT_NAMES(SP_DETAIL_CATEGORY, "", kName), found)
#    define SP_DETAIL_SINK(found, category) \
        ::silverpoint::detail::usdt_sink(SP_DETAIL_USDT_NAMES(category, "", kName), found)
#    define SP_DETAIL_START(found) ::silverpoint::detail::usdt_start(found)
#    define SP_DETAIL_START_TO(found) ::silverpoint::detail::usdt_start_to(found)
#    define SP_DETAIL_START_PERCENT(found, text) \
        ::silverpoint::detail::usdt_percent(SP_DETAIL_USDT_NAMES(SP_DETAIL_CATEGORY, text, kPercent), found)
#    define SP_DETAIL_AT(found, category, text, list) at(list, SP_DETAIL_USDT_NAMES(category, text, kBraces))
#    define SP_DETAIL_RECORD(found, kind, name, names, ...)                                            \
        ::silverpoint::detail::usdt_record_given<::silverpoint::detail::usdt_part(                     \
            ::silverpoint::detail::Kind::kind)>(SP_DETAIL_USDT_NAMES(SP_DETAIL_CATEGORY, name, kName), \
                                                found, ::silverpoint::detail::Kind::kind, name, names, \
                                                SP_DETAIL_GIVEN(__VA_ARGS__))
#    define SP_DETAIL_RECORD_NAMED(found, kind, name, names, ...) \
        SP_DETAIL_RECORD(found, kind, name, names, __VA_ARGS__)
#    define SP_DETAIL_SPAN(name, found, ...)                                                               \
        const auto SP_DETAIL_JOIN(sp_span_, __COUNTER__) = [&](void* sp_site_) {                           \
            [[maybe_unused]] const auto sp_names_ = SP_DETAIL_USDT_NAMES(SP_DETAIL_CATEGORY, name, kName); \
            using SpSpan = ::silverpoint::detail::UsdtSpan<::std::remove_const_t<decltype(sp_names_)>>;    \
            if (sp_site_ == nullptr) return SpSpan{};                                                      \
            return SpSpan{sp_site_, name, #__VA_ARGS__, SP_DETAIL_GIVEN(__VA_ARGS__)};                     \
        }(found)
#    define SP_DETAIL_SCOPE(found)                                                                        \
        constexpr const char* SP_DETAIL_JOIN(sp_function_, __LINE__) = __PRETTY_FUNCTION__;               \
        const auto SP_DETAIL_JOIN(sp_span_, __COUNTER__) = [](void* sp_site_, const char* sp_function_) { \
            [[maybe_unused]] const auto sp_names_ = SP_DETAIL_USDT_NAMES_OF(                              \
                SP_DETAIL_CATEGORY, SP_DETAIL_JOIN(sp_function_, __LINE__), kFunction);                   \
            using SpSpan = ::silverpoint::detail::UsdtSpan<::std::remove_const_t<decltype(sp_names_)>>;   \
            if (sp_site_ == nullptr) return SpSpan{};                                                     \
            return SpSpan{sp_site_, sp_function_};                                                        \
        }(found, SP_DETAIL_JOIN(sp_function_, __LINE__))
#    define SP_DETAIL_ASYNC_SPAN(found, name, source, id, given)                                             \
        ::silverpoint::detail::usdt_async_span(SP_DETAIL_USDT_NAMES(SP_DETAIL_CATEGORY, name, kName), found, \
                                               name, source, id, given)

#endif
