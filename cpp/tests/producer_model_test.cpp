// The producer's steps (detail/producer.hpp), which every tracepoint runs, against a model of the collector.
// Two machines run them in all orders: one with store buffers (support/interleave.hpp), and one with weak
// memory (support/weak.hpp). Beside each scenario stand mutants with one mistake, which must be found.
#include <gtest/gtest.h>

#include <array>
#include <silverpoint/silverpoint.hpp>
#include <vector>

#include "support/interleave.hpp"
#include "support/weak.hpp"

namespace {

using namespace silverpoint::detail;
using bodies = std::vector<std::function<void()>>;
constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;

struct Buffered : interleave::machine {
    template <class Scenario>
    static interleave::result all_orders() {
        return interleave::explore([] { return std::make_unique<Scenario>(); });
    }
};

struct Weak : weak::machine {
    template <class Scenario>
    static interleave::result all_orders() {
        return weak::explore([] { return std::make_unique<Scenario>(); });
    }
};

template <class Machine, class Scenario>
interleave::result all_orders() {
    const interleave::result got = Machine::template all_orders<Scenario>();
    std::printf("%zu runs, %zu states: %s\n", got.runs, got.states,
                got.error.empty() ? "all right" : got.error.c_str());
    return got;
}

// A ring of so many records, each of one word whose value is its position.
template <class Machine, int capacity>
struct Shared {
    template <class T>
    using atomic = typename Machine::template atomic<T>;

    std::vector<std::unique_ptr<atomic<std::uint64_t>>> words;
    atomic<std::uint64_t> committed{0}, consumed{0}, oldest{0};
    atomic<std::uint32_t> waiting{0}, wake{0}, sleeping{0}, doorbell{0};

    Shared() {
        for (int i = 0; i < capacity; ++i) words.push_back(std::make_unique<atomic<std::uint64_t>>(~0ull));
    }
    atomic<std::uint64_t>& word(std::uint64_t position) { return *words[position % capacity]; }
};

// --- Records arrive whole, once and in order, and a producer that waits for room is waked. ---

template <class Machine, template <class> class Steps, int capacity, int records>
struct Transfer : Shared<Machine, capacity> {
    using Producer = Steps<Machine>;
    std::vector<std::uint64_t> got;

    void put(std::uint64_t position) {
        const auto has_room = [&] {
            return position < Producer::lower(this->consumed, this->oldest) + capacity;
        };
        while (!has_room())
            Producer::wait(this->waiting, this->wake, has_room,
                           [&](std::uint32_t value) { Machine::sleep(this->wake, value); });
        Producer::write_and_publish([&] { this->word(position).store(position, relaxed); }, this->committed,
                                    position + 1);
    }
    // As the collector: copies, stores, releases, wakes.
    void collect() {
        std::uint64_t from = 0;
        while (from < records) {
            Machine::while_equal(this->committed, from);
            const std::uint64_t to = this->committed.load(acquire);
            for (; from < to; ++from) got.push_back(this->word(from).load(relaxed));
            this->consumed.store(to, release);
            Machine::full_fence();
            if (this->waiting.load(relaxed) == 1) {
                this->wake.fetch_add(1, release);
                Machine::wake(this->wake);
            }
        }
    }
    bodies threads() {
        return {[this] {
                    for (std::uint64_t position = 0; position < records; ++position) put(position);
                },
                [this] { collect(); }};
    }
    std::string wrong() {
        for (std::uint64_t position = 0; position < records; ++position)
            if (got[position] != position) return "a record that is not whole, or not in its place";
        return got.size() == records ? "" : "lost or doubled";
    }
};

// --- A reader copies while the producer overwrites: what is left after the discard rule is right. ---

template <class Machine, template <class> class Steps>
struct Overwritten : Shared<Machine, 2> {
    using Producer = Steps<Machine>;
    std::string found;

    void put(std::uint64_t position) {
        if (position >= 2)
            Producer::overwrite(this->oldest, position - 1,
                                [&] { this->word(position).store(position, relaxed); });
        else
            this->word(position).store(position, relaxed);
        Producer::publish(this->committed, position + 1);
    }
    void read() {
        const std::uint64_t to = this->committed.load(acquire);
        const std::uint64_t before = this->oldest.load(acquire);
        std::array<std::uint64_t, 2> copy;
        for (std::uint64_t i = 0; i < 2; ++i) copy[i] = this->word(i).load(relaxed);
        Machine::full_fence();
        const std::uint64_t now = this->oldest.load(relaxed);
        for (std::uint64_t position = std::max(before, now); position < to; ++position)
            if (copy[position % 2] != position) found = "an overwritten record was not discarded";
    }
    bodies threads() {
        for (std::uint64_t position = 0; position < 2; ++position) put(position);
        return {[this] {
                    for (std::uint64_t position = 2; position < 4; ++position) put(position);
                },
                [this] { read(); }};
    }
    std::string wrong() { return found; }
};

// --- A collector that goes to sleep while a record is published is waked, or has seen it. ---

template <class Machine, template <class> class Steps, int records>
struct Publishing : Shared<Machine, 2> {
    using Producer = Steps<Machine>;

    bodies threads() {
        return {[this] {
                    for (std::uint64_t end = 1; end <= records; ++end) {
                        Producer::publish(this->committed, end);
                        if (!Producer::is_asleep(this->sleeping)) continue;
                        this->doorbell.fetch_add(1, release);
                        Machine::wake(this->doorbell);
                    }
                },
                [this] {
                    for (std::uint64_t seen = 0; seen < records;) {
                        const std::uint32_t before = this->doorbell.load(acquire);
                        this->sleeping.store(1, relaxed);
                        Machine::full_fence();
                        const std::uint64_t now = this->committed.load(acquire);
                        if (now == seen) Machine::sleep(this->doorbell, before);
                        this->sleeping.store(0, relaxed);
                        seen = now;
                    }
                }};
    }
    std::string wrong() { return ""; }
};

// --- A retired slice that is drained may be taken over: by one thread at a time, and never with records. ---

template <class Machine, template <class> class Steps>
struct Adoption : Shared<Machine, 2> {
    using Producer = Steps<Machine>;
    typename Machine::template atomic<std::uint32_t> state{kRingRetired};
    typename Machine::template atomic<std::uint32_t> owners{0};
    std::string found;

    void adopt() {
        const auto is_adoptable = [&](std::uint32_t now) {
            return now == kRingRetired && this->consumed.load(acquire) == this->committed.load(acquire);
        };
        const std::uint32_t word = Producer::adoptable_state(state, is_adoptable);
        if (word == kRingClaiming || !Producer::take_over(state, word)) return;
        if (owners.fetch_add(1, relaxed) != 0) found = "two owners";
        const std::uint64_t position = this->committed.load(relaxed);
        if (this->consumed.load(relaxed) != position) found = "taken over with records";
        // Its own stream: a record, and it leaves.
        Producer::set_state(state, kRingLive);
        Producer::publish(this->committed, position + 1);
        owners.fetch_add(~0u, relaxed);
        Producer::set_state(state, kRingRetired);
    }
    bodies threads() {
        return {[this] { adopt(); }, [this] { adopt(); },
                [this] {
                    // A collector that looks once.
                    this->consumed.store(this->committed.load(acquire), release);
                }};
    }
    std::string wrong() { return found; }
};

// --- A thread that waits at its last ring goes on in an earlier one that the collector has emptied. ---

template <class Machine, template <class> class Steps>
struct Continued : Shared<Machine, 1> {
    using Producer = Steps<Machine>;
    // The ring that the thread has left. Its last ring is full, and stays so.
    typename Machine::template atomic<std::uint32_t> state{kRingRetired};
    typename Machine::template atomic<std::uint64_t> first_committed{0}, first_consumed{0};
    typename Machine::template atomic<std::uint64_t> first_word{0};
    std::string found;

    void go_on() {
        const auto is_adoptable = [&](std::uint32_t now) {
            return now == kRingRetired && first_consumed.load(acquire) == first_committed.load(acquire);
        };
        const auto has_place = [&] {
            return Producer::adoptable_state(state, is_adoptable) != kRingClaiming;
        };
        std::uint32_t word;
        while ((word = Producer::adoptable_state(state, is_adoptable)) == kRingClaiming)
            Producer::wait(this->waiting, this->wake, has_place,
                           [&](std::uint32_t value) { Machine::sleep(this->wake, value); });
        if (!Producer::take_over(state, word)) found = "taken by nobody";
        first_word.store(2, relaxed);
    }
    void collect() {
        if (first_word.load(relaxed) != 1) found = "overwritten before it was read";
        first_consumed.store(1, release);
        Machine::full_fence();
        if (this->waiting.load(relaxed) == 1) {
            this->wake.fetch_add(1, release);
            Machine::wake(this->wake);
        }
    }
    bodies threads() {
        first_word.store(1, relaxed);
        first_committed.store(1, relaxed);
        return {[this] { go_on(); }, [this] { collect(); }};
    }
    std::string wrong() { return found; }
};

// --- The memory of a retired slice is given back, or the slice is taken over: never both. ---

template <class Machine, template <class> class Steps>
struct GivenBack : Shared<Machine, 1> {
    using Producer = Steps<Machine>;
    static constexpr std::uint64_t kHole = 7, kRecord = 8;
    typename Machine::template atomic<std::uint32_t> state{kRingRetired}, returned{kPresent};
    bool has_recorded = false;

    void take() {
        const auto is_adoptable = [&](std::uint32_t now) { return now == kRingRetired; };
        const std::uint32_t word = Producer::adoptable_state(state, is_adoptable);
        if (word == kRingClaiming || !Producer::take_over(state, word)) return;
        const std::uint32_t memory = Producer::look_at_memory(returned);
        if (memory == kReturning) return Producer::set_state(state, kRingRetired);
        if (memory == kReturned) returned.store(kPresent, relaxed);
        this->word(0).store(kRecord, relaxed);
        has_recorded = true;
        Producer::set_state(state, kRingLive);
    }
    // As the collector: spec/wire.md, section 3.4.
    void give_back() {
        const std::uint32_t before = state.load(acquire);
        if ((before & kRingStateMask) != kRingRetired) return;
        returned.store(kReturning, relaxed);
        Machine::full_fence();
        if (state.load(relaxed) != before) return returned.store(kPresent, relaxed);
        this->word(0).store(kHole, relaxed);
        returned.store(kReturned, release);
    }
    bodies threads() {
        return {[this] { take(); }, [this] { take(); }, [this] { give_back(); }};
    }
    std::string wrong() {
        return has_recorded && this->word(0).load(relaxed) != kRecord ? "given back under its owner" : "";
    }
};

// What ships. (The order of writing and publishing is the caller's.)
template <class Machine>
struct Right : RingSteps<Machine> {
    template <class Write, class Word64>
    static void write_and_publish(Write&& write, Word64& committed, std::uint64_t end) {
        write();
        RingSteps<Machine>::publish(committed, end);
    }
    template <class Word64, class Write>
    static void overwrite(Word64& oldest, std::uint64_t position, Write&& write) {
        RingSteps<Machine>::give_up(oldest, position);
        write();
    }
};

TEST(Producer, RecordsArriveWholeOnceAndInOrderAndWhoWaitsIsWaked) {
    EXPECT_EQ((all_orders<Buffered, Transfer<Buffered, Right, 2, 3>>().error), "");
    EXPECT_EQ((all_orders<Weak, Transfer<Weak, Right, 2, 3>>().error), "");
    // Waits before each record but the first.
    const auto buffered = all_orders<Buffered, Transfer<Buffered, Right, 1, 3>>();
    EXPECT_EQ(buffered.error, "");
    EXPECT_GT(buffered.states, 5000u);
    const auto weak = all_orders<Weak, Transfer<Weak, Right, 1, 3>>();
    EXPECT_EQ(weak.error, "");
    EXPECT_GT(weak.states, 10000u);
}

TEST(Producer, WhatIsOverwrittenUnderAReaderIsDiscarded) {
    EXPECT_EQ((all_orders<Buffered, Overwritten<Buffered, Right>>().error), "");
    const auto weak = all_orders<Weak, Overwritten<Weak, Right>>();
    EXPECT_EQ(weak.error, "");
    EXPECT_GT(weak.states, 300u);
}

TEST(Producer, TheDoorbellIsAlwaysHeard) {
    EXPECT_EQ((all_orders<Buffered, Publishing<Buffered, Right, 1>>().error), "");
    const auto weak = all_orders<Weak, Publishing<Weak, Right, 2>>();
    EXPECT_EQ(weak.error, "");
    EXPECT_GT(weak.states, 5000u);
}

TEST(Producer, ASliceIsTakenOverByOneThreadAndWithoutRecords) {
    EXPECT_EQ((all_orders<Buffered, Adoption<Buffered, Right>>().error), "");
    const auto weak = all_orders<Weak, Adoption<Weak, Right>>();
    EXPECT_EQ(weak.error, "");
    EXPECT_GT(weak.states, 1000u);
}

TEST(Producer, WhoWaitsAtItsLastRingGoesOnInAnEmptiedOne) {
    EXPECT_EQ((all_orders<Buffered, Continued<Buffered, Right>>().error), "");
    const auto weak = all_orders<Weak, Continued<Weak, Right>>();
    EXPECT_EQ(weak.error, "");
    EXPECT_GT(weak.states, 100u);
}

TEST(Producer, MemoryIsNotGivenBackUnderAnOwner) {
    EXPECT_EQ((all_orders<Buffered, GivenBack<Buffered, Right>>().error), "");
    const auto weak = all_orders<Weak, GivenBack<Weak, Right>>();
    EXPECT_EQ(weak.error, "");
    EXPECT_GT(weak.states, 100u);
}

// --- Mutants. ---

// A position that does not bring its bytes.
template <class Machine>
struct PublishesRelaxed : Right<Machine> {
    template <class Write, class Word64>
    static void write_and_publish(Write&& write, Word64& committed, std::uint64_t end) {
        write();
        committed.store(end, relaxed);
    }
};
// The position before the bytes.
template <class Machine>
struct PublishesFirst : Right<Machine> {
    template <class Write, class Word64>
    static void write_and_publish(Write&& write, Word64& committed, std::uint64_t end) {
        RingSteps<Machine>::publish(committed, end);
        write();
    }
};
// Looks for room once more without a fence: the collector looks whether somebody waits at the same time.
template <class Machine>
struct WaitsWithoutFence : Right<Machine> {
    template <class Word32, class HasRoom, class Sleep>
    static void wait(Word32& waiting, const Word32& wake, HasRoom&& has_room, Sleep&& sleep) {
        const std::uint32_t value = wake.load(acquire);
        waiting.store(1, relaxed);
        if (!has_room()) sleep(value);
        waiting.store(0, relaxed);
    }
};
// Reads the word to sleep on when it has seen that there is no room: a wake-up in between is lost.
template <class Machine>
struct ReadsWakeLate : Right<Machine> {
    template <class Word32, class HasRoom, class Sleep>
    static void wait(Word32& waiting, const Word32& wake, HasRoom&& has_room, Sleep&& sleep) {
        waiting.store(1, relaxed);
        Machine::full_fence();
        if (!has_room()) sleep(wake.load(acquire));
        waiting.store(0, relaxed);
    }
};
// Sleeps without another look.
template <class Machine>
struct WaitsBlindly : Right<Machine> {
    template <class Word32, class HasRoom, class Sleep>
    static void wait(Word32& waiting, const Word32& wake, HasRoom&&, Sleep&& sleep) {
        const std::uint32_t value = wake.load(acquire);
        waiting.store(1, relaxed);
        Machine::full_fence();
        sleep(value);
        waiting.store(0, relaxed);
    }
};
// Nothing keeps the bytes behind `oldest`.
template <class Machine>
struct GivesUpWithoutFence : Right<Machine> {
    template <class Word64, class Write>
    static void overwrite(Word64& oldest, std::uint64_t position, Write&& write) {
        oldest.store(position, relaxed);
        write();
    }
};
// The bytes, then `oldest`.
template <class Machine>
struct GivesUpLate : Right<Machine> {
    template <class Word64, class Write>
    static void overwrite(Word64& oldest, std::uint64_t position, Write&& write) {
        write();
        RingSteps<Machine>::give_up(oldest, position);
    }
};
// Looks for a sleeper before the position is visible.
template <class Machine>
struct RingsWithoutFence : Right<Machine> {
    template <class Word32>
    static bool is_asleep(const Word32& sleeping) {
        return sleeping.load(relaxed) != 0;
    }
};
// Does not count adoptions.
template <class Machine>
struct TakesOverUncounted : Right<Machine> {
    template <class Word32>
    static bool take_over(Word32& state, std::uint32_t word) {
        return state.compare_exchange_strong(word, kRingClaiming, std::memory_order_acq_rel);
    }
};
// Looks at the positions before it reads the word.
template <class Machine>
struct ReadsStateLate : Right<Machine> {
    template <class Word32, class IsAdoptable>
    static std::uint32_t adoptable_state(const Word32& state, IsAdoptable&& is_adoptable) {
        if (!is_adoptable(kRingRetired)) return kRingClaiming;
        const std::uint32_t word = state.load(acquire);
        return (word & kRingStateMask) == kRingRetired ? word : kRingClaiming;
    }
};
// Looks at the collector's word before the taking is visible.
template <class Machine>
struct LooksWithoutFence : Right<Machine> {
    template <class Word32>
    static std::uint32_t look_at_memory(const Word32& returned) {
        return returned.load(acquire);
    }
};
// Does not look.
template <class Machine>
struct TakesBlindly : Right<Machine> {
    template <class Word32>
    static std::uint32_t look_at_memory(const Word32&) {
        return kPresent;
    }
};
// Leaves the slice before its last position is visible.
template <class Machine>
struct LeavesRelaxed : Right<Machine> {
    template <class Word32>
    static void set_state(Word32& state, std::uint32_t to) {
        state.store((state.load(relaxed) & ~kRingStateMask) | to, relaxed);
    }
};

template <class Machine, template <class> class Steps>
using Doorbell = Publishing<Machine, Steps, 1>;
template <class Machine, template <class> class Steps>
using SmallTransfer = Transfer<Machine, Steps, 1, 2>;

// On both machines. (What only reorders stores is right where stores stay in order.)
#define EXPECT_FOUND(scenario, mutant)                                         \
    EXPECT_NE((all_orders<Buffered, scenario<Buffered, mutant>>().error), ""); \
    EXPECT_NE((all_orders<Weak, scenario<Weak, mutant>>().error), "")
#define EXPECT_FOUND_WEAK(scenario, mutant)                                    \
    EXPECT_EQ((all_orders<Buffered, scenario<Buffered, mutant>>().error), ""); \
    EXPECT_NE((all_orders<Weak, scenario<Weak, mutant>>().error), "")

TEST(Producer, MutantsOfPublishingAreFound) {
    EXPECT_FOUND_WEAK(SmallTransfer, PublishesRelaxed);
    EXPECT_FOUND(SmallTransfer, PublishesFirst);
}

TEST(Producer, MutantsOfWaitingAreFound) {
    EXPECT_FOUND(SmallTransfer, WaitsWithoutFence);
    EXPECT_FOUND(SmallTransfer, ReadsWakeLate);
    EXPECT_FOUND(SmallTransfer, WaitsBlindly);
}

TEST(Producer, MutantsOfWaitingAtTheLastRingAreFound) {
    EXPECT_FOUND(Continued, WaitsWithoutFence);
    EXPECT_FOUND(Continued, ReadsWakeLate);
    EXPECT_FOUND(Continued, WaitsBlindly);
}

TEST(Producer, MutantsOfOverwritingAreFound) {
    EXPECT_FOUND_WEAK(Overwritten, GivesUpWithoutFence);
    EXPECT_FOUND(Overwritten, GivesUpLate);
}

TEST(Producer, AMutantOfTheDoorbellIsFound) { EXPECT_FOUND(Doorbell, RingsWithoutFence); }

TEST(Producer, MutantsOfTakingOverAreFound) {
    EXPECT_FOUND(Adoption, TakesOverUncounted);
    EXPECT_FOUND(Adoption, ReadsStateLate);
    EXPECT_FOUND_WEAK(Adoption, LeavesRelaxed);
    EXPECT_FOUND(GivenBack, TakesBlindly);
    EXPECT_FOUND_WEAK(GivenBack, LooksWithoutFence);
}

}  // namespace
