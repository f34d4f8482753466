// Signals that several threads receive at once, and queues whose newest event merges what finds no room. Part
// of signal_race_test; built with ThreadSanitizer too.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <silverpoint/signal.hpp>
#include <thread>
#include <vector>

#include "support/together.hpp"

namespace {

using silverpoint::connection;
using silverpoint::inbox;
using silverpoint::overflow;
using silverpoint::poll_inbox;
using silverpoint::signal;

// --- Receivers in threads of their own

constexpr unsigned kSenders = 2;

// Of one thread that receives every event.
struct every_event {
    std::array<unsigned, kSenders> next{};
    bool is_in_order = true;

    void receive(signal<event>& from, std::atomic<unsigned>& connected, unsigned count,
                 silverpoint::queued_options options) {
        poll_inbox here;
        const connection one = from.connect_queued(
            here,
            [this](event got) {
                is_in_order = is_in_order && got.number == next[got.sender];
                next[got.sender] = got.number + 1;
            },
            options);
        connected.fetch_add(1);
        while (next[0] < count || next[1] < count) here.wait_and_drain();
    }
};

TEST(Race, ReceiversInSeveralThreadsEachGetWhatTheyAskedFor) {
    signal<event> sent;
    const unsigned count = rounds(10000);
    std::atomic<unsigned> connected{0}, ended{0};
    every_event wide, narrow;
    std::array<unsigned, kSenders> latest{};
    bool is_newer = true;
    const auto sender = [&](unsigned self) {
        while (connected.load() < 3) std::this_thread::yield();
        for (unsigned i = 0; i < count; ++i) sent(event{self, i});
        ended.fetch_add(1);
    };
    together([&] { sender(0); }, [&] { sender(1); },
             [&] { wide.receive(sent, connected, count, {.capacity = 4096}); },
             [&] { narrow.receive(sent, connected, count, {.capacity = 3}); },
             [&] {
                 inbox here;
                 sent.connect_latest(here, [&](event got) {
                     is_newer = is_newer && got.number + 1 > latest[got.sender];
                     latest[got.sender] = got.number + 1;
                 });
                 connected.fetch_add(1);
                 while (ended.load() < kSenders) here.drain();
                 here.drain();
             });
    for (const every_event* one : {&wide, &narrow}) {
        EXPECT_TRUE(one->is_in_order);
        EXPECT_EQ(one->next, (std::array<unsigned, kSenders>{count, count}));
    }
    EXPECT_TRUE(is_newer);
    // The last of all is the last of one of them.
    EXPECT_TRUE(latest[0] == count || latest[1] == count);
}

// --- Coalescing

// Two values that must stay together: a merge that runs beside a receiver's look would be seen.
struct pair_of_sums {
    std::uint64_t once = 0, twice = 0;
};

TEST(Race, WhatIsMergedAddsUp) {
    for (const std::size_t capacity : {1u, 2u, 16u}) {
        signal<pair_of_sums> sent;
        const unsigned count = rounds(20000);
        inbox here;
        std::uint64_t once = 0, twice = 0, calls = 0;
        const connection one = sent.connect_queued(
            here,
            [&](const pair_of_sums& got) {
                once += got.once;
                twice += got.twice;
                ++calls;
            },
            [](std::tuple<pair_of_sums>& newest, const pair_of_sums& more) {
                std::get<0>(newest).once += more.once;
                std::get<0>(newest).twice += more.twice;
            },
            capacity);
        std::atomic<unsigned> ended{0};
        const auto sender = [&](unsigned self) {
            for (std::uint64_t i = 1; i <= count; ++i) sent(pair_of_sums{i + self, 2 * (i + self)});
            ended.fetch_add(1);
        };
        together([&] { sender(0); }, [&] { sender(1); },
                 [&] {
                     while (ended.load() < 2) here.drain();
                     here.drain();
                 });
        const std::uint64_t expected = std::uint64_t{count} * (count + 1) + count;
        EXPECT_EQ(once, expected);
        EXPECT_EQ(twice, 2 * expected);
        EXPECT_EQ(calls + one.counted().coalesced, 2u * count);
        EXPECT_EQ(one.counted().dropped, 0u);
    }
}

// Without a merge the newest stands for those before it.
TEST(Race, TheNewestStandsForThoseThatFoundNoRoom) {
    signal<unsigned> sent;
    const unsigned count = rounds(30000);
    inbox here;
    unsigned last = 0;
    std::uint64_t calls = 0;
    bool is_newer = true;
    const connection one = sent.connect_queued(here,
                                               [&](unsigned number) {
                                                   is_newer = is_newer && number > last;
                                                   last = number;
                                                   ++calls;
                                               },
                                               {.capacity = 2, .when_full = overflow::coalesce});
    std::atomic<bool> over{false};
    together(
        [&] {
            for (unsigned i = 1; i <= count; ++i) sent(i);
            over.store(true);
        },
        [&] {
            while (!over.load()) here.drain();
            here.drain();
        });
    EXPECT_TRUE(is_newer);
    EXPECT_EQ(last, count);
    EXPECT_EQ(calls + one.counted().coalesced, count);
}

}  // namespace
