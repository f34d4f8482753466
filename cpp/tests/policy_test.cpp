// Full rings: what is waited for, dropped, overwritten, and how exactly it is counted. The test plays the
// collector.
#include <linux/futex.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <map>
#include <silverpoint/silverpoint.hpp>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "support/traced.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using reader::Record;
using reader::Session;

// So that a thread soon has no further slice to go on in. (Before the session is made.)
[[maybe_unused]] const int memory = setenv("SILVERPOINT_MEMORY", "12M", 1);

constexpr std::uint8_t kBlock = 0, kDrop = 1, kOverwrite = 2;
constexpr std::uint32_t kForEver = 0xFFFFFFFF;  // block_max

template <class T>
T argument(const Record& record, std::size_t at) {
    T value;
    std::memcpy(&value, record.args.data() + at, sizeof value);
    return value;
}

// A collector as producers see it: pid, policy, patience. Without it the ring forgets.
class Collector {
  public:
    explicit Collector(std::uint8_t policy, std::uint32_t block_max_ms = 1000) : session_(traced::session()) {
        session_.drain();
        for (std::size_t level = 0; level < 6; ++level) session_.set<std::uint8_t>(792 + level, policy);
        session_.set<std::uint32_t>(788, block_max_ms);
        session_.set<std::uint32_t>(784, 1);
        session_.set<std::uint32_t>(768, 1);
    }
    ~Collector() {
        session_.drain();
        // All losses are stored: the slices may be used again.
        for (const reader::Ring& ring : session_.rings()) {
            std::uint64_t lost = 0;
            for (unsigned cause = 0; cause < 8; ++cause) lost += ring.losses(cause);
            reinterpret_cast<std::atomic<std::uint64_t>*>(ring.base + 144)->store(lost);
        }
        for (std::size_t level = 0; level < 6; ++level) session_.set<std::uint8_t>(792 + level, kBlock);
        session_.set<std::uint32_t>(788, 1000);
        session_.set<std::uint32_t>(784, 0);
        session_.set<std::uint32_t>(768, 0);
    }
    Collector(const Collector&) = delete;
    Collector& operator=(const Collector&) = delete;

    Session& session() { return session_; }
    // Whether a thread waits for room.
    bool is_waited_for() const {
        const auto rings = session_.rings();
        return std::any_of(rings.begin(), rings.end(),
                           [](const reader::Ring& ring) { return ring.load<std::uint32_t>(80) == 1; });
    }
    // Takes what is there and wakes who waits for room.
    std::vector<Record> pass() {
        session_.set<std::uint64_t>(776, session_.get<std::uint64_t>(776) + 1);
        const auto records = session_.drain();
        for (const reader::Ring& ring : session_.rings()) {
            std::atomic_thread_fence(std::memory_order_seq_cst);
            if (ring.load<std::uint32_t>(80) != 1) continue;
            auto* wake = reinterpret_cast<std::atomic<std::uint32_t>*>(ring.base + 136);
            wake->fetch_add(1);
            syscall(SYS_futex, wake, FUTEX_WAKE, 1 << 30, nullptr, nullptr, 0);
        }
        return records;
    }

  private:
    Session& session_;
};

// Sorts numbered records (first argument u64) and control records.
struct Tally {
    std::vector<std::uint64_t> numbers;
    std::map<int, std::uint64_t> told;  // by cause, from loss records
    std::uint64_t stalls = 0, stall_ns = 0, truncated = 0;
    int stall_why = -1;
    void add(const std::vector<Record>& records) {
        for (const Record& record : records) {
            if (record.site == 1)
                told[argument<std::uint8_t>(record, 0)] += argument<std::uint64_t>(record, 1);
            if (record.site == 2) {
                ++stalls, stall_ns += argument<std::uint64_t>(record, 1);
                stall_why = argument<std::uint8_t>(record, 0);
            }
            if (record.site >= 16) numbers.push_back(argument<std::uint64_t>(record, 0));
        }
    }
};

std::uint64_t counted(const Session& session, unsigned cause) {
    std::uint64_t sum = 0;
    for (const reader::Ring& ring : session.rings()) sum += ring.losses(cause);
    return sum;
}

void number_records(std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) SP_EVENT("numbered", i, 0.5);
}

// Fills a thread's ring with its largest size taken: `fill` records, then runs the rest in the same thread.
template <class F>
void in_thread(F body) {
    std::thread(body).join();
}

TEST(Drop, EachLostRecordIsCountedOnceAndToldLater) {
    Collector collector(kDrop);
    const std::uint64_t before = counted(collector.session(), 0);
    in_thread([&] {
        constexpr std::uint64_t kAll = 200'000;  // more than the largest ring holds
        number_records(0, kAll);
        Tally tally;
        tally.add(collector.pass());
        const std::uint64_t lost = counted(collector.session(), 0) - before;
        ASSERT_GT(lost, 0u);
        EXPECT_EQ(tally.numbers.size() + lost, kAll);
        for (std::size_t i = 0; i < tally.numbers.size(); ++i) ASSERT_EQ(tally.numbers[i], i);
        number_records(kAll, kAll + 1);
        tally.add(collector.pass());
        EXPECT_EQ(tally.numbers.back(), kAll);
        EXPECT_EQ(tally.told[0], lost);
        EXPECT_EQ(counted(collector.session(), 0) - before, lost);
    });
}

TEST(Drop, ALossRecordKnowsWhen) {
    Collector collector(kDrop);
    in_thread([&] {
        number_records(0, 200'000);
        const auto full = collector.pass();
        number_records(0, 1);
        const auto after = collector.pass();
        ASSERT_EQ(after.size(), 2u);
        EXPECT_EQ(after[0].site, 1u);
        const auto first = argument<std::uint64_t>(after[0], 9), last = argument<std::uint64_t>(after[0], 17);
        EXPECT_GT(first, full.back().ticks);
        EXPECT_GT(last, first);
        EXPECT_GT(after[1].ticks, last);
    });
}

TEST(Block, NothingIsLostBehindASlowCollector) {
    Collector collector(kBlock, kForEver);
    constexpr std::uint64_t kAll = 300'000;
    Tally tally;
    std::atomic<bool> done{false};
    std::thread producer([&] {
        number_records(0, kAll);
        done = true;
    });
    while (!done) {
        // Slower than the producer, however fast that is.
        while (!done && !collector.is_waited_for()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        tally.add(collector.pass());
    }
    producer.join();
    tally.add(collector.pass());
    ASSERT_EQ(tally.numbers.size(), kAll);
    for (std::uint64_t i = 0; i < kAll; ++i) ASSERT_EQ(tally.numbers[i], i);
    EXPECT_TRUE(tally.told.empty());
    EXPECT_GT(tally.stalls, 0u);
    EXPECT_GT(tally.stall_ns, 0u);
}

TEST(Block, PatienceEndsThenItDropsUntilHalfEmpty) {
    Collector collector(kBlock, 60);
    for (const std::uint32_t state : {1u, 2u}) {
        collector.session().set<std::uint32_t>(784, state);
        const unsigned cause = state == 2 ? 2 : 1;
        const std::uint64_t before = counted(collector.session(), cause);
        in_thread([&] {
            const auto begin = Clock::now();
            number_records(0, 200'000);
            const auto waited = Clock::now() - begin;
            // One wait of the patience, not one for each record.
            EXPECT_GE(waited, std::chrono::milliseconds(55));
            Tally tally;
            tally.add(collector.pass());
            const std::uint64_t lost = counted(collector.session(), cause) - before;
            EXPECT_EQ(tally.numbers.size() + lost, 200'000u);
            number_records(500'000, 500'001);
            tally.add(collector.pass());
            EXPECT_EQ(tally.numbers.back(), 500'000u);
            EXPECT_EQ(tally.told[static_cast<int>(cause)], lost);
            EXPECT_EQ(tally.stalls, 1u);
            EXPECT_EQ(tally.stall_why, static_cast<int>(cause));
        });
    }
}

// Nobody has the patience that the longest wait allows.
TEST(Block, DoesNotWaitForACollectorThatStandsStill) {
    Collector collector(kBlock, 3'600'000);
    const std::uint64_t before = counted(collector.session(), 1);
    in_thread([&] {
        number_records(0, 200'000);
        Tally tally;
        tally.add(collector.pass());
        const std::uint64_t lost = counted(collector.session(), 1) - before;
        EXPECT_GT(lost, 0u);
        EXPECT_EQ(tally.numbers.size() + lost, 200'000u);
    });
}

// One attempt. False: a beat came late, as on a machine that has other things to do.
bool has_waited_while_the_heart_beats() {
    // A producer waits a second for the next beat.
    constexpr auto kLate = std::chrono::milliseconds(900);
    Collector collector(kBlock, 3'600'000);
    std::atomic<bool> done{false};
    std::thread producer([&] {
        number_records(0, 200'000);
        done = true;
    });
    // Half as long again as one is waited for whose heart stands still.
    Clock::duration longest{};
    auto last = Clock::now();
    const auto look = [&] { longest = std::max(longest, Clock::now() - last), last = Clock::now(); };
    for (int beat = 0; beat < 75; ++beat) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        collector.session().set<std::uint64_t>(776, collector.session().get<std::uint64_t>(776) + 1);
        look();
    }
    const bool has_ended = done;
    // From here on it waits as long as it takes.
    collector.session().set<std::uint32_t>(788, kForEver);
    look();
    Tally tally;
    while (!done) {
        tally.add(collector.pass());
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    producer.join();
    tally.add(collector.pass());
    if (longest >= kLate) return false;
    EXPECT_FALSE(has_ended) << "there was no room yet";
    EXPECT_EQ(tally.numbers.size(), 200'000u);
    EXPECT_TRUE(tally.told.empty());
    return true;
}

TEST(Block, WaitsForACollectorWhoseHeartBeats) {
    for (int attempt = 0; attempt < 20; ++attempt)
        if (has_waited_while_the_heart_beats()) return;
    FAIL() << "no heart has beaten in time";
}

TEST(Block, EndsWhenTheCollectorLeaves) {
    Collector collector(kBlock, kForEver);
    std::atomic<bool> done{false};
    std::thread producer([&] {
        number_records(0, 200'000);
        done = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_FALSE(done);
    collector.session().set<std::uint32_t>(768, 0);  // nobody collects: the flight recorder
    producer.join();
    EXPECT_TRUE(done);
    Tally tally;
    tally.add(collector.session().drain());
    EXPECT_EQ(tally.numbers.back(), 199'999u);
}

TEST(Block, AllLevelsHaveAPolicyOfTheirOwn) {
    Collector collector(kBlock, kForEver);
    collector.session().set<std::uint8_t>(792 + 2, kDrop);  // info
    const std::uint64_t before = counted(collector.session(), 0);
    in_thread([] { number_records(0, 200'000); });  // would never end if it waited
    EXPECT_GT(counted(collector.session(), 0), before);
}

TEST(Overwrite, TheNewestAreKept) {
    for (const bool is_collected : {true, false}) {
        Collector collector(kOverwrite);
        if (!is_collected) collector.session().set<std::uint32_t>(768, 0);
        in_thread([&] { number_records(0, 500'000); });
        std::map<std::uint32_t, std::vector<Record>> by_stream;
        for (const Record& record : collector.session().drain()) by_stream[record.stream].push_back(record);
        Tally all, newest;
        for (const auto& [stream, records] : by_stream) all.add(records);
        newest.add(by_stream.rbegin()->second);
        EXPECT_TRUE(std::is_sorted(all.numbers.begin(), all.numbers.end()));
        ASSERT_GT(newest.numbers.size(), 10'000u);
        ASSERT_LT(all.numbers.size(), 400'000u);
        for (std::size_t i = 0; i < newest.numbers.size(); ++i)
            ASSERT_EQ(newest.numbers[i], 500'000 - newest.numbers.size() + i);
        EXPECT_TRUE(all.told.empty());
    }
}

TEST(Overwrite, AReaderInTheMiddleSeesOnlyWholeRecords) {
    Collector collector(kOverwrite);
    std::atomic<bool> done{false}, has_looked{false};
    std::thread producer([&] {
        // Until the reader has had its turns.
        for (std::uint64_t i = 0; i < 400'000 || !has_looked; ++i)
            SP_EVENT("numbered", i, std::string(i % 61, 'x'));
        done = true;
    });
    std::uint64_t seen = 0;
    for (int looks = 0; !done; ++looks) {
        has_looked = seen > 1000 || looks > 10'000;
        std::map<std::uint32_t, std::uint64_t> last;
        for (const Record& record : collector.session().records()) {
            if (record.site < 16) continue;
            const auto number = argument<std::uint64_t>(record, 0);
            ASSERT_EQ(argument<std::uint32_t>(record, 8), number % 61);
            const auto found = last.find(record.stream);
            if (found != last.end()) {
                ASSERT_EQ(number, found->second + 1);
            }
            last[record.stream] = number;
            ++seen;
        }
    }
    producer.join();
    EXPECT_GT(seen, 1000u);
}

TEST(Growth, AStreamContinuesTheOneBefore) {
    Collector collector(kBlock);
    in_thread([&] {
        number_records(0, 20'000);
        std::map<std::uint32_t, std::uint32_t> previous;
        std::map<std::uint32_t, std::uint32_t> capacity;
        for (const reader::Ring& ring : collector.session().rings()) {
            if (ring.tid() != static_cast<std::uint32_t>(gettid()) || ring.lane() != 0) continue;
            if (ring.committed() == ring.load<std::uint64_t>(56)) continue;
            previous[ring.stream()] = ring.previous();
            capacity[ring.stream()] = ring.capacity();
        }
        ASSERT_GT(previous.size(), 2u);
        std::uint32_t last = 0;
        for (const auto& [stream, before] : previous) {
            if (last != 0) {
                EXPECT_EQ(before, last);
                EXPECT_GT(capacity[stream], capacity[last]);
            }
            last = stream;
        }
        std::map<std::uint32_t, std::vector<Record>> by_stream;
        for (const Record& record : collector.session().records()) by_stream[record.stream].push_back(record);
        Tally tally;
        for (const auto& [stream, records] : by_stream) tally.add(records);
        ASSERT_EQ(tally.numbers.size(), 20'000u);
        for (std::uint64_t i = 0; i < tally.numbers.size(); ++i) ASSERT_EQ(tally.numbers[i], i);
    });
}

TEST(Size, TextsUpToTheLimitAreWhole) {
    Collector collector(kBlock);
    for (const std::size_t len : {1u, 450u, 600u, 4000u, 5000u, 40'000u, 100'000u, 200'000u}) {
        in_thread([&] {
            const std::string text(len, 'y');
            SP_INFO("{}", text);
            const auto records = collector.pass();
            ASSERT_EQ(records.size(), 1u) << len;
            EXPECT_EQ(records[0].flags, 0u) << len;
            EXPECT_EQ(reader::text_of(records[0], collector.session().site(records[0].site)),
                      "\"" + text + "\"");
        });
    }
}

TEST(Size, WhatIsTooLongIsCutAndSaysByHowMuch) {
    Collector collector(kBlock);
    const std::string text(1'000'000, 'z');
    const std::vector<int> numbers(500'000, 7);
    in_thread([&] { SP_INFO("{} {} {} {}", 1, text, std::string("short"), numbers); });
    const auto records = collector.pass();
    ASSERT_EQ(records.size(), 1u);
    EXPECT_EQ(records[0].flags, 1u);
    const std::string seen = reader::text_of(records[0], collector.session().site(records[0].site));
    EXPECT_EQ(seen.substr(0, 4), "1 \"z");
    EXPECT_NE(seen.find(" \"short\" ["), std::string::npos);
    std::size_t kept = 0;
    for (const char c : seen) kept += c == 'z';
    EXPECT_GT(kept, 50'000u);
    EXPECT_NE(seen.find("\"…+" + std::to_string(1'000'000 - kept)), std::string::npos);
    std::size_t elements = 1;
    for (const char c : seen) elements += c == ',';
    EXPECT_TRUE(seen.ends_with("]…+" + std::to_string(500'000 - elements))) << seen.substr(seen.size() - 20);
    EXPECT_GT(records[0].size, 200'000u);
}

TEST(Size, WhatCannotBeCutIsCountedAsTooLarge) {
    Collector collector(kBlock);
    const std::uint64_t before = collector.session().losses();
    std::vector<std::string> many(10'000, std::string(100, 'q'));
    in_thread([&] { SP_INFO("{}", many); });
    EXPECT_EQ(collector.session().losses(), before + 1);
    std::uint64_t too_large = collector.session().session_losses(5) + counted(collector.session(), 5);
    EXPECT_EQ(too_large, 1u);
    // Of these each fits, and both do not.
    static std::array<std::uint64_t, 20'000> one, other;
    in_thread([&] { SP_INFO("{} {}", one, other); });
    EXPECT_EQ(collector.session().session_losses(5) + counted(collector.session(), 5), too_large + 1);
    EXPECT_TRUE(collector.pass().empty());
}

TEST(Doorbell, RingsForASleepingCollectorOnly) {
    Collector collector(kBlock);
    in_thread([&] {
        const auto quiet = collector.session().get<std::uint32_t>(640);
        number_records(0, 10'000);
        EXPECT_EQ(collector.session().get<std::uint32_t>(640), quiet);
        collector.session().set<std::uint32_t>(772, 1);
        number_records(0, 20'000);  // half of the ring, wherever in it the thread begins
        EXPECT_GT(collector.session().get<std::uint32_t>(640), quiet);
        collector.session().set<std::uint32_t>(772, 0);
    });
}

// Those that have begun do not take all memory for larger rings: a later thread finds a small one.
TEST(Crowd, NewThreadsFindRoomHoweverMuchTheOthersRecord) {
    // More than one slab's small rings. None is drained, and all are alive at once.
    constexpr unsigned kThreads = 560, kRecords = 600;
    Collector collector(kDrop);
    const auto small = std::uint64_t{kThreads} * 2 * 2048;
    if (collector.session().get<std::uint64_t>(104) / 4 < small)
        GTEST_SKIP() << "there is little memory here";
    const std::uint64_t before = collector.session().session_losses(3);
    std::atomic<bool> over{false};
    std::atomic<unsigned> done{0};
    std::vector<std::thread> threads;
    for (unsigned n = 0; n < kThreads; ++n) {
        try {
            threads.emplace_back([&] {
                number_records(0, kRecords);
                ++done;
                done.notify_one();
                over.wait(false);
            });
        } catch (const std::system_error&) {
            break;
        }
        done.wait(n);
    }
    EXPECT_EQ(collector.session().session_losses(3), before);
    over = true;
    over.notify_all();
    for (std::thread& thread : threads) thread.join();
    if (threads.size() < kThreads) GTEST_SKIP() << "only " << threads.size() << " threads may run here";
}

}  // namespace
