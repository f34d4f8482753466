// The registrar of a tracer that is a file of the kernel: user_events, trace_marker. (LTTng has locks and
// forks of its own: silverpoint_lttng.cpp.)
//
// A tracer that cannot be opened is not asked for any more: one message says why. It is opened again when
// somebody asks again (`ctl --probe`), and when a forked child makes its session.
#pragma once

#include <unistd.h>

#include "site_events.hpp"
#include "thread.hpp"

namespace silverpoint::probes {

// `Tracer` has a TracerName `name`, and these functions, one thread at a time:
//
// - int open(): before the others, and again while it is lost. 0, or the error of the system.
// - void explain(line, error): what the error means.
// - bool is_lost(): the program has closed what was opened.
// - Event* make(description, is_final): null if there is none, `is_final` if there will be none either.
// - void select(event, is_on): only if the directives decide which sites feed it.
template <class Tracer>
class KernelRegistrar {
  public:
    using Event = typename Tracer::Event;

    template <class... With>
    explicit constexpr KernelRegistrar(const With&... with) : tracer_(with...) {}

    // Safe in a signal handler, but for the first call.
    void start(char* control, std::size_t size) {
        if (!events_.take(kName, control, size)) return;
        if (!is_open_ && !open()) {
            events_.control().stop_asking(kName.bit);
            // The frontend sees that nothing is asked for. It comes again when somebody asks.
            return events_.leave();
        }
        events_.announce();
        if (was_started_.exchange(true, std::memory_order_acq_rel)) return;
        running = this;
        // A child goes on with whole events: the one that is being made is finished before.
        pthread_atfork([] { pthread_mutex_lock(&running->mutex_); },
                       [] { pthread_mutex_unlock(&running->mutex_); }, [] { running->go_on_in_child(); });
        start_thread();
    }
    // The program has closed the tracer's descriptor: the thread opens it again. Safe in a tracepoint.
    static void report_lost() {
        if (running != nullptr && !running->is_reopening_.exchange(true, std::memory_order_acq_rel))
            running->events_.wake();
    }

  private:
    static constexpr TracerName kName = Tracer::name;
    // Directives decide which sites feed it, since it has no tool of its own for that.
    static constexpr bool kIsSelected = requires(Tracer tracer, Event event) { tracer.select(event, true); };

    void start_thread() {
        const auto body = [](void* self) -> void* {
            static_cast<KernelRegistrar*>(self)->run();
            return nullptr;
        };
        if (!probes::start_thread(body, this)) warn_of(kName, "no thread could be started");
    }
    void run() {
        pthread_setname_np(pthread_self(), kName.thread);
        // (A controller that changes the directives wakes the thread, which may be about to wait.)
        events_.follow(
            kIsSelected ? kSecond : 60 * kSecond,
            [this] {
                if (is_reopening_.load(std::memory_order_acquire)) reopen();
                for (std::uint32_t number = 0; kIsSelected && number < events_.known(); ++number) {
                    if (events_.is_event(events_[number])) select(number);
                }
            },
            [this](std::uint32_t number) {
                pthread_mutex_lock(&mutex_);
                visit(number);
                pthread_mutex_unlock(&mutex_);
                return true;
            });
    }
    void visit(std::uint32_t number) {
        const Control& control = events_.control();
        if (events_[number] == nullptr) {
            bool is_final = false;
            Event* const event = tracer_.make(control.description(number), is_final);
            events_[number] = event != nullptr ? event : is_final ? events_.refused() : events_.failed();
        }
        Event* const event = events_[number];
        if (!events_.is_event(event)) return;
        select(number);
        if (!control.has(number, &event->shared)) control.publish(number, event->shared);
    }
    void select([[maybe_unused]] std::uint32_t number) {
        constexpr std::uint8_t kRing = 1;
        if constexpr (kIsSelected)
            tracer_.select(*events_[number], (events_.control().state(number).load() & kRing) != 0);
    }
    bool open() {
        const int error = tracer_.open();
        is_open_ = error == 0;
        // A forked child does not say again what its parent has said.
        const pid_t process = getpid();
        if (!is_open_ && (error != reported_ || process == reporter_)) {
            Text<400> why;
            tracer_.explain(why, error);
            warn_of(kName, why.c_str(), "; `silverpoint doctor` says what to do");
            reported_ = error;
            reporter_ = process;
        }
        return is_open_;
    }
    void reopen() {
        pthread_mutex_lock(&mutex_);
        // (Nothing is tried again in vain: each attempt is for an event that was wanted.)
        if (tracer_.is_lost() && !open()) events_.control().stop_asking(kName.bit);
        is_reopening_.store(false, std::memory_order_release);
        pthread_mutex_unlock(&mutex_);
    }
    // The kernel has registered the parent's events for the child, too.
    void go_on_in_child() {
        mutex_ = PTHREAD_MUTEX_INITIALIZER;
        // The child's own session comes with its first record.
        events_.leave();
        is_reopening_.store(false, std::memory_order_release);
        start_thread();
    }

    // What forks of this process go on with.
    static inline constinit KernelRegistrar* running = nullptr;

    SiteEvents<Event> events_;
    std::atomic<bool> was_started_{false}, is_reopening_{false};
    bool is_open_ = false;  // from then on there is a thread
    int reported_ = 0;
    pid_t reporter_ = 0;
    // Held while what a child goes on with changes.
    pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
    Tracer tracer_;
};

}  // namespace silverpoint::probes
