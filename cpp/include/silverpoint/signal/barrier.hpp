// An order between two sides, one of which acts a million times as often as the other.
//
// An emission writes "I am in this receiver", then checks whether the receiver is still connected. A
// disconnection writes "not connected any more", then checks who is in the receiver. Each must see the other.
// That takes a full barrier on both sides, which makes emissions expensive. Linux can place the emitter's
// barrier from the other side (membarrier, since 4.14). The frequent side then only stores, and the rare one
// pays for a system call. If the kernel cannot, or a filter forbids it, both sides use sequentially
// consistent stores, which need no help.
//
// What is checked is what ships, in both ways:
//
// - The barrier's only work is the order of a store and a later load of the same thread. The model check
//   (cpp/tests/signal_model_test.cpp) runs every order of a machine with store buffers. There the kernel's
//   barrier empties all buffers. Without it the check finds lost events and torn values.
// - Memory that one side writes, and the other reads or frees, is handed over by release and acquire on one
//   atomic, never by the barrier. So ThreadSanitizer runs this code without annotations. It finds a light
//   store that is relaxed (cpp/tests/signal_barriers.cpp).
// - That the kernel's barrier is one is assumed.
#pragma once

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

// One copy in a process, no matter with which visibility a library is compiled. Threads and signals of all
// its shared objects must know of each other. The dynamic linker ensures this among shared libraries. If an
// executable loads plugins (dlopen), the linker must see its symbols: link it with -rdynamic (CMake:
// ENABLE_EXPORTS). Do not load plugins with RTLD_DEEPBIND, and do not hide these symbols by a version script.
// Otherwise there are two copies, and a plugin that disconnects does not wait for the executable's emissions.
#define SP_SIGNAL_SHARED __attribute__((visibility("default")))

// (Not `signals`: Qt has macros of this name, of `slots` and of `emit`, and these headers may stand behind
// its own.)
namespace silverpoint::signaling {

/// True once the kernel has agreed to place barriers for others.
SP_SIGNAL_SHARED inline constinit std::atomic<bool> asymmetric{false};

/// Asks the kernel, once; before the first receiver of the process is connected.
inline void settle_barriers() {
    [[maybe_unused]] static const bool asked = [] {
        const bool granted = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
        asymmetric.store(granted, std::memory_order_seq_cst);
        return granted;
    }();
}

/// The store of the frequent side. The same thread's later loads come after it, as seen by a thread that
/// calls `heavy_barrier` between a store and a load of its own.
template <class Atomic, class Value>
inline void light_store(Atomic& where, Value value) {
    if (asymmetric.load(std::memory_order_relaxed)) [[likely]] {
        where.store(value, std::memory_order_release);
        std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
        where.store(value, std::memory_order_seq_cst);
    }
}

/// The rare side's barrier, between its (sequentially consistent) stores and loads: a system call that
/// interrupts the process's other running threads. It ends the program if the kernel refuses what it has
/// promised. So install a system call filter (seccomp) that forbids membarrier before the first signal is
/// made.
inline void heavy_barrier() {
    if (!asymmetric.load(std::memory_order_relaxed)) return;
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0) [[likely]]
        return;
    constexpr char why[] =
        "silverpoint: membarrier is refused, after it was granted (by a seccomp filter?)\n";
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, why, sizeof why - 1);
    std::abort();
}

/// A hint: this line of memory will be written to, and another core has it.
inline void prefetch_for_write(const void* where) {
#if defined(__x86_64__)
    asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(where)));
#else
    __builtin_prefetch(where, 1);
#endif
}

/// Waits for something that takes nanoseconds, unless the other thread was suspended. First it spins, then
/// lets others run, then sleeps, so that no priority can keep the other from running.
class backoff {
  public:
    void pause() {
        ++turns_;
        if (turns_ < 64) {
#if defined(__x86_64__) || defined(__i386__)
            // (The header of _mm_pause has parameters named A: a macro in some programs.)
            __builtin_ia32_pause();
#elif defined(__aarch64__)
            asm volatile("yield");
#endif
        } else if (turns_ < 80) {
            syscall(SYS_sched_yield);
        } else {
            usleep(50);
        }
    }

  private:
    unsigned turns_ = 0;
};

/// The base of the queue and the latest-value cell. It is a template argument of theirs. So a test can
/// replace it by a machine that tries every order of their steps (cpp/tests/signal_model_test.cpp).
struct machine {
    template <class T>
    using atomic = std::atomic<T>;

    template <class Atomic, class Value>
    static void light_store(Atomic& where, Value value) {
        signaling::light_store(where, value);
    }
    static void heavy_barrier() { signaling::heavy_barrier(); }
    /// How often a thread must append to a queue before it counts as the only one, after another thread has
    /// appended. A barrier costs as much as some hundred turns with a lock.
    static constexpr std::uint32_t patience = 1024;
    /// Returns when the value may have changed.
    template <class Atomic, class Value>
    static void while_equal(const Atomic& where, Value value) {
        backoff wait;
        while (where.load(std::memory_order_relaxed) == value) wait.pause();
    }
    /// Sleeps while the value is this one (or for shorter), until `wake`.
    static void sleep(const std::atomic<std::uint32_t>& where, std::uint32_t value) {
        syscall(SYS_futex, &where, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
    }
    /// The same for at most this long.
    static void sleep_for(const std::atomic<std::uint32_t>& where, std::uint32_t value,
                          std::chrono::milliseconds most) {
        const timespec time{static_cast<time_t>(most.count() / 1000),
                            static_cast<long>(most.count() % 1000 * 1'000'000)};
        syscall(SYS_futex, &where, FUTEX_WAIT_PRIVATE, value, &time, nullptr, 0);
    }
    static void wake(const std::atomic<std::uint32_t>& where) {
        syscall(SYS_futex, &where, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
    }
    template <class T>
    static T* allocate(std::size_t count) {
        return std::allocator<T>().allocate(count);
    }
    template <class T>
    static void release(T* at, std::size_t count) {
        std::allocator<T>().deallocate(at, count);
    }
    /// An access to memory that the protocol protects.
    template <class Function>
    static void read(const void*, Function&& function) {
        function();
    }
    template <class Function>
    static void write(const void*, Function&& function) {
        function();
    }
};

/// The light store where it is known that the kernel places the barriers.
struct quick_machine {
    template <class Atomic, class Value>
    [[gnu::always_inline]] static void light_store(Atomic& where, Value value) {
        where.store(value, std::memory_order_release);
        std::atomic_signal_fence(std::memory_order_seq_cst);
    }
};

/// A lock for a few instructions: one exchange to take, one store to give back.
template <class Machine>
class brief_lock {
  public:
    void lock() {
        while (held_.exchange(1, std::memory_order_acquire) != 0) [[unlikely]]
            Machine::while_equal(held_, std::uint8_t{1});
    }
    void unlock() { held_.store(0, std::memory_order_release); }

  private:
    typename Machine::template atomic<std::uint8_t> held_{0};
};

}  // namespace silverpoint::signaling
