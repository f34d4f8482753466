// Processes, threads and signals: what the frontend survives.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <map>
#include <set>
#include <silverpoint/silverpoint.hpp>
#include <string>
#include <thread>
#include <vector>

#include "support/traced.hpp"

// How long a thread that makes a session is delayed, as on a busy machine.
static std::atomic<unsigned> held_up_ms{0};

// Instead of the C library's: a session's files get their sizes by it.
extern "C" int ftruncate(int fd, off_t size) noexcept {
    if (const unsigned ms = held_up_ms) std::this_thread::sleep_for(std::chrono::milliseconds(ms));
    return static_cast<int>(syscall(SYS_ftruncate, fd, size));
}

namespace {

using reader::Record;
using reader::Session;

std::uint64_t first_argument(const Record& record) {
    std::uint64_t value;
    std::memcpy(&value, record.args.data(), sizeof value);
    return value;
}

// What a child process finds out, as its exit status; 0 is success. Exceptions of the reader count as 99.
template <class F>
int in_child(F body) {
    const pid_t child = fork();
    if (child == 0) {
        int status = 99;
        try {
            status = body();
        } catch (const std::exception& error) {
            std::fprintf(stderr, "%s\n", error.what());
        }
        _exit(status);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}

void record_number(std::uint64_t number) { SP_EVENT("number", number); }

TEST(Fork, AChildHasASessionOfItsOwn) {
    record_number(1);
    traced::take();
    record_number(2);
    const pid_t parent = getpid();
    EXPECT_EQ(in_child([&] {
                  record_number(3);  // a site that the parent has registered
                  SP_EVENT("new.in.child", 4);
                  const Session mine(Session::path_of(getpid()));
                  const auto records = mine.records();
                  if (records.size() != 2) return 1;
                  if (first_argument(records[0]) != 3) return 2;
                  if (mine.site(records[0].site).text != "number") return 3;
                  if (mine.site(records[1].site).text != "new.in.child") return 4;
                  if (mine.get<std::uint32_t>(20) != static_cast<std::uint32_t>(getpid())) return 5;
                  if (mine.get<std::uint32_t>(84) != static_cast<std::uint32_t>(parent)) return 6;
                  if (!mine.is_alive()) return 7;
                  const Session parents(Session::path_of(parent));
                  if (std::memcmp(mine.path().c_str(), parents.path().c_str(), mine.path().size()) == 0)
                      return 8;
                  for (int i = 0; i < 16; ++i)
                      if (mine.get<char>(64 + static_cast<std::size_t>(i)) !=
                          parents.get<char>(64 + static_cast<std::size_t>(i)))
                          return 0;
                  return 9;  // the same session id
              }),
              0);
    const auto seen = traced::take();  // the parent's own record is still the parent's
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_EQ(seen[0].text, "2");
}

TEST(Fork, ThreadsOfAChildAndGrandchildrenRecord) {
    std::vector<std::thread> busy;
    std::atomic<bool> stop{false};
    for (int i = 0; i < 3; ++i)
        busy.emplace_back([&] {
            for (std::uint64_t n = 0; !stop; ++n) record_number(n);
        });
    for (int round = 0; round < 20; ++round) {
        const int status = in_child([] {
            for (std::uint64_t i = 0; i < 100; ++i) record_number(i);
            std::thread([] {
                for (std::uint64_t i = 0; i < 100; ++i) record_number(i);
            }).join();
            const int grandchild = in_child([] {
                for (std::uint64_t i = 0; i < 50; ++i) record_number(i);
                return Session(Session::path_of(getpid())).records().size() == 50 ? 0 : 1;
            });
            const auto count = Session(Session::path_of(getpid())).records().size();
            return count != 200 ? 2 : grandchild;
        });
        EXPECT_EQ(status, 0) << round;
    }
    stop = true;
    for (auto& thread : busy) thread.join();
    traced::take();
}

// It was waited for 10 to 20 ms, and then the record was lost, and counted nowhere.
TEST(Fork, ARecordWaitsForWhoeverMakesTheSession) {
    record_number(1);
    EXPECT_EQ(in_child([] {
                  held_up_ms = 300;
                  std::barrier together(4);
                  std::vector<std::thread> threads;
                  for (int i = 0; i < 4; ++i)
                      threads.emplace_back([&] {
                          together.arrive_and_wait();
                          record_number(2);
                      });
                  for (auto& thread : threads) thread.join();
                  const auto count = Session(Session::path_of(getpid())).records().size();
                  return count == 4 ? 0 : static_cast<int>(count) + 1;
              }),
              0);
    traced::take();
}

TEST(Fork, InAChildOtherThreadsMayRecordFirst) {
    record_number(1);
    EXPECT_EQ(in_child([] {
                  std::thread([] {
                      for (std::uint64_t i = 0; i < 2'000; ++i) record_number(i);
                  }).join();
                  std::thread racing([] {
                      for (std::uint64_t i = 0; i < 2'000; ++i) record_number(i);
                  });
                  for (std::uint64_t i = 0; i < 2'000; ++i) record_number(i);
                  racing.join();
                  return Session(Session::path_of(getpid())).records().size() == 6'000 ? 0 : 1;
              }),
              0);
    traced::take();
}

TEST(Fork, AChildMayRegisterFirst) {
    const auto sites = traced::session().sites().size();
    EXPECT_EQ(in_child([] {
                  SP_EVENT("registered.first", 1);
                  const Session mine(Session::path_of(getpid()));
                  const auto records = mine.records();
                  return records.size() == 1 && mine.site(records[0].site).text == "registered.first" ? 0 : 1;
              }),
              0);
    EXPECT_EQ(traced::session().sites().size(), sites);
}

int status_of_vfork() {
    const pid_t child = vfork();
    if (child == 0) {
        record_number(77);  // in its parent's memory, and so in its parent's ring
        _exit(5);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

TEST(Fork, AChildOfVforkRecordsForItsParent) {
    record_number(76);
    EXPECT_EQ(status_of_vfork(), 5);
    std::thread([] { EXPECT_EQ(status_of_vfork(), 5); }).join();  // a thread without a ring
    record_number(78);
    std::vector<std::string> seen;
    for (const auto& one : traced::take()) seen.push_back(one.text);
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(seen, (std::vector<std::string>{"76", "77", "77", "78"}));
}

TEST(Fork, AChildThatRecordsNothingMakesNothing) {
    EXPECT_EQ(in_child([] { return Session::paths_of(getpid()).empty() ? 0 : 1; }), 0);
}

TEST(Fork, AParentsDeathIsSeenAlthoughTheChildLives) {
    int gate[2];
    ASSERT_EQ(pipe(gate), 0);
    const pid_t parent = fork();
    if (parent == 0) {
        record_number(5);
        if (fork() == 0) {  // the grandchild waits, and has made no session
            close(gate[1]);
            char c;
            [[maybe_unused]] const auto got = read(gate[0], &c, 1);
            _exit(0);
        }
        _exit(0);
    }
    waitpid(parent, nullptr, 0);
    EXPECT_FALSE(Session(Session::path_of(parent)).is_alive());
    close(gate[0]);
    close(gate[1]);
}

TEST(Exec, TheImageAfterHasAnotherSession) {
    const pid_t child = fork();
    if (child == 0) {
        record_number(1);
        execl("/proc/self/exe", "process_test", "--gtest_filter=ExecTarget.*", "--gtest_brief=1",
              "--gtest_also_run_disabled_tests", nullptr);
        _exit(3);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    const auto paths = Session::paths_of(child);
    ASSERT_EQ(paths.size(), 2u);
    for (const auto& path : paths) {
        const Session session(path);
        EXPECT_FALSE(session.is_alive());
        EXPECT_EQ(session.records().size(), 1u) << path;
    }
}

// What that image does.
TEST(ExecTarget, DISABLED_Records) { record_number(2); }

// --- Threads.

TEST(Threads, TenThousandOneAfterTheOther) {
    traced::session().drain();
    const std::uint64_t losses = traced::session().losses();
    std::set<std::uint64_t> seen;
    for (std::uint64_t i = 0; i < 10'000; ++i) {
        std::thread([i] { record_number(i); }).join();
        if (i % 500 == 499)
            for (const Record& record : traced::session().drain()) seen.insert(first_argument(record));
    }
    EXPECT_EQ(seen.size(), 10'000u);
    EXPECT_EQ(traced::session().losses(), losses);
    // Slices of the dead are used again.
    EXPECT_LT(traced::session().rings().size(), 2'000u);
}

struct Crowd {
    pthread_barrier_t recorded;
    std::atomic<std::uint64_t> next{0};
};

TEST(Threads, TenThousandAtTheSameTime) {
    traced::session().drain();
    const std::uint64_t losses = traced::session().losses();
    constexpr unsigned kThreads = 10'000;
    static Crowd crowd;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64u << 10);
    std::vector<pthread_t> threads;
    static std::atomic<bool> go{false};
    for (unsigned i = 0; i < kThreads; ++i) {
        pthread_t thread;
        const int made = pthread_create(
            &thread, &small,
            [](void*) -> void* {
                record_number(crowd.next.fetch_add(1));
                go.wait(false);
                return nullptr;
            },
            nullptr);
        if (made != 0) break;
        threads.push_back(thread);
    }
    while (crowd.next < threads.size()) usleep(1000);
    std::vector<std::uint64_t> seen;
    std::uint64_t lost = 0;
    // The last of them may have to wait for a processor.
    for (int looks = 0; looks < 6000 && seen.size() + lost < threads.size(); ++looks) {
        usleep(50'000);
        for (const Record& record : traced::session().drain()) seen.push_back(first_argument(record));
        lost = traced::session().losses() - losses;
    }
    go = true;
    go.notify_all();
    for (const pthread_t thread : threads) pthread_join(thread, nullptr);
    if (threads.size() < kThreads) GTEST_SKIP() << "the machine gives " << threads.size() << " threads only";
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(seen.size() + lost, kThreads);
    EXPECT_EQ(lost, 0u);
    EXPECT_TRUE(std::adjacent_find(seen.begin(), seen.end()) == seen.end());
}

// A thread that is too late for a new slab takes the next one, not a ring that is too small.
TEST(ForkedChild, ItsThreadsThatClaimLargeRingsAtTheSameTimeCutNothing) {
    constexpr std::size_t kThreads = 16, kBytes = 200'000;
    for (int round = 0; round < 10; ++round)
        EXPECT_EQ(in_child([] {
                      const std::string text(kBytes, 'x');
                      std::barrier all(kThreads);
                      std::vector<std::thread> threads;
                      for (std::size_t i = 0; i < kThreads; ++i)
                          threads.emplace_back([&] {
                              all.arrive_and_wait();
                              SP_EVENT("large", text);
                              // A ring for each: no thread ends, and leaves its ring to another, before all
                              // have recorded.
                              all.arrive_and_wait();
                          });
                      for (std::thread& thread : threads) thread.join();
                      const auto records = Session(Session::path_of(getpid())).records();
                      if (records.size() != kThreads) return 1;
                      for (const Record& record : records)
                          if (record.args.size() < kBytes) return 2;
                      return 0;
                  }),
                  0);
}

TEST(Threads, HaveTheirNameAndIdInTheRing) {
    std::uint32_t tid = 0;
    std::thread([&] {
        pthread_setname_np(pthread_self(), "worker 7");
        tid = static_cast<std::uint32_t>(gettid());
        record_number(1);
    }).join();
    bool found = false;
    for (const reader::Ring& ring : traced::session().rings())
        if (ring.tid() == tid) found = found || std::strcmp(ring.base + 40, "worker 7") == 0;
    EXPECT_TRUE(found);
    traced::take();
}

// --- Signals.

std::atomic<std::uint64_t> interruptions{0};
void on_signal(int) {
    const std::uint64_t number = interruptions.fetch_add(1, std::memory_order_relaxed);
    SP_EVENT("in.signal", number, ~number);
}

TEST(Signals, AMillionRecordsInAStormNoneTorn) {
    traced::session().drain();
    const std::uint64_t losses_before = traced::session().ring_losses_ever(4);
    // Handlers interrupt handlers, of other signals only: of one and the same, a storm would fill the stack.
    // One more than there are lanes.
    constexpr int kSignals[] = {SIGUSR1, SIGUSR2, SIGALRM, SIGURG, SIGPROF};
    struct sigaction action = {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    for (const int number : kSignals) sigaction(number, &action, nullptr);
    constexpr std::uint64_t kAll = 1'000'000;
    std::atomic<bool> done{false}, is_over{false};
    std::uint64_t lost = 0, all = 0;
    Session& session = traced::session();
    session.set<std::uint32_t>(768, 1);  // a collector: the rings wait for it
    session.set<std::uint32_t>(788, 0xFFFFFFFF);
    std::thread victim([&] {
        const pthread_t self = pthread_self();
        std::thread attacker([&] {
            while (!done) {
                for (const int number : kSignals) pthread_kill(self, number);
            }
        });
        // As long as it takes until handlers have interrupted often enough.
        for (; all < kAll || (interruptions < 1000 && all < 100 * kAll); ++all)
            SP_EVENT("in.loop", all, ~all);
        done = true;
        attacker.join();
        // Not before: the last handlers may wait for room.
        is_over = true;
    });
    std::uint64_t loops = 0, handled = 0, expected = 0;
    std::set<std::uint64_t> lanes;
    std::map<std::uint32_t, std::string> texts;
    std::vector<bool> in_loop;
    std::map<std::uint32_t, std::uint64_t> last_of;
    const auto look = [&] {
        for (const Record& record : session.drain()) {
            if (record.site < 16) continue;
            std::uint64_t number, inverse;
            std::memcpy(&number, record.args.data(), 8);
            std::memcpy(&inverse, record.args.data() + 8, 8);
            ASSERT_EQ(number, ~inverse);
            lanes.insert(record.lane);
            if (texts.find(record.site) == texts.end()) texts[record.site] = session.site(record.site).text;
            if (texts[record.site] == "in.loop") {
                // Each once, and in the order of its stream; streams may be read in any order.
                if (number >= in_loop.size()) in_loop.resize(number + 1);
                ASSERT_FALSE(in_loop[number]);
                in_loop[number] = true;
                const auto last = last_of.find(record.stream);
                ASSERT_TRUE(last == last_of.end() || number == last->second + 1);
                last_of[record.stream] = number;
                ++loops;
            } else {
                ++handled;
            }
        }
    };
    while (!is_over) look();
    victim.join();
    look();
    expected = interruptions;
    lost = session.ring_losses_ever(4) - losses_before + session.session_losses(4);
    session.set<std::uint32_t>(768, 0);
    session.set<std::uint32_t>(788, 1000);
    EXPECT_EQ(loops, all);
    EXPECT_EQ(handled + lost, expected);
    EXPECT_GT(handled, 100u);
    EXPECT_GT(lanes.size(), 1u);
}

// --- Descriptors.

// A machine whose clocks go on by 10 with each reading, and by 5,000 where one is interrupted.
struct Interrupted {
    std::set<int> readings;  // of all clocks; five are an instant
    int place;
    int count = 0;
    std::uint64_t time = 1'000;
    std::uint64_t ticks() {
        const bool is_late = count % 5 == place && readings.count(count / 5) != 0;
        ++count;
        return time += is_late ? 5'000 : 10;
    }
    std::uint64_t monotonic_ns() { return ticks(); }
    std::uint64_t wall_ns() { return ticks(); }
};

TEST(Anchors, AnInterruptedReadingIsNotTaken) {
    const std::vector<std::pair<std::set<int>, unsigned>> cases = {
        {{0, 1, 2}, 3}, {{1, 2, 3}, 0}, {{0, 2, 3}, 1}, {{}, 0}};
    for (const auto& [readings, wanted] : cases) {
        for (int place = 1; place < 5; ++place) {
            Interrupted clocks{readings, place};
            const auto instant = silverpoint::detail::read_anchor(clocks);
            const auto late = static_cast<std::uint64_t>(
                std::distance(readings.begin(), readings.lower_bound(static_cast<int>(wanted))));
            const std::uint64_t expected = 1'000 + late * 4'990 + wanted * 50 + 30;
            EXPECT_EQ(instant.ticks, expected) << wanted << ' ' << place;
            EXPECT_EQ(instant.monotonic_ns, expected);
            EXPECT_EQ(instant.wall_ns, expected);
        }
    }
}

TEST(Descriptors, ClosedOnesDoNotMatter) {
    EXPECT_EQ(in_child([] {
                  for (int fd = 0; fd < 256; ++fd) close(fd);
                  for (std::uint64_t i = 0; i < 20'000; ++i)
                      record_number(i);  // a session, rings of all sizes
                  std::thread([] { record_number(0); }).join();
                  const Session mine(Session::path_of(getpid()));
                  if (!mine.is_alive()) return 1;
                  std::uint64_t count = 0;
                  for (const Record& record : mine.records()) count += record.site >= 16;
                  return count == 20'001 ? 0 : 2;
              }),
              0);
}

TEST(Descriptors, NoneIsKept) {
    record_number(0);
    traced::take();
    int open_files = 0;
    for (int fd = 0; fd < 1024; ++fd) {
        char path[64], target[256] = {};
        std::snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        if (readlink(path, target, sizeof target - 1) > 0 &&
            std::strstr(target, "silverpoint-test") != nullptr)
            ++open_files;
    }
    EXPECT_EQ(open_files, 0);
}

}  // namespace
