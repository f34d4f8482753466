// Threads that record and a reader, on one mapping. It is built with ThreadSanitizer too, which sees whether
// each byte was written before it is read, in the order that the protocol promises.
//
// Here the reader uses the producer's own mapping, since the sanitizer tells accesses by their addresses. It
// does not know fences, so what rests on them alone (overwriting, the doorbell) is tested but not proved
// here.
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include <algorithm>
#include <deque>
#include <map>
#include <silverpoint/silverpoint.hpp>
#include <string>
#include <thread>
#include <vector>

#include "support/reader.hpp"

namespace {

using reader::Record;
using reader::Session;

constexpr std::uint8_t kBlock = 0, kDrop = 1, kOverwrite = 2;

Session& session() {
    namespace detail = silverpoint::detail;
    static Session mine(Session::path_of(getpid()), detail::session.control, detail::session.control_size,
                        detail::session.rings, detail::session.rings_size);
    return mine;
}

void set_policy(std::uint8_t policy, std::uint32_t collector) {
    for (std::size_t level = 0; level < 6; ++level) session().set<std::uint8_t>(792 + level, policy);
    session().set<std::uint32_t>(788, 0xFFFFFFFF);
    session().set<std::uint32_t>(768, collector);
}

void wake_waiters() {
    for (const reader::Ring& ring : session().rings()) {
        if (ring.load<std::uint32_t>(80) != 1) continue;
        auto* wake = reinterpret_cast<std::atomic<std::uint32_t>*>(ring.base + 136);
        wake->fetch_add(1);
        syscall(SYS_futex, wake, FUTEX_WAKE, 1 << 30, nullptr, nullptr, 0);
    }
}

// What arrived: of each thread how many records and the latest, and whether each was whole.
struct Arrived {
    std::map<std::uint64_t, std::uint64_t> count, last;
    std::uint64_t told = 0;
    bool whole = true;

    void add(const std::vector<Record>& records) {
        for (const Record& record : records) {
            if (record.site == 1) {
                std::uint64_t lost;
                std::memcpy(&lost, record.args.data() + 1, 8);
                told += lost;
            }
            if (record.site < 16) continue;
            std::uint64_t thread, number, inverse;
            std::memcpy(&thread, record.args.data(), 8);
            std::memcpy(&number, record.args.data() + 8, 8);
            std::memcpy(&inverse, record.args.data() + 16, 8);
            whole = whole && number == ~inverse && thread < 64;
            last[thread] = std::max(last[thread], number);
            ++count[thread];
        }
    }
};

void record(std::uint64_t thread, std::uint64_t number) {
    if (number % 5 == 0) {
        SP_INFO("text {} {} {} {}", thread, number, ~number,
                std::string_view("a text of a varying length", number % 26));
    } else {
        SP_EVENT("number", thread, number, ~number);
    }
}

// Streams of a thread follow each other in rings of their own: read to the end they are in order only within
// one.
Arrived run(unsigned threads, std::uint64_t records, bool take_while_running) {
    std::atomic<unsigned> running{threads};
    std::vector<std::thread> producers;
    for (unsigned t = 0; t < threads; ++t)
        producers.emplace_back([t, records, &running] {
            for (std::uint64_t i = 0; i < records; ++i) record(t, i);
            --running;
        });
    Arrived arrived;
    while (running != 0) {
        if (take_while_running) {
            arrived.add(session().drain());
            wake_waiters();
        }
    }
    for (auto& producer : producers) producer.join();
    arrived.add(session().drain());
    return arrived;
}

constexpr std::uint64_t kRecords = 60'000;

TEST(Race, EachRecordOnceWhenRingsAreWaitedFor) {
    session().drain();
    set_policy(kBlock, 1);
    const Arrived arrived = run(4, kRecords, true);
    set_policy(kBlock, 0);
    EXPECT_TRUE(arrived.whole);
    for (std::uint64_t t = 0; t < 4; ++t) EXPECT_EQ(arrived.count.at(t), kRecords);
}

// Another thread had adopted a ring, filled it and left it. Its content counted as drained before: the
// thread's first records were lost, and not counted.
TEST(Race, WhoeverLookedBeforeAnotherHadASliceDoesNotGetIt) {
    namespace detail = silverpoint::detail;
    const unsigned shift = detail::shift_of(0);
    const detail::Ring ring = detail::claim_ring(0, 0, detail::thread_id(), 0, true);
    ASSERT_TRUE(static_cast<bool>(ring));
    detail::set_ring_state(ring, detail::kRingRetired);
    const std::uint32_t seen = detail::adoptable_state(ring, false);
    ASSERT_EQ(detail::ring_state(seen), detail::kRingRetired) << "it is drained";
    // Meanwhile another has it.
    ASSERT_TRUE(detail::take_over(ring, seen));
    detail::begin_stream(ring, shift, 0, detail::thread_id(), 0);
    const std::uint64_t end = ring.committed().load() + 64;
    ring.committed().store(end);
    detail::set_ring_state(ring, detail::kRingRetired);
    EXPECT_FALSE(detail::take_over(ring, seen)) << "its records have no owner yet";
    EXPECT_EQ(detail::adoptable_state(ring, false), detail::kRingClaiming);
    ring.consumed().store(end);
    EXPECT_TRUE(detail::take_over(ring, detail::adoptable_state(ring, false)));
    detail::set_ring_state(ring, detail::kRingFree);
}

TEST(Race, WhatIsDroppedIsCounted) {
    session().drain();
    const std::uint64_t before = session().ring_losses_ever(0);
    set_policy(kDrop, 1);
    const Arrived arrived = run(3, kRecords, true);
    set_policy(kBlock, 0);
    std::uint64_t sum = 0;
    for (const auto& [thread, count] : arrived.count) sum += count;
    EXPECT_TRUE(arrived.whole);
    EXPECT_EQ(sum + session().ring_losses_ever(0) - before, 3 * kRecords);
}

TEST(Race, WhatIsOverwrittenIsNeverTakenForWhole) {
    session().drain();
    set_policy(kOverwrite, 1);
    session().expect_races(true);
    const Arrived arrived = run(3, kRecords, true);
    session().expect_races(false);
    set_policy(kBlock, 0);
    EXPECT_TRUE(arrived.whole);
    for (std::uint64_t t = 0; t < 3; ++t) EXPECT_EQ(arrived.last.at(t), kRecords - 1);
}

// Each thread's own.
struct Given {
    std::uint64_t first = 0, next = 0;
    bool is_whole = true;
} given[4];

void take_given(const silverpoint_made* made) {
    std::uint64_t words[3];
    std::memcpy(words, made->record + 16, sizeof words);
    Given& mine = given[words[0]];
    if (mine.next == 0) mine.first = mine.next = words[1];
    mine.is_whole = mine.is_whole && words[1] == mine.next++ && words[2] == ~words[1];
}

TEST(Race, WhatThreadsBeginToRecordAfterAFunctionCameIsGivenToIt) {
    session().drain();
    set_policy(kBlock, 1);
    static std::uint32_t functions = 0;
    std::atomic<bool> is_there{false};
    std::atomic<unsigned> recording{0}, running{4};
    std::uint64_t due[4] = {};
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            std::uint64_t number = 0;
            for (; !is_there.load(); ++number) {
                record(t, number);
                if (number == 0) ++recording;
            }
            due[t] = number;
            for (const std::uint64_t end = number + 5000; number < end; ++number) record(t, number);
            --running;
        });
    const auto take = [] {
        session().drain();
        wake_waiters();
    };
    while (recording != 4) take();
    __atomic_store_n(&functions, 1, __ATOMIC_SEQ_CST);
    silverpoint::detail::join_handing(&take_given, &functions);
    is_there.store(true);
    while (running != 0) take();
    for (auto& thread : threads) thread.join();
    __atomic_store_n(&functions, 0, __ATOMIC_SEQ_CST);
    take();
    set_policy(kBlock, 0);
    for (unsigned t = 0; t < 4; ++t) {
        EXPECT_TRUE(given[t].is_whole);
        EXPECT_LE(given[t].first, due[t]);
        EXPECT_EQ(given[t].next, due[t] + 5000);
    }
}

TEST(Race, SitesAreRegisteredByManyAtOnceAndSwitchedMeanwhile) {
    session().drain();
    set_policy(kBlock, 1);
    std::atomic<unsigned> running{4};
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 4; ++t)
        threads.emplace_back([t, &running] {
            for (std::uint64_t i = 0; i < 3000; ++i) {
                SP_DEBUG << "switched" << std::uint64_t{t} << i << ~i;
                SP_EVENT("kept", std::uint64_t{t}, i, ~i);
                SP_SPAN("span", std::uint64_t{t}, i, ~i);
            }
            --running;
        });
    std::map<std::string, std::uint64_t> seen;
    std::map<std::uint32_t, std::string> names;
    const auto take = [&] {
        for (const Record& found : session().drain()) {
            if (found.site < 16) continue;
            if (names.find(found.site) == names.end()) names[found.site] = session().site(found.site).text;
            ++seen[names[found.site]];
        }
        wake_waiters();
    };
    for (unsigned turn = 0; running != 0; ++turn) {
        take();
        for (const reader::Site& site : session().sites())
            if (site.level == 1 && site.kind == 1)
                reinterpret_cast<std::atomic<std::uint8_t>&>(session().state(site.id)).store(turn % 2);
    }
    for (auto& thread : threads) thread.join();
    take();
    set_policy(kBlock, 0);
    EXPECT_EQ(seen["kept"], 12'000u);
    EXPECT_EQ(seen["span"], 12'000u);
    EXPECT_LE(seen["switched {} {} {}"], 12'000u);
}

// A tracer's event belongs to a site's entry, and only a complete one has an event.
TEST(Race, ThreadsThatComeToASiteAtOnceAgreeOnItsEntry) {
    namespace detail = silverpoint::detail;
    constexpr std::size_t kSites = 10'000;
    std::deque<detail::Site> sites;
    for (std::size_t i = 0; i < kSites; ++i)
        sites.emplace_back(silverpoint::Level::kInfo, "at_once.cpp", static_cast<std::uint32_t>(i));
    std::atomic<std::size_t> arrived{0};
    const auto work = [&] {
        for (std::size_t i = 0; i < kSites; ++i) {
            for (++arrived; arrived < 2 * (i + 1);) std::this_thread::yield();
            sites[i].is_on("function", "category");
            sites[i].complete(detail::Kind::kEvent, {}, "at once", {}, 0);
        }
    };
    std::thread other(work);
    work();
    other.join();
    std::size_t others = 0;
    for (const detail::Site& site : sites) {
        const std::uint32_t entry = site.entry;
        others += detail::session.site(entry).stage != detail::kStageComplete ||
                  site.state != detail::state_of(entry) || site.id() != entry + detail::kFirstSite;
    }
    EXPECT_EQ(others, 0u);
}

}  // namespace
