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

namespace silverpoint::lttng {
namespace {

// The fork of this thread does without the lock.
[[gnu::tls_model("initial-exec")]] constinit thread_local bool is_admitted = false;

class Registrar {
  public:
    // Safe in a signal handler, but for the first call.
    void start(char* control, std::size_t size) {
        std::uint32_t none = 0;
        if (!has_session_.compare_exchange_strong(none, 1, std::memory_order_acq_rel)) return;
        // A second mapping of the same pages.
        void* const mapped = mremap(control, 0, size, MREMAP_MAYMOVE);
        if (mapped == MAP_FAILED) return;
        control_ = {static_cast<char*>(mapped), size};
        asked_tracers.store(&control_.word(at::kProbesAsked), std::memory_order_release);
        has_session_.store(2, std::memory_order_release);
        futex_wake(&has_session_);
        if (!was_started_.exchange(true, std::memory_order_acq_rel)) begin();
    }

  private:
    static Registrar& self();

    void begin() {
        pthread_atfork([] { self().before_fork(); }, [] { self().after_fork(); }, [] { self().in_child(); });
        // Before LTTng's own end, of which this thread knows nothing.
        std::atexit([] {
            self().is_over_.store(true);
            while (self().is_registering_.load()) pause();
        });
        start_thread();
    }
    void start_thread() {
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        pthread_t thread;
        const int error = pthread_create(
            &thread, nullptr,
            [](void*) -> void* {
                self().run();
                return nullptr;
            },
            nullptr);
        if (error == 0)
            pthread_detach(thread);
        else
            warn("SILVERPOINT_PROBES=lttng: LTTng gets no events: no thread could be started");
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }
    void run() {
        // No event of this thread: it holds locks of LTTng.
        const Writing writing;
        open();
        if (stage_.load() != kOpen) return;
        pthread_setname_np(pthread_self(), "silverpoint-ust");
        give_way();
        if (tracer.register_contexts != nullptr) tracer.register_contexts(&context_provider);
        std::uint32_t seen;
        while ((seen = has_session_.load(std::memory_order_acquire)) != 2)
            futex_wait(&has_session_, seen, kPause);
        for (;;) {
            std::atomic<std::uint32_t>& wake = control_.word(at::kProbesWake);
            const std::uint32_t value = wake.load(std::memory_order_acquire);
            register_all();
            futex_wait(&wake, value, kPause);
        }
    }
    // Forks of the program wait meanwhile: their children could not use what is half open.
    void open() {
        lock();
        if (stage_.load() == kClosed) {
            stage_.store(kOpening);
            const bool is_open = tracer.open();
            stage_.store(is_open ? kOpen : kFailed);
        }
        pthread_mutex_unlock(&mutex_);
    }

    void register_all() {
        const std::uint32_t count = control_.count();
        known_ = count;
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
            SiteEvent* const made = events_[number];
            if (made == nullptr || (made != failed() && !control_.has(number, &made->shared))) {
                // The end of the process waits for one event, and then there is no other.
                is_registering_.store(true);
                if (!is_over_.load()) publish(number);
                is_registering_.store(false);
                if (is_over_.load()) return;
            }
            if (is_prefix) done_ = number + 1;
        }
    }
    static SiteEvent* failed() { return reinterpret_cast<SiteEvent*>(1); }
    // In a child that was forked meanwhile its thread goes on from here.
    void publish(std::uint32_t number) {
        lock();
        if (events_[number] == nullptr) events_[number] = make(number);
        SiteEvent* const event = events_[number];
        pthread_mutex_unlock(&mutex_);
        if (event == failed()) return;
        // The site has its event before LTTng has it. So from the moment in which LTTng lists and enables it,
        // no execution is missed.
        event->shared.end = event->end == nullptr ? nullptr : &event->end->shared;
        if (!control_.has(number, &event->shared)) control_.publish(number, event->shared);
        if (event->end != nullptr && !register_event(*event->end)) {
            __atomic_store_n(&event->shared.end, nullptr, __ATOMIC_RELEASE);
            event->end = nullptr;
        }
        // (One that LTTng does not take stays disabled.)
        if (!register_event(*event)) {
            events_[number] = failed();
            return;
        }
        join_async_span(number);
    }
    // Begin and end of an async span at one place know of each other, so that its end can be had alone.
    void join_async_span(std::uint32_t number) {
        const Description site = control_.description(number);
        const bool is_end = site.kind == Kind::kAsyncEnd;
        if (!is_end && site.kind != Kind::kAsyncBegin) return;
        for (std::uint32_t other = 0; other < known_; ++other) {
            if (!is_event(events_[other])) continue;
            const Description of = control_.description(other);
            if (of.kind != (is_end ? Kind::kAsyncBegin : Kind::kAsyncEnd) || of.line != site.line ||
                of.file != site.file || of.category != site.category || of.text != site.text)
                continue;
            SiteEvent* const begin = events_[is_end ? other : number];
            __atomic_store_n(&begin->shared.end, &events_[is_end ? number : other]->shared, __ATOMIC_RELEASE);
        }
    }
    static bool is_event(const SiteEvent* event) { return event != nullptr && event != failed(); }
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
        const Description site = control_.description(number);
        if (site.is_question()) return failed();
        EventName uri;
        add_literal(uri, site.file, 500);
        uri.add(":").number(site.line);
        const char* const kept_uri = keep_text({uri.c_str(), uri.size()});
        const int level = level_of_site(site.level);
        const FullName name(site, ending_of(site.kind));
        SiteEvent* const event =
            name ? make_event(name.provider, name.name, site.signature, site.names, level, kept_uri)
                 : nullptr;
        if (event == nullptr) return failed();
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
            if (stage == kOpening && is_without_signals()) return admit();
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
    // So are the thread that opens LTTng, and those that LTTng starts.
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
        asked_tracers.store(nullptr, std::memory_order_release);
        if (control_.base != nullptr) munmap(control_.base, control_.size);
        control_ = {};
        has_session_.store(0, std::memory_order_release);
        done_ = 0;
        if (is_announced_) tracer.after_fork_child(&before_);
        if (stage_.load() != kFailed) start_thread();
    }

    enum Stage { kClosed, kOpening, kOpen, kFailed };
    static constexpr std::uint64_t kPause = 60'000'000'000;
    std::atomic<std::uint32_t> has_session_{0};  // 1: being stored, 2: there
    std::atomic<bool> was_started_{false};
    std::atomic<int> stage_{kClosed};
    Control control_;
    SiteEvent** events_ = nullptr;  // by the number of their entries
    std::uint32_t done_ = 0;        // below it every entry has been visited
    std::uint32_t known_ = 0;       // entries that have been looked at
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
