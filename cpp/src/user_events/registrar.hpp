// user_events for the registrar: what is made of a site, and what is lost when the program closes all of its
// descriptors.
#pragma once

#include "../probes/registrar.hpp"
#include "tracepoints.hpp"

namespace silverpoint::user_events {

class UserEvents {
  public:
    using Event = SiteEvent;
    static constexpr TracerName name{kUserEventsProbe, "user_events", "the kernel", "silverpoint-ue"};

    explicit constexpr UserEvents(const Backend& of) : backend_(of) {}

    int open() {
        backend = &backend_;
        on_lost = &KernelRegistrar<UserEvents>::report_lost;
        const int error = backend_.open();
        if (error != 0) return error;
        tracepoints_.add_again();
        backend_.publish();
        return 0;
    }
    bool is_lost() const { return backend_.is_lost(); }
    template <class Line>
    void explain(Line& line, int error) const {
        line.add(backend_.name).add(": ");
        if (error == ENOENT)
            line.add("there is no such file (CONFIG_USER_EVENTS, tracefs)");
        else if (error == EACCES || error == EPERM)
            line.add("this user may not write to it");
        else
            line.add("error ").number(static_cast<std::uint64_t>(error));
    }
    SiteEvent* make(const Description& site, bool& is_final) {
        SiteEvent* const event = tracepoints_.make(site);
        is_final = event == nullptr && !site.is_question();
        return event;
    }

  private:
    const Backend& backend_;
    Tracepoints tracepoints_;
};

using Registrar = KernelRegistrar<UserEvents>;

}  // namespace silverpoint::user_events
