// What tests of threads share.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <thread>

// SILVERPOINT_SIGNAL_ROUNDS multiplies the rounds.
inline unsigned rounds(unsigned few) {
    const char* const times = std::getenv("SILVERPOINT_SIGNAL_ROUNDS");
    return few * (times != nullptr ? static_cast<unsigned>(std::atoi(times)) : 1);
}

// Threads that begin together and are all ended before the next line.
template <class... Functions>
void together(Functions... functions) {
    std::atomic<unsigned> ready{0};
    const auto start = [&](auto& function) {
        return std::thread([&] {
            ready.fetch_add(1);
            while (ready.load() < sizeof...(functions)) std::this_thread::yield();
            function();
        });
    };
    std::array<std::thread, sizeof...(functions)> threads{start(functions)...};
    for (std::thread& one : threads) one.join();
}

struct event {
    unsigned sender;
    unsigned number;
};
