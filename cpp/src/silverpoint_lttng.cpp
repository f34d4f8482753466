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

// The control file of a session: a mapping of its own, since that of a plug-in ends with it.
struct Control {
    char* base = nullptr;
    std::size_t size = 0;

    template <class T>
    T get(std::size_t at) const {
        T value;
        std::memcpy(&value, base + at, sizeof value);
        return value;
    }
    std::atomic<std::uint32_t>& word(std::size_t at) const {
        return *reinterpret_cast<std::atomic<std::uint32_t>*>(base + at);
    }
    std::atomic<std::uint64_t>& longword(std::size_t at) const {
        return *reinterpret_cast<std::atomic<std::uint64_t>*>(base + at);
    }
    std::size_t entry(std::size_t number) const {
        return static_cast<std::size_t>(get<std::uint64_t>(at::kSitesAt)) + number * kSiteEntry;
    }
};

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
            pthread_mutex_lock(&self().mutex_);
            self().is_over_ = true;
            pthread_mutex_unlock(&self().mutex_);
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
        pthread_setname_np(pthread_self(), "silverpoint-ust");
        if (stage_.load() == kClosed) {
            stage_.store(kOpening);
            const bool is_open = tracer.open();
            stage_.store(is_open ? kOpen : kFailed);
        }
        if (stage_.load() != kOpen) return;
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

    void register_all() {
        const std::uint32_t most = control_.get<std::uint32_t>(at::kSitesCap);
        std::uint32_t count = control_.word(at::kSitesNext).load(std::memory_order_acquire);
        if (count > most) count = most;
        if (events_ == nullptr) {
            void* const made = mmap(nullptr, most * sizeof *events_, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (made == MAP_FAILED) return;
            events_ = static_cast<SiteEvent**>(made);
        }
        bool is_prefix = true;
        for (std::uint32_t number = done_; number < count; ++number) {
            if (control_.word(control_.entry(number)).load(std::memory_order_acquire) != kStageComplete) {
                is_prefix = false;
                continue;
            }
            auto& published = control_.longword(control_.entry(number) + 24);
            if (published.load(std::memory_order_relaxed) == 0) {
                pthread_mutex_lock(&mutex_);
                if (is_over_) {
                    pthread_mutex_unlock(&mutex_);
                    return;
                }
                if (events_[number] == nullptr) events_[number] = make(number);
                if (events_[number] != failed())
                    published.store(reinterpret_cast<std::uintptr_t>(events_[number]),
                                    std::memory_order_release);
                pthread_mutex_unlock(&mutex_);
            }
            if (is_prefix) done_ = number + 1;
        }
    }
    static SiteEvent* failed() { return reinterpret_cast<SiteEvent*>(1); }
    SiteEvent* make(std::uint32_t number) {
        const std::uint64_t descs_at = control_.get<std::uint64_t>(at::kDescsAt);
        const auto body = control_.word(control_.entry(number) + 8).load(std::memory_order_acquire);
        const Description site(control_.base + descs_at + std::size_t{body} * 8);
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
            const SiteEvent* const exit =
                end ? make_event(end.provider, end.name, "L", "duration_ns\n", level, kept_uri) : nullptr;
            if (exit != nullptr) event->shared.end = &exit->shared;
        }
        return event;
    }

    // The thread does not register meanwhile. liblttng-ust-fork wraps fork; without it, these call LTTng.
    void before_fork() {
        pthread_mutex_lock(&mutex_);
        if (tracer.before_fork != nullptr && stage_.load() == kOpen) tracer.before_fork(&before_);
    }
    void after_fork() {
        if (tracer.after_fork_parent != nullptr && stage_.load() == kOpen) tracer.after_fork_parent(&before_);
        pthread_mutex_unlock(&mutex_);
    }
    void in_child() {
        if (tracer.after_fork_child != nullptr && stage_.load() == kOpen) tracer.after_fork_child(&before_);
        pthread_mutex_unlock(&mutex_);
        // The child's own session comes with its first record.
        if (control_.base != nullptr) munmap(control_.base, control_.size);
        control_ = {};
        has_session_.store(0, std::memory_order_release);
        done_ = 0;
        if (stage_.load() == kOpen) start_thread();
    }

    enum Stage { kClosed, kOpening, kOpen, kFailed };
    static constexpr std::uint64_t kPause = 60'000'000'000;
    std::atomic<std::uint32_t> has_session_{0};  // 1: being stored, 2: there
    std::atomic<bool> was_started_{false};
    std::atomic<int> stage_{kClosed};
    Control control_;
    SiteEvent** events_ = nullptr;  // by the number of their entries
    std::uint32_t done_ = 0;        // below it every entry has been visited
    pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
    bool is_over_ = false;
    sigset_t before_{};
};

Registrar registrar;

Registrar& Registrar::self() { return registrar; }

}  // namespace
}  // namespace silverpoint::lttng

extern "C" [[gnu::visibility("default")]] void silverpoint_start_lttng(char* control, std::size_t size) {
    silverpoint::lttng::registrar.start(control, size);
}
