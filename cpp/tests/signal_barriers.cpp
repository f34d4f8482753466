// The barriers of signals (signal/barrier.hpp): which way this run is of, and what ThreadSanitizer finds in
// code with a mistake. Part of signal_race_test.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <silverpoint/signal.hpp>
#include <thread>

namespace {

bool forbid_membarrier() {
    sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog filter{sizeof steps / sizeof *steps, steps};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, 2, &filter) == 0;
}

// Before the first signal, which asks the kernel once.
const bool is_forbidden = std::getenv("SILVERPOINT_TEST_NO_MEMBARRIER") != nullptr && forbid_membarrier();

TEST(Barrier, IsTheOneThatThisRunIsOf) {
    silverpoint::signaling::settle_barriers();
    const bool is_asked_for = std::getenv("SILVERPOINT_TEST_NO_MEMBARRIER") != nullptr;
    EXPECT_EQ(is_forbidden, is_asked_for);
    const long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
    const bool is_there = commands > 0 && (commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0;
    EXPECT_EQ(silverpoint::signaling::asymmetric.load(), is_there);
    EXPECT_FALSE(is_forbidden && is_there);
}

TEST(Barrier, OneThatIsRefusedEndsTheProgram) {
    silverpoint::signaling::settle_barriers();
    if (!silverpoint::signaling::asymmetric.load()) GTEST_SKIP() << "nothing was granted";
    const pid_t child = fork();
    if (child == 0) {
        const rlimit no_core{0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        if (!forbid_membarrier()) _exit(77);
        silverpoint::signaling::heavy_barrier();
        _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << "no filters here";
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

#if defined(__SANITIZE_THREAD__)
#    define OF_THREADS 1
#elif defined(__has_feature)
#    if __has_feature(thread_sanitizer)
#        define OF_THREADS 1
#    endif
#endif
#ifdef OF_THREADS
// What ThreadSanitizer is to find: a light store that hands nothing on.
struct careless : silverpoint::signaling::machine {
    template <class Atomic, class Value>
    static void light_store(Atomic& where, Value value) {
        where.store(value, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst);
    }
};

// Runs the two in a process of its own, the second behind the first; whether a race was reported.
template <class First, class Second>
bool race(First&& first, Second&& second) {
    const pid_t child = fork();
    if (child == 0) {
        if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(2);
        std::atomic<bool> is_done{false};  // relaxed: it is no order
        std::thread one([&] {
            first();
            is_done.store(true, std::memory_order_relaxed);
        });
        std::thread other([&] {
            while (!is_done.load(std::memory_order_relaxed)) std::this_thread::yield();
            second();
        });
        one.join();
        other.join();
        _exit(0);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 66)) << status;
    return WEXITSTATUS(status) == 66;
}

template <class Machine>
bool queue_races() {
    silverpoint::signaling::event_queue<std::array<int, 4>, Machine> events(64);
    int place = 0, sum = 0;
    return race(
        [&] {
            for (int i = 0; i < 40; ++i) events.push(&place, std::array{i, i, i, i});
        },
        [&] {
            events.claim();
            while (events.has_batch()) sum += events.take()[0];
        });
}

template <class Machine>
bool cell_races() {
    silverpoint::signaling::four_slot<std::array<int, 4>, Machine> cell;
    int last = 0;
    return race(
        [&] {
            for (int i = 0; i < 3; ++i) cell.publish_next(std::array{i, i, i, i});
        },
        [&] {
            cell.name();
            Machine::heavy_barrier();
            if (cell.choose() != 0) cell.take([&](const auto& value) { last = value[0]; });
        });
}

TEST(Sanitizer, FindsALightStoreThatHandsNothingOn) {
    silverpoint::signaling::settle_barriers();
    EXPECT_FALSE(queue_races<silverpoint::signaling::machine>());
    EXPECT_TRUE(queue_races<careless>());
    EXPECT_FALSE(cell_races<silverpoint::signaling::machine>());
    EXPECT_TRUE(cell_races<careless>());
}
#endif

TEST(Barrier, AForkedChildWaitsForNoThreadOfItsParent) {
    silverpoint::signal<int> sent;
    std::atomic<bool> inside{false}, go{false};
    int got = 0;
    silverpoint::connection one = sent.connect([&](int value) {
        got += value;
        if (value == 1) {
            inside.store(true);
            while (!go.load()) std::this_thread::yield();
        }
    });
    std::thread emits([&] { sent(1); });
    while (!inside.load()) std::this_thread::yield();
    const pid_t child = fork();
    if (child == 0) {
        alarm(300);
        sent(2);
        one.disconnect();
        sent(3);
        _exit(got == 3 && one.over() ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    go.store(true);
    emits.join();
    one.disconnect();
    EXPECT_EQ(got, 1);
}

}  // namespace
