// A plug-in whose receivers a host calls (signal_unload_test.cpp).
#include "signal_plugin.hpp"

#include <memory>
#include <silverpoint/signal.hpp>
#include <string>

namespace {

// The destructor of the callable, and of what it has, is the plug-in's code too.
struct named {
    std::string text = "a text that is not stored within the string itself";
};

}  // namespace

extern "C" void plugin_connect(host& to) {
    auto has = std::make_shared<named>();
    to.connections[0] = to.direct.connect([&to, has](int value) { to.calls += value != 0 ? 1 : 0; });
    // Of one receiver and of two, emissions take different ways.
    to.connections[1] = to.pair.connect([&to, has](int) { ++to.calls; });
    to.connections[2] = to.pair.connect([&to, has](int) { ++to.calls; });
    to.connections[3] =
        to.direct_queued.connect_queued(to.here, [&to, has](int) { ++to.calls; },
                                        {.capacity = 16, .when_full = silverpoint::overflow::drop_oldest});
    to.connections[4] = to.direct_latest.connect_latest(to.here, [&to, has](int) { ++to.calls; });
}

extern "C" void plugin_disconnect(host& from) {
    for (const silverpoint::connection& one : from.connections) one.disconnect();
}
