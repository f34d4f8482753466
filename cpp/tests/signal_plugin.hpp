// What the host of signal_unload_test.cpp and its plug-in share.
#pragma once

#include <atomic>
#include <silverpoint/signal.hpp>

struct host {
    silverpoint::signal<int> direct, pair, direct_queued, direct_latest;
    silverpoint::inbox here;
    silverpoint::connection connections[5];
    std::atomic<long> calls{0};
};
