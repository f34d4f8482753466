// A program without tracepoints. It loads a shared object three times, and calls it each time until a tracer
// has wanted ten of its events.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>

int main(int, char** argv) {
    for (int time = 0; time < 3; ++time) {
        void* const part = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        if (part == nullptr) return std::puts(dlerror());
        auto* const one_more = reinterpret_cast<int (*)(int)>(dlsym(part, "one_more"));
        int wanted = 0;
        for (int i = 0; i < 60'000 && wanted < 10; ++i) {
            wanted += one_more(time);
            usleep(1'000);
        }
        if (wanted < 10) return std::printf("%d events were wanted\n", wanted);
        dlclose(part);
    }
    return 0;
}
