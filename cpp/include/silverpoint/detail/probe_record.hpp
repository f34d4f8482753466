// Records that a system tracer may want (probe.hpp): an event for it, and the record if the site is on.
#pragma once

#include "record.hpp"

SP_DETAIL_BEGIN

// What a span holds instead of its ticks if a tracer may want its end; the second: there is a record, too.
inline constexpr std::uint64_t kProbedSpan = std::uint64_t{1} << 63, kRecordedSpan = std::uint64_t{1} << 62;

// Writes the event of each tracer that wants it, or that of its end. It has the fields of the scopes that are
// open in this thread.
SP_DETAIL_COLD void write_probe(const ProbeEvent& event, bool is_end, const char* bytes, std::size_t size,
                                bool is_cut, void* caller) {
    const SystemGuard guard;
    ProbeRecord record{reinterpret_cast<const unsigned char*>(bytes), size, nullptr, 0, caller, is_cut};
    Lane* const lane = tls_lane;
    if (lane != &empty_lane && thread_of(lane)->magic == kThreadMagic) {
        // A signal handler only adds to them, and takes that away.
        const Contexts& contexts = thread_of(lane)->contexts;
        if (contexts.state() != 0 && !contexts.is_busy()) {
            record.context = reinterpret_cast<const unsigned char*>(contexts.pairs());
            record.context_size = contexts.size();
        }
    }
    event.each_wanted(is_end, [&record](const ProbeEvent& wanted) { wanted.write(&wanted, &record); });
}

// (Not cold: that would be compiled for size, and copy byte by byte.)
template <class... Ts>
[[gnu::noinline]] std::uint64_t record_probed_flat(const Entry& entry, std::uint64_t head, const Site& site,
                                                   typename Passed<Ts>::type... args) {
    const ProbeEvent* const event = probe_event(site.entry.load(std::memory_order_relaxed));
    const bool is_span = (head & kProbedSpanHead) != 0;
    std::uint64_t began = is_span ? session.now() : 1;
    const std::size_t size = Fields<Ts...>::size(args...);
    // Before the record, which may have to wait for room.
    if (event != nullptr && event->is_wanted_by_any(false) && size <= kRecordMax) {
        Scratch scratch;
        if (char* const out = scratch.fit(scratch.begin(), size)) {
            Fields<Ts...>::put(out, args...);
            write_probe(*event, false, out, size, (head & kTruncated) != 0, __builtin_return_address(0));
        }
    }
    std::uint64_t ticks = 0;
    if (site.records())
        ticks = record_flat_slowly<Ts...>(entry, head & ~(kProbedHead | kProbedSpanHead), site, args...);
    if (!is_span) return ticks != 0 ? ticks : began;
    return kProbedSpan | (ticks != 0 ? kRecordedSpan | ticks : began);
}

template <class... Ts>
[[gnu::noinline]] std::uint64_t record_probed(std::uint64_t head, const Site& site,
                                              typename Passed<Ts>::type... args) {
    if constexpr ((CutBefore<Ts>::kMayBe || ...)) {
        if ((CutBefore<Ts>::is_cut(args) || ...)) head |= kTruncated;
    }
    const Entry entry{nullptr, stack_mark(__builtin_frame_address(0))};
    if constexpr (!(kIsFlat<Ts> && ...)) {
        return with_evaluated<Ts...>(
            entry,
            [&]<class... Es>(bool cut, const Es&... all) {
                return record_probed_flat<Es...>(entry, cut ? head | kTruncated : head, site, all...);
            },
            args...);
    } else {
        return record_probed_flat<Ts...>(entry, head, site, args...);
    }
}

// Nanoseconds for a number of the session's ticks; where their rate is not stated, by its first anchor and
// now.
SP_DETAIL_COLD std::uint64_t ns_of_ticks(std::uint64_t ticks) {
    if (session.source == kMonotonic) return ticks;
    auto rate = static_cast<double>(session.plain<std::uint64_t>(at::kTicksPerSecond)) / 1e9;
    if (rate == 0) {
        const auto* anchor = reinterpret_cast<const Long*>(session.control + session.anchors_at);
        const std::uint64_t before = anchor[0].load(std::memory_order_relaxed),
                            then = anchor[1].load(std::memory_order_relaxed);
        const std::uint64_t passed = clock_ns(CLOCK_MONOTONIC) - then;
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
    if (event != nullptr && event->is_wanted_by_any(true)) {
        const std::uint64_t ns = ns_of_ticks(duration);
        write_probe(*event, true, reinterpret_cast<const char*>(&ns), sizeof ns, false,
                    __builtin_return_address(0));
    }
    if ((held & kRecordedSpan) != 0)
        record_slowly<std::uint32_t, std::uint64_t>(nullptr, head, site, site.id(), began);
}

SP_DETAIL_END
