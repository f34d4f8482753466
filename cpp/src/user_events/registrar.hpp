// Makes events of the sites of this process, by a thread:
//
//   site complete ─▶ futex ─▶ thread: description ─▶ event, tracepoint of the kernel ─▶ the site's entry
//
// A tracepoint never registers anything. What is made stays for ever.
#pragma once

#include <pthread.h>

#include <csignal>

#include "tracepoints.hpp"

namespace silverpoint::user_events {

class Registrar {
  public:
    explicit constexpr Registrar(const Backend& of) : backend_(of) {}

    // Safe in a signal handler, but for the first call.
    void start(char* control, std::size_t size) {
        std::uint32_t none = 0;
        if (!has_session_.compare_exchange_strong(none, 1, std::memory_order_acq_rel)) return;
        // A second mapping of the same pages.
        void* const mapped = mremap(control, 0, size, MREMAP_MAYMOVE);
        if (mapped == MAP_FAILED) return;
        control_ = {static_cast<char*>(mapped), size};
        asked_tracers.store(&control_.word(at::kProbesAsked), std::memory_order_release);
        if (stage_ == kClosed) open();
        if (stage_ == kFailed) return give_up();
        has_session_.store(2, std::memory_order_release);
        futex_wake(&has_session_);
        if (was_started_.exchange(true, std::memory_order_acq_rel)) return;
        running = this;
        // A child goes on with whole tracepoints: the one that is being made is finished before.
        pthread_atfork([] { pthread_mutex_lock(&running->mutex_); },
                       [] { pthread_mutex_unlock(&running->mutex_); }, [] { running->go_on_in_child(); });
        start_thread();
    }

  private:
    void start_thread() {
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        pthread_t thread;
        const auto body = [](void* self) -> void* {
            static_cast<Registrar*>(self)->run();
            return nullptr;
        };
        if (pthread_create(&thread, nullptr, body, this) == 0)
            pthread_detach(thread);
        else
            warn("SILVERPOINT_PROBES=user_events: the kernel gets no events: no thread could be started");
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }
    void run() {
        pthread_setname_np(pthread_self(), "silverpoint-ue");
        std::uint32_t seen;
        while ((seen = has_session_.load(std::memory_order_acquire)) != 2)
            futex_wait(&has_session_, seen, kPause);
        for (;;) {
            std::atomic<std::uint32_t>& wake = control_.word(at::kProbesWake);
            const std::uint32_t value = wake.load(std::memory_order_acquire);
            make_all();
            futex_wait(&wake, value, kPause);
        }
    }
    void open() {
        const int error = backend_.open();
        backend = &backend_;
        stage_ = error == 0 ? kOpen : kFailed;
        if (error == 0) return;
        Text<600> line;
        line.add("SILVERPOINT_PROBES=user_events: the kernel gets no events: ").add(backend_.name).add(": ");
        if (error == ENOENT)
            line.add("there is no such file (CONFIG_USER_EVENTS, tracefs)");
        else if (error == EACCES || error == EPERM)
            line.add("this user may not write to it");
        else
            line.add("error ").number(static_cast<std::uint64_t>(error));
        warn(line.add("; `silverpoint doctor` says what to do").c_str());
    }
    // Nothing is asked for any more, so tracepoints cost what they cost without a tracer.
    void give_up() {
        std::atomic<std::uint32_t>& asked = control_.word(at::kProbesAsked);
        if ((asked.fetch_and(~kUserEventsProbe) & ~kUserEventsProbe) != 0) return;
        auto* const states = reinterpret_cast<std::atomic<std::uint8_t>*>(
            control_.base + control_.get<std::uint64_t>(at::kStatesAt));
        for (std::uint32_t number = 0; number < control_.count(); ++number) {
            states[number].fetch_and(static_cast<std::uint8_t>(~kProbedState));
            // A controller has asked meanwhile: its bit stays.
            if (asked.load() != 0) states[number].fetch_or(kProbedState);
        }
    }
    void make_all() {
        const std::uint32_t count = control_.count();
        if (events_ == nullptr) {
            void* const made =
                mmap(nullptr, control_.get<std::uint32_t>(at::kSitesCap) * sizeof *events_,
                     PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (made == MAP_FAILED) return;
            events_ = static_cast<SiteEvent**>(made);
        }
        bool is_prefix = true;
        for (std::uint32_t number = done_; number < count; ++number) {
            if (!control_.is_complete(number)) {
                is_prefix = false;
                continue;
            }
            pthread_mutex_lock(&mutex_);
            if (events_[number] == nullptr) {
                SiteEvent* const event = tracepoints_.make(control_.description(number));
                events_[number] = event == nullptr ? failed() : event;
            }
            if (events_[number] != failed() && !control_.has(number, &events_[number]->shared))
                control_.publish(number, events_[number]->shared);
            pthread_mutex_unlock(&mutex_);
            if (is_prefix) done_ = number + 1;
        }
    }
    static SiteEvent* failed() { return reinterpret_cast<SiteEvent*>(1); }

    // The kernel has registered the parent's tracepoints for the child, too.
    void go_on_in_child() {
        mutex_ = PTHREAD_MUTEX_INITIALIZER;
        // The child's own session comes with its first record.
        asked_tracers.store(nullptr, std::memory_order_release);
        if (control_.base != nullptr) munmap(control_.base, control_.size);
        control_ = {};
        has_session_.store(0, std::memory_order_release);
        done_ = 0;
        start_thread();
    }

    static constexpr std::uint8_t kProbedState = 2;  // spec/wire.md, section 3.3
    static constexpr std::uint64_t kPause = 60'000'000'000;
    // What forks of this process go on with.
    static inline constinit Registrar* running = nullptr;

    const Backend& backend_;
    std::atomic<std::uint32_t> has_session_{0};  // 1: being stored, 2: there
    std::atomic<bool> was_started_{false};
    Control control_;
    // Held while what a child goes on with changes.
    pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
    enum { kClosed, kOpen, kFailed } stage_ = kClosed;  // changes once, before there is a thread
    Tracepoints tracepoints_;
    SiteEvent** events_ = nullptr;  // by the number of their entries
    std::uint32_t done_ = 0;        // below it every entry has been visited
};

}  // namespace silverpoint::user_events
