// The USDT probes of ATrace's calls (spec/usdt.md, ATrace): one for each kind of call,
// `silverpoint:atrace_begin` and the like. Names of calls are known only when they are made, so no call has a
// probe of its own.
//
// Files with and without SILVERPOINT_USDT may be linked together: what asks is a part of its caller.
#pragma once

#include <cstdint>
#include <string_view>

#include "config.hpp"

#ifdef SILVERPOINT_USDT
#    include "usdt.hpp"
// A call of ATrace, which asks: it differs between these files.
#    define SP_DETAIL_ATRACE __attribute__((always_inline))
#else
#    define SP_DETAIL_ATRACE
#endif

SP_DETAIL_BEGIN

enum class AtraceProbe {
    kBegin,
    kEnd,
    kAsyncBegin,
    kAsyncEnd,
    kTrackBegin,
    kTrackEnd,
    kInstant,
    kTrackInstant,
    kCounter
};

#ifdef SILVERPOINT_USDT
inline constexpr const char* kAtraceProbes[] = {
    "atrace_begin",     "atrace_end",     "atrace_async_begin",   "atrace_async_end", "atrace_track_begin",
    "atrace_track_end", "atrace_instant", "atrace_track_instant", "atrace_counter"};

template <AtraceProbe kProbe>
SP_DETAIL_COLD void usdt_atrace(std::uint64_t tag, std::string_view name, std::int64_t number,
                                std::string_view track) {
    constexpr auto names = [] {
        return usdt_names("silverpoint", kAtraceProbes[static_cast<unsigned>(kProbe)], UsdtText::kName,
                          __FILE__, __LINE__);
    };
    usdt_hit<std::remove_const_t<decltype(names)>, UsdtPart::kWhole>(
        tag, usdt_address(name.data()), std::uint64_t{name.size()}, number, usdt_address(track.data()),
        std::uint64_t{track.size()});
}
#endif

// Whether a tracer is attached, in a file with probes.
SP_DETAIL_INLINE bool atrace_is_attached() {
#ifdef SILVERPOINT_USDT
    return usdt_is_attached();
#else
    return false;
#endif
}

// Hits the probe of a call while a tracer is attached. Gives whether one was.
template <AtraceProbe kProbe>
SP_DETAIL_INLINE bool hit_atrace([[maybe_unused]] std::uint64_t tag,
                                 [[maybe_unused]] std::string_view name = {},
                                 [[maybe_unused]] std::int64_t number = 0,
                                 [[maybe_unused]] std::string_view track = {}) {
#ifdef SILVERPOINT_USDT
    if (!usdt_is_attached()) [[likely]]
        return false;
    usdt_atrace<kProbe>(tag, name, number, track);
    return true;
#else
    return false;
#endif
}

SP_DETAIL_END
