// A program whose malloc has a tracepoint: LTTng calls it, too.
#include <cstdio>
#include <cstdlib>
#include <silverpoint/silverpoint.hpp>
#include <thread>

SP_CATEGORY("shop")

extern "C" void* __libc_malloc(std::size_t);
extern "C" void* __libc_calloc(std::size_t, std::size_t);
extern "C" void* malloc(std::size_t size) {
    SP_EVENT("malloc", size);
    return __libc_malloc(size);
}
extern "C" void* calloc(std::size_t count, std::size_t size) {
    SP_EVENT("calloc", size);
    return __libc_calloc(count, size);
}

int main() {
    std::free(std::malloc(1));
    if (std::getchar() == EOF) return 1;
    for (int thread = 0; thread < 10; ++thread)
        std::thread([] {
            for (int i = 0; i < 100; ++i) std::free(std::malloc(4242));
        }).join();
}
