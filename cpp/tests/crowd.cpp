// Many records, or many threads, where there is little room; success is to come to the end.
#include <cstring>
#include <silverpoint/silverpoint.hpp>
#include <string>
#include <thread>
#include <vector>

int main(int argc, char** argv) {
    if (argc > 1 && std::strcmp(argv[1], "threads") == 0) {
        std::vector<std::thread> threads;
        for (int i = 0; i < 300; ++i)
            threads.emplace_back([i] {
                for (int n = 0; n < 20; ++n) SP_INFO("{} {}", i, n);
            });
        for (auto& thread : threads) thread.join();
        return 0;
    }
    const std::string text(3000, 'x');
    for (int i = 0; i < 100'000; ++i) SP_INFO("{} {}", i, i % 100 == 0 ? text : std::string());
}
