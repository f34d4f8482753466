// Records before main, after it, and from a thread that outlives it; run by life_test.
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <silverpoint/silverpoint.hpp>
#include <string>
#include <thread>

void record_in_part();

namespace {
struct Static {
    Static() { SP_INFO("static constructor"); }
    ~Static() { SP_INFO("static destructor"); }
} object;

[[gnu::constructor(200)]] void early() { SP_INFO("early constructor"); }
[[gnu::destructor(200)]] void late() { SP_INFO("late destructor"); }
// Ends while threads record by a shared object.
int end_under_a_plugin() {
    std::string path(4096, '\0');
    path.resize(static_cast<std::size_t>(readlink("/proc/self/exe", path.data(), path.size())));
    path.replace(path.rfind('/') + 1, std::string::npos, "libplugin.so");
    void* plugin = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (plugin == nullptr) return 3;
    const auto run_plugin = reinterpret_cast<void (*)(std::uint64_t)>(dlsym(plugin, "plugin_run"));
    static std::atomic<int> recording{0};
    for (int i = 0; i < 4; ++i)
        std::thread([run_plugin] {
            for (std::uint64_t n = 0;; ++n) {
                run_plugin(n);
                if (n == 0) ++recording;
            }
        }).detach();
    while (recording < 4) usleep(100);
    return 0;
}
}  // namespace

int main(int argc, char** argv) {
    const char* const mode = argc > 1 ? argv[1] : "";
    if (std::strcmp(mode, "silent") == 0) _exit(0);
    if (std::strcmp(mode, "abort") == 0) {
        SP_INFO("before abort");
        std::abort();
    }
    if (std::strcmp(mode, "plugin") == 0) return end_under_a_plugin();
    SP_INFO("main");
    record_in_part();
    std::atexit([] { SP_INFO("atexit"); });
    thread_local struct AtThreadEnd {
        ~AtThreadEnd() { SP_INFO("thread destructor"); }
    } at_end;
    (void)at_end;
    std::thread([] {
        for (int i = 0;; ++i) {
            SP_TRACE("outlives {}", i);
            if (i > 100) usleep(1000);
        }
    }).detach();
    usleep(20'000);
}
