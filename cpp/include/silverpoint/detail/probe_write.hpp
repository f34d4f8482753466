// How a tracepoint writes its events for system tracers (probe.hpp), from arguments that are packed.
#pragma once

#include "refill.hpp"
#include "site.hpp"

SP_DETAIL_BEGIN

// What a span holds instead of its ticks if a tracer may want its end; the second: there is a record, too.
inline constexpr std::uint64_t kProbedSpan = std::uint64_t{1} << 63, kRecordedSpan = std::uint64_t{1} << 62;

// Instead of the head of a record that a system tracer may want, and of such a span (probe_record.hpp).
inline constexpr std::uint64_t kProbedHead = std::uint64_t{1} << 63, kProbedSpanHead = std::uint64_t{1} << 62;
// With the first: just now the site's first tracer wanted it, and no other was asked for; and the ring did,
// too.
inline constexpr std::uint64_t kKnownHead = std::uint64_t{1} << 61, kRingHead = std::uint64_t{1} << 60;
constexpr std::uint64_t probed_mark(Kind kind) {
    return kProbedHead | (kind == Kind::kSpan ? kProbedSpanHead : 0);
}
// The same of a site whose head is a traced_head.
constexpr std::uint64_t known_mark(Kind kind, std::uint64_t head) {
    return probed_mark(kind) | kKnownHead | ((traced_state(head) & 1) != 0 ? kRingHead : 0);
}

// No mark has this bit. A traced_head has it, since its state byte has no kQuietBits.
inline constexpr std::uint64_t kTracedHead = std::uint64_t{kQuietBits & -kQuietBits} << 56;
static_assert((traced_head(kProbedBit | 1, 0) & kTracedHead) != 0);

// What an event is written from. It has the fields of the scopes that are open in this thread.
SP_DETAIL_HOT ProbeRecord probe_record(const char* bytes, std::size_t size, bool is_cut, void* caller) {
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
    return record;
}
// Writes the event of each tracer that wants it, or that of its end.
inline void write_wanted(const ProbeEvent& event, bool is_end, const ProbeRecord& record) {
    event.each_wanted(is_end, [&record](const ProbeEvent& wanted) { wanted.write(&wanted, &record); });
}
// Of a site whose first event alone was wanted before the arguments were evaluated, which had this
// traced_head.
SP_DETAIL_HOT void write_known(std::uint64_t head, const ProbeRecord& record) {
    const ProbeEvent* const event = traced_event(head);
    event->write(event, &record);
}
// The events of one execution of a site. Returns whether the ring wants its record, too.
SP_DETAIL_NOINLINE inline bool write_probe(std::uint64_t head, const Site& site, const char* bytes,
                                           std::size_t size, void* caller) {
    const ProbeRecord record = probe_record(bytes, size, (head & kTruncated) != 0, caller);
    if ((head & kKnownHead) != 0) [[likely]] {
        // (Meanwhile no tracer may want it any more.)
        const std::uint64_t known = site.head.load(std::memory_order_acquire);
        if (static_cast<std::int64_t>(known) < 0) [[likely]]
            write_known(known, record);
        return (head & kRingHead) != 0;
    }
    if (const ProbeEvent* const event = probe_event(site.entry.load(std::memory_order_relaxed)))
        write_wanted(*event, false, record);
    return site.records();
}
// What a span holds whose begin was written at `began`, with its record's ticks, 0 if it has none. Tracers
// that know the span by that learn it.
SP_DETAIL_NOINLINE inline std::uint64_t hold_span(const Site& site, std::uint64_t ticks,
                                                  std::uint64_t began) {
    const std::uint64_t held = ticks != 0 ? ticks : began;
    const ProbeEvent* event =
        session.is_ready() ? probe_event(site.entry.load(std::memory_order_relaxed)) : nullptr;
    for (; event != nullptr; event = event->following())
        if (event->begun != nullptr) event->begun(event, held);
    return kProbedSpan | (ticks != 0 ? kRecordedSpan : 0) | held;
}

SP_DETAIL_END
