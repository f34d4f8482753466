// LTTng's read lock: what an event is written with stays as long as a thread holds it.
//
// It is liblttng-ust-common's RCU. The public header lttng/urcu/static/urcu-ust.h compiles its few
// instructions into programs, so what they use is part of the library's interface. This does the same: the
// library's functions look for the thread's counter four times, each time by another call.
#pragma once

#include <dlfcn.h>
#if defined(__GLIBC__)
#    include <link.h>
#endif

#include <cerrno>
#include <silverpoint/detail/probe_event.hpp>

#include "tracer.hpp"

#if defined(__GLIBC__) && (defined(__x86_64__) || defined(__aarch64__))
extern "C" void* __tls_get_addr(void* index) noexcept;
#endif

namespace silverpoint::lttng {

using detail::ProbeRecord;

// The first word of what LTTng keeps of a thread: 0 in its lower half while the thread does not read.
using ReaderCount = unsigned long;
inline constexpr ReaderCount kNesting = (ReaderCount{1} << (4 * sizeof(ReaderCount))) - 1;

// Where each thread has the address of its counter.
class ReaderPlace {
  public:
    // After the tracer is open. Where something is missing, the library's functions are called.
    void find() {
#if defined(__GLIBC__) && (defined(__x86_64__) || defined(__aarch64__))
        void* const library = dlopen("liblttng-ust-common.so.1", RTLD_LAZY | RTLD_NOLOAD);
        if (library == nullptr) return;
        const auto* const has_membarrier =
            static_cast<const int*>(dlsym(library, "lttng_ust_urcu_has_sys_membarrier"));
        const auto* const period = static_cast<const ReaderCount*>(dlsym(library, "lttng_ust_urcu_gp"));
        const auto* const mine = static_cast<const char*>(dlsym(library, "lttng_ust_urcu_reader"));
        const char* block = nullptr;
        // Without the system call the lock is a fence, too.
        if (has_membarrier == nullptr || *has_membarrier == 0 || period == nullptr || mine == nullptr ||
            dlinfo(library, RTLD_DI_TLS_MODID, &index_.module) != 0 || index_.module == 0 ||
            dlinfo(library, RTLD_DI_TLS_DATA, &block) != 0 || block == nullptr)
            return;
        index_.offset = static_cast<std::size_t>(mine - block);
        __atomic_store_n(&period_, period, __ATOMIC_RELEASE);
#endif
    }
    // Of this thread; null: the functions are to be called.
    ReaderCount** of_thread() {
#if defined(__GLIBC__) && (defined(__x86_64__) || defined(__aarch64__))
        if (__atomic_load_n(&period_, __ATOMIC_ACQUIRE) != nullptr)
            return static_cast<ReaderCount**>(__tls_get_addr(&index_));
#endif
        return nullptr;
    }
    ReaderCount period() const { return __atomic_load_n(period_, __ATOMIC_RELAXED); }

  private:
    // As __tls_get_addr expects it.
    struct {
        std::size_t module = 0, offset = 0;
    } index_;
    const ReaderCount* period_ = nullptr;
};

inline constinit ReaderPlace reader_place;

// Of this thread; null before its first event.
struct InThread {
    // Where LTTng keeps the address of its counter, which is null before its first event. Null while an event
    // is written.
    ReaderCount** reader;
    const ProbeRecord* record;  // what is being written; null before the first event
    ReaderCount* no_counter;    // null: it has none that we know of
    int* error;                 // errno; null before the first event
    char* page;                 // memory until Within::release
    std::size_t used;           // of it

    bool is_within() const { return reader == nullptr && error != nullptr; }
    // The reader; null: an event is being written.
    [[gnu::noinline, gnu::cold]] ReaderCount** prepare() {
        if (error != nullptr) return nullptr;
        // First: what follows may allocate memory, and malloc may have tracepoints.
        error = &errno;
        ReaderCount** const found = reader_place.of_thread();
        reader = found != nullptr ? found : &no_counter;
        return reader;
    }
};
[[gnu::tls_model("initial-exec")]] inline constinit thread_local InThread in_thread{};

// Within Within.
class Reading {
  public:
    // `reader`: where the address of this thread's counter is.
    SP_DETAIL_HOT explicit Reading(ReaderCount** reader) : reader_(reader) {
        ReaderCount* const count = *reader;
        const ReaderCount before = __atomic_load_n(count, __ATOMIC_RELAXED);
        ReaderCount now = reader_place.period();
        if ((before & kNesting) != 0) [[unlikely]]
            now = before + 1;
        __atomic_store_n(count, now, __ATOMIC_RELAXED);
        // Against the compiler. A writer makes all processors execute a fence.
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
    }
    SP_DETAIL_HOT ~Reading() {
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        ReaderCount* const count = *reader_;
        __atomic_store_n(count, __atomic_load_n(count, __ATOMIC_RELAXED) - 1, __ATOMIC_RELAXED);
    }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

  private:
    ReaderCount** const reader_;
};

}  // namespace silverpoint::lttng
