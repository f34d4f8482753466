// The events of all sites of this process, by the number of their entries, and the thread that makes them:
//
//   site complete ─▶ wakes ─▶ thread: description ─▶ event of the tracer ─▶ the site's entry
//
// A tracepoint never registers anything. What is made stays for ever.
#pragma once

#include <silverpoint/detail/sys.hpp>
#include <utility>

#include "kept_events.hpp"

namespace silverpoint::probes {

inline constexpr std::uint64_t kSecond = 1'000'000'000;

// A tracer that a library feeds.
struct TracerName {
    std::uint32_t bit;
    const char* asked;     // in SILVERPOINT_PROBES
    const char* receiver;  // in messages
    const char* thread;
};

// Says that a tracer gets nothing.
inline void warn_of(const TracerName& name, const char* why, const char* advice = nullptr) {
    Text<600> line;
    line.add("SILVERPOINT_PROBES=").add(name.asked).add(": ").add(name.receiver);
    line.add(" gets no events: ").add(why);
    if (advice != nullptr) line.add(advice);
    warn(line.c_str());
}

template <class Event>
class SiteEvents {
  public:
    // Takes a session; `announce` or `leave` follows. False: there is one; or it cannot be mapped, and so is
    // not asked for the tracer any more. Safe in a signal handler. `path`: as for `map_again`.
    bool take(const TracerName& name, char* control, std::size_t size, const char* path = nullptr) {
        std::uint32_t none = kNone;
        if (!has_session_.compare_exchange_strong(none, kTaking, std::memory_order_acq_rel)) {
            succeed(name, control, size, path);
            return false;
        }
        if (!map(control_, name, control, size, path)) {
            has_session_.store(kNone, std::memory_order_release);
            return false;
        }
        tracer_ = name.bit;
        asked_tracers.store(&control_.asked(), std::memory_order_release);
        return true;
    }
    // The thread may use the session.
    void announce() {
        has_session_.store(kThere, std::memory_order_release);
        wake_waiters(&has_session_);
    }
    // Only while no event can be written, and no thread follows: before the first, and in a forked child.
    // Another session may be taken.
    void leave() {
        asked_tracers.store(&all_asked, std::memory_order_release);
        for (Control* const of : {&control_, &next_, &last_}) {
            if (of->base != nullptr) unmap(of->base, of->size);
            *of = {};
        }
        done_ = known_ = 0;
        first_refused_ = ~std::uint32_t{0};
        has_session_.store(kNone, std::memory_order_release);
    }
    const Control& control() const { return control_; }

    // Passes over the complete sites whenever there are new ones, for ever. A pass calls `before`, then
    // `visit` with the number of each site, until that returns false.
    template <class Before, class Visit>
    [[noreturn]] void follow(std::uint64_t pause_ns, const Before& before, const Visit& visit) {
        await_session(pause_ns);
        for (;;) {
            go_on_with_next();
            std::atomic<std::uint32_t>& wake = control_.header().probes_wake;
            const std::uint32_t value = wake.load(std::memory_order_acquire);
            if (has_next()) continue;
            before();
            pass(visit);
            // (A controller that has set bits wakes the thread, which may be about to wait.)
            wait_for_change(&wake, value, release_refused() && pause_ns > kSecond ? kSecond : pause_ns);
        }
    }
    // Of the thread: until there is a session.
    void await_session(std::uint64_t pause_ns) {
        std::uint32_t seen;
        while ((seen = has_session_.load(std::memory_order_acquire)) < kThere)
            wait_for_change(&has_session_, seen, pause_ns);
    }
    // Of the thread: nothing asks for a tracer that cannot be fed. Returns when somebody asks for it again.
    void await_request(std::uint32_t tracer, std::uint64_t pause_ns) {
        await_session(pause_ns);
        control_.stop_asking(tracer);
        for (;;) {
            go_on_with_next();
            std::atomic<std::uint32_t>& wake = control_.header().probes_wake;
            const std::uint32_t value = wake.load(std::memory_order_acquire);
            if (has_next()) continue;
            if ((control_.asked().load(std::memory_order_seq_cst) & tracer) != 0) return;
            wait_for_change(&wake, value, pause_ns);
        }
    }
    // Wakes the thread. Safe in a tracepoint.
    void wake() const {
        if (control_.base == nullptr) return;
        std::atomic<std::uint32_t>& wake = control_.header().probes_wake;
        wake.fetch_add(1, std::memory_order_release);
        wake_waiters(&wake);
    }

    // Null: not made yet; failed(): there is none; refused(): there will be none either.
    Event*& operator[](std::uint32_t number) { return events_[number]; }
    static Event* failed() { return reinterpret_cast<Event*>(1); }
    static Event* refused() { return reinterpret_cast<Event*>(2); }
    static bool is_event(const Event* event) {
        return event != nullptr && event != failed() && event != refused();
    }
    // Entries that were looked at.
    std::uint32_t known() const { return known_; }

  private:
    static bool map(Control& to, const TracerName& name, char* control, std::size_t size, const char* path) {
        char* const mapped = map_again(control, size, path);
        if (mapped == nullptr) {
            warn_of(name, "the session cannot be mapped again: ", std::strerror(errno));
            Control{control, size}.stop_asking(name.bit);
            return false;
        }
        to = {mapped, size};
        return true;
    }
    // All shared objects that were in the session may be unloaded. Then the thread goes on with the session
    // that they make when they are loaded again.
    void succeed(const TracerName& name, char* control, std::size_t size, const char* path) {
        std::uint32_t there = kThere;
        if (!has_session_.compare_exchange_strong(there, kSucceeding, std::memory_order_acq_rel)) return;
        ControlHeader& before = control_.header();
        if (before.copies_joined.load(std::memory_order_acquire) != 0 ||
            !map(next_, name, control, size, path)) {
            has_session_.store(kThere, std::memory_order_release);
            return;
        }
        has_session_.store(kHasNext, std::memory_order_release);
        // (The thread leaves the pages mapped.)
        before.probes_wake.fetch_add(1, std::memory_order_release);
        wake_waiters(&before.probes_wake);
    }
    bool has_next() const { return has_session_.load(std::memory_order_acquire) == kHasNext; }
    // Of the thread.
    void go_on_with_next() {
        if (!has_next()) return;
        for (std::uint32_t number = 0; number < known_; ++number)
            if (is_event(events_[number])) kept_.keep(control_.description(number).hash, events_[number]);
        Event** const events = std::exchange(events_, nullptr);
        if (events != nullptr) unmap(events, control_.header().sites_cap * sizeof *events);
        done_ = known_ = 0;
        first_refused_ = ~std::uint32_t{0};
        asked_tracers.store(&next_.asked(), std::memory_order_release);
        if (last_.base != nullptr) unmap(last_.base, last_.size);
        last_ = control_;
        control_ = next_;
        next_ = {};
        has_session_.store(kThere, std::memory_order_release);
    }

    template <class Visit>
    void pass(const Visit& visit) {
        if (events_ == nullptr) {
            events_ = static_cast<Event**>(map_private(control_.header().sites_cap * sizeof *events_));
            if (events_ == nullptr) return;
        }
        known_ = control_.count();
        bool is_prefix = true;
        for (std::uint32_t number = done_; number < known_; ++number) {
            if (!control_.is_complete(number)) {
                is_prefix = false;
                continue;
            }
            if (events_[number] == nullptr) events_[number] = kept_.find(control_.description(number).hash);
            if (!visit(number)) return;
            if (events_[number] == refused() && number < first_refused_) first_refused_ = number;
            if (is_prefix) done_ = number + 1;
        }
    }
    // Nobody else asks for events of sites that have none: their tracepoints pay nothing. A frontend may
    // store the bit later than a site is complete, and a controller sets it in all. Whether there are such
    // sites.
    bool release_refused() const {
        bool is_any = false;
        for (std::uint32_t number = first_refused_; number < known_; ++number) {
            if (events_[number] != refused()) continue;
            is_any = true;
            if ((control_.state(number).load(std::memory_order_seq_cst) & kProbedBit) != 0)
                stop_probing(control_.asked(), control_.state(number), tracer_);
        }
        return is_any;
    }

    // kSucceeding: its successor is being stored; kHasNext: and is there.
    enum : std::uint32_t { kNone, kTaking, kThere, kSucceeding, kHasNext };
    std::atomic<std::uint32_t> has_session_{kNone};
    Control control_, next_;
    Control last_;  // the one before, which who has stored its successor may still wake
    KeptEvents<Event> kept_;
    std::uint32_t tracer_ = 0;
    Event** events_ = nullptr;
    std::uint32_t done_ = 0;  // below it every entry has been visited
    std::uint32_t known_ = 0;
    std::uint32_t first_refused_ = ~std::uint32_t{0};
};

}  // namespace silverpoint::probes
