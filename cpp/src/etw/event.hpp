// An event of a site for ETW, in TraceLogging's form:
//
//   descriptor │ provider: u16 size, name │ metadata: u16 size, tag, name, fields │ payload
//
// The event is called CATEGORY:NAME. The tag's byte is 1 if something was cut.
#pragma once

#include "../probes/described.hpp"
#include "../probes/metadata.hpp"
#include "dialect.hpp"
#include "provider.hpp"

namespace silverpoint::etw {

// EVENT_DESCRIPTOR.
struct EventDescriptor {
    std::uint16_t id = 0;
    std::uint8_t version = 0, channel = 11, level = 0, opcode = 0;
    std::uint16_t task = 0;
    std::uint64_t keyword = 0;
};
static_assert(sizeof(EventDescriptor) == 16);

// EVENT_DATA_DESCRIPTOR.
struct DataDescriptor {
    enum Type : std::uint32_t { kPayload = 0, kMetadata = 1, kProvider = 2 };
    std::uint64_t at = 0;
    std::uint32_t size = 0, type = kPayload;

    DataDescriptor(std::string_view bytes, Type of)
        : at(reinterpret_cast<std::uintptr_t>(bytes.data())),
          size(static_cast<std::uint32_t>(bytes.size())),
          type(of) {}
};
static_assert(sizeof(DataDescriptor) == 16);

// The seam between events and the system: EventWriteTransfer, or what a test puts there. Activities may be
// null.
struct Backend {
    void (*write)(const EventDescriptor& of, const ActivityId* activity, const ActivityId* parent,
                  const DataDescriptor* parts, unsigned count);
    // Bytes of metadata and payload. What does not fit is cut.
    std::size_t most;
};
inline const Backend* backend = nullptr;

// It is never freed.
struct SiteEvent : DescribedEvent {
    std::uint64_t keyword = 0;
    std::string_view metadata, with_context;
};

// ProbeEvent::write.
inline void write_event(const ProbeEvent* shared, const ProbeRecord* record) {
    const auto& event = *static_cast<const SiteEvent*>(reinterpret_cast<const DescribedEvent*>(shared));
    describe<Dialect>(event, *record, [&event](const Described& made) {
        std::string_view metadata = made.has_scopes ? event.with_context : event.metadata;
        Output marked;
        if (made.is_cut) {
            marked.add(metadata);
            marked.patch(Dialect::kTagAt, "\1", 1);
            if (!marked.is_whole()) return;
            metadata = {marked.bytes(), marked.size()};
        }
        EventDescriptor of;
        of.level = event.level;
        of.opcode = event.opcode;
        of.keyword = event.keyword;
        const EventActivity& activity = made.activity;
        const DataDescriptor parts[] = {
            {{kProviderTraits.data(), kProviderTraits.size()}, DataDescriptor::kProvider},
            {metadata, DataDescriptor::kMetadata},
            {{made.payload.bytes(), made.payload.size()}, DataDescriptor::kPayload},
        };
        backend->write(of, activity.is_there ? &activity.id : nullptr,
                       activity.has_parent ? &activity.parent : nullptr, parts, 3);
    });
}

// Null: there is no memory for it, or its metadata or fields have no room.
inline SiteEvent* make_event(const Plan& plan, std::uint64_t keyword, const int* enabled) {
    const Metadata<Dialect> made(plan.name, plan.signature, plan.names);
    const std::size_t fixed = made.size_with_context() + made.least();
    if (made.is_broken() || fixed > backend->most || made.size_with_context() > kCountMost) return nullptr;
    const auto kept = [&made](std::size_t size) {
        auto* const bytes = static_cast<char*>(keep_memory(size));
        if (bytes == nullptr) return std::string_view();
        std::memcpy(bytes, made.bytes(), size);
        const auto number = static_cast<std::uint16_t>(size);
        std::memcpy(bytes, &number, sizeof number);
        return std::string_view(bytes, size);
    };
    const std::string_view metadata = kept(made.size()), with_context = kept(made.size_with_context());
    if (metadata.empty() || with_context.empty()) return nullptr;
    auto* const event =
        keep_event<SiteEvent>(plan, ~std::uint32_t{0}, enabled, &write_event, backend->most - fixed);
    if (event == nullptr) return nullptr;
    event->keyword = keyword;
    event->metadata = metadata;
    event->with_context = with_context;
    return event;
}

// The event of a site, and that of its end if it is a span. Null: it has none. `enabled`: not 0 while
// somebody listens to the site's level and keyword.
inline SiteEvent* make_event(const Description& site, const int* enabled) {
    if (site.is_question()) return nullptr;
    constexpr std::size_t kCategoryMost = 100;
    EventName category;
    add_plain(category, site.category.empty() ? std::string_view("silverpoint") : site.category);
    category.cut(
        utf8_prefix({category.c_str(), category.size() < kCategoryMost ? category.size() : kCategoryMost}));
    category.add(":");
    const std::uint64_t keyword = keyword_of(site.kind) | keyword_of_category(site.category);
    return make_with_end(site, plan_of(site), category,
                         [&](const Plan& plan) { return make_event(plan, keyword, enabled); });
}

}  // namespace silverpoint::etw
