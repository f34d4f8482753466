// The two ways of an emission, each within the other: the shortest, to the only receiver of a signal, and the
// one of all others. Part of signal_race_test. Without membarrier all take the longer one.
#include <gtest/gtest.h>

#include <atomic>
#include <silverpoint/signal.hpp>
#include <thread>

#include "support/together.hpp"

namespace {

using silverpoint::connection;
using silverpoint::inbox;
using silverpoint::signal;

bool is_nothing_left() { return silverpoint::signaling::domain::instance().kept() == 0; }

TEST(Ways, AnExceptionLeavesTheShortestWayFree) {
    emit_once();
    signal<int> changed;
    const connection one = changed.connect([](int value) {
        if (value != 0) throw value;
    });
    for (int i = 0; i < 3; ++i) {
        EXPECT_THROW(changed(9), int);
        changed(0);
        EXPECT_TRUE(silverpoint::signaling::quick_level->is_free() ||
                    !silverpoint::signaling::asymmetric.load());
    }
    std::thread([&] { one.disconnect(); }).join();  // waits for nobody
    changed(9);
}

// Each of them is called by one of several, or delivered, and ends what calls it.
TEST(Ways, AReceiverOfTheShortestWayEndsThoseAroundIt) {
    emit_once();
    for (const bool is_delivered : {false, true}) {
        signal<> outer, inner;
        inbox here;
        int calls = 0, others = 0;
        connection first, second;
        const auto emits = [&] { inner(); };
        if (is_delivered) {
            first = outer.connect_queued(here, emits);
        } else {
            first = outer.connect(emits);
        }
        second = outer.connect([&] { ++others; });
        connection within;
        within = inner.connect([&] {
            ++calls;
            first.disconnect();
            second.disconnect();
            within.disconnect();
        });
        outer();
        here.drain();
        outer();
        here.drain();
        inner();
        EXPECT_EQ(calls, 1);
        EXPECT_EQ(others, is_delivered ? 1 : 0);
        EXPECT_FALSE(first.connected() || second.connected() || within.connected());
        EXPECT_TRUE(is_nothing_left());
    }
}

// A disconnect from another thread waits for both, however they lie within each other.
TEST(Ways, DisconnectionWaitsForAReceiverWithinAnother) {
    for (unsigned i = 0; i < rounds(100); ++i) {
        signal<> outer, inner;
        std::atomic<int> inside{0};
        std::atomic<bool> go{false};
        const bool ends_inner = i / 2 % 2 == 0, is_short_outside = i / 4 % 2 == 0;
        const auto waits = [&] {
            inside.fetch_add(1);
            while (!go.load()) std::this_thread::yield();
            inside.fetch_sub(1);
        };
        const connection second = is_short_outside ? connection() : outer.connect([] {});
        const connection first = outer.connect([&] {
            inside.fetch_add(1);
            inner();
            inside.fetch_sub(1);
        });
        const connection within = inner.connect(waits);
        int seen = -1;
        together([&] { outer(); },
                 [&] {
                     while (inside.load() != 2) std::this_thread::yield();
                     std::thread lets_go([&] {
                         std::this_thread::sleep_for(std::chrono::microseconds(200));
                         go.store(true);
                     });
                     (ends_inner ? within : first).disconnect();
                     seen = inside.load();
                     lets_go.join();
                 });
        EXPECT_LE(seen, ends_inner ? 1 : 0);
        EXPECT_EQ(inside.load(), 0);
    }
    EXPECT_TRUE(is_nothing_left());
}

// Destructors of a thread emit when its place is given back: the next thread has it by then.
TEST(Ways, AThreadEmitsUntilItsVeryEnd) {
    static signal<int> ended;
    static std::atomic<int> sum{0};
    struct last_words {
        ~last_words() {
            for (int i = 0; i < 3; ++i) ended(1);
        }
    };
    const connection one = ended.connect([](int value) { sum.fetch_add(value); });
    for (int i = 0; i < 10; ++i) {
        std::thread([] {
            static thread_local last_words before;  // dies behind the thread's place
            static_cast<void>(&before);
            emit_once();
            ended(10);
        }).join();
    }
    EXPECT_EQ(sum.load(), 130);
    one.disconnect();
    ended(1);
    EXPECT_EQ(sum.load(), 130);
}

}  // namespace
