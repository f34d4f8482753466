// Records that a system tracer may want (probe.hpp): an event for it, and the record if the site is on.
#pragma once

#include "packed_bytes.hpp"
#include "record.hpp"

SP_DETAIL_BEGIN

// The record that follows its events.
template <class... Ts>
SP_DETAIL_COLD std::uint64_t record_behind_probe(std::uint64_t head, const Site& site,
                                                 typename Passed<Ts>::type... args) {
    return record_slowly<Ts...>(nullptr, site.whole.load(std::memory_order_acquire) | (head & kTruncated),
                                site, args...);
}

// The record of arguments that were packed for the events. So few bytes have their room in every ring.
inline constexpr std::size_t kPackedEventMost = 512;
[[gnu::noinline]] inline std::uint64_t record_packed(std::uint64_t head, const Site& site, const char* bytes,
                                                     std::size_t size) {
    return record_captured(site.whole.load(std::memory_order_acquire) | (head & kTruncated), site,
                           PackedBytes{bytes, size});
}

// Arguments of so many bytes at most, if that is known, need no Scratch.
inline constexpr std::size_t kProbeBytes = 1024;

template <class T>
inline constexpr bool kIsPiece = false;
template <class T>
inline constexpr bool kIsPiece<Piece<T>> = true;
template <class First, class... Rest>
SP_DETAIL_HOT const First& first_of(const First& first, const Rest&...) {
    return first;
}

// Arrays of numbers lie in memory as in a record.
template <class T>
inline constexpr bool kLiesPacked = requires(const T& array) {
    requires ArrayLike<T> && !Described<T> && kIsSteady<T> && kIsPlain<typename T::value_type>;
    array.data();
};
template <class T, std::size_t Length>
inline constexpr bool kLiesPacked<T[Length]> =
    kIsPlain<std::remove_cv_t<T>> && !Character<std::remove_cv_t<T>>;

template <class... Ts>
SP_DETAIL_HOT std::uint64_t record_probed_flat(std::uint64_t head, const Site& site, void* caller,
                                               const Ts&... args) {
    constexpr std::size_t fixed = Fields<Ts...>::fixed_size();
    const bool is_span = (head & kProbedSpanHead) != 0;
    std::uint64_t began = 1;
    if (is_span) [[unlikely]]
        began = session.now();
    std::uint64_t ticks = 0;
    // Before the record, which may have to wait for room.
    const auto write = [&](const char* bytes, std::size_t size) {
        if (!write_probe(head, site, bytes, size, caller)) [[likely]]
            return;
        ticks = size <= kPackedEventMost ? record_packed(head, site, bytes, size)
                                         : record_behind_probe<Ts...>(head, site, args...);
    };
    if constexpr (fixed == 0) {
        write(nullptr, 0);
    } else if constexpr ((kIsPiece<Ts> && ...)) {
        // They lie one after the other.
        write(first_of(args...).data, Fields<Ts...>::size(args...));
    } else if constexpr (sizeof...(Ts) == 1 && (kLiesPacked<Ts> && ...)) {
        write(reinterpret_cast<const char*>(std::data(first_of(args...))), fixed);
    } else if constexpr (fixed <= kProbeBytes) {
        char bytes[fixed];
        Fields<Ts...>::put(bytes, args...);
        write(bytes, fixed);
    } else {
        const std::size_t size = Fields<Ts...>::size(args...);
        Scratch scratch;
        char* const out = size <= kRecordMax ? scratch.fit(scratch.begin(), size) : nullptr;
        if (out != nullptr) {
            Fields<Ts...>::put(out, args...);
            write(out, size);
        } else if (site.records()) {
            ticks = record_behind_probe<Ts...>(head, site, args...);
        }
    }
    if (!is_span) [[likely]]
        return ticks != 0 ? ticks : began;
    return hold_span(site, ticks, began);
}

// (Not cold: that would be compiled for size, and copy byte by byte.)
template <class... Ts>
[[gnu::noinline]] std::uint64_t record_probed(std::uint64_t head, const Site& site,
                                              typename Passed<Ts>::type... args) {
    if constexpr ((CutBefore<Ts>::kMayBe || ...)) {
        if ((CutBefore<Ts>::is_cut(args) || ...)) head |= kTruncated;
    }
    void* const caller = __builtin_return_address(0);
    if constexpr (!(kIsFlat<Ts> && ...)) {
        return with_evaluated<Ts...>(
            {nullptr, stack_mark(__builtin_frame_address(0))},
            [&]<class... Es>(bool cut, const Es&... all) {
                return record_probed_flat<Es...>(cut ? head | kTruncated : head, site, caller, all...);
            },
            args...);
    } else {
        return record_probed_flat<Ts...>(head, site, caller, args...);
    }
}

// Nanoseconds for a number of the session's ticks; where their rate is not stated, by its first anchor and
// now.
SP_DETAIL_COLD std::uint64_t ns_of_ticks(std::uint64_t ticks) {
    if (session.source == kMonotonic) return ticks;
    auto rate = static_cast<double>(session.header().ticks_per_second) / 1e9;
    if (rate == 0) {
        const auto* anchor = reinterpret_cast<const Long*>(session.control + session.anchors_at);
        const std::uint64_t before = anchor[0].load(std::memory_order_relaxed),
                            then = anchor[1].load(std::memory_order_relaxed);
        const std::uint64_t passed = monotonic_now() - then;
        if (passed == 0) return 0;
        rate = static_cast<double>(session.now() - before) / static_cast<double>(passed);
    }
    return static_cast<std::uint64_t>(static_cast<double>(ticks) / rate);
}

// The end of a span that a tracer may want; `head` is that of its record.
SP_DETAIL_COLD void end_probed_span(Site& site, std::uint64_t held, std::uint64_t head) {
    const std::uint64_t began = held & ~(kProbedSpan | kRecordedSpan);
    // The thread may have come to another processor, whose counter is some ticks behind.
    const std::uint64_t now = session.now();
    const std::uint64_t duration = now > began ? now - began : 0;
    // In a forked child without a session the event is the parent's (Site::is_wanted_otherwise).
    const ProbeEvent* const event = session.is_ready() || ensure_session()
                                        ? probe_event(site.entry.load(std::memory_order_relaxed))
                                        : nullptr;
    if (event != nullptr && event->is_wanted_by_any(~std::uint32_t{0}, true)) {
        const std::uint64_t ns = ns_of_ticks(duration);
        const auto* const bytes = reinterpret_cast<const char*>(&ns);
        write_wanted(*event, true,
                     ProbeSpanEnd{probe_record(bytes, sizeof ns, false, __builtin_return_address(0)), began});
    }
    if ((held & kRecordedSpan) != 0)
        record_slowly<std::uint32_t, std::uint64_t>(nullptr, head, site, site.id(), began);
}

SP_DETAIL_END
