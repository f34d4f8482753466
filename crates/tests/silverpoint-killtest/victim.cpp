// The C++ victim: victim COUNTS THREADS RECORDS [native|atrace]. As the Rust one (src/bin/victim.rs), and
// with a fault point in the middle of a record. With KILL_AT=n in the environment the process kills itself
// between the stores of the n-th record and its publication. The frontend must come after the macro that
// makes the fault point.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {
std::atomic<std::uint64_t> kill_at{0};
std::atomic<std::uint64_t> passed{0};

void pass_fault_point() {
    const std::uint64_t at = kill_at.load(std::memory_order_relaxed);
    if (at != 0 && passed.fetch_add(1, std::memory_order_relaxed) + 1 == at) kill(getpid(), SIGKILL);
}
}  // namespace

#define SP_DETAIL_FAULT_POINT(name) pass_fault_point()
#include <silverpoint/atrace.hpp>
#include <silverpoint/silverpoint.hpp>

namespace {

constexpr std::size_t kPart = 64;
constexpr std::size_t kThreadsMax = 64;

// The words of the counts file (see src/counts.rs).
std::atomic<std::uint64_t>& word(void* map, std::size_t part) {
    return *reinterpret_cast<std::atomic<std::uint64_t>*>(static_cast<char*>(map) + part * kPart);
}

void text_of(std::uint32_t thread, std::uint64_t sequence, std::string& out) {
    out = std::to_string(thread) + "/" + std::to_string(sequence) + "/";
    out.append((sequence * 0x9E3779B97F4A7C15u) >> 58, static_cast<char>('a' + sequence % 26));
}

// Calls in turns, as in src/facade.rs.
void call_atrace(std::uint32_t thread, std::uint64_t sequence, const std::string& text) {
    namespace atrace = silverpoint::atrace;
    const auto number = static_cast<std::int32_t>(sequence), track = static_cast<std::int32_t>(thread);
    char name[24];
    std::snprintf(name, sizeof name, "kill.%u", thread);
    switch ((sequence - 1) % 8) {
        case 0:
            return atrace::begin(atrace::kApp, name);
        case 1:
            return atrace::int64(atrace::kApp, name, static_cast<std::int64_t>(sequence));
        case 2:
            return atrace::end(atrace::kApp);
        case 3:
            return atrace::async_begin(atrace::kApp, name, number);
        case 4:
            return atrace::track_instant(atrace::kApp, text, "kill");
        case 5:
            return atrace::async_end(atrace::kApp, name, number - 2);
        case 6:
            return atrace::track_begin(atrace::kApp, "kill", text, track);
        default:
            return atrace::track_end(atrace::kApp, "kill", track);
    }
}

void trace(void* map, std::uint32_t thread, std::uint64_t records, bool by_atrace) {
    std::string text;
    const std::atomic<std::uint64_t>& stop = reinterpret_cast<std::atomic<std::uint64_t>*>(map)[1];
    const std::atomic<std::uint64_t>& limit = reinterpret_cast<std::atomic<std::uint64_t>*>(map)[2];
    const auto waits = [&](std::uint64_t sequence) {
        const std::uint64_t most = limit.load(std::memory_order_relaxed);
        return most != 0 && sequence > most && stop.load(std::memory_order_relaxed) != 1;
    };
    for (std::uint64_t sequence = 1; sequence <= records; ++sequence) {
        while (waits(sequence)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        if (stop.load(std::memory_order_relaxed) == 1) break;
        text_of(thread, sequence, text);
        if (by_atrace) {
            call_atrace(thread, sequence, text);
        } else {
            SP_EVENT("kill.tick", thread, sequence, text);
        }
        word(map, thread + 1).store(sequence, std::memory_order_release);
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        std::fprintf(stderr, "usage: victim COUNTS THREADS RECORDS [native|atrace]\n");
        return 2;
    }
    const int file = open(argv[1], O_RDWR | O_CLOEXEC);
    void* map = mmap(nullptr, (kThreadsMax + 1) * kPart, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file < 0 || map == MAP_FAILED) {
        std::perror("victim: counts");
        return 1;
    }
    if (const char* at = std::getenv("KILL_AT")) kill_at = std::strtoull(at, nullptr, 10);
    const auto threads = static_cast<std::uint32_t>(std::strtoul(argv[2], nullptr, 10));
    const std::uint64_t records = std::strtoull(argv[3], nullptr, 10);
    word(map, 0).store(static_cast<std::uint64_t>(getpid()), std::memory_order_release);
    const bool by_atrace = argc > 4 && std::string(argv[4]) == "atrace";
    std::vector<std::thread> pool;
    for (std::uint32_t thread = 0; thread < threads; ++thread)
        pool.emplace_back(trace, map, thread, records, by_atrace);
    for (std::thread& thread : pool) thread.join();
}
