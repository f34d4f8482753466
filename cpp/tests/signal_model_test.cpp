// The latest-value cell, the wake-up of its reader and the queue, in all orders of their steps
// (support/interleave.hpp). Each runs with the kernel's barrier and with those of both sides. Beside each
// stands a mutant with one mistake, which must be found: a check that finds nothing proves nothing.
#include <gtest/gtest.h>

#include <silverpoint/signal.hpp>

#include "support/interleave.hpp"

namespace {

using interleave::explore;
using interleave::machine;
using bodies = std::vector<std::function<void()>>;

// Where the kernel places no barriers: each side's own (light_store in signal/barrier.hpp).
struct symmetric : machine {
    template <class Atomic, class Value>
    static void light_store(Atomic& where, Value value) {
        where.store(value, std::memory_order_seq_cst);
    }
    static void heavy_barrier() {}
};
// The kernel's barrier is needed, and is not there.
struct without_barrier : machine {
    static void heavy_barrier() { interleave::world::now->step(); }
};

template <class Scenario>
interleave::result all_orders() {
    const interleave::result got = explore([] { return std::make_unique<Scenario>(); });
    std::printf("%zu runs, %zu states: %s\n", got.runs, got.states,
                got.error.empty() ? "all right" : got.error.c_str());
    return got;
}

// A publisher of three values and a reader that looks twice.
template <class Machine>
struct cell_scenario {
    silverpoint::signaling::four_slot<int, Machine> cell;
    std::vector<std::uint64_t> read;
    std::string found;

    bodies threads() {
        return {[this] {
                    for (int i = 1; i <= 3; ++i) cell.publish(static_cast<std::uint64_t>(i), i);
                },
                [this] {
                    for (int i = 0; i < 2; ++i) look();
                }};
    }
    void look() {
        cell.name();
        Machine::heavy_barrier();
        const std::uint64_t stamp = cell.choose();
        read.push_back(stamp);
        if (stamp == 0) return;
        cell.take([&](int value) {
            if (static_cast<std::uint64_t>(value) != stamp) found = "a value of another stamp";
        });
    }
    std::string wrong() {
        look();  // when all is done, the last is the newest
        if (read[0] > read[1] || read[1] > read[2]) return "an older value after a newer";
        if (read[2] != 3) return "not the newest";
        return found;
    }
};

TEST(Model, TheLatestValueIsWholeAndNeverOlder) {
    const auto got = all_orders<cell_scenario<machine>>();
    EXPECT_EQ(got.error, "");
    EXPECT_GT(got.states, 1000u);
    EXPECT_EQ((all_orders<cell_scenario<symmetric>>().error), "");
}

TEST(Model, WithoutTheReadersBarrierItIsNot) {
    EXPECT_NE((all_orders<cell_scenario<without_barrier>>().error), "");
}

// A publisher that does not look which pair the reader has named.
struct hasty : machine {
    template <class T>
    class atomic : public machine::atomic<T> {
      public:
        using machine::atomic<T>::atomic;
        T load(std::memory_order order = std::memory_order_seq_cst) const {
            return order == std::memory_order_seq_cst &&
                           interleave::world::now->running == &interleave::world::now->threads[0]
                       ? T{0}
                       : machine::atomic<T>::load(order);
        }
    };
};

TEST(Model, WithoutALookAtTheReadersNameItIsTorn) {
    EXPECT_NE((all_orders<cell_scenario<hasty>>().error), "");
}

// The order of a latest connection and an inbox that wakes (latest_slot::run, inbox_core::drain). The reader
// sleeps until it is waked, and must end with the last value.
template <class Machine>
struct wake_scenario {
    silverpoint::signaling::latest_lanes<int, Machine> lanes;
    interleave::atomic<std::uint32_t> signalled{0}, bell{0};
    int last = 0, wakes = 0;

    void wake() {
        if (signalled.exchange(1) == 0) bell.exchange(1);
    }
    bodies threads() {
        return {[this] {
                    for (int i = 1; i <= 2; ++i) {
                        lanes.publish(this, i);
                        if (signalled.load() == 0) wake();
                    }
                },
                [this] {
                    while (last != 2) {
                        machine::while_equal(bell, 0u);
                        bell.exchange(0);
                        ++wakes;
                        signalled.store(0);
                        lanes.name();
                        Machine::heavy_barrier();
                        lanes.read([&](int value) { last = value; });
                        if (lanes.fresh()) wake();
                    }
                }};
    }
    std::string wrong() { return last == 2 ? "" : "not the newest"; }
};

TEST(Model, TheLastValueWakesItsReader) {
    const auto got = all_orders<wake_scenario<machine>>();
    EXPECT_EQ(got.error, "");
    EXPECT_GT(got.states, 800u);
    EXPECT_EQ(all_orders<wake_scenario<symmetric>>().error, "");
}

TEST(Model, WithoutTheBarrierAWakeUpIsLost) {
    EXPECT_NE(all_orders<wake_scenario<without_barrier>>().error, "");
}

// Two publishers for one reader, the second after the first: the second's value is the newer one.
template <class Machine>
struct lanes_scenario {
    silverpoint::signaling::latest_lanes<int, Machine> lanes;
    int place_of_first = 0, place_of_second = 0;
    std::vector<int> read;

    bodies threads() {
        return {[this] {
                    lanes.publish(&place_of_first, 1);
                    lanes.publish(&place_of_second, 2);
                },
                [this] { look(); }};
    }
    void look() {
        lanes.name();
        Machine::heavy_barrier();
        lanes.read([&](int value) { read.push_back(value); });
    }
    std::string wrong() {
        look();
        if (read.empty() || read.back() != 2) return "the last is not the newest";
        if (read.size() == 2 && read[0] != 1) return "an older value after a newer";
        return "";
    }
};

TEST(Model, AValuePublishedAfterAnotherThreadsIsTheNewer) {
    const auto got = all_orders<lanes_scenario<machine>>();
    EXPECT_EQ(got.error, "");
    EXPECT_GT(got.states, 300u);
    EXPECT_EQ(all_orders<lanes_scenario<symmetric>>().error, "");
}

// A publisher that has been alone, and another that comes in between: what the first publishes after the
// second's last is the newer.
template <class Machine>
struct company_scenario {
    silverpoint::signaling::latest_lanes<int, Machine> lanes;
    interleave::atomic<std::uint32_t> second_done{0};
    int place_of_first = 0, place_of_second = 0;
    bool after = false;

    bodies threads() {
        lanes.publish(&place_of_first, 1);
        return {[this] {
                    after = second_done.load() != 0;
                    lanes.publish(&place_of_first, 4);
                },
                [this] {
                    for (int i = 2; i <= 3; ++i) lanes.publish(&place_of_second, i);
                    second_done.exchange(1);
                }};
    }
    std::string wrong() {
        int read = 0;
        lanes.name();
        lanes.read([&](int value) { read = value; });
        if (read != 4 && (after || read != 3)) return "not the newest";
        return "";
    }
};
// No sender learns that it is not alone any more.
struct secretive : machine {
    template <class T>
    class atomic : public machine::atomic<T> {
      public:
        using machine::atomic<T>::atomic;
        void store(T value, std::memory_order order = std::memory_order_seq_cst) {
            if (!std::is_same_v<T, const void*>) machine::atomic<T>::store(value, order);
        }
    };
};

TEST(Model, AValuePublishedAfterThatOfAThreadWhichCameInBetweenIsTheNewer) {
    const auto got = all_orders<company_scenario<machine>>();
    EXPECT_EQ(got.error, "");
    EXPECT_GT(got.states, 300u);
    EXPECT_EQ((all_orders<company_scenario<symmetric>>().error), "");
    EXPECT_NE((all_orders<company_scenario<secretive>>().error), "");
}

// An emission to the only receiver (signal::call_only, core::remove), which another thread disconnects and
// destroys, and connects another at the same address.
template <class Machine>
struct store_of {
    template <class Place>
    static void store(Place& where, const void* value) {
        Machine::light_store(where, value);
    }
};
template <class Machine, class Named = interleave::atomic<int*>>
struct only_scenario {
    using its_store = store_of<Machine>;
    int receiver = 0;
    Named named{&receiver};
    interleave::atomic<const void*> place{nullptr};
    int calls = 0;

    bodies threads() {
        return {[this] {
                    for (int i = 0; i < 2; ++i) emit();
                },
                [this] {
                    named.store(nullptr);
                    Machine::heavy_barrier();
                    while (place.load(std::memory_order_acquire) == &receiver)
                        Machine::while_equal(place, reinterpret_cast<std::uint64_t>(&receiver));
                    machine::write(&receiver, [] {});  // its end, and the next one's beginning
                    named.store(&receiver);
                }};
    }
    void emit() {
        int* const only = named.load(std::memory_order_acquire);
        if (only == nullptr ||
            !silverpoint::signaling::enter_only<its_store>(place, static_cast<const Named&>(named), only))
            return;
        machine::read(only, [this] { ++calls; });
        its_store::store(place, nullptr);
    }
    std::string wrong() {
        emit();
        return calls > 0 ? "" : "not called";
    }
};
// Does not look a second time.
struct trusting : interleave::atomic<int*> {
    using interleave::atomic<int*>::atomic;
    mutable int* seen = nullptr;
    int* load(std::memory_order order) const {
        return order == std::memory_order_seq_cst ? seen : seen = interleave::atomic<int*>::load(order);
    }
};

TEST(Model, TheOnlyReceiverIsNotCalledWhenItIsGone) {
    const auto got = all_orders<only_scenario<machine>>();
    EXPECT_EQ(got.error, "");
    EXPECT_GT(got.states, 100u);
    EXPECT_EQ(all_orders<only_scenario<symmetric>>().error, "");
    EXPECT_NE(all_orders<only_scenario<without_barrier>>().error, "");
    EXPECT_NE((all_orders<only_scenario<machine, trusting>>().error), "");
}

// Senders into a queue with room for one or two: each waits for room, the receiver sleeps until it is waked.
template <class Machine, int senders, int each, int room = 1>
struct queue_scenario {
    using queue = silverpoint::signaling::event_queue<int, Machine>;
    queue events{room};
    interleave::atomic<std::uint32_t> bell{0};
    int places[senders];
    std::vector<int> got;
    std::string found;

    void send(int self) {
        for (int i = 10 * self; i < 10 * self + each; ++i) {
            typename queue::result result;
            while ((result = events.push(&places[self], i)) == queue::result::full)
                if (const auto before = events.begin_wait(true)) Machine::sleep(events.taken(), *before);
            if (result == queue::result::first && bell.exchange(1) != 0) found = "waked twice for one batch";
        }
    }
    void receive() {
        while (got.size() < senders * each) {
            machine::while_equal(bell, 0u);
            bell.exchange(0);
            do {
                events.claim();
                for (int taken = 0; events.has_batch(); got.push_back(events.take()))
                    if (++taken > room) found = "more than there is room for";
                events.rest();
                Machine::heavy_barrier();
            } while (events.missed());
        }
    }
    bodies threads() {
        bodies all;
        for (int i = 0; i < senders; ++i) all.push_back([this, i] { send(i); });
        all.push_back([this] { receive(); });
        return all;
    }
    std::string wrong() {
        for (int i = 0; i < senders; ++i) {
            int next = 10 * i;
            for (int one : got)
                if (one / 10 == i && one != next++) return "lost, doubled or out of order";
            if (next != 10 * i + each) return "lost";
        }
        return found;
    }
};

TEST(Model, TheQueueLosesNothingAndNobodySleepsForEver) {
    const auto one = all_orders<queue_scenario<machine, 1, 2>>();
    EXPECT_EQ(one.error, "");
    EXPECT_GT(one.states, 1000u);
    const auto roomy = all_orders<queue_scenario<machine, 1, 3, 2>>();
    EXPECT_EQ(roomy.error, "");
    const auto two = all_orders<queue_scenario<machine, 2, 1, 2>>();
    EXPECT_EQ(two.error, "");
    EXPECT_GT(two.states, 1000u);
    EXPECT_EQ((all_orders<queue_scenario<symmetric, 1, 2>>().error), "");
    EXPECT_EQ((all_orders<queue_scenario<symmetric, 1, 3, 2>>().error), "");
    EXPECT_EQ((all_orders<queue_scenario<symmetric, 2, 1, 2>>().error), "");
}

// Who may append without a lock: one thread sends, another comes in between, and the first goes on.
template <class Machine>
struct pen_scenario {
    using queue = silverpoint::signaling::event_queue<int, Machine>;
    queue events{8};
    int places[2];

    bodies threads() {
        return {[this] {
                    for (int i = 0; i < 4; ++i) events.push(&places[0], i);
                },
                [this] { events.push(&places[1], 10); }};
    }
    std::string wrong() {
        std::vector<int> got[2];
        events.claim();
        while (events.has_batch()) {
            const int one = events.take();
            got[one / 10].push_back(one);
        }
        return got[0] == std::vector<int>{0, 1, 2, 3} && got[1] == std::vector<int>{10} ? "" : "lost";
    }
};

TEST(Model, WhoAppendsWithoutALockIsAlone) {
    const auto got = all_orders<pen_scenario<machine>>();
    EXPECT_EQ(got.error, "");
    EXPECT_EQ(all_orders<pen_scenario<symmetric>>().error, "");
    EXPECT_GT(got.states, 1000u);
}

// Events of which the oldest makes room, with a receiver that claims meanwhile.
template <class Machine>
struct dropping_scenario {
    using queue = silverpoint::signaling::event_queue<int, Machine>;
    queue events{1};
    int place;
    std::vector<int> got;

    bodies threads() {
        return {[this] {
                    for (int i = 1; i <= 2; ++i)
                        if (events.push(&place, i) == queue::result::full) events.push_over_oldest(&place, i);
                },
                [this] { receive(); }};
    }
    void receive() {
        events.claim();
        while (events.has_batch()) got.push_back(events.take());
    }
    std::string wrong() {
        receive();
        receive();
        for (std::size_t i = 1; i < got.size(); ++i)
            if (got[i] <= got[i - 1]) return "doubled or out of order";
        if (got.empty() || got.back() != 2) return "not the newest";
        return got.size() + events.counted().dropped == 2 ? "" : "not every one is accounted for";
    }
};

TEST(Model, WhatIsDroppedIsNotDelivered) {
    const auto got = all_orders<dropping_scenario<machine>>();
    EXPECT_EQ(got.error, "");
    EXPECT_EQ(all_orders<dropping_scenario<symmetric>>().error, "");
    EXPECT_GT(got.states, 300u);
}

// Events that the newest merges when there is no room, with a receiver that claims it meanwhile. The merge
// reads and writes in two steps: one beside a claim would lose what it adds, or add it to what is delivered.
template <class Machine>
struct merging_scenario {
    using queue = silverpoint::signaling::event_queue<int, Machine>;
    queue events{1};
    int place;
    std::vector<int> got;

    bodies threads() {
        return {[this] {
                    for (int i : {1, 10, 100}) {
                        if (events.push(&place, i) != queue::result::full) continue;
                        events.push_into_newest(
                            &place,
                            [](int& newest, int more) {
                                const int before = newest;
                                interleave::world::now->step();
                                newest = before + more;
                            },
                            i);
                    }
                },
                [this] { receive(); }};
    }
    void receive() {
        events.claim();
        while (events.has_batch()) got.push_back(events.take());
    }
    std::string wrong() {
        receive();
        receive();
        int sum = 0;
        for (const int one : got) sum += one;
        if (sum != 111) return "the sum is " + std::to_string(sum);
        return got.size() + events.counted().coalesced == 3 ? "" : "not every one is accounted for";
    }
};

TEST(Model, WhatIsMergedIsDeliveredOnce) {
    const auto got = all_orders<merging_scenario<machine>>();
    EXPECT_EQ(got.error, "");
    EXPECT_EQ(all_orders<merging_scenario<symmetric>>().error, "");
    EXPECT_GT(got.states, 300u);
}

// A lock that two can take: it looks, and then stores.
struct without_lock : machine {
    template <class T>
    class atomic : public machine::atomic<T> {
      public:
        using machine::atomic<T>::atomic;
        T exchange(T value, std::memory_order = std::memory_order_seq_cst) {
            const T was = this->load();
            this->store(value);
            return was;
        }
    };
};
// A sleep that does not look at the value once more.
struct deep_sleep : machine {
    template <class Atomic>
    static void sleep(const Atomic& where, std::uint32_t) {
        interleave::world::now->step();
        fall_asleep(where);
    }
};
// A receiver that wakes nobody.
struct silent : machine {
    template <class Atomic>
    static void wake(const Atomic&) {}
};

// A thread takes the pen, and does not wait for the one that is writing.
struct impatient : machine {
    template <class Atomic, class Value>
    static void while_equal(const Atomic&, Value) {}
    template <class T>
    class atomic : public machine::atomic<T> {
      public:
        using machine::atomic<T>::atomic;
        T load(std::memory_order order = std::memory_order_seq_cst) const {
            const T got = machine::atomic<T>::load(order);
            return sizeof(T) == 1 && order == std::memory_order_acquire ? T{} : got;
        }
    };
};

TEST(Model, MistakesInTheQueueAreFound) {
    EXPECT_NE((all_orders<queue_scenario<without_lock, 2, 1, 2>>().error), "");
    EXPECT_EQ((all_orders<queue_scenario<without_barrier, 1, 3, 2>>().error), "nobody can go on");
    EXPECT_NE((all_orders<pen_scenario<without_barrier>>().error), "");
    EXPECT_NE((all_orders<pen_scenario<impatient>>().error), "");
    EXPECT_NE((all_orders<dropping_scenario<without_lock>>().error), "");
    EXPECT_NE((all_orders<merging_scenario<without_lock>>().error), "");
    EXPECT_EQ((all_orders<queue_scenario<deep_sleep, 1, 2>>().error), "nobody can go on");
    EXPECT_EQ((all_orders<queue_scenario<silent, 1, 2>>().error), "nobody can go on");
}

}  // namespace
