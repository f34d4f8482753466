// What sites and the libraries of system tracers have in common (spec/wire.md, section 3.7).
#pragma once

#include <atomic>

#include "layout.hpp"

SP_DETAIL_BEGIN

// What an event is written from. Valid until the event is written.
struct ProbeRecord {
    // Arguments as in a record.
    const unsigned char* bytes;
    std::size_t size;
    // Fields of the scopes that are open in the thread: pairs of CBOR items, the outermost scope's first.
    const unsigned char* context;
    std::size_t context_size;
    // An address in the program.
    void* caller;
    // The record would be marked as truncated.
    bool is_cut;
};
// That of the end of a span: the duration, and what `ProbeEvent::begun` got.
struct ProbeSpanEnd : ProbeRecord {
    std::uint64_t began;
};

// An event of a tracer. It lies in the memory of the process for ever, its address in the site's entry in the
// session: all copies and languages use it.
struct ProbeEvent {
    static constexpr std::uint64_t kMagic = 0x3445424F52505053;  // "SPPROBE4"
    std::uint64_t magic;
    // Not 0: a tracer wants it.
    const int* state;
    void (*write)(const ProbeEvent* event, const ProbeRecord* record);
    // Of a span: its end, with the duration in ns (u64), of a ProbeSpanEnd. Of the begin of an async span:
    // its end, once that is known. Else null.
    const ProbeEvent* end;
    // The site's event of another tracer, or null. It may come later.
    const ProbeEvent* next;
    // Its bit in `probes_asked`. A tracer may want an event that the program is not asked for any more.
    std::uint32_t tracer;
    // Null, or called behind the begin of a span, in its thread, wanted or not. The end, which may come in
    // another thread, has the same ticks. Those of spans of one thread differ.
    void (*begun)(const ProbeEvent* event, std::uint64_t ticks) = nullptr;

    const ProbeEvent* following() const { return SP_DETAIL_LOAD_ACQUIRE(&next); }
    bool is_wanted() const { return SP_DETAIL_LOAD_RELAXED(state) != 0; }
    // Calls `use` with each tracer's event, or that of its end, if the tracer wants it.
    template <class Use>
    void each_wanted(bool is_end, const Use& use) const {
        for (const ProbeEvent* event = this; event != nullptr; event = event->following()) {
            const ProbeEvent* const found = is_end ? SP_DETAIL_LOAD_ACQUIRE(&event->end) : event;
            if (found != nullptr && found->is_wanted()) use(*found);
        }
    }
    // Whether any tracer of these wants it.
    bool is_wanted_by_any(std::uint32_t tracers, bool is_end) const {
        bool is_any = false;
        each_wanted(is_end, [&](const ProbeEvent& event) { is_any |= (event.tracer & tracers) != 0; });
        return is_any;
    }
};

// What a traced_head has.
SP_DETAIL_HOT const ProbeEvent* traced_event(std::uint64_t head) {
    return reinterpret_cast<const ProbeEvent*>(static_cast<std::uintptr_t>(head << 8 >> 8));
}

// No tracer is asked for from a site any more, except for those among `but_for`: it costs what it costs
// without tracers.
inline void stop_probing(const std::atomic<std::uint32_t>& asked, std::atomic<std::uint8_t>& state,
                         std::uint32_t but_for) {
    if ((asked.load(std::memory_order_seq_cst) & ~but_for) != 0) return;
    state.fetch_and(static_cast<std::uint8_t>(~(kProbedBit | kQuietBits)), std::memory_order_seq_cst);
    // A controller has asked meanwhile: its bit stays.
    if ((asked.load(std::memory_order_seq_cst) & ~but_for) != 0)
        state.fetch_or(kProbedBit, std::memory_order_seq_cst);
}

// Nothing asks for a tracer that cannot be fed, in the session whose control file is mapped at `control`. Its
// first `count` sites are backed.
inline void stop_asking(char* control, std::uint64_t states_at, std::uint32_t count, std::uint32_t tracer) {
    Word& asked = header_of(control).probes_asked;
    auto* const states = reinterpret_cast<std::atomic<std::uint8_t>*>(control + states_at);
    if ((asked.fetch_and(~tracer, std::memory_order_seq_cst) & ~tracer) != 0) return;
    for (std::uint32_t site = 0; site < count; ++site) stop_probing(asked, states[site], 0);
}

// A library that makes events of sites for a tracer. Those of this system: platform/tracers.hpp.
struct ProbeLibrary {
    std::uint32_t bit;
    const char* asked;     // in SILVERPOINT_PROBES
    const char* receiver;  // in messages
    const char* variable;  // names its file
    const char* file;
    const char* package;  // what is to be installed
    const char* function;
};

SP_DETAIL_END
