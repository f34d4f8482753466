// What tests of threads share.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <silverpoint/signal.hpp>
#include <thread>

// SILVERPOINT_SIGNAL_ROUNDS multiplies the rounds.
inline unsigned rounds(unsigned few) {
    const char* const times = std::getenv("SILVERPOINT_SIGNAL_ROUNDS");
    return few * (times != nullptr ? static_cast<unsigned>(std::atoi(times)) : 1);
}

// The calling thread has emitted: what it emits to one receiver takes the shortest way from now on.
inline void emit_once() {
    static silverpoint::signal<> known;
    static const silverpoint::connection one = known.connect([] {});
    known();
}

// Threads that begin together and are all ended before the next line. Every other time they have emitted
// before.
template <class... Functions>
void together(Functions... functions) {
    static std::atomic<unsigned> times{0};
    const bool have_emitted = times.fetch_add(1) % 2 == 1;
    std::atomic<unsigned> ready{0};
    const auto start = [&](auto& function) {
        return std::thread([&] {
            if (have_emitted) emit_once();
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
