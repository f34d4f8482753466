// The tracepoints of the kernel, and the events of sites that use them.
#pragma once

#include <utility>

#include "event.hpp"

namespace silverpoint::user_events {

using detail::Text;

// PROVIDER_LnKn: the category, in which characters that the kernel does not take are replaced.
inline Text<240> tracepoint_name(std::string_view category, std::uint8_t level, unsigned keyword) {
    constexpr std::size_t kMost = 200;
    Text<240> name;
    if (category.empty()) category = "silverpoint";
    if (category[0] >= '0' && category[0] <= '9') name.add("_");
    for (const char c : part(category, 0, kMost)) {
        const bool is_fit =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        name.add(is_fit ? &c : "_", 1);
    }
    return name.add("_L").number(level).add("K").number(keyword);
}

// One thread at a time.
class Tracepoints {
  public:
    // The event of a site, or null, which the first time is reported where the system is the reason.
    SiteEvent* make(const Description& site) {
        if (site.is_question()) return nullptr;
        const Plan plan = plan_of(site);
        const Tracepoint* const tracepoint = find(site.category, plan.level, keyword_of(site.kind));
        if (tracepoint == nullptr) return nullptr;
        return make_with_end(site, plan, EventName(),
                             [&](const Plan& of) { return make_or_report(site, of, tracepoint); });
    }

    // The file was opened again, which knows none of them. They get the same numbers, in the same order.
    void add_again() {
        for (Tracepoint* known = first_; known != nullptr; known = known->next)
            if (known->is_there) add(*known);
    }

  private:
    // Null: the kernel does not take it.
    Tracepoint* find(std::string_view category, std::uint8_t level, unsigned keyword) {
        const auto text = tracepoint_name(category, level, keyword);
        const std::string_view name(text.c_str(), text.size());
        for (Tracepoint* known = first_; known != nullptr; known = known->next)
            if (known->name == name) return known->is_there ? known : nullptr;
        void* const memory = keep_memory(sizeof(Tracepoint));
        auto* const kept = static_cast<char*>(keep_memory(name.size() + 1));
        if (memory == nullptr || kept == nullptr) return nullptr;
        std::memcpy(kept, name.data(), name.size());
        auto* const made = ::new (memory) Tracepoint;
        made->name = {kept, name.size()};
        (last_ == nullptr ? first_ : last_->next) = made;
        last_ = made;
        add(*made);
        return made->is_there ? made : nullptr;
    }
    void add(Tracepoint& of) {
        Text<400> declaration;
        declaration.add(of.name.data())
            .add(" u8 eventheader_flags;u8 version;u16 id;u16 tag;u8 opcode;u8 level");
        const int error = backend->add(declaration.c_str(), &of.enabled, &of.index);
        of.is_there = error == 0;
        if (error != 0) report(of.name.data(), error);
    }
    SiteEvent* make_or_report(const Description& site, const Plan& plan, const Tracepoint* tracepoint) {
        bool is_too_large = false;
        SiteEvent* const event = make_event(plan, tracepoint, is_too_large);
        if (is_too_large) report_size(site);
        return event;
    }
    void report_size(const Description& site) {
        if (std::exchange(is_size_reported_, true)) return;
        Text<600> line;
        line.add("SILVERPOINT_PROBES=user_events: ");
        line.add(site.file.data(), site.file.size() < 200 ? site.file.size() : 200).add(":");
        line.number(site.line).add(" has no event: its names and fixed fields need more than ");
        line.number(backend->most).add(" bytes or 400 fields; so may others");
        warn(line.c_str());
    }
    void report(const char* name, int error) {
        if (std::exchange(is_reported_, true)) return;
        Text<600> line;
        line.add("SILVERPOINT_PROBES=user_events: the kernel refuses the tracepoint ").add(name);
        line.add(": error ").number(static_cast<std::uint64_t>(error));
        line.add(error == EMFILE || error == ENOSPC
                     ? "; raise kernel.user_events_max (sysctl)"
                     : "; dmesg may say why; a tracepoint of this name may exist with other fields");
        warn(line.c_str());
    }

    Tracepoint* first_ = nullptr;
    Tracepoint* last_ = nullptr;
    bool is_reported_ = false, is_size_reported_ = false;
};

}  // namespace silverpoint::user_events
