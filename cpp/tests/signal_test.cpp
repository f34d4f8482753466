// What signals promise in one thread: order, disconnection at any moment, bounds, batches. Threads:
// signal_race_test.cpp; all orders of the steps: signal_model_test.cpp.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <new>
#include <numeric>
#include <silverpoint/signal.hpp>
#include <string>
#include <thread>

// How many pieces of memory are in use.
static std::atomic<long> pieces{0};
[[gnu::noinline]] void* operator new(std::size_t size) {
    void* const at = std::malloc(size);
    if (at == nullptr) throw std::bad_alloc();
    pieces.fetch_add(1);
    return at;
}
[[gnu::noinline]] void operator delete(void* at) noexcept {
    if (at != nullptr) pieces.fetch_sub(1);
    std::free(at);
}
[[gnu::noinline]] void operator delete(void* at, std::size_t) noexcept { operator delete(at); }

namespace {

using silverpoint::connection;
using silverpoint::inbox;
using silverpoint::overflow;
using silverpoint::poll_inbox;
using silverpoint::receiver;
using silverpoint::scoped_connection;
using silverpoint::signal;

// Counts the living copies of a callable.
struct witness {
    int* alive;
    explicit witness(int& count) : alive(&count) { ++*alive; }
    witness(const witness& other) : alive(other.alive) { ++*alive; }
    ~witness() { --*alive; }
};

TEST(Direct, ReceiversAreCalledInTheOrderOfTheirConnections) {
    signal<int, const std::string&> changed;
    std::string said;
    for (char name : {'a', 'b', 'c'})
        changed.connect([&said, name](int number, const std::string& text) {
            said += name + std::to_string(number) + text + ' ';
        });
    changed(1, "x");
    changed(2, std::string("y"));
    EXPECT_EQ(said, "a1x b1x c1x a2y b2y c2y ");
    EXPECT_EQ(changed.connected(), 3u);
}

TEST(Direct, WithoutReceiversNothingHappens) {
    signal<> nothing;
    nothing();
    connection none;
    EXPECT_FALSE(none.connected());
    none.disconnect();
    EXPECT_EQ(none.counted().delivered, 0u);
}

TEST(Direct, ReferencesReachTheReceiverAsTheyAre) {
    signal<int&> ask;
    ask.connect([](int& answer) { answer += 42; });
    int answer = 0;
    ask(answer);
    EXPECT_EQ(answer, 42);
}

TEST(Direct, WhatCanOnlyBeMovedHasOneReceiver) {
    signal<std::unique_ptr<int>> given;
    int got = 0;
    const connection first = given.connect([&](std::unique_ptr<int> number) { got = *number; });
    const connection second = given.connect([](const std::unique_ptr<int>&) { FAIL(); });
    EXPECT_TRUE(first.connected());
    EXPECT_FALSE(second.connected());
    given(std::make_unique<int>(5));
    EXPECT_EQ(got, 5);
    first.disconnect();
    inbox here;
    given.connect_queued(here, [&](std::unique_ptr<int> number) { got += *number; });
    given(std::make_unique<int>(6));
    given(std::make_unique<int>(7));
    EXPECT_EQ(here.drain(), 2u);
    EXPECT_EQ(got, 18);
}

TEST(Disconnection, EndsAConnectionAndItsCallable) {
    signal<int> changed;
    int alive = 0, calls = 0;
    const connection one = changed.connect([w = witness(alive), &calls](int) { ++calls; });
    connection copy = one;
    changed(1);
    EXPECT_EQ(alive, 1);
    copy.disconnect();
    EXPECT_EQ(alive, 0);
    EXPECT_FALSE(one.connected());
    one.disconnect();
    changed(2);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(changed.connected(), 0u);
}

TEST(Disconnection, ByTheReceiverItself) {
    signal<int> changed;
    int alive = 0, calls = 0;
    connection one;
    one = changed.connect([w = witness(alive), &calls, &one](int) {
        ++calls;
        one.disconnect();
        EXPECT_EQ(*w.alive, 1);  // this call may still use what it holds
    });
    int others = 0;
    changed.connect([&](int) {
        EXPECT_EQ(alive, 0);  // gone as soon as it has returned, however long the emission goes on
        ++others;
    });
    changed(1);
    EXPECT_EQ(alive, 0);
    changed(2);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(others, 2);
    EXPECT_EQ(silverpoint::signaling::domain::instance().kept(), 0u);
}

TEST(Disconnection, OfALaterReceiverTakesEffectAtOnce) {
    signal<> fired;
    int alive = 0;
    connection second;
    fired.connect([&] { second.disconnect(); });
    second = fired.connect([w = witness(alive)] { FAIL(); });
    fired();
    EXPECT_EQ(alive, 0);
}

TEST(Disconnection, OfAllAndTheirReturnWithinAnEmission) {
    signal<int> changed;
    std::vector<scoped_connection> all;
    int calls = 0;
    const auto count = [&](int) { ++calls; };
    changed.connect([&](int depth) {
        all.clear();
        for (int i = 0; i < 50; ++i) all.emplace_back(changed.connect(count));
        if (depth > 0) changed(depth - 1);
    });
    changed(0);
    EXPECT_EQ(calls, 0);  // those that come during an emission are not called by it
    changed(30);          // deeper than a thread's record has room for
    EXPECT_EQ(calls, 0);  // each level has cleared those of the one above
    all.clear();
    EXPECT_EQ(changed.connected(), 1u);
    EXPECT_EQ(silverpoint::signaling::domain::instance().kept(), 0u);
}

TEST(Disconnection, ALongEmissionKeepsNothingOfWhatEndsMeanwhile) {
    // As of a signal whose receiver runs a program's loop: others come and go, many more than a list has room
    // for, and within calls of it.
    signal<int> started;
    int calls = 0;
    long most = 0;
    std::size_t kept = 0;
    started.connect([&](int depth) {
        if (depth > 0) return;
        const long before = pieces.load();
        for (int i = 0; i < 1000; ++i) {
            std::array<connection, 5> all;
            for (connection& one : all) one = started.connect([&](int) { ++calls; });
            started(1);
            for (connection& one : all) one.disconnect();
            kept = std::max(kept, silverpoint::signaling::domain::instance().kept());
        }
        most = pieces.load() - before;
    });
    started(0);
    EXPECT_EQ(calls, 5000);
    EXPECT_LE(most, 10);
    EXPECT_LE(kept, 1u);  // the list that the emission reads
    EXPECT_EQ(silverpoint::signaling::domain::instance().kept(), 0u);
}

TEST(Disconnection, TheOnlyReceiverIsTheOneThatIsLeft) {
    signal<int> changed;
    std::string said;
    std::map<char, connection> made;
    const auto connect = [&](char name) {
        made[name] = changed.connect([&said, name](int) { said += name; });
    };
    for (char name : {'a', 'b', 'c'}) {
        connect(name);
        changed(0);
    }
    EXPECT_EQ(std::exchange(said, ""), "aababc");
    made['b'].disconnect();
    changed(0);
    made['a'].disconnect();
    changed(0);
    connect('d');
    changed(0);
    made['c'].disconnect();
    changed(0);
    made['d'].disconnect();
    changed(0);
    connect('e');
    changed(0);
    EXPECT_EQ(said, "acccdde");
}

TEST(Disconnection, TheOnlyReceiverMayGiveWayToAnotherInItsCall) {
    signal<int> changed;
    std::string said;
    connection first, second;
    int alive = 0;
    first = changed.connect([&, held = witness(alive)](int depth) {
        said += 'a';
        first.disconnect();
        second = changed.connect([&](int value) { said += 'b' + value; });
        if (depth == 0) changed(1);
        EXPECT_EQ(alive, 1);  // this one, until it returns
    });
    changed(0);
    EXPECT_EQ(alive, 0);
    changed(0);
    EXPECT_EQ(said, "acb");
    EXPECT_EQ(silverpoint::signaling::domain::instance().kept(), 0u);
}

TEST(Disconnection, TheSignalMayDieInItsOwnEmission) {
    int alive = 0, calls = 0;
    auto* const doomed = new signal<int>;
    const connection one = doomed->connect([&, w = witness(alive)](int) {
        ++calls;
        delete doomed;
        EXPECT_EQ(*w.alive, 1);
    });
    doomed->connect([&](int) { ++calls; });
    (*doomed)(1);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(alive, 0);
    EXPECT_FALSE(one.connected());
    one.disconnect();
}

TEST(Disconnection, ByScopeAndByTheReceiversDeath) {
    struct gauge : receiver {
        int seen = 0;
        void set(int value) { seen = value; }
        int ask(int value) const { return seen + value; }
    };
    signal<int> changed, other;
    {
        const scoped_connection inner = changed.connect([](int) {});
        gauge dies;
        changed.connect(dies, &gauge::set);
        other.connect(dies, &gauge::ask);
        other.connect(dies, [&dies](int value) { dies.seen += value; });
        changed(7);
        other(3);
        EXPECT_EQ(dies.seen, 10);
        const gauge copy = dies;  // has no connections
        EXPECT_EQ(copy.seen, 10);
        EXPECT_EQ(changed.connected(), 2u);
    }
    EXPECT_EQ(changed.connected(), 0u);
    EXPECT_EQ(other.connected(), 0u);
    changed(8);
    scoped_connection kept = changed.connect([](int) {});
    const connection let_go = kept.release();
    kept = scoped_connection();
    EXPECT_TRUE(let_go.connected());
}

TEST(Disconnection, AReceiverOutlivesItsSignals) {
    receiver owner;
    for (int i = 0; i < 1000; ++i) {
        signal<int> brief;
        brief.connect(owner, [](int) {});
    }
    owner.disconnect_all();
}

TEST(Disconnection, AmongManyKeepsTheOrder) {
    signal<> fired;
    std::vector<int> said, expected;
    std::vector<connection> all;
    for (int i = 0; i < 300; ++i) all.push_back(fired.connect([&said, i] { said.push_back(i); }));
    for (int i = 0; i < 300; ++i) {
        if (i % 7 == 3)
            expected.push_back(i);
        else
            all[i].disconnect();
    }
    fired();
    EXPECT_EQ(said, expected);
    fired.connect([&] { said.push_back(1000); });
    said.clear();
    expected.push_back(1000);
    fired();
    EXPECT_EQ(said, expected);
}

TEST(Direct, AnExceptionPassesThroughAndNothingIsLeftBehind) {
    signal<int> changed;
    int alive = 0, later = 0;
    connection one;
    one = changed.connect([&, w = witness(alive)](int value) {
        if (value == 0) return;
        one.disconnect();
        throw value;
    });
    changed.connect([&](int) { ++later; });
    EXPECT_THROW(changed(9), int);
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(later, 0);
    changed(0);
    EXPECT_EQ(later, 1);
}

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

}  // namespace
