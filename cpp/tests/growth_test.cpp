// What a call waits for when its thread's ring grows: counted in page faults, which is what takes long. The
// test plays the collector.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <silverpoint/silverpoint.hpp>
#include <string>
#include <thread>
#include <vector>

#include "support/traced.hpp"

namespace {

constexpr std::uint32_t kSlab = 1 << 20;  // and the largest ring

// Page faults of this thread so far, and those that a populating call has saved.
long faults() {
    rusage usage{};
    EXPECT_EQ(getrusage(RUSAGE_THREAD, &usage), 0);
    return usage.ru_minflt;
}

struct Faults {
    long most_of_a_call = 0, all = 0;
};

// Records so often in a new thread: by default until its ring is the largest, and nearly full.
Faults faults_of_growth(std::uint64_t records = 30'000) {
    Faults found;
    std::thread([&] {
        const auto record = [](std::uint64_t number) { SP_EVENT("numbered", number, 0.5); };
        // The first records of a thread touch its stack, and code that has not run yet.
        for (std::uint64_t i = 0; i < 10; ++i) record(i);
        const long begin = faults();
        for (std::uint64_t i = 0; i < records; ++i) {
            const long before = faults();
            record(i);
            found.most_of_a_call = std::max(found.most_of_a_call, faults() - before);
        }
        found.all = faults() - begin;
    }).join();
    return found;
}

TEST(Growth, NoCallWaitsForThePagesOfARing) {
    reader::Session& session = traced::session();
    session.set<std::uint32_t>(768, 1);  // somebody collects
    const std::string path = session.path() + "/rings";
    struct statfs place {};
    if (statfs(path.c_str(), &place) != 0 || place.f_type != 0x01021994)
        GTEST_SKIP() << "sessions are not in a file system in memory";
    ASSERT_EQ(session.get<std::uint32_t>(112), kSlab);
    const auto largest = [&] {
        const auto rings = session.rings();
        return std::count_if(rings.begin(), rings.end(),
                             [](const reader::Ring& ring) { return ring.bytes == kSlab; });
    };
    const Faults at_once = faults_of_growth();
    EXPECT_EQ(largest(), 1);
    // Nobody has prepared it: the thread makes it a page at a time. (A ring of 16 KiB has four.)
    EXPECT_GE(at_once.all, 200);
    EXPECT_LE(at_once.most_of_a_call, 4);

    // All slabs in use, and the next one, as a collector prepares them.
    const std::uint32_t slabs = session.get<std::uint32_t>(520) + 1;
    const int file = open(path.c_str(), O_RDWR);
    void* const map = mmap(nullptr, std::size_t{kSlab} * slabs, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ASSERT_NE(map, MAP_FAILED);
    if (madvise(map, std::size_t{kSlab} * slabs, MADV_POPULATE_WRITE) != 0)
        GTEST_SKIP() << "a kernel before 5.14";
    munmap(map, std::size_t{kSlab} * slabs);
    close(file);
    const auto say = [&](std::uint32_t slab, std::uint32_t bytes) {
        session.set<std::uint32_t>(session.get<std::uint64_t>(120) + slab * 16u + 12, bytes);
    };
    for (std::uint32_t slab = 0; slab < slabs; ++slab) say(slab, kSlab);
    say(slabs - 1, kSlab / 2);
    // Three quarters of a ring of 128 KiB, and what it has grown from.
    const Faults waiting = faults_of_growth(3'500);
    EXPECT_EQ(largest(), 1) << "the next one will be ready soon";
    EXPECT_LE(waiting.most_of_a_call, 2);
    say(slabs - 1, kSlab);
    const Faults prepared = faults_of_growth();
    EXPECT_EQ(largest(), 2) << "the rings of the first thread hold its records";
    // One fault enters 64 KiB. A call has two where a ring begins at the end of such a piece.
    EXPECT_LE(prepared.most_of_a_call, 2);
    EXPECT_LE(prepared.all, 40);
}

// Nobody collects, and the burst is six and a half times as large as the largest ring. The half matters: what
// the smaller rings take first differs from run to run, and the number of the largest ones does not.
TEST(Growth, ABurstThatFitsIntoTheMemoryWaitsForNobody) {
    reader::Session& session = traced::session();
    session.drain();
    session.set<std::uint32_t>(768, 1);           // somebody is to collect
    session.set<std::uint32_t>(788, 0xFFFFFFFF);  // and would be waited for without end
    constexpr std::uint64_t kRecords = 215'000;
    std::thread([] {
        for (std::uint64_t i = 0; i < kRecords; ++i) SP_EVENT("numbered", i, 0.5);
    }).join();
    for (const reader::Ring& ring : session.rings()) EXPECT_EQ(ring.load<std::uint64_t>(88), 0u) << "a wait";
    std::uint64_t expected = 0;
    for (const reader::Record& record : session.drain()) {
        std::uint64_t number;
        std::memcpy(&number, record.args.data(), sizeof number);
        ASSERT_EQ(number, expected++);
    }
    EXPECT_EQ(expected, kRecords) << "every record once and in order";
    // The emptied slices are used again, before new memory.
    const std::uint32_t slabs = session.get<std::uint32_t>(520);
    std::thread([] {
        for (std::uint64_t i = 0; i < kRecords; ++i) SP_EVENT("numbered", i, 0.5);
    }).join();
    EXPECT_EQ(session.get<std::uint32_t>(520), slabs);
    EXPECT_EQ(session.drain().size(), kRecords);
}

constexpr std::uint64_t kAccessibleAtFirst = 32u << 20;

std::uint64_t handled = 0;

// A timer interrupts a chain all the time. Most of its time goes into making the memory of further rings.
TEST(Growth, AChainIsWholeWithSignalHandlersInIt) {
    reader::Session& session = traced::session();
    session.drain();
    session.set<std::uint32_t>(768, 1);
    session.set<std::uint32_t>(788, 0xFFFFFFFF);
    constexpr std::uint64_t kRecords = 200'000;
    struct sigaction action {};
    action.sa_handler = [](int) { SP_EVENT("handled", handled++); };
    action.sa_flags = SA_RESTART;
    ASSERT_EQ(sigaction(SIGALRM, &action, nullptr), 0);
    // A handler within the first record of a thread finds no ring: its record is lost, and counted.
    std::uint64_t numbered = 0;
    SP_EVENT("numbered", numbered++, 0.5);
    const itimerval often{{0, 100}, {0, 100}}, never{};
    ASSERT_EQ(setitimer(ITIMER_REAL, &often, nullptr), 0);
    // Until it was interrupted at all.
    while (numbered < kRecords || handled == 0) SP_EVENT("numbered", numbered++, 0.5);
    ASSERT_EQ(setitimer(ITIMER_REAL, &never, nullptr), 0);
    std::uint64_t of_thread = 0, of_handler = 0, others = 0;
    // By time: a handler that interrupts a record has a stream of its own.
    std::vector<reader::Record> records = session.drain();
    std::ranges::stable_sort(records, {}, &reader::Record::ticks);
    for (const reader::Record& record : records) {
        if (record.site < 16) continue;
        std::uint64_t number;
        std::memcpy(&number, record.args.data(), sizeof number);
        const bool is_handled = session.site(record.site).text == "handled";
        others += number != (is_handled ? of_handler++ : of_thread++);
    }
    EXPECT_EQ(of_thread, numbered);
    EXPECT_EQ(of_handler, handled);
    EXPECT_EQ(others, 0u) << "each once and in order";
}

// Runs this program again under a limit of its address space (0: none). MiB of its session's rings.
std::uint64_t rings_of_another(rlim_t addresses) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        const rlimit limit{addresses, RLIM_INFINITY};
        if (addresses != 0 && setrlimit(RLIMIT_AS, &limit) != 0) _exit(1);
        dup2(ends[1], 1);
        unsetenv("SILVERPOINT_MEMORY");
        execl("/proc/self/exe", "growth_test", "--gtest_filter=Growth.DISABLED_ToldToAnother",
              "--gtest_also_run_disabled_tests", nullptr);
        _exit(1);
    }
    close(ends[1]);
    std::string told;
    char buffer[512];
    for (ssize_t got; (got = read(ends[0], buffer, sizeof buffer)) > 0;)
        told.append(buffer, static_cast<std::size_t>(got));
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0) << told;
    const std::size_t at = told.find("rings: ");
    EXPECT_NE(at, std::string::npos) << told;
    return at == std::string::npos ? 0 : std::stoull(told.substr(at + 7));
}

TEST(Growth, DISABLED_ToldToAnother) {
    std::cout << "rings: " << traced::session().get<std::uint64_t>(104) << std::endl;
}

TEST(Growth, ALimitOfTheAddressSpaceKeepsTheMemorySmall) {
    if (std::getenv("TEST_RUNNER") != nullptr) GTEST_SKIP() << "an emulator runs no program that it starts";
    const std::uint64_t by_default = rings_of_another(0);
    EXPECT_LE(by_default, 256u << 20);
    EXPECT_EQ(rings_of_another(rlim_t{1} << 40), std::min(by_default, kAccessibleAtFirst));
}

// Records so many kilobytes, each with its number.
void record_kilobytes(std::uint64_t begin, std::uint64_t end) {
    const std::string text(1000, 'x');
    for (std::uint64_t i = begin; i < end; ++i) SP_EVENT("wide", i, text);
}

std::uint64_t numbers_in_order(const std::vector<reader::Record>& records) {
    std::uint64_t expected = 0;
    for (const reader::Record& record : records) {
        std::uint64_t number;
        std::memcpy(&number, record.args.data(), sizeof number);
        if (number != expected++) return ~std::uint64_t{0};
    }
    return expected;
}

// And the thread forks in the middle.
TEST(Growth, ABurstTakesMoreThanIsAccessibleAtFirst) {
    reader::Session& session = traced::session();
    session.drain();
    if (session.get<std::uint64_t>(104) < 3 * kAccessibleAtFirst)
        GTEST_SKIP() << "the machine has too little memory for such a session";
    session.set<std::uint32_t>(768, 1);
    session.set<std::uint32_t>(788, 0xFFFFFFFF);
    constexpr std::uint64_t kRecords = 40'000, kOfChild = 100;
    int status = 0;
    std::thread([&] {
        record_kilobytes(0, kRecords - 1);
        const pid_t child = fork();
        if (child == 0) {
            record_kilobytes(0, kOfChild);
            reader::Session mine = reader::Session::mine();
            const bool is_whole = numbers_in_order(mine.drain()) == kOfChild;
            std::filesystem::remove_all(mine.path());
            _exit(is_whole ? 0 : 1);
        }
        record_kilobytes(kRecords - 1, kRecords);
        waitpid(child, &status, 0);
    }).join();
    EXPECT_EQ(status, 0) << "the child has its own records only";
    EXPECT_GT(session.get<std::uint32_t>(520), kAccessibleAtFirst / kSlab);
    for (const reader::Ring& ring : session.rings()) EXPECT_EQ(ring.load<std::uint64_t>(88), 0u) << "a wait";
    EXPECT_EQ(numbers_in_order(session.drain()), kRecords) << "every record once and in order";
}

}  // namespace
