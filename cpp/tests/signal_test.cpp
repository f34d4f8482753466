// What signals promise in one thread: order, and disconnection at any moment. What waits in inboxes:
// signal_queue_test.cpp; threads: signal_race_test.cpp; all orders of the steps: signal_model_test.cpp.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <memory>
#include <new>
#include <ostream>
#include <silverpoint/signal.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

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
    // As of a signal whose receiver runs a program's loop. Others come and go, within calls of it, and many
    // more than a list has room for.
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

struct shape {
    virtual ~shape() = default;
    virtual int corners() const = 0;
};
struct triangle : shape {
    int corners() const override { return 3; }
};

// Nothing is copied on the way to direct receivers, so what cannot be copied reaches any number of them.
TEST(Direct, AReferenceToWhatCannotBeCopiedReachesAllReceivers) {
    signal<const shape&, std::ostream&> drawn;
    int sum = 0;
    const auto adds = [&](const shape& one, std::ostream& to) {
        sum += one.corners();
        to << one.corners();
    };
    const connection first = drawn.connect(adds), second = drawn.connect(adds);
    EXPECT_TRUE(first.connected() && second.connected());
    std::ostringstream text;
    drawn(triangle(), text);
    EXPECT_EQ(sum, 6);
    EXPECT_EQ(text.str(), "33");
}

TEST(Direct, AValueThatCanOnlyBeMovedHasOneReceiver) {
    signal<std::unique_ptr<int>> made;
    int got = 0;
    const auto takes = [&](std::unique_ptr<int> one) { got = *one; };
    const connection first = made.connect(takes), second = made.connect(takes);
    EXPECT_TRUE(first.connected());
    EXPECT_FALSE(second.connected());
    made(std::make_unique<int>(7));
    EXPECT_EQ(got, 7);
}

// 20,000 of them: what was quadratic took a second and more.
TEST(Direct, ManyReceiversAreTakenOutInAnyOrder) {
    constexpr int many = 20000;
    for (const int step : {1, many - 1, 7919}) {  // forwards, backwards, all over
        signal<int> changed;
        long sum = 0;
        std::vector<connection> all;
        for (int i = 0; i < many; ++i) all.push_back(changed.connect([&sum, i](int) { sum += i; }));
        for (long i = 0, at = step == many - 1 ? many - 1 : 0; i < many - 1; ++i, at = (at + step) % many)
            all[static_cast<std::size_t>(at)].disconnect();
        EXPECT_EQ(changed.connected(), 1u);
        changed(0);
        long last = -1;
        for (int i = 0; i < many; ++i)
            if (all[static_cast<std::size_t>(i)].connected()) last = i;
        EXPECT_EQ(sum, last);
    }
    signal<int>* const dies = new signal<int>;
    std::vector<connection> all;
    for (int i = 0; i < many; ++i) all.push_back(dies->connect([](int) {}));
    delete dies;
    for (const connection& one : all) EXPECT_TRUE(one.over());
}

// A thread that was deep once has memory for its levels; those that are not in use are not looked at.
TEST(Direct, AfterADeepRecursionOneLevelIsInUse) {
    signal<int> changed;
    changed.connect([&](int depth) {
        if (depth > 0) changed(depth - 1);
    });
    changed(2000);
    EXPECT_EQ(silverpoint::signaling::here()->depth.load(), 0u);
}

}  // namespace
