// A program with a logger inside that ends badly, for scripts/crash-test and crash_logger_test.
// `crash_storm FILE WAY`, `crash_storm FILE storm WAY THREADS`, `crash_storm FILE resume`: it does what
// crates/programs/silverpoint-logger/examples/crashing.rs does, by the C++ headers.
#include <setjmp.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <silverpoint/logger.hpp>
#include <silverpoint/silverpoint.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#undef NDEBUG
#include <cassert>

namespace {

constexpr unsigned kMost = 16;
volatile std::uintptr_t low_address = 16;

[[gnu::noinline]] void fault() { *reinterpret_cast<volatile int*>(low_address) = 1; }

// Ends long after the stack does.
[[gnu::noinline]] unsigned descend(unsigned depth) {
    volatile char room[256];
    room[0] = static_cast<char>(depth);
    if (depth == 0xFFFFFFFF) return 0;
    return descend(depth + 1) + static_cast<unsigned>(room[0]);
}

// A handler of the program's own, older than the logger's: it ends the program, or saves it.
sigjmp_buf back_there;
void handle_first(std::string_view way) {
    struct sigaction action {};
    if (way == "chained") {
        action.sa_handler = [](int) {
            constexpr char text[] = "chained\n";
            _exit(write(1, text, sizeof text - 1) < 0 ? 8 : 7);
        };
    } else if (way == "saved") {
        action.sa_handler = [](int) { siglongjmp(back_there, 1); };
    } else {
        return;
    }
    sigaction(SIGSEGV, &action, nullptr);
}

[[gnu::noinline]] void fail(std::string_view way) {
    if (way == "segv") {
        fault();
    } else if (way == "abort") {
        std::abort();
    } else if (way == "assert") {
        assert(low_address == 17);
    } else if (way == "stack") {
        std::printf("%u\n", descend(0));
    } else if (way == "check") {
        SP_CHECK(low_address == 17, "it is {}", std::uintptr_t{low_address});
    } else if (way == "throw") {
        throw std::runtime_error("out of luck");
    } else if (way == "chained" || way == "saved") {
        if (sigsetjmp(back_there, 1) == 0) fault();
    } else if (way == "printing") {
        // As within a printf that is given a pointer to nowhere.
        std::printf("half a line ");
        flockfile(stdout);
        fault();
    }
}

void start(const std::string& file, std::string_view more) {
    // A machine may be busy with other tests.
    const std::string toml = "record = 'info'\ncrash-wait = '30s'\n[[sink]]\nto = 'file'\npath = '" + file +
                             "'\n[[sink]]\nto = 'file'\nformat = 'json'\npath = '" + file + ".jsonl'\n" +
                             std::string(more);
    if (!silverpoint::start(toml)) std::exit(3);
}

// Until the crash. A thread reports what it has recorded, and only then.
void storm(std::string_view way, unsigned threads) {
    // Most records of a thread: a machine that is slow to end the program has no more to read. Rings of 1 MiB
    // take fewer.
    constexpr std::uint64_t kRecords = 10'000;
    static std::atomic<std::uint64_t> told[kMost];
    static std::atomic<bool> must_fail{false};
    const bool has_pace = std::getenv("SILVERPOINT_CRASH_PACE") == nullptr;
    std::vector<std::thread> all;
    for (unsigned thread = 0; thread < threads; ++thread) {
        all.emplace_back([thread, threads, has_pace, way] {
            for (std::uint64_t number = 0; number < kRecords; ++number) {
                SP_INFO("thread {} number {}", thread, number);
                told[thread].store(number + 1, std::memory_order_release);
                // What a pipe takes must not be what they wait for.
                if (number % (has_pace ? 64 : 1024) == 0) {
                    std::string line;
                    for (unsigned other = 0; other < threads; ++other)
                        line += std::to_string(told[other].load(std::memory_order_acquire)) + " ";
                    line.back() = '\n';
                    if (write(1, line.data(), line.size()) < 0) return;
                }
                // What is logged while the sinks catch up is not the point.
                if (number % 64 == 63 && has_pace) usleep(1000);
                if (thread == 0 && must_fail.load(std::memory_order_relaxed)) fail(way);
            }
            while (!must_fail.load(std::memory_order_relaxed)) usleep(1000);
            if (thread == 0) fail(way);
        });
    }
    // The moment is the tester's, and the other threads are wherever they are.
    char byte = 0;
    if (read(0, &byte, 1) < 0) return;
    if (std::getenv("SILVERPOINT_CRASH_WHO") == nullptr) fail(way);
    must_fail.store(true, std::memory_order_relaxed);
    for (auto& thread : all) thread.join();
}

// With any limits of the shell: a stack that ends before the memory does, and no core files.
void set_limits() {
    rlimit limit{};
    getrlimit(RLIMIT_STACK, &limit);
    limit.rlim_cur = limit.rlim_max < (8u << 20) ? limit.rlim_max : (8u << 20);
    setrlimit(RLIMIT_STACK, &limit);
    limit.rlim_cur = limit.rlim_max = 0;
    setrlimit(RLIMIT_CORE, &limit);
}

}  // namespace

int main(int count, char** words) {
    if (count < 3) return 2;
    set_limits();
    const std::string file = words[1], command = words[2];
    handle_first(command);
    start(file, command == "printing" ? "[[sink]]\nto = 'stdout'\n" : "");
    if (command == "resume") return silverpoint::stop(std::chrono::seconds(60)) ? 0 : 1;
    if (command == "storm" && count == 5) {
        storm(words[3], static_cast<unsigned>(std::atoi(words[4])) % (kMost + 1));
    } else {
        SP_INFO("begun");
        fail(command);
        SP_INFO("still here");
    }
    return 0;
}
