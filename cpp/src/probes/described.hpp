// An event that describes itself, and how its parts are made of a record. A tracer's own file puts them
// together and writes them.
#pragma once

#include <silverpoint/detail/arena.hpp>

#include "activities.hpp"
#include "payload.hpp"
#include "scopes.hpp"

namespace silverpoint::probes {

// It is never freed.
struct DescribedEvent {
    ProbeEvent shared{};
    const int* enabled = nullptr;  // not 0: somebody listens
    std::string_view signature;
    std::size_t room = 0;  // for what may be cut
    Opcode opcode = kInformation;
    std::uint8_t level = 0;
    Activities activities = Activities::kNone;
    DescribedEvent* span = nullptr;  // the same of the begin and the end of a span
    int open = 0;                    // of a span: how many have begun, so that an end is asked for
};

// What was made of a record.
struct Described {
    const Output& payload;
    const EventActivity& activity;
    bool has_scopes, is_cut;
};

// Calls `write` with what was made of the record, unless nobody wants it.
template <class Dialect, class Write>
void describe(const DescribedEvent& event, const ProbeRecord& record, const Write& write) {
    const SystemGuard guard;
    ActivityId ended;
    if (event.activities == Activities::kEnd) {
        // It is asked for since another thread is in such a span: the begin of this one was not wanted.
        if (!open_activities.end(&event.span->open, static_cast<const ProbeSpanEnd&>(record).began, ended))
            return;
        __atomic_fetch_sub(&event.span->open, 1, __ATOMIC_RELAXED);
        // It was switched off meanwhile.
        if (__atomic_load_n(event.enabled, __ATOMIC_RELAXED) == 0) return;
    }
    if (!Dialect::is_asked()) return;
    Output out;
    Input in(record.bytes, record.size);
    const Input scopes(record.context, record.context_size);
    const bool has_scopes = !scopes.is_at_end();
    Payload<Dialect> payload(out, event.room);
    payload.add_all(event.signature, in);
    if (has_scopes) payload.made([&] { put_scopes(out, scopes); });
    if (!out.is_whole()) return;
    const EventActivity activity(event.activities, event.opcode, &event.span->open, ended, record);
    if (event.activities == Activities::kBegin) __atomic_fetch_add(&event.span->open, 1, __ATOMIC_RELAXED);
    write(Described{out, activity, has_scopes, record.is_cut || payload.is_cut()});
}

// ProbeEvent::begun.
inline void begin_span(const ProbeEvent* shared, std::uint64_t ticks) {
    open_activities.begun(&reinterpret_cast<const DescribedEvent*>(shared)->span->open, ticks);
}

// Null: there is no memory for it. `Event` is derived from DescribedEvent.
template <class Event>
Event* keep_event(const Plan& plan, std::uint32_t tracer, const int* enabled,
                  void (*write)(const ProbeEvent* event, const ProbeRecord* record), std::size_t room) {
    void* const memory = keep_memory(sizeof(Event));
    auto* const signature = static_cast<char*>(keep_memory(plan.signature.size() + 1));
    if (memory == nullptr || signature == nullptr) return nullptr;
    if (!plan.signature.empty()) std::memcpy(signature, plan.signature.data(), plan.signature.size());
    auto* const event = ::new (memory) Event;
    event->shared = {ProbeEvent::kMagic, enabled, write, nullptr, nullptr, tracer};
    event->enabled = enabled;
    event->signature = {signature, plan.signature.size()};
    event->room = room;
    event->opcode = plan.opcode;
    event->level = plan.level;
    event->activities = plan.activities;
    event->span = event;
    return event;
}

// `end` is the event of the end of the span that begins with `begin`.
inline void join_span(DescribedEvent& begin, DescribedEvent& end) {
    end.span = &begin;
    end.shared.state = &begin.open;
    begin.shared.end = &end.shared;
    begin.shared.begun = &begin_span;
}

// The event of a site, and that of its end if it is a span. `make` makes one of a plan, or gives null. Names
// begin with `before`. Null: the site has none.
template <class Make>
auto make_with_end(const Description& site, Plan plan, const EventName& before, const Make& make)
    -> decltype(make(plan)) {
    EventName name = before;
    add_name(name, site, ending_of(site.kind));
    plan.name = {name.c_str(), name.size()};
    auto* const event = make(plan);
    if (event == nullptr || site.kind != Kind::kSpan) return event;
    EventName end_name = before;
    add_name(end_name, site, "_exit");
    plan = plan_of_end(plan);
    plan.name = {end_name.c_str(), end_name.size()};
    auto* const end = make(plan);
    if (end == nullptr) return nullptr;
    join_span(*event, *end);
    return event;
}

}  // namespace silverpoint::probes
