// What signals promise of what waits in an inbox: order, bounds, batches, wake-ups. (Direct calls:
// signal_test.cpp.)
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <memory>
#include <numeric>
#include <silverpoint/signal.hpp>
#include <string>
#include <thread>
#include <vector>

namespace {

using silverpoint::connection;
using silverpoint::inbox;
using silverpoint::overflow;
using silverpoint::poll_inbox;
using silverpoint::signal;

// Counts the living copies of a callable.
struct witness {
    int* alive;
    explicit witness(int& count) : alive(&count) { ++*alive; }
    witness(const witness& other) : alive(other.alive) { ++*alive; }
    ~witness() { --*alive; }
};

TEST(Queued, EveryEventInOrderWithOneWakeUp) {
    signal<int, std::string> changed;
    int wakes = 0;
    inbox here([&] { ++wakes; });
    std::vector<int> got;
    const connection one = changed.connect_queued(here, [&](int number, const std::string& text) {
        EXPECT_EQ(text, std::to_string(number));
        got.push_back(number);
    });
    for (int i = 0; i < 1000; ++i) changed(i, std::to_string(i));
    EXPECT_EQ(wakes, 1);
    EXPECT_TRUE(got.empty());
    EXPECT_EQ(here.drain(), 1000u);
    std::vector<int> expected(1000);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(got, expected);
    EXPECT_EQ(wakes, 2);  // of the drain, for a turn behind the batch
    changed(1000, "1000");
    EXPECT_EQ(wakes, 2);
    EXPECT_EQ(here.drain(), 1u);
    EXPECT_EQ(wakes, 3);
    EXPECT_EQ(here.drain(), 0u);
    EXPECT_EQ(wakes, 3);  // asleep
    EXPECT_EQ(one.counted().delivered, 1001u);
}

TEST(Queued, ADrainIsBoundedAndTheRestComesFirst) {
    signal<int> changed;
    int wakes = 0;
    inbox here([&] { ++wakes; });
    std::vector<int> got;
    changed.connect_queued(here, [&](int value) { got.push_back(value); });
    changed.connect_queued(here, [&](int value) { got.push_back(-value); });
    for (int i = 1; i <= 3; ++i) changed(i);
    EXPECT_EQ(here.drain(2), 2u);
    EXPECT_EQ(wakes, 2);  // for the rest
    changed(4);
    EXPECT_EQ(wakes, 2);
    EXPECT_EQ(here.drain(2), 2u);
    EXPECT_EQ(wakes, 3);
    while (here.drain(1) != 0) {
    }
    EXPECT_EQ(got, (std::vector<int>{1, 2, 3, -1, -2, -3, -4, 4}));
    EXPECT_EQ(here.drain_for(std::chrono::seconds(0)), 0u);
    for (int i = 1; i <= 40; ++i) changed(i);
    EXPECT_EQ(here.drain_for(std::chrono::seconds(0)), 16u);
}

TEST(Queued, ADrainOfNoneCallsNobodyAndOneWithoutATimeTakesAll) {
    signal<int> changed;
    inbox here;
    int calls = 0, newest = 0;
    changed.connect_queued(here, [&](int) { ++calls; });
    changed.connect_latest(here, [&](int value) { newest = value; });
    for (int i = 1; i <= 1000; ++i) changed(i);
    EXPECT_EQ(here.drain(0), 0u);
    EXPECT_EQ(calls + newest, 0);
    EXPECT_EQ(here.drain_for(std::chrono::nanoseconds::max()), 1001u);
    EXPECT_EQ(calls, 1000);
    EXPECT_EQ(newest, 1000);
}

// Of eight senders that wait for one place: most of them wait again, when another was quicker.
TEST(Queued, AnEmissionThatWaitsSeveralTimesIsCountedOnce) {
    poll_inbox here;
    signal<int> sent;
    int calls = 0;
    const connection one = sent.connect_queued(here,
                                               [&](int) {
                                                   ++calls;
                                                   std::this_thread::yield();
                                               },
                                               {.capacity = 1});
    std::vector<std::thread> senders;
    for (int k = 0; k < 8; ++k)
        senders.emplace_back([&] {
            for (int i = 0; i < 500; ++i) sent(i);
        });
    while (calls < 4000) here.wait_and_drain(100);
    for (std::thread& sender : senders) sender.join();
    EXPECT_LE(one.counted().waited, 4000u);
    EXPECT_EQ(one.counted().delivered, 4000u);
    EXPECT_EQ(one.counted().dropped, 0u);
}

TEST(Queued, ASenderDoesNotWaitForAThreadThatHasEnded) {
    signal<int> sent;
    std::unique_ptr<inbox> here;
    connection one;
    int sum = 0;
    std::thread([&] {
        here = std::make_unique<inbox>();
        one = sent.connect_queued(*here, [&](int value) { sum += value; }, {.capacity = 10});
        here->drain();
    }).join();
    for (int i = 1; i <= 100; ++i) sent(i);
    EXPECT_EQ(one.counted().dropped, 90u);
    EXPECT_EQ(one.counted().waited, 1u);
    // Another thread takes it over: from then on there is room, and nothing is dropped.
    EXPECT_EQ(here->drain(), 10u);
    for (int i = 101; i <= 110; ++i) sent(i);
    EXPECT_EQ(here->drain(), 10u);
    EXPECT_EQ(sum, 55 + 1055);
    EXPECT_EQ(one.counted().dropped, 90u);
}

TEST(Queued, ASenderDoesNotWaitForAThreadThatJoinsIt) {
    signal<int> sent;
    inbox here;
    int calls = 0;
    const connection one = sent.connect_queued(here, [&](int) { ++calls; }, {.capacity = 10});
    std::thread sender([&] {
        for (int i = 0; i < 100; ++i) sent(i);
    });
    sender.join();
    EXPECT_EQ(here.drain(), 10u);
    EXPECT_EQ(calls, 10);
    EXPECT_EQ(one.counted().dropped, 90u);
}

TEST(Queued, ASenderWaitsNoLongerThanItsConnectionAllows) {
    signal<int> sent;
    inbox here;
    const connection one = sent.connect_queued(
        here, [](int) {}, {.capacity = 10, .longest_wait = std::chrono::milliseconds(150)});
    std::atomic<bool> ended{false};
    std::thread sender([&] {
        for (int i = 0; i < 100; ++i) sent(i);
        ended.store(true);
    });
    // (This thread lives, and waits for the sender in a way that nobody can know of.)
    while (!ended.load()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    sender.join();
    EXPECT_EQ(one.counted().dropped, 90u);
    EXPECT_EQ(here.drain(), 10u);
}

TEST(Queued, ADrainWithinAReceiverGoesOnWhereTheOuterStands) {
    signal<int> changed;
    inbox here;
    std::vector<int> got;
    changed.connect_queued(here, [&](int value) {
        got.push_back(value);
        if (value == 2) {
            changed(10);
            EXPECT_EQ(here.drain(), 2u);  // 3 and 10
            changed(11);
        }
    });
    for (int i = 1; i <= 3; ++i) changed(i);
    here.drain();
    here.drain();
    EXPECT_EQ(got, (std::vector<int>{1, 2, 3, 10, 11}));
}

TEST(Queued, DisconnectedWithinABatchTheRestIsGone) {
    signal<int> changed;
    inbox here;
    int alive = 0, calls = 0;
    connection one;
    one = changed.connect_queued(here, [&, w = witness(alive)](int value) {
        ++calls;
        if (value == 2) one.disconnect();
        EXPECT_EQ(*w.alive, 1);
    });
    for (int i = 1; i <= 5; ++i) changed(i);
    EXPECT_EQ(here.drain(), 2u);
    EXPECT_EQ(calls, 2);
    EXPECT_EQ(alive, 0);
}

TEST(Queued, BoundedByDroppingTheOldest) {
    signal<int> changed;
    inbox here;
    std::vector<int> got;
    const connection one = changed.connect_queued(here, [&](int value) { got.push_back(value); },
                                                  {.capacity = 4, .when_full = overflow::drop_oldest});
    for (int i = 1; i <= 11; ++i) changed(i);
    EXPECT_EQ(here.drain(), 4u);
    EXPECT_EQ(got, (std::vector<int>{8, 9, 10, 11}));
    EXPECT_EQ(one.counted().dropped, 7u);
    EXPECT_EQ(one.counted().delivered, 4u);
}

TEST(Queued, ADroppedEventMayUseTheConnectionAtItsEnd) {
    signal<std::shared_ptr<int>> changed;
    inbox here;
    connection one;
    int number = 0;
    std::uint64_t dropped = 0;
    const auto fresh = [&] {
        return std::shared_ptr<int>(&number, [&](int*) { dropped = one.counted().dropped; });
    };
    one = changed.connect_queued(here, [](const std::shared_ptr<int>&) {},
                                 {.capacity = 1, .when_full = overflow::drop_oldest});
    changed(fresh());
    changed(fresh());
    EXPECT_EQ(dropped, 1u);
    EXPECT_EQ(here.drain(), 1u);
}

TEST(Queued, BoundedByCoalescing) {
    signal<int> changed;
    inbox here;
    std::vector<int> newest, sum;
    const connection one = changed.connect_queued(here, [&](int value) { newest.push_back(value); },
                                                  {.capacity = 3, .when_full = overflow::coalesce});
    const connection two = changed.connect_queued(
        here, [&](int value) { sum.push_back(value); },
        [](std::tuple<int>& last, int value) { std::get<0>(last) += value; }, 3);
    for (int i = 1; i <= 6; ++i) changed(i);
    EXPECT_EQ(here.drain(), 6u);
    EXPECT_EQ(newest, (std::vector<int>{1, 2, 6}));
    EXPECT_EQ(sum, (std::vector<int>{1, 2, 3 + 4 + 5 + 6}));
    EXPECT_EQ(one.counted().coalesced, 3u);
    EXPECT_EQ(two.counted().coalesced, 3u);
}

TEST(Queued, TheReceivingThreadNeverWaitsForItself) {
    signal<int> changed;
    inbox here;  // has not been drained yet
    std::vector<int> got;
    const connection one =
        changed.connect_queued(here, [&](int value) { got.push_back(value); }, {.capacity = 2});
    for (int i = 1; i <= 5; ++i) changed(i);
    here.drain();
    EXPECT_EQ(got, (std::vector<int>{1, 2}));
    EXPECT_EQ(one.counted().dropped, 3u);
}

TEST(Queued, TheInboxMayDieFirst) {
    signal<std::shared_ptr<int>> changed;
    const auto event = std::make_shared<int>(1);
    {
        inbox here;
        changed.connect_queued(here, [](const std::shared_ptr<int>&) {});
        changed.connect_latest(here, [](const std::shared_ptr<int>&) {});
        changed(event);
        EXPECT_EQ(event.use_count(), 3);
    }
    EXPECT_EQ(changed.connected(), 0u);
    EXPECT_EQ(event.use_count(), 1);
    changed(event);
}

TEST(Queued, WhatWaitsEndsWithItsSignal) {
    inbox here;
    const auto event = std::make_shared<int>(1);
    int calls = 0;
    connection one;
    {
        signal<std::shared_ptr<int>> changed;
        one = changed.connect_queued(here, [&](const std::shared_ptr<int>&) { ++calls; });
        changed.connect_latest(here, [&](const std::shared_ptr<int>&) { ++calls; });
        changed(event);
        changed(event);
    }
    EXPECT_EQ(here.drain(), 0u);
    EXPECT_EQ(calls, 0);
    EXPECT_EQ(event.use_count(), 1);
}

TEST(Queued, ACapacityOfNothingIsOne) {
    signal<int> changed;
    inbox here;
    std::vector<int> got;
    const connection one = changed.connect_queued(here, [&](int value) { got.push_back(value); },
                                                  {.capacity = 0, .when_full = overflow::drop_oldest});
    for (int i = 1; i <= 3; ++i) changed(i);
    EXPECT_EQ(here.drain(), 1u);
    EXPECT_EQ(got, std::vector<int>{3});
    EXPECT_EQ(one.counted().dropped, 2u);
}

TEST(Queued, ACapacityOfAnySizeIsABound) {
    for (const std::size_t capacity : {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 2 + 2}) {
        signal<std::string> changed;
        inbox here;
        std::vector<std::string> got;
        changed.connect_queued(here, [&](const std::string& text) { got.push_back(text); },
                               {.capacity = capacity});
        for (int i = 0; i < 200; ++i) changed(std::string(40, static_cast<char>('a' + i % 26)));
        EXPECT_EQ(here.drain(), 200u);
        for (std::size_t i = 0; i < got.size(); ++i)
            EXPECT_EQ(got[i], std::string(40, static_cast<char>('a' + i % 26)));
    }
}

TEST(Queued, AnExceptionLeavesTheRestInPlace) {
    signal<int> changed;
    inbox here;
    std::vector<int> got;
    changed.connect_queued(here, [&](int value) {
        if (value == 2) throw value;
        got.push_back(value);
    });
    for (int i = 1; i <= 3; ++i) changed(i);
    EXPECT_THROW(here.drain(), int);
    EXPECT_EQ(here.drain(), 1u);
    EXPECT_EQ(got, (std::vector<int>{1, 3}));
}

TEST(Queued, AnExceptionLeavesTheLoopAwake) {
    signal<int> changed;
    int wakes = 0, calls = 0;
    inbox waked([&] { ++wakes; });
    changed.connect_queued(waked, [&](int value) {
        ++calls;
        throw value;
    });
    changed(1);
    changed(2);
    EXPECT_EQ(wakes, 1);
    EXPECT_THROW(waked.drain(), int);
    EXPECT_EQ(wakes, 2);
    poll_inbox polled;
    changed.connect_queued(polled, [](int value) { throw value; });
    changed(3);
    EXPECT_THROW(polled.drain(), int);
    pollfd one{polled.fd(), POLLIN, 0};
    EXPECT_EQ(poll(&one, 1, 0), 1);
    EXPECT_EQ(polled.drain(), 0u);
    EXPECT_EQ(poll(&one, 1, 0), 0);
}

TEST(Queued, ACopyThatThrowsLosesNoOther) {
    struct alignas(128) fragile {  // so large that a ring begins with room for 16
        int* left;
        int number;
        fragile(int& copies, int value) : left(&copies), number(value) {}
        fragile& operator=(const fragile&) = default;
        fragile(const fragile& other) : left(other.left), number(other.number) {
            if ((*left)-- == 0) throw number;
        }
    };
    signal<fragile> changed;
    inbox here;
    std::vector<int> got;
    changed.connect_queued(here, [&](const fragile& one) { got.push_back(one.number); });
    int copies = 1000;
    int refused = 0;
    for (int i = 0; i < 16; ++i) changed(fragile(copies, i));
    copies = 8;  // the ring grows: its copying stops in the middle
    try {
        changed(fragile(copies, 16));
    } catch (int) {
        ++refused;
    }
    copies = 1000;
    here.drain();
    EXPECT_EQ(refused, 1);
    std::vector<int> expected(16);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(got, expected);
}

TEST(Queued, AReceiverMayDestroyItsInbox) {
    signal<int> changed;
    auto* const doomed = new inbox;
    int calls = 0;
    changed.connect_queued(*doomed, [&](int) {
        ++calls;
        delete doomed;
    });
    changed.connect_queued(*doomed, [&](int) { ++calls; });
    changed(1);
    changed(2);
    doomed->drain();
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(changed.connected(), 0u);
}

TEST(Latest, TheNewestOnceForAnyNumberOfEmissions) {
    signal<std::string, int> changed;
    inbox here;
    std::vector<std::string> got;
    const connection one = changed.connect_latest(
        here, [&](const std::string& text, int number) { got.push_back(text + std::to_string(number)); });
    EXPECT_EQ(here.drain(), 0u);
    for (int i = 0; i < 10; ++i) changed("n", i);
    EXPECT_EQ(here.drain(), 1u);
    EXPECT_EQ(here.drain(), 0u);
    changed("m", 10);
    EXPECT_EQ(here.drain(), 1u);
    EXPECT_EQ(got, (std::vector<std::string>{"n9", "m10"}));
    EXPECT_EQ(one.counted().delivered, 2u);
    one.disconnect();
    changed("m", 11);
    EXPECT_EQ(here.drain(), 0u);
}

TEST(Latest, WakesASleepingLoopOnce) {
    signal<int> changed;
    int wakes = 0, last = 0;
    inbox here([&] { ++wakes; });
    changed.connect_latest(here, [&](int value) { last = value; });
    for (int i = 1; i <= 5; ++i) changed(i);
    EXPECT_EQ(wakes, 1);
    here.drain();
    EXPECT_EQ(last, 5);
    EXPECT_EQ(wakes, 1);
    changed(6);
    EXPECT_EQ(wakes, 2);
}

TEST(Latest, ADrainIsBoundedAndEachHasItsTurn) {
    signal<int> changed;
    int wakes = 0;
    inbox here([&] { ++wakes; });
    std::array<int, 3> calls{};
    for (int& one : calls) changed.connect_latest(here, [&one](int) { ++one; });
    for (int i = 1; i <= 6; ++i) {
        changed(i);
        EXPECT_EQ(here.drain(1), 1u);
        EXPECT_EQ(wakes, i + 1);  // for the rest
    }
    EXPECT_EQ(calls, (std::array<int, 3>{2, 2, 2}));
    EXPECT_EQ(here.drain(), 2u);
    EXPECT_EQ(wakes, 7);
}

TEST(Latest, DisconnectionDestroysTheValues) {
    signal<std::shared_ptr<int>> changed;
    const auto event = std::make_shared<int>(1);
    inbox here;
    const connection one = changed.connect_latest(here, [](const std::shared_ptr<int>&) {});
    for (int i = 0; i < 3; ++i) changed(event);
    EXPECT_GT(event.use_count(), 1);
    one.disconnect();
    EXPECT_EQ(event.use_count(), 1);
    EXPECT_EQ(here.drain(), 0u);
}

TEST(Latest, WithoutASignal) {
    silverpoint::latest<std::unique_ptr<int>> cell;
    std::unique_ptr<int> got;
    EXPECT_FALSE(cell.read(got));
    for (int i = 0; i < 7; ++i) cell.publish(std::make_unique<int>(i));
    EXPECT_TRUE(cell.read(got));
    EXPECT_EQ(*got, 6);
    EXPECT_FALSE(cell.read(got));
    EXPECT_EQ(*got, 6);
    for (int i = 0; i < 9; ++i) {
        cell.publish(std::make_unique<int>(i));
        EXPECT_TRUE(cell.read(got));
        EXPECT_EQ(*got, i);
    }
}

TEST(Poll, TheDescriptorIsReadableWhileSomethingWaits) {
    signal<int> changed;
    poll_inbox here;
    int sum = 0;
    changed.connect_queued(here, [&](int value) { sum += value; });
    changed.connect_latest(here, [&](int value) { sum += 100 * value; });
    const auto readable = [&] {
        pollfd one{here.fd(), POLLIN, 0};
        return poll(&one, 1, 0) == 1;
    };
    EXPECT_FALSE(readable());
    changed(1);
    changed(2);
    EXPECT_TRUE(readable());
    EXPECT_EQ(here.drain(), 3u);
    EXPECT_EQ(sum, 203);
    EXPECT_TRUE(readable());
    EXPECT_EQ(here.drain(), 0u);  // the turn behind a batch
    EXPECT_FALSE(readable());
    EXPECT_EQ(here.wait_and_drain(0), 0u);
    changed(3);
    EXPECT_EQ(here.wait_and_drain(), 2u);
    changed(4);
    EXPECT_EQ(static_cast<inbox&>(here).drain(), 2u);
    EXPECT_EQ(here.drain(), 0u);
    EXPECT_FALSE(readable());
}

TEST(Poll, ASignalHandlerDoesNotEndAWaitForEver) {
    struct sigaction act = {}, before = {};
    act.sa_handler = [](int) {};
    sigaction(SIGUSR1, &act, &before);
    signal<int> changed;
    poll_inbox here;
    changed.connect_queued(here, [](int) {});
    std::atomic<bool> over{false};
    std::size_t got = 0;
    std::thread waits([&] {
        got = here.wait_and_drain();
        over.store(true);
    });
    for (int i = 0; i < 20 && !over.load(); ++i) {
        pthread_kill(waits.native_handle(), SIGUSR1);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    changed(1);
    waits.join();
    EXPECT_EQ(got, 1u);
    sigaction(SIGUSR1, &before, nullptr);
}

TEST(Poll, ATimedDescriptorIsReadableOnceAnInterval) {
    signal<int> changed;
    poll_inbox slow = poll_inbox::timed(std::chrono::hours(1)),
               quick = poll_inbox::timed(std::chrono::milliseconds(1));
    std::vector<int> got;
    for (poll_inbox* to : {&slow, &quick})
        changed.connect_queued(*to, [&](int value) { got.push_back(value); });
    const auto readable = [](const poll_inbox& one, int milliseconds) {
        pollfd wait{one.fd(), POLLIN, 0};
        return poll(&wait, 1, milliseconds) == 1;
    };
    EXPECT_FALSE(readable(slow, 0) || readable(quick, 5));  // nothing has come
    changed(1);
    EXPECT_TRUE(readable(slow, 60'000) && readable(quick, 60'000));  // at once
    EXPECT_EQ(slow.drain() + quick.drain(), 2u);
    for (int i = 2; i < 5; ++i) changed(i);
    EXPECT_FALSE(readable(slow, 5));
    EXPECT_EQ(quick.wait_and_drain(60'000), 3u);
    EXPECT_EQ(got, (std::vector<int>{1, 1, 2, 3, 4}));
    EXPECT_EQ(slow.drain(), 3u);  // by hand
}

}  // namespace
