// Many records, or many threads, where there is little room; success is to come to the end.
//
//   crowd            many records of one thread
//   crowd threads    many threads
//   crowd large      records of one large size, more than short rings hold
//   crowd scarce     memory that is short for a while, in a file system that has nothing else in it: first
//                    before anything is recorded, then after
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <latch>
#include <silverpoint/silverpoint.hpp>
#include <string>
#include <thread>
#include <vector>

namespace {

// Takes what memory is left, until it is given back.
class Filler {
  public:
    Filler() : path_(std::string(std::getenv("SILVERPOINT_DIR")) + "/filler") {
        const int fd = open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        const std::string page(4096, 'x');
        while (write(fd, page.data(), page.size()) == static_cast<ssize_t>(page.size())) {
        }
        close(fd);
    }
    ~Filler() {
        unlink(path_.c_str());
        // No thread asks for memory at every record.
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    Filler(const Filler&) = delete;
    Filler& operator=(const Filler&) = delete;

  private:
    std::string path_;
};

constexpr int kCalls = 20'000, kLiving = 40;

int scarce() {
    const auto unheard = [](int n) {
        SP_INFO("no site {}", n);
        SP_DEBUG("off {}", n);
    };
    const auto ringless = [](int n) { SP_INFO("no ring {}", n); };
    {
        const Filler filler;
        std::thread([&] {
            for (int i = 0; i < kCalls; ++i) unheard(i);
        }).join();
    }
    unheard(kCalls);
    ringless(-1);
    // Threads that live, so that nobody takes their rings over: more than there are rings in what is backed.
    std::latch over(1);
    std::vector<std::thread> living;
    {
        const Filler filler;
        for (int i = 0; i < kLiving; ++i) {
            std::latch begun(1);
            living.emplace_back([&] {
                ringless(i);
                begun.count_down();
                over.wait();
            });
            begun.wait();
        }
        std::thread([&] {
            for (int i = 0; i < kCalls; ++i) ringless(i);
        }).join();
    }
    std::thread([] { SP_INFO("room again"); }).join();
    over.count_down();
    for (std::thread& thread : living) thread.join();
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::strcmp(argv[1], "scarce") == 0) return scarce();
    if (argc > 1 && std::strcmp(argv[1], "threads") == 0) {
        std::vector<std::thread> threads;
        for (int i = 0; i < 300; ++i)
            threads.emplace_back([i] {
                for (int n = 0; n < 20; ++n) SP_INFO("{} {}", i, n);
            });
        for (auto& thread : threads) thread.join();
        return 0;
    }
    if (argc > 1 && std::strcmp(argv[1], "large") == 0) {
        std::array<std::uint64_t, 1000> numbers{};
        for (int i = 0; i < 3'000; ++i) {
            numbers[0] = static_cast<std::uint64_t>(i);
            SP_INFO("{}", numbers);
        }
        return 0;
    }
    const std::string text(3000, 'x');
    for (int i = 0; i < 100'000; ++i) SP_INFO("{} {}", i, i % 100 == 0 ? text : std::string());
}
