// Threads that record numbers, texts and spans: `records THREADS ROUNDS [PROGRESS [END]]`. How many rounds
// each thread has finished stands in the file PROGRESS, 8 bytes for each. After END rounds of all threads the
// program ends itself by TerminateProcess.
#include <windows.h>
// (After Windows's own header; values.cpp has them in the other order.)
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <silverpoint/silverpoint.hpp>
#include <string>
#include <thread>
#include <vector>

SP_CATEGORY("windows")

using Counter = std::atomic<std::uint64_t>;

static Counter* map_progress(const char* path) {
    const HANDLE file = CreateFileA(path, GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE,
                                    nullptr, OPEN_ALWAYS, 0, nullptr);
    const HANDLE mapping = CreateFileMappingA(file, nullptr, PAGE_READWRITE, 0, 4096, nullptr);
    return static_cast<Counter*>(MapViewOfFile(mapping, FILE_MAP_WRITE, 0, 0, 4096));
}

int main(int argc, char** argv) {
    const int threads = argc > 1 ? std::atoi(argv[1]) : 1, rounds = argc > 2 ? std::atoi(argv[2]) : 1;
    Counter* const progress = argc > 3 ? map_progress(argv[3]) : nullptr;
    if (argc > 3 && progress == nullptr) return 2;
    const std::uint64_t end = argc > 4 ? std::strtoull(argv[4], nullptr, 10) : 0;
    std::vector<std::thread> all;
    for (int thread = 0; thread < threads; ++thread)
        all.emplace_back([=] {
            for (int round = 0; round < rounds; ++round) {
                {
                    SP_SPAN("round", thread, round);
                    SP_INFO("numbers {} {} {}", thread, round, round * 0.5);
                    SP_INFO("text {}", "of " + std::to_string(thread) + " " + std::to_string(round));
                }
                if (progress == nullptr) continue;
                progress[thread].fetch_add(1, std::memory_order_release);
                // Not faster than a file is read afterwards.
                if (round % 16 == 15) Sleep(1);
            }
        });
    while (end != 0) {
        std::uint64_t done = 0;
        for (int thread = 0; thread < threads; ++thread)
            done += progress[thread].load(std::memory_order_acquire);
        if (done >= end) TerminateProcess(GetCurrentProcess(), 3);
        Sleep(1);
    }
    for (auto& one : all) one.join();
    SP_INFO("end");
    return 0;
}
