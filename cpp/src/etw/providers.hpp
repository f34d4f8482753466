// The providers of all sites, and the events of sites that use them. All of it by one thread.
#pragma once

#include <utility>

#include "event.hpp"

namespace silverpoint::etw {

class Providers {
  public:
    // The event of a site, or null, which the first time is reported where the system or the size is the
    // reason.
    SiteEvent* make(const Description& site) {
        if (site.is_question()) return nullptr;
        Provider* const provider = find(site.category);
        if (provider == nullptr) return nullptr;
        bool is_too_large = false;
        SiteEvent* const event = make_event(site, *provider, is_too_large);
        if (is_too_large) report_size(site);
        return event;
    }

    // Registers the providers that have a tracepoint, and no others. `has_any(provider)` says which have one;
    // another thread may add the first one of a provider meanwhile.
    template <class HasAny>
    void heed_unloading(const HasAny& has_any) {
        for (Provider* of = first_; of != nullptr; of = of->next) {
            if (!of->is_registered) {
                if (!of->is_refused && has_any(*of)) add(*of);
                continue;
            }
            if (has_any(*of)) continue;
            // From here on a new tracepoint finds that it is not wanted; or it is found here.
            of->silence();
            if (!has_any(*of)) {
                backend->remove(*of);
                of->is_registered = false;
                of->heed(Provider::kDisable, 0, 0, 0);
            }
            of->speak();
        }
    }

  private:
    // Null: the system does not take it.
    Provider* find(std::string_view category) {
        const ProviderName name = provider_name(category);
        const ProviderId id = provider_id({name.c_str(), name.size()});
        // (By the id: names that differ in case alone have the same.)
        for (Provider* known = first_; known != nullptr; known = known->next)
            if (known->id() == id) return known->is_refused ? nullptr : known;
        const std::size_t size = name.size() + 3;
        void* const memory = keep_memory(sizeof(Provider));
        auto* const traits = static_cast<char*>(keep_memory(size));
        if (memory == nullptr || traits == nullptr) return nullptr;
        traits[0] = static_cast<char>(size);
        std::memcpy(traits + 2, name.c_str(), name.size() + 1);
        auto* const made = ::new (memory) Provider(id, {traits, size});
        made->next = first_;
        first_ = made;
        add(*made);
        return made->is_refused ? nullptr : made;
    }
    void add(Provider& of) {
        const unsigned long error = backend->add(of);
        of.is_registered = error == 0;
        of.is_refused = error != 0;
        if (error != 0) report(of, error);
    }
    void report(const Provider& of, unsigned long error) {
        if (std::exchange(is_reported_, true)) return;
        Text<300> line;
        line.add("SILVERPOINT_PROBES=etw: Windows does not register the provider ");
        line.add(of.name().data(), of.name().size()).add(": error ").number(error);
        warn(line.add("; its tracepoints have no events").c_str());
    }
    void report_size(const Description& site) {
        if (std::exchange(is_size_reported_, true)) return;
        Text<600> line;
        line.add("SILVERPOINT_PROBES=etw: ")
            .add(site.file.data(), site.file.size() < 200 ? site.file.size() : 200);
        line.add(":").number(site.line).add(" has no event: its names and fixed fields need more than ");
        line.number(kMost).add(" bytes or ").number(Dialect::kMostFields).add(" fields; so may others");
        warn(line.c_str());
    }

    Provider* first_ = nullptr;
    bool is_reported_ = false, is_size_reported_ = false;
};

}  // namespace silverpoint::etw
