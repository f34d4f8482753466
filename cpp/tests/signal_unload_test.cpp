// A plug-in disconnects its receivers and is unloaded, while the host emits and drains. None of the plug-in's
// code runs afterwards. What is left of the connections can be used and dropped.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "signal_plugin.hpp"

namespace {

std::string plugin_path() {
    char self[4096];
    const ssize_t size = readlink("/proc/self/exe", self, sizeof self);
    std::string path(self, size > 0 ? static_cast<std::size_t>(size) : 0);
    return path.substr(0, path.rfind('/') + 1) + "libsignal_plugin.so";
}

TEST(Unload, APlugInIsGoneWhenItHasDisconnected) {
    const std::string path = plugin_path();
    host all;
    std::atomic<bool> over{false};
    std::vector<std::thread> emitting;
    for (int i = 0; i < 2; ++i)
        emitting.emplace_back([&] {
            for (int n = 1; !over.load(std::memory_order_relaxed); ++n) {
                all.direct(n);
                all.pair(n);
                all.direct_queued(n);
                all.direct_latest(n);
            }
        });
    long rounds_with_calls = 0;
    std::vector<silverpoint::connection> kept;
    for (int round = 0; round < 200; ++round) {
        void* const plugin = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        ASSERT_NE(plugin, nullptr) << dlerror();
        const auto connect = reinterpret_cast<void (*)(host&)>(dlsym(plugin, "plugin_connect"));
        const auto disconnect = reinterpret_cast<void (*)(host&)>(dlsym(plugin, "plugin_disconnect"));
        ASSERT_TRUE(connect != nullptr && disconnect != nullptr);
        const long before = all.calls.load();
        connect(all);
        // In every second round queued events are left in the inbox, which is drained when the code is gone.
        for (int i = 0; i < 1000 && all.calls.load() < before + 4; ++i) {
            if (round % 2 == 0) all.here.drain(8);
            std::this_thread::yield();
        }
        disconnect(all);
        rounds_with_calls += all.calls.load() != before ? 1 : 0;
        ASSERT_EQ(dlclose(plugin), 0);
        ASSERT_EQ(dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD), nullptr) << "it is still loaded";
        all.here.drain();
        for (silverpoint::connection& one : all.connections) {
            EXPECT_FALSE(one.connected());
            EXPECT_TRUE(one.over());
            static_cast<void>(one.counted());
            one.disconnect();
            kept.push_back(std::exchange(one, {}));
        }
    }
    over.store(true);
    for (std::thread& one : emitting) one.join();
    EXPECT_GT(rounds_with_calls, 0);
}

}  // namespace
