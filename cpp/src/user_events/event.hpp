// An event of a site, and how it is written.
//
//   u32 index │ header │ activity id (spans, and what is within) │ metadata │ payload
//
// Each event describes itself, so all sites of one category, level and keyword share a tracepoint of the
// kernel.
#pragma once

#include <silverpoint/detail/arena.hpp>
#include <silverpoint/detail/probe_event.hpp>

#include "../probes/description.hpp"
#include "../probes/scopes.hpp"
#include "activities.hpp"
#include "backend.hpp"
#include "metadata.hpp"
#include "payload.hpp"

namespace silverpoint::user_events {

inline const Backend* backend = nullptr;
// Called by a tracepoint whose event could not be written, since the program has closed the file.
inline void (*on_lost)() = nullptr;

struct [[gnu::packed]] Header {
    std::uint8_t flags = (sizeof(void*) == 8 ? 1 : 0) | 2 | 4;  // 64 bits, little-endian, has extensions
    std::uint8_t version = 0;
    std::uint16_t id = 0;
    std::uint16_t tag = 0;  // 1: something was cut
    std::uint8_t opcode = kInformation;
    std::uint8_t level = 0;
};
struct [[gnu::packed]] Extension {
    enum Kind : std::uint16_t { kMetadata = 1, kActivity = 2, kIsFollowed = 0x8000 };
    std::uint16_t size, kind;
};
// Of an activity. Without a parent the last 16 bytes are left out.
struct [[gnu::packed]] Activity {
    Extension extension{16, Extension::kActivity | Extension::kIsFollowed};
    ActivityId id, parent;

    std::size_t size() const { return sizeof extension + extension.size; }
    void set_parent(const ActivityId& of) {
        parent = of;
        extension.size = 32;
    }
};

// A tracepoint of the kernel. It is never freed.
struct Tracepoint {
    Tracepoint* next = nullptr;
    std::string_view name;
    int enabled = 0;  // the kernel changes it
    std::uint32_t index = 0;
    bool is_there = false;
};

// What an event is of its activity. Others are events of the innermost span.
enum class Activities { kNone, kBegin, kEnd, kAsync };

// It is never freed.
struct SiteEvent {
    ProbeEvent shared{};
    const Tracepoint* tracepoint = nullptr;
    std::string_view signature;
    const char* metadata = nullptr;
    std::uint16_t size = 0, size_with_context = 0;  // of the metadata
    std::size_t room = 0;                           // for what may be cut
    Opcode opcode = kInformation;
    std::uint8_t level = 0;
    Activities activities = Activities::kNone;
    const SiteEvent* span = nullptr;  // the same of the begin and the end of a span
    int has_begun = 0;                // of a span: its end is asked for
};

// Of EventHeader's levels: 1 critical to 5 verbose.
inline std::uint8_t level_of_site(std::uint8_t level) {
    constexpr std::uint8_t levels[] = {5, 5, 4, 3, 2, 1};  // trace, debug, info, warn, error, fatal
    return level < sizeof levels ? levels[level] : 5;
}
// Bits of the keyword.
inline constexpr unsigned kRecords = 1, kSpans = 2;
inline unsigned keyword_of(Kind kind) {
    switch (kind) {
        case Kind::kSpan:
        case Kind::kAsyncBegin:
        case Kind::kAsyncEnd:
        case Kind::kAsyncInstant:
        case Kind::kFlowBegin:
        case Kind::kFlowStep:
        case Kind::kFlowEnd:
            return kSpans;
        default:
            return kRecords;
    }
}

// ProbeEvent::write.
inline void write_event(const ProbeEvent* shared, const ProbeRecord* record) {
    const SystemGuard guard;
    const auto& event = *reinterpret_cast<const SiteEvent*>(shared);
    ActivityId ended;
    if (event.activities == Activities::kEnd) {
        ended = open_activities.end(event.span);
        // The tracepoint is off by now.
        if (__atomic_load_n(&event.tracepoint->enabled, __ATOMIC_RELAXED) == 0) return;
    }
    if (!is_asked(kUserEventsProbe)) return;
    Output out;
    Input in(record->bytes, record->size);
    const Input scopes(record->context, record->context_size);
    const bool has_scopes = !scopes.is_at_end();
    Payload payload(out, event.room);
    payload.add_all(event.signature, in);
    if (has_scopes) payload.made([&] { put_scopes(out, scopes); });
    if (!out.is_whole()) return;

    Header header;
    header.tag = record->is_cut || payload.is_cut() ? 1 : 0;
    header.opcode = event.opcode;
    header.level = event.level;
    Activity activity;
    bool is_activity = true;
    const ActivityId* const parent = open_activities.innermost();
    if (event.activities == Activities::kEnd) {
        activity.id = ended;
    } else if (event.activities == Activities::kAsync) {
        activity.id = {static_cast<std::uint32_t>(getpid()), 0,
                       Input(record->bytes, record->size).get<std::uint64_t>()};
        if (parent != nullptr && event.opcode == kActivityStart) activity.set_parent(*parent);
    } else if (event.activities == Activities::kBegin) {
        if (parent != nullptr) activity.set_parent(*parent);
        activity.id = open_activities.begin(event.span);
        __atomic_store_n(&const_cast<SiteEvent*>(event.span)->has_begun, 1, __ATOMIC_RELAXED);
    } else if (parent != nullptr) {
        activity.id = *parent;
    } else {
        is_activity = false;
    }
    const std::uint16_t size = has_scopes ? event.size_with_context : event.size;
    Extension metadata{size, Extension::kMetadata};
    iovec parts[6] = {};
    int count = 1;  // the first is the backend's
    const auto add = [&](const void* bytes, std::size_t length) {
        parts[count++] = {const_cast<void*>(bytes), length};
    };
    add(&header, sizeof header);
    if (is_activity) add(&activity, activity.size());
    add(&metadata, sizeof metadata);
    add(event.metadata, size);
    if (out.size() != 0) add(out.bytes(), out.size());
    if (!backend->write(__atomic_load_n(&event.tracepoint->index, __ATOMIC_RELAXED), parts, count) &&
        on_lost != nullptr)
        on_lost();
}

// What an event is made of.
struct Plan {
    std::string_view name, signature, names;
    std::uint8_t level = 0;
    Opcode opcode = kInformation;
    Activities activities = Activities::kNone;
};

// Null: there is no memory for it, or its metadata or fields have no room (`is_too_large`).
inline SiteEvent* make_event(const Plan& plan, const Tracepoint* tracepoint, bool& is_too_large) {
    const Metadata metadata(plan.name, plan.signature, plan.names);
    constexpr std::size_t kHeads = sizeof(Header) + sizeof(Activity) + sizeof(Extension);
    const std::size_t fixed = kHeads + metadata.size_with_context() + metadata.least();
    is_too_large = metadata.is_broken() || fixed > backend->most || metadata.size_with_context() > kCountMost;
    if (is_too_large) return nullptr;
    void* const memory = keep_memory(sizeof(SiteEvent));
    auto* const bytes = static_cast<char*>(keep_memory(metadata.size_with_context()));
    auto* const signature = static_cast<char*>(keep_memory(plan.signature.size() + 1));
    if (memory == nullptr || bytes == nullptr || signature == nullptr) return nullptr;
    std::memcpy(bytes, metadata.bytes(), metadata.size_with_context());
    if (!plan.signature.empty()) std::memcpy(signature, plan.signature.data(), plan.signature.size());
    auto* const event = ::new (memory) SiteEvent;
    event->shared = {ProbeEvent::kMagic, &tracepoint->enabled, &write_event, nullptr, nullptr};
    event->tracepoint = tracepoint;
    event->signature = {signature, plan.signature.size()};
    event->metadata = bytes;
    event->size = static_cast<std::uint16_t>(metadata.size());
    event->size_with_context = static_cast<std::uint16_t>(metadata.size_with_context());
    event->room = backend->most - fixed;
    event->opcode = plan.opcode;
    event->level = plan.level;
    event->activities = plan.activities;
    event->span = event;
    return event;
}

}  // namespace silverpoint::user_events
