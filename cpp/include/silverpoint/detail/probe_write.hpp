// How a tracepoint writes its events for system tracers (probe.hpp), from arguments that are packed.
#pragma once

#include "refill.hpp"
#include "site.hpp"

SP_DETAIL_BEGIN

// Instead of the head of a record that a system tracer may want, and of such a span (probe_record.hpp).
inline constexpr std::uint64_t kProbedHead = std::uint64_t{1} << 63, kProbedSpanHead = std::uint64_t{1} << 62;
// With the first: just now a tracer wanted it, and the ring did not.
inline constexpr std::uint64_t kAloneHead = std::uint64_t{1} << 61;
constexpr std::uint64_t probed_mark(Kind kind) {
    return kProbedHead | (kind == Kind::kSpan ? kProbedSpanHead : 0);
}

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
// Of a site that feeds a tracer alone: its first event was wanted before the arguments were evaluated.
SP_DETAIL_HOT void write_alone(const Site& site, const ProbeRecord& record) {
    const ProbeEvent* const event = stored_probe_event(site.entry.load(std::memory_order_relaxed));
    if (event == nullptr) [[unlikely]]
        return;
    event->write(event, &record);
    if (event->next != nullptr) [[unlikely]]
        write_wanted(*event->next, false, record);
}
// The events of one execution of a site. Returns whether the ring wants its record, too.
[[gnu::noinline]] inline bool write_probe(std::uint64_t head, const Site& site, const char* bytes,
                                          std::size_t size, void* caller) {
    const ProbeRecord record = probe_record(bytes, size, (head & kTruncated) != 0, caller);
    if ((head & kAloneHead) != 0) [[likely]] {
        write_alone(site, record);
        return false;
    }
    if (const ProbeEvent* const event = probe_event(site.entry.load(std::memory_order_relaxed)))
        write_wanted(*event, false, record);
    return site.records();
}
// One without arguments, of a site that feeds a tracer alone and is no span's.
[[gnu::noinline]] inline std::uint64_t record_alone(const Site& site) {
    write_alone(site, probe_record(nullptr, 0, false, __builtin_return_address(0)));
    return 1;
}

SP_DETAIL_END
