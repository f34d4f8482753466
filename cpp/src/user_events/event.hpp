// An event of a site, and how it is written.
//
//   u32 index │ header │ activity id (spans, and what is within) │ metadata │ payload
//
// Each event describes itself, so all sites of one category, level and keyword share a tracepoint of the
// kernel.
#pragma once

#include "../probes/described.hpp"
#include "../probes/metadata.hpp"
#include "backend.hpp"
#include "dialect.hpp"

namespace silverpoint::user_events {

using namespace probes;

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
struct [[gnu::packed, gnu::aligned(4)]] Activity {
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

// It is never freed.
struct SiteEvent : DescribedEvent {
    const Tracepoint* tracepoint = nullptr;
    const char* metadata = nullptr;
    std::uint16_t size = 0, size_with_context = 0;  // of the metadata
};

// ProbeEvent::write.
inline void write_event(const ProbeEvent* shared, const ProbeRecord* record) {
    const auto& event = *static_cast<const SiteEvent*>(reinterpret_cast<const DescribedEvent*>(shared));
    describe<Dialect>(event, *record, [&event](const Described& made) {
        Header header;
        header.tag = made.is_cut ? 1 : 0;
        header.opcode = event.opcode;
        header.level = event.level;
        Activity activity;
        activity.id = made.activity.id;
        if (made.activity.has_parent) activity.set_parent(made.activity.parent);
        const std::uint16_t size = made.has_scopes ? event.size_with_context : event.size;
        Extension metadata{size, Extension::kMetadata};
        iovec parts[6] = {};
        int count = 1;  // the first is the backend's
        const auto add = [&](const void* bytes, std::size_t length) {
            parts[count++] = {const_cast<void*>(bytes), length};
        };
        add(&header, sizeof header);
        if (made.activity.is_there) add(&activity, activity.size());
        add(&metadata, sizeof metadata);
        add(event.metadata, size);
        if (made.payload.size() != 0) add(made.payload.bytes(), made.payload.size());
        if (!backend->write(__atomic_load_n(&event.tracepoint->index, __ATOMIC_RELAXED), parts, count) &&
            on_lost != nullptr)
            on_lost();
    });
}

// Null: there is no memory for it, or its metadata or fields have no room (`is_too_large`).
inline SiteEvent* make_event(const Plan& plan, const Tracepoint* tracepoint, bool& is_too_large) {
    const Metadata<Dialect> metadata(plan.name, plan.signature, plan.names);
    constexpr std::size_t kHeads = sizeof(Header) + sizeof(Activity) + sizeof(Extension);
    const std::size_t fixed = kHeads + metadata.size_with_context() + metadata.least();
    is_too_large = metadata.is_broken() || fixed > backend->most || metadata.size_with_context() > kCountMost;
    if (is_too_large) return nullptr;
    auto* const bytes = static_cast<char*>(keep_memory(metadata.size_with_context()));
    if (bytes == nullptr) return nullptr;
    std::memcpy(bytes, metadata.bytes(), metadata.size_with_context());
    auto* const event = keep_event<SiteEvent>(plan, kUserEventsProbe, &tracepoint->enabled, &write_event,
                                              backend->most - fixed);
    if (event == nullptr) return nullptr;
    event->tracepoint = tracepoint;
    event->metadata = bytes;
    event->size = static_cast<std::uint16_t>(metadata.size());
    event->size_with_context = static_cast<std::uint16_t>(metadata.size_with_context());
    return event;
}

}  // namespace silverpoint::user_events
