// libsilverpoint_lttng: makes an event of LTTng-UST of every site of this process. A frontend loads it when
// SILVERPOINT_PROBES asks for it (silverpoint/detail/probe.hpp), once for all copies and languages.
//
//   site complete ─▶ futex ─▶ thread: description ─▶ event, registered ─▶ its address in the site's entry
//
// Registering takes LTTng's locks, and milliseconds while something is traced: a thread does it, no
// tracepoint. What LTTng is given stays for ever.
#include <pthread.h>

#include "lttng/event.hpp"
#include "lttng/names.hpp"
#include "probes/site_events.hpp"
#include "probes/thread.hpp"

namespace silverpoint::lttng {
namespace {

// The fork of this thread does without the lock.
[[gnu::tls_model("initial-exec")]] constinit thread_local bool is_admitted = false;

constexpr probes::TracerName kName{kLttngProbe, "lttng", "LTTng", "silverpoint-ust"};
constexpr std::uint64_t kPause = 60 * probes::kSecond;

class Registrar {
  public:
    // Safe in a signal handler, but for the first call.
    void start(char* control, std::size_t size) {
        if (!events_.take(kName, control, size)) return;
        events_.announce();
        if (!was_started_.exchange(true, std::memory_order_acq_rel)) begin();
    }

  private:
    static Registrar& self();

    void begin() {
        is_fork_wrapped_ = Tracer::is_fork_wrapped();
        pthread_atfork([] { self().before_fork(); }, [] { self().after_fork(); }, [] { self().in_child(); });
        // Before LTTng's own end, of which this thread knows nothing.
        std::atexit([] {
            self().is_over_.store(true);
            while (self().is_registering_.load()) pause();
        });
        start_thread();
    }
    void start_thread() {
        const auto body = [](void*) -> void* {
            self().run();
            return nullptr;
        };
        if (!probes::start_thread(body, nullptr)) warn_of(kName, "no thread could be started");
    }
    void run() {
        // No event of this thread: it holds locks of LTTng.
        const ProbeRecord nothing{};
        const Within within(nothing, in_thread.prepare());
        pthread_setname_np(pthread_self(), kName.thread);
        while (!open()) await_request();
        give_way();
        if (tracer.register_contexts != nullptr) tracer.register_contexts(&context_provider);
        events_.follow(
            kPause, [] {}, [this](std::uint32_t number) { return visit(number); });
    }
    // False: there is no usable LTTng. Forks of the program wait meanwhile: their children could not use what
    // is half open.
    bool open() {
        lock();
        if (stage_.load() == kClosed) {
            stage_.store(kOpening);
            const bool is_open = tracer.open();
            if (is_open) reader_place.find();
            stage_.store(is_open ? kOpen : kFailed);
        }
        const bool is_open = stage_.load() == kOpen;
        pthread_mutex_unlock(&mutex_);
        return is_open;
    }
    // Until then tracepoints pay nothing. (A forked child does not try, and does not say it again.)
    void await_request() {
        events_.await_request(kName.bit, probes::kSecond);
        lock();
        if (stage_.load() == kFailed) stage_.store(kClosed);
        pthread_mutex_unlock(&mutex_);
    }

    // False: the process ends.
    bool visit(std::uint32_t number) {
        SiteEvent* const made = events_[number];
        if (made != nullptr && (!events_.is_event(made) || events_.control().has(number, &made->shared)))
            return true;
        // The end of the process waits for one event, and then there is no other.
        is_registering_.store(true);
        if (!is_over_.load()) publish(number);
        is_registering_.store(false);
        return !is_over_.load();
    }
    // In a child that was forked meanwhile its thread goes on from here.
    void publish(std::uint32_t number) {
        lock();
        if (events_[number] == nullptr) events_[number] = make(number);
        SiteEvent* const event = events_[number];
        pthread_mutex_unlock(&mutex_);
        if (!events_.is_event(event)) return;
        // The site has its event before LTTng has it. So from the moment in which LTTng lists and enables it,
        // no execution is missed.
        event->shared.end = event->end == nullptr ? nullptr : &event->end->shared;
        if (!events_.control().has(number, &event->shared)) events_.control().publish(number, event->shared);
        if (event->end != nullptr && !register_event(*event->end)) {
            __atomic_store_n(&event->shared.end, nullptr, __ATOMIC_RELEASE);
            event->end = nullptr;
        }
        // (One that LTTng does not take stays disabled.)
        if (!register_event(*event)) {
            events_[number] = events_.failed();
            return;
        }
        join_async_span(number);
    }
    // Begin and end of an async span at one place know of each other, so that its end can be had alone.
    void join_async_span(std::uint32_t number) {
        const Description site = events_.control().description(number);
        const bool is_end = site.kind == Kind::kAsyncEnd;
        if (!is_end && site.kind != Kind::kAsyncBegin) return;
        for (std::uint32_t other = 0; other < events_.known(); ++other) {
            if (!events_.is_event(events_[other])) continue;
            const Description of = events_.control().description(other);
            if (of.kind != (is_end ? Kind::kAsyncBegin : Kind::kAsyncEnd) || of.line != site.line ||
                of.file != site.file || of.category != site.category || of.text != site.text)
                continue;
            SiteEvent* const begin = events_[is_end ? other : number];
            __atomic_store_n(&begin->shared.end, &events_[is_end ? number : other]->shared, __ATOMIC_RELEASE);
        }
    }
    // The tracepoint first: LTTng lists an event as soon as it has its probe, and enables it at once.
    //
    // Without the lock where LTTng takes its own, which a thread that forks may hold before it wants this
    // one. LTTng lets a probe be registered twice, which such a child may do.
    bool register_event(SiteEvent& event) {
        if (event.is_registered) return true;
        lock();
        if (!event.is_callsite) event.is_callsite = tracer.register_tracepoints(event.tracepoints, 1) == 0;
        const bool is_callsite = event.is_callsite;
        pthread_mutex_unlock(&mutex_);
        give_way();
        if (!is_callsite || tracer.register_probe(&event.probe) == nullptr) return false;
        event.is_registered = true;
        return true;
    }
    SiteEvent* make(std::uint32_t number) {
        const Description site = events_.control().description(number);
        if (site.is_question()) return events_.failed();
        EventName uri;
        add_literal(uri, site.file, 500);
        uri.add(":").number(site.line);
        const char* const kept_uri = keep_text({uri.c_str(), uri.size()});
        const int level = level_of_site(site.level);
        const FullName name(site, ending_of(site.kind));
        SiteEvent* const event =
            name ? make_event(name.provider, name.name, site.signature, site.names, level, kept_uri)
                 : nullptr;
        if (event == nullptr) return events_.refused();
        if (site.kind == Kind::kSpan) {
            const FullName end(site, "_exit");
            if (end) event->end = make_event(end.provider, end.name, "L", "duration_ns\n", level, kept_uri);
        }
        return event;
    }

    // Threads that fork go first: the lock is not fair, nor are LTTng's.
    void give_way() {
        while (forking_.load() != 0) pause();
    }
    void lock() {
        give_way();
        pthread_mutex_lock(&mutex_);
    }
    static void pause() {
        constexpr timespec kMoment{0, 100'000};
        clock_nanosleep(CLOCK_MONOTONIC, 0, &kMoment, nullptr);
    }

    // liblttng-ust-fork wraps fork; without it, these call LTTng. LTTng's own lock comes first, as with it.
    void before_fork() {
        is_admitted = false;
        forking_.fetch_add(1);
        sigset_t before{};
        bool is_announced = false;
        for (;;) {
            const int stage = stage_.load();
            if (stage == kOpening && !is_fork_wrapped_ && is_without_signals()) return admit();
            if (stage == kOpen && tracer.before_fork != nullptr) {
                // Which no thread blocks: so it stays where LTTng does nothing, since it forks itself.
                sigaddset(&before, SIGKILL);
                tracer.before_fork(&before);
                if (sigismember(&before, SIGKILL) == 1) return admit();
                is_announced = true;
            }
            pthread_mutex_lock(&mutex_);
            if (is_announced || stage_.load() != kOpen || tracer.before_fork == nullptr) break;
            pthread_mutex_unlock(&mutex_);  // it was opened meanwhile
        }
        is_announced_ = is_announced;
        before_ = before;
        forking_.fetch_sub(1);
    }
    // A fork of LTTng's own, for a child that only makes a file. LTTng may hold locks, and wait for it.
    void admit() {
        is_admitted = true;
        forking_.fetch_sub(1);
    }
    // So are the thread that opens LTTng, and those that LTTng starts. (liblttng-ust-fork blocks the signals
    // of each thread that forks. With it LTTng is there already: who opens it waits for no fork of LTTng's
    // own.)
    static bool is_without_signals() {
        sigset_t mask;
        pthread_sigmask(SIG_SETMASK, nullptr, &mask);
        for (const int signal : {SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGCHLD, SIGSEGV})
            if (sigismember(&mask, signal) != 1) return false;
        return true;
    }
    void after_fork() {
        if (is_admitted) {
            is_admitted = false;
            return;
        }
        const bool is_announced = is_announced_;
        sigset_t before = before_;
        pthread_mutex_unlock(&mutex_);
        if (is_announced) tracer.after_fork_parent(&before);
    }
    void in_child() {
        mutex_ = PTHREAD_MUTEX_INITIALIZER;
        forking_.store(0);
        is_registering_.store(false);
        if (is_admitted) return;
        // The child's own session comes with its first record.
        events_.leave();
        if (is_announced_) tracer.after_fork_child(&before_);
        start_thread();
    }

    enum Stage { kClosed, kOpening, kOpen, kFailed };
    std::atomic<bool> was_started_{false};
    bool is_fork_wrapped_ = false;
    std::atomic<int> stage_{kClosed};
    probes::SiteEvents<SiteEvent> events_;
    // Held while what a child goes on with changes.
    pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
    std::atomic<int> forking_{0};  // threads that want it to fork
    std::atomic<bool> is_over_{false}, is_registering_{false};
    // Of the fork that holds the lock: whether LTTng knows of it, and the signals that it blocked before.
    bool is_announced_ = false;
    sigset_t before_{};
};

Registrar registrar;

Registrar& Registrar::self() { return registrar; }

}  // namespace
}  // namespace silverpoint::lttng

extern "C" [[gnu::visibility("default")]] void silverpoint_start_lttng(char* control, std::size_t size) {
    silverpoint::lttng::registrar.start(control, size);
}
