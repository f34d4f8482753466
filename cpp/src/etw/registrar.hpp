// What makes an event of each site of this process, and registers its provider. A provider is registered as
// long as the program or a loaded DLL has one of its sites.
#pragma once

#include <silverpoint/platform/library.hpp>
#include <silverpoint/platform/tracers.hpp>

#include "../probes/site_events.hpp"
#include "providers.hpp"

namespace silverpoint::etw {

// The copies of the headers in this process, and which sites each has.
class Copies {
  public:
    // Once for each copy, however often it comes.
    void add(const CopySites* sites) {
        const Locked locked(lock_);
        const CopySites** free = nullptr;
        for (const CopySites*& one : all_) {
            if (one == sites) return;
            if (one == nullptr && free == nullptr) free = &one;
        }
        if (free != nullptr) *free = sites;
    }
    // What only this copy has had is there no more.
    void remove(const CopySites* sites) {
        const Locked locked(lock_);
        for (std::uint32_t entry = 0; entry < CopySites::kMost; ++entry)
            if (sites->has(entry)) left_.add(entry);
        for (const CopySites*& one : all_)
            if (one == sites) one = nullptr;
    }
    // Whether some copy has the site. One that found no place here is believed to have it.
    bool has(std::uint32_t entry) {
        const Locked locked(lock_);
        if (!left_.has(entry)) return true;
        for (const CopySites* one : all_)
            if (one != nullptr && one->has(entry)) return true;
        return false;
    }

  private:
    static constexpr std::size_t kMost = 1024;

    SpinLock lock_;
    const CopySites* all_[kMost] = {};
    CopySites left_;
};

class Registrar {
  public:
    explicit constexpr Registrar(const Backend& of) : backend_(of) {}

    // For each copy. `path`: of the session's control file.
    void start(char* control, std::size_t size, const char* path, const CopySites* sites) {
        copies_.add(sites);
        if (!events_.take(kName, control, size, path)) return;
        backend = &backend_;
        running = this;
        events_.announce();
        if (!detail::start_thread([] { running->run(); })) {
            events_.control().stop_asking(kEtwProbe);
            probes::warn_of(kName, "no thread could be started");
        }
    }
    // Before the DLL with these sites is unloaded. The thread unregisters unused providers: here the
    // loader waits.
    void leave(const CopySites* sites) {
        copies_.remove(sites);
        has_left_.store(true, std::memory_order_release);
        events_.wake();
    }

  private:
    static constexpr probes::TracerName kName{kEtwProbe, "etw", "ETW", "silverpoint-etw"};

    [[noreturn]] void run() {
        events_.follow(
            probes::kSecond,
            [this] {
                // (From the first unloading on: then a site may come again.)
                if (has_left_.load(std::memory_order_acquire))
                    providers_.heed_unloading([this](const Provider& of) { return has_site(of); });
            },
            [this](std::uint32_t number) {
                visit(number);
                return true;
            });
    }
    void visit(std::uint32_t number) {
        const probes::Control& control = events_.control();
        if (events_[number] == nullptr) {
            const probes::Description site = control.description(number);
            SiteEvent* const event = providers_.make(site);
            events_[number] = event != nullptr     ? event
                              : site.is_question() ? events_.failed()
                                                   : events_.refused();
        }
        SiteEvent* const event = events_[number];
        if (events_.is_event(event) && !control.has(number, &event->shared))
            control.publish(number, event->shared);
    }
    bool has_site(const Provider& of) {
        for (std::uint32_t number = 0; number < events_.known(); ++number) {
            const SiteEvent* const event = events_[number];
            if (events_.is_event(event) && event->provider == &of && copies_.has(number)) return true;
        }
        return false;
    }

    static inline constinit Registrar* running = nullptr;

    const Backend& backend_;
    probes::SiteEvents<SiteEvent> events_;
    Copies copies_;
    Providers providers_;
    std::atomic<bool> has_left_{false};
};

}  // namespace silverpoint::etw
