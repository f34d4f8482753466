// An event of a site for ETW, in TraceLogging's form:
//
//   descriptor │ provider: u16 size, name │ metadata: u16 size, tag, name, fields │ payload
//
// The event is called CATEGORY:NAME. The tag's byte is 1 if something was cut.
#pragma once

#include "../probes/described.hpp"
#include "../probes/metadata.hpp"
#include "backend.hpp"
#include "dialect.hpp"

namespace silverpoint::etw {

inline const Backend* backend = nullptr;

// It is never freed.
struct SiteEvent : DescribedEvent {
    const Provider* provider = nullptr;
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
        DataDescriptor parts[] = {
            {event.provider->traits(), DataDescriptor::kProvider},
            {metadata, DataDescriptor::kMetadata},
            {{made.payload.bytes(), made.payload.size()}, DataDescriptor::kPayload},
        };
        backend->write(*event.provider, of, activity.is_there ? &activity.id : nullptr,
                       activity.has_parent ? &activity.parent : nullptr, parts, 3);
    });
}

// Null: there is no memory for it, or its metadata or fields have no room (`is_too_large`).
inline SiteEvent* make_event(const Plan& plan, const Provider& provider, const Switch& of,
                             bool& is_too_large) {
    const Metadata<Dialect> made(plan.name, plan.signature, plan.names);
    const std::size_t fixed = made.size_with_context() + made.least();
    is_too_large = made.is_broken() || fixed > kMost || made.size_with_context() > kCountMost;
    if (is_too_large) return nullptr;
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
    auto* const event = keep_event<SiteEvent>(plan, kEtwProbe, &of.is_wanted, &write_event, kMost - fixed);
    if (event == nullptr) return nullptr;
    event->provider = &provider;
    event->keyword = of.keyword;
    event->metadata = metadata;
    event->with_context = with_context;
    return event;
}

// The event of a site, and that of its end if it is a span. Null: it has none.
inline SiteEvent* make_event(const Description& site, Provider& provider, bool& is_too_large) {
    constexpr std::size_t kCategoryMost = 100;
    EventName category;
    add_plain(category, site.category.empty() ? std::string_view("silverpoint") : site.category);
    category.cut(
        utf8_prefix({category.c_str(), category.size() < kCategoryMost ? category.size() : kCategoryMost}));
    category.add(":");
    const Plan plan = plan_of(site);
    const Switch* const of =
        provider.switch_of(plan.level, keyword_of(site.kind) | keyword_of_category(site.category));
    if (of == nullptr) return nullptr;
    return make_with_end(site, plan, category,
                         [&](const Plan& one) { return make_event(one, provider, *of, is_too_large); });
}

}  // namespace silverpoint::etw
