// Debug output under Wine: `debug_output system|ours RUN THREADS COUNT`. Each of the threads makes so many
// calls. It prints what a call took: the time of all threads over all calls, in nanoseconds.
#include <windows.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <silverpoint/debug_output.hpp>
#include <string>
#include <thread>
#include <vector>

int main(int count, char** words) {
    if (count != 5) return 2;
    const bool is_ours = std::strcmp(words[1], "ours") == 0;
    const std::string text = std::string(words[2]) + ": a text of about forty bytes in all\n";
    const int threads = std::atoi(words[3]), calls = std::atoi(words[4]);
    // The first call makes what a process needs once.
    const auto call = [&] {
        if (is_ours) {
            silverpoint::debug_output(text);
        } else {
            OutputDebugStringA(text.c_str());
        }
    };
    call();
    std::atomic<int> ready{0};
    std::atomic<long long> all{0};
    std::vector<std::thread> running;
    for (int thread = 0; thread < threads; ++thread)
        running.emplace_back([&] {
            if (is_ours) silverpoint::debug_output("a thread's ring");
            ++ready;
            while (ready < threads) SwitchToThread();
            LARGE_INTEGER begin, end;
            QueryPerformanceCounter(&begin);
            for (int i = 0; i < calls; ++i) call();
            QueryPerformanceCounter(&end);
            all += end.QuadPart - begin.QuadPart;
        });
    for (std::thread& one : running) one.join();
    LARGE_INTEGER frequency;
    QueryPerformanceFrequency(&frequency);
    std::printf("%.1f\n",
                static_cast<double>(all) * 1e9 / static_cast<double>(frequency.QuadPart) / threads / calls);
    return 0;
}
