// Signals among threads: built with ThreadSanitizer too, which sees every access that no order protects. Both
// run twice: as the kernel allows, and as where it has no membarrier (SILVERPOINT_TEST_NO_MEMBARRIER).
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <silverpoint/signal.hpp>
#include <string>
#include <thread>
#include <vector>

#include "support/together.hpp"

namespace {

using silverpoint::connection;
using silverpoint::inbox;
using silverpoint::overflow;
using silverpoint::poll_inbox;
using silverpoint::signal;

TEST(Race, EveryQueuedEventOfEverySenderArrivesInOrder) {
    for (const std::size_t capacity : {3u, 64u, 65536u}) {
        signal<event> sent;
        const unsigned count = rounds(20000);
        std::array<unsigned, 3> next{};
        bool in_order = true;
        std::atomic<bool> connected{false};
        const auto sender = [&](unsigned self) {
            while (!connected.load()) std::this_thread::yield();
            for (unsigned i = 0; i < count; ++i) sent(event{self, i});
        };
        silverpoint::tally all;
        together([&] { sender(0); }, [&] { sender(1); }, [&] { sender(2); },
                 [&] {
                     poll_inbox here;
                     const connection one =
                         sent.connect_queued(here,
                                             [&](event got) {
                                                 in_order = in_order && got.number == next[got.sender];
                                                 next[got.sender] = got.number + 1;
                                             },
                                             {.capacity = capacity});
                     connected.store(true);
                     while (next[0] < count || next[1] < count || next[2] < count) here.wait_and_drain();
                     all = one.counted();
                 });
        EXPECT_TRUE(in_order);
        EXPECT_EQ(all.delivered, 3u * count);
        EXPECT_EQ(all.dropped, 0u);
    }
}

TEST(Race, WhatIsDroppedIsCounted) {
    signal<unsigned> sent;
    const unsigned count = rounds(50000);
    std::uint64_t got = 0;
    unsigned last = 0;
    bool in_order = true;
    inbox here;
    const connection one = sent.connect_queued(here,
                                               [&](unsigned number) {
                                                   in_order = in_order && (got == 0 || number > last);
                                                   last = number;
                                                   ++got;
                                               },
                                               {.capacity = 16, .when_full = overflow::drop_oldest});
    std::atomic<bool> over{false};
    together(
        [&] {
            for (unsigned i = 0; i < count; ++i) sent(i);
            over.store(true);
        },
        [&] {
            while (!over.load()) here.drain();
            here.drain();
        });
    EXPECT_TRUE(in_order);
    EXPECT_EQ(last, count - 1);
    EXPECT_EQ(got + one.counted().dropped, count);
}

TEST(Race, TheLatestIsWholeAndNeverOlder) {
    // Larger than a register, and with memory of its own: torn values would differ, or fault.
    struct value {
        std::array<std::uint64_t, 9> same;
        std::string text;
    };
    signal<value> published;
    const unsigned count = rounds(20000);
    std::atomic<unsigned> started{0}, ended{0};
    bool whole = true, newer = true;
    std::array<std::uint64_t, 2> last{};
    std::uint64_t reads = 0;
    const auto publisher = [&](std::uint64_t self) {
        while (started.load() == 0) std::this_thread::yield();
        for (std::uint64_t i = 1; i <= count; ++i) {
            value fresh;
            fresh.same.fill(i << 1 | self);
            fresh.text = std::to_string(i << 1 | self) + std::string(20, '.');
            published(fresh);
        }
        ended.fetch_add(1);
    };
    together([&] { publisher(0); }, [&] { publisher(1); },
             [&] {
                 inbox here;
                 published.connect_latest(here, [&](const value& got) {
                     for (std::uint64_t one : got.same) whole = whole && one == got.same[0];
                     whole = whole && got.text == std::to_string(got.same[0]) + std::string(20, '.');
                     const std::uint64_t number = got.same[0] >> 1, self = got.same[0] & 1;
                     newer = newer && number > last[self];
                     last[self] = number;
                     ++reads;
                 });
                 started.store(1);
                 while (ended.load() < 2) here.drain();
                 here.drain();
             });
    EXPECT_TRUE(whole);
    EXPECT_TRUE(newer);
    EXPECT_GT(reads, 0u);
    // The last of all is the last of one of them.
    EXPECT_TRUE(last[0] == count || last[1] == count);
}

TEST(Race, ThePublishersLastValueWakesTheLoop) {
    // Each round ends only when the value of the round has arrived: a lost wake-up would hang it.
    signal<unsigned> published;
    const unsigned count = rounds(3000);
    std::atomic<unsigned> seen{0}, started{0};
    together(
        [&] {
            while (started.load() == 0) std::this_thread::yield();
            for (unsigned i = 1; i <= count; ++i) {
                published(i);
                while (seen.load() != i) std::this_thread::yield();
            }
        },
        [&] {
            poll_inbox here;
            published.connect_latest(here, [&](unsigned value) { seen.store(value); });
            started.store(1);
            while (seen.load() != count) here.wait_and_drain();
        });
    EXPECT_EQ(seen.load(), count);
}

TEST(Race, LatestWithoutASignal) {
    silverpoint::latest<std::array<std::uint64_t, 5>> cell;
    const unsigned count = rounds(30000);
    bool whole = true, newer = true;
    std::uint64_t last = 0;
    together(
        [&] {
            std::array<std::uint64_t, 5> fresh;
            for (std::uint64_t i = 1; i <= count; ++i) {
                fresh.fill(i);
                cell.publish(fresh);
            }
        },
        [&] {
            std::array<std::uint64_t, 5> got;
            while (last != count) {
                if (!cell.read(got)) continue;
                for (std::uint64_t one : got) whole = whole && one == got[0];
                newer = newer && got[0] > last;
                last = got[0];
            }
        });
    EXPECT_TRUE(whole);
    EXPECT_TRUE(newer);
}

TEST(Race, ADisconnectedReceiverIsNotRunning) {
    // The receiver's memory is poisoned at once after disconnection.
    signal<unsigned> sent;
    std::atomic<bool> over{false};
    const auto emitter = [&] {
        for (unsigned i = 0; !over.load(); ++i) sent(i);
    };
    std::atomic<unsigned> wrong{0};
    const auto churn = [&](auto&& connect) {
        for (unsigned i = 0; i < rounds(400); ++i) {
            auto* const state = new unsigned(1);
            const connection one = connect([state, &wrong](unsigned) {
                if (*state != 1) wrong.fetch_add(1);
            });
            one.disconnect();
            *state = 2;
            delete state;
        }
    };
    std::atomic<unsigned> churning{3};
    const auto done = [&] {
        if (churning.fetch_sub(1) == 1) over.store(true);
    };
    together(
        emitter, emitter,
        [&] {
            churn([&](auto function) { return sent.connect(std::move(function)); });
            done();
        },
        [&] {
            inbox here;
            churn([&](auto function) {
                const connection made = sent.connect_queued(here, std::move(function), {.capacity = 8});
                here.drain();
                return made;
            });
            done();
        },
        [&] {
            inbox here;
            std::atomic<bool> stop{false};
            std::thread drains([&] {
                while (!stop.load()) here.drain();
            });
            churn([&](auto function) { return sent.connect_latest(here, std::move(function)); });
            stop.store(true);
            drains.join();
            done();
        });
    EXPECT_EQ(wrong.load(), 0u);
    // Each receiver of a kept event has been waked.
    EXPECT_EQ(silverpoint::signaling::domain::instance().kept(), 0u);
}

TEST(Race, ALongEmissionDoesNotKeepWhatOthersDisconnect) {
    signal<> fired;
    std::atomic<bool> inside{false}, go{false};
    fired.connect([&] {
        inside.store(true);
        while (!go.load()) std::this_thread::yield();
    });
    int calls = 0;
    std::size_t kept = 0;
    together([&] { fired(); },
             [&] {
                 while (!inside.load()) std::this_thread::yield();
                 for (int i = 0; i < 100; ++i) {
                     std::array<connection, 5> all;
                     for (connection& one : all) one = fired.connect([&] { ++calls; });
                     for (const connection& one : all) one.disconnect();
                     kept = std::max(kept, silverpoint::signaling::domain::instance().kept());
                 }
                 go.store(true);
             });
    EXPECT_EQ(calls, 0);
    EXPECT_LE(kept, 1u);  // the list that the emission reads
    EXPECT_EQ(silverpoint::signaling::domain::instance().kept(), 0u);
}

TEST(Race, ReceiversThatDisconnectEachOtherDoNotWaitForEver) {
    for (unsigned i = 0; i < rounds(300); ++i) {
        signal<> left, right;
        connection a, b;
        std::atomic<unsigned> inside{0};
        a = left.connect([&] {
            inside.fetch_add(1);
            while (inside.load() < 2) std::this_thread::yield();
            b.disconnect();
        });
        b = right.connect([&] {
            inside.fetch_add(1);
            while (inside.load() < 2) std::this_thread::yield();
            a.disconnect();
        });
        together([&] { left(); }, [&] { right(); });
        EXPECT_FALSE(a.connected() || b.connected());
    }
}

TEST(Race, ASenderThatWaitsForRoomIsLetGoByDisconnection) {
    signal<unsigned> sent;
    inbox here;
    const connection one = sent.connect_queued(here, [](unsigned) {}, {.capacity = 1});
    connection other;
    int calls = 0;
    together(
        [&] {
            sent(1);
            sent(2);  // waits
            ++calls;
        },
        [&] {
            while (one.counted().waited == 0) std::this_thread::yield();
            other = sent.connect([&](unsigned) {});
            other.disconnect();  // does not wait for the emission, which is in another receiver
            one.disconnect();
        });
    EXPECT_EQ(calls, 1);
}

TEST(Race, AReceiverThatWaitsForRoomGivesUpWhenTheOneThatDrainsWaitsForIt) {
    // The thread that drains ends a receiver that waits for it to drain.
    signal<> outer;
    signal<unsigned> inner;
    inbox here;
    const connection queue = inner.connect_queued(here, [](unsigned) {}, {.capacity = 1});
    std::atomic<bool> returned{false};
    const connection ends = outer.connect([&] {
        inner(1);
        inner(2);  // waits, until it gives up
        inner(3);  // would wait again
        returned.store(true);
    });
    bool waited = false;
    std::thread sender([&] { outer(); });
    while (queue.counted().waited == 0) std::this_thread::yield();
    ends.disconnect();
    waited = returned.load();
    sender.join();
    EXPECT_TRUE(waited);
    EXPECT_EQ(queue.counted().dropped, 2u);
    EXPECT_EQ(here.drain(), 1u);
}

TEST(Race, AReceiverThatWaitsForRoomGivesUpForTheOneThatDrainsByNow) {
    // While it waits, another thread begins to drain, and ends it before it has come to its queue.
    signal<> outer, first;
    signal<unsigned> inner;
    inbox here;
    std::atomic<bool> returned{false};
    bool waited = false;
    const connection ends = outer.connect([&] {
        inner(1);
        inner(2);
        returned.store(true);
    });
    first.connect_queued(here, [&] {
        ends.disconnect();
        waited = returned.load();
    });
    const connection queue = inner.connect_queued(here, [](unsigned) {}, {.capacity = 1});
    first();
    std::thread sender([&] { outer(); });
    while (queue.counted().waited == 0) std::this_thread::yield();
    std::thread([&] { here.drain(); }).join();
    sender.join();
    EXPECT_TRUE(waited);
    EXPECT_EQ(queue.counted().dropped, 1u);
}

TEST(Race, ThreadsThatWaitForRoomInEachOthersQueuesGoOn) {
    signal<unsigned> to_left, to_right;
    std::atomic<unsigned> ready{0};
    std::array<std::uint64_t, 2> got{};
    std::array<connection, 2> ways;
    const unsigned count = rounds(50);
    std::atomic<unsigned> over{0};
    const auto run = [&](unsigned self, signal<unsigned>& in, signal<unsigned>& out) {
        inbox mine;
        ways[self] = in.connect_queued(mine, [&got, self](unsigned) { ++got[self]; }, {.capacity = 2});
        ready.fetch_add(1);
        while (ready.load() < 2) std::this_thread::yield();
        for (unsigned i = 0; i < count; ++i) {
            for (unsigned k = 0; k < 5; ++k) out(k);
            mine.drain();
        }
        // The other one may wait for room still.
        for (over.fetch_add(1); over.load() < 2;) mine.drain();
        mine.drain();
    };
    together([&] { run(0, to_left, to_right); }, [&] { run(1, to_right, to_left); });
    for (unsigned i = 0; i < 2; ++i) EXPECT_EQ(got[i] + ways[i].counted().dropped, 5u * count);
}

TEST(Race, SendersThatComeAndGoTakeTurnsInOneQueue) {
    // Each is the only one for a while, so that the right to append without a lock goes from one to another.
    signal<event> sent;
    const unsigned count = rounds(3000);
    std::array<unsigned, 3> next{};
    bool in_order = true;
    inbox here;
    const connection one = sent.connect_queued(here, [&](event got) {
        in_order = in_order && got.number == next[got.sender];
        next[got.sender] = got.number + 1;
    });
    std::atomic<unsigned> turn{0};
    const auto sender = [&](unsigned self) {
        unsigned number = 0;
        for (unsigned k = 0; k < 3; ++k) {
            while (turn.load() % 3 != self) {
                if (turn.load() > 3) sent(event{self, number++});  // and in between, together
                std::this_thread::yield();
            }
            for (unsigned i = 0; i < count; ++i) sent(event{self, number++});
            turn.fetch_add(1);
        }
        return number;
    };
    std::array<unsigned, 3> all{};
    std::atomic<unsigned> over{0};
    together([&] { all[0] = sender(0), over.fetch_add(1); }, [&] { all[1] = sender(1), over.fetch_add(1); },
             [&] { all[2] = sender(2), over.fetch_add(1); },
             [&] {
                 while (over.load() < 3) here.drain();
             });
    here.drain();
    EXPECT_TRUE(in_order);
    EXPECT_EQ(next, all);
    EXPECT_EQ(one.counted().delivered, all[0] + all[1] + all[2]);
}

TEST(Race, TheSignalDiesWhileOthersConnectAndDisconnect) {
    for (unsigned i = 0; i < rounds(100); ++i) {
        auto* const brief = new signal<unsigned>;
        std::vector<connection> all;
        for (int k = 0; k < 20; ++k) all.push_back(brief->connect([](unsigned) {}));
        (*brief)(1);
        together([&] { delete brief; },
                 [&] {
                     for (const connection& one : all) one.disconnect();
                 },
                 [&] {
                     for (auto one = all.rbegin(); one != all.rend(); ++one) one->disconnect();
                 });
        for (const connection& one : all) EXPECT_FALSE(one.connected());
    }
}

TEST(Race, AReceiversDeathWaitsForWhatAnotherThreadDisconnects) {
    signal<> fired, other;
    std::atomic<bool> inside{false}, go{false}, returned{false};
    auto* const owner = new silverpoint::receiver;
    const connection one = fired.connect(*owner, [&] {
        inside.store(true);
        while (!go.load()) std::this_thread::yield();
        returned.store(true);
    });
    bool waited = false;
    together([&] { fired(); },
             [&] {
                 while (!inside.load()) std::this_thread::yield();
                 one.disconnect();
             },
             [&] {
                 while (!inside.load() || one.connected()) std::this_thread::yield();
                 for (int i = 0; i < 100; ++i) other.connect(*owner, [] {});  // forgets what has ended
                 std::thread lets_go([&] {
                     std::this_thread::sleep_for(std::chrono::milliseconds(10));
                     go.store(true);
                 });
                 delete owner;
                 waited = returned.load();
                 lets_go.join();
             });
    EXPECT_TRUE(waited);
}

TEST(Race, WhoDisconnectsSecondWaitsForTheEndOfTheCallable) {
    signal<> fired;
    std::atomic<bool> dying{false}, dead{false};
    int owned = 0;
    std::shared_ptr<int> held(&owned, [&](int*) {
        dying.store(true);
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        dead.store(true);
    });
    connection one = fired.connect([held] {});
    held.reset();
    bool waited = false;
    together([&] { one.disconnect(); },
             [&] {
                 while (!dying.load()) std::this_thread::yield();
                 one.disconnect();
                 waited = dead.load();
             });
    EXPECT_TRUE(waited);
}

TEST(Race, ACallableThatDisconnectsItselfAtItsEndDoesNotWaitForItself) {
    signal<> fired;
    connection one;
    int owned = 0, ends = 0;
    std::shared_ptr<int> held(&owned, [&](int*) {
        one.disconnect();
        ++ends;
    });
    one = fired.connect([held] {});
    held.reset();
    one.disconnect();
    EXPECT_EQ(ends, 1);
    EXPECT_EQ(silverpoint::signaling::domain::instance().kept(), 0u);
}

TEST(Race, AThreadThatHasLeftIsNotTakenForOneThatIsWaitedFor) {
    // One disconnects, within a receiver, the receiver of another thread. That one leaves it and disconnects
    // the first, which may not have seen it yet and is still running.
    for (unsigned i = 0; i < rounds(50); ++i) {
        signal<> left, right;
        connection s, t;
        std::atomic<bool> in_s{false}, in_t{false}, t_runs{false};
        bool waited = false;
        s = left.connect([&] {
            in_s.store(true);
            while (!in_t.load()) std::this_thread::yield();
            std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the other one sleeps too
        });
        t = right.connect([&] {
            t_runs.store(true);
            while (!in_s.load()) std::this_thread::yield();
            in_t.store(true);
            s.disconnect();
            t_runs.store(false);
        });
        together(
            [&] {
                left();
                t.disconnect();
                waited = !t_runs.load();
            },
            [&] { right(); });
        EXPECT_TRUE(waited);
    }
}

TEST(Race, AThreadsPlaceIsNotTakenForTheReceivers) {
    // The thread that drained is gone, and the next has its record: it waits for room all the same.
    signal<unsigned> sent;
    inbox here;
    std::vector<unsigned> got;
    const connection one =
        sent.connect_queued(here, [&](unsigned value) { got.push_back(value); }, {.capacity = 1});
    std::thread([&] { here.drain(); }).join();
    std::thread sender([&] {
        sent(1);
        sent(2);
    });
    while (one.counted().waited == 0 && one.counted().dropped == 0) std::this_thread::yield();
    while (got.size() + one.counted().dropped < 2) here.drain();
    sender.join();
    EXPECT_EQ(got, (std::vector<unsigned>{1, 2}));
}

// The inner loop waits for what comes into a queue that the outer one has not finished with.
TEST(Poll, ALoopWithinAReceiverIsWakedForItsOwnQueueToo) {
    signal<int> changed, other;
    poll_inbox here;
    std::vector<int> got;
    const auto wait_for = [&](std::size_t count) {
        while (got.size() < count && here.wait_and_drain(60'000) != 0) {
        }
    };
    other.connect_queued(here, [&](int value) { got.push_back(value); });
    changed.connect_queued(here, [&](int value) {
        got.push_back(value);
        if (value != 2) return;
        std::thread([&] { changed(3); }).join();
        wait_for(3);
        std::thread([&] { other(4); }).join();
        wait_for(4);
        std::thread([&] { changed(5), other(6); }).join();
        wait_for(6);
    });
    other(1);  // at rest within the same drain, or waked and not drained again
    changed(2);
    EXPECT_EQ(here.drain(), 2u);
    EXPECT_EQ(got.size(), 6u);
    EXPECT_TRUE(std::is_permutation(got.begin(), got.end(), std::vector<int>{1, 2, 3, 4, 5, 6}.begin()));
}

TEST(Poll, WaitingEndsWithEventsOrWithTheTimeNotWithATurnThatFindsNothing) {
    signal<int> changed;
    poll_inbox here;
    changed.connect_queued(here, [](int) {});
    changed(1);
    EXPECT_EQ(here.drain(), 1u);  // behind it a turn is due that finds nothing
    std::thread sender([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        changed(2);
    });
    EXPECT_EQ(here.wait_and_drain(60'000), 1u);
    sender.join();
}

}  // namespace
