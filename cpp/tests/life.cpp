// Records before main, after it, and from a thread that outlives it; run by life_test.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <silverpoint/silverpoint.hpp>
#include <thread>

void record_in_part();

namespace {
struct Static {
    Static() { SP_INFO("static constructor"); }
    ~Static() { SP_INFO("static destructor"); }
} object;

[[gnu::constructor(200)]] void early() { SP_INFO("early constructor"); }
[[gnu::destructor(200)]] void late() { SP_INFO("late destructor"); }
}  // namespace

int main(int argc, char** argv) {
    const char* const mode = argc > 1 ? argv[1] : "";
    if (std::strcmp(mode, "silent") == 0) _exit(0);
    if (std::strcmp(mode, "abort") == 0) {
        SP_INFO("before abort");
        std::abort();
    }
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
