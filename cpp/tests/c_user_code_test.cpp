// Code of a C program that runs within its tracepoints, or interrupts them, and leaves by each way that C
// has. A record is right or is not there, and its neighbours are whole. The thread goes on recording.
#include "c_user_code.h"

#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "support/traced.hpp"
#include "support/ways.hpp"

namespace {

using traced::lost;
using traced::Seen;
using ways::Way;

class CWayOut : public testing::TestWithParam<Way> {};

// More often than a thread has lanes.
TEST_P(CWayOut, OfArguments) {
    constexpr int kTimes = 20;
    static thread_local Way way;
    for (const c_leaving* kind = c_leaving_all; kind->name != nullptr; ++kind) {
        SCOPED_TRACE(kind->name);
        traced::take();
        const std::uint64_t before = lost();
        std::thread([&] {
            for (int i = 0; i < kTimes; ++i) {
                EXPECT_TRUE(ways::leaves(GetParam(), [&] {
                    way = GetParam();
                    kind->record([] { return ways::leave(way, c_child); });
                }));
                c_next(i);
            }
        }).join();
        int next = 0, made = 0;
        for (const Seen& one : traced::take()) {
            if (one.site.text == "next %d") {
                EXPECT_EQ(one.text, std::to_string(next++));
            } else {
                ++made;
            }
            EXPECT_EQ(one.record.lane, 0u);
        }
        EXPECT_EQ(next, kTimes);
        EXPECT_EQ(made, GetParam() == Way::kFork ? kTimes : 0);
        EXPECT_EQ(lost(), before);
    }
}
// (C throws nothing.)
INSTANTIATE_TEST_SUITE_P(All, CWayOut,
                         testing::Values(Way::kThreadExit, Way::kCancel, Way::kJump, Way::kFork),
                         [](const testing::TestParamInfo<Way>& info) { return ways::name_of(info.param); });

void expect_whole(const Seen& one) {
    if (one.site.text != "pair") return;
    std::uint64_t number = 0, inverse = 0;
    std::memcpy(&number, one.record.args.data(), 8);
    std::memcpy(&inverse, one.record.args.data() + 8, 8);
    EXPECT_EQ(number, ~inverse);
}

// What was left behind is taken back within a few records; from then on nothing is lost.
void expect_recovered() {
    for (int i = 0; i < 40; ++i) c_pair(1);
    traced::take();
    const std::uint64_t before = lost();
    for (int i = 0; i < 1000; ++i) c_pair(2);
    const auto all = traced::take();
    EXPECT_EQ(all.size(), 1000u);
    for (const Seen& one : all) EXPECT_EQ(one.record.lane, 0u);
    EXPECT_EQ(lost(), before);
}

std::atomic<int> interruptions{0};
// Whether nothing but the tracepoints is interrupted: not the test's own memory.
volatile sig_atomic_t is_recording = 0;

// Records until a handler, which a timer calls, has interrupted them so often.
void record_until(int times, void (*handler)(int)) {
    traced::take();
    interruptions = 0;
    struct sigaction act = {}, old = {};
    act.sa_handler = handler;
    act.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &act, &old);
    const itimerval soon{{0, 300}, {0, 300}}, never{};
    static std::atomic<std::uint64_t> i;
    i = 0;
    if (sigsetjmp(ways::back, 1) != 0) ++interruptions;
    setitimer(ITIMER_REAL, &soon, nullptr);
    while (interruptions < times && i < 100'000'000) {
        const std::uint64_t n = i.fetch_add(1);
        is_recording = 1;
        c_pair(n);
        c_pair_of_texts(n, "some text that is a little longer than those that are copied at once");
        is_recording = 0;
        if (n % 1000 == 0)
            for (const Seen& one : traced::take()) expect_whole(one);
    }
    setitimer(ITIMER_REAL, &never, nullptr);
    sigaction(SIGALRM, &old, nullptr);
    EXPECT_GE(interruptions, times);
    for (const Seen& one : traced::take()) expect_whole(one);
}

TEST(CInterrupted, ByHandlersThatJumpOut) {
    record_until(100, [](int) {
        if (is_recording != 0) siglongjmp(ways::back, 1);
    });
    expect_recovered();
}

// The child records, too, however far the record is that was interrupted.
TEST(CInterrupted, ByHandlersThatFork) {
    static std::atomic<int> children_without{0};
    children_without = 0;
    constexpr int kForks = 30;
    record_until(kForks, [](int) {
        // (The next signal is there when it returns: what is interrupted would never go on.)
        if (is_recording == 0 || interruptions == kForks) return;
        ++interruptions;
        const pid_t child = fork();
        if (child == 0) {
            alarm(300);
            c_child();
            bool is_there = false;
            try {
                for (const auto& record : reader::Session::mine().drain())
                    is_there |= record.site >= 16 && record.args.empty();
            } catch (const std::exception& error) {
                std::fprintf(stderr, "%s\n", error.what());
            }
            _exit(is_there ? 0 : 1);
        }
        int status = 0;
        waitpid(child, &status, 0);
        children_without += status == 0 ? 0 : 1;
    });
    EXPECT_EQ(children_without, 0);
    expect_recovered();
}

// A thread that is cancelled between its records has made them all: they are no points of cancellation.
TEST(CInterrupted, ByTheEndOfItsThread) {
    traced::take();
    // There is a collector, and what has no room is counted.
    for (std::size_t level = 0; level < 6; ++level) traced::session().set<std::uint8_t>(792 + level, 1);
    traced::session().set<std::uint32_t>(768, static_cast<std::uint32_t>(getpid()));
    const std::uint64_t before = lost();
    std::uint64_t seen = 0, made = 0;
    for (int i = 0; i < 20; ++i) {
        static std::atomic<std::uint64_t> count;
        count = 0;
        pthread_t thread;
        const auto record = [](void*) -> void* {
            for (;;) {
                c_pair(count);
                if (++count % 100 == 0) pthread_testcancel();
            }
        };
        ASSERT_EQ(pthread_create(&thread, nullptr, record, nullptr), 0);
        while (count == 0) std::this_thread::yield();
        pthread_cancel(thread);
        void* result = nullptr;
        pthread_join(thread, &result);
        EXPECT_EQ(result, PTHREAD_CANCELED);
        EXPECT_EQ(count % 100, 0u);
        made += count;
        for (const Seen& one : traced::take()) {
            expect_whole(one);
            ++seen;
        }
    }
    EXPECT_EQ(seen + lost() - before, made);
    traced::session().set<std::uint32_t>(768, 0);
    expect_recovered();
}

}  // namespace
