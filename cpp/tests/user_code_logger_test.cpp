// Ways out of what glog's and spdlog's interfaces call. Threads that are cancelled while they log, flush,
// start or stop. Each thread ends as it would without a log, and what it had logged is there.
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <ranges>
#include <silverpoint/glog.hpp>
#include <silverpoint/spdlog.hpp>
#include <stdexcept>
#include <thread>

#include "support/logged.hpp"
#include "support/ways.hpp"

namespace {

using ways::Way;

struct Leaves {
    Way way;
    int value() const { return ways::leave(way); }
    friend std::ostream& operator<<(std::ostream& out, const Leaves& it) { return out << it.value(); }
};

bool leaves_ten_times(Way way, const std::function<void()>& log) {
    bool left = true;
    std::thread([&] {
        for (int i = 0; i < 10; ++i) left &= ways::leaves(way, log);
    }).join();
    return left;
}

class UserCode : public LoggerTest {};

TEST_F(UserCode, LeavesLinesOfSpdlog) {
    for (const Way way : ways::kForGood) {
        const std::string name = "spdlog" + std::to_string(static_cast<int>(way));
        auto logger = spdlog::basic_logger_mt(name, path(name));
        logger->set_pattern("%v");
        EXPECT_TRUE(leaves_ten_times(way, [&] {
            logger->info("before");
            const std::vector<int> numbers{1, 2};
            logger->info("{}", numbers | std::views::transform([&](int) { return Leaves{way}.value(); }));
        })) << static_cast<int>(way);
        logger->info("after");
        logger->flush();
        const auto all = lines(name);
        EXPECT_EQ(all.size(), 11u);
        if (!all.empty()) {
            EXPECT_EQ(all.back(), "after");
        }
        spdlog::drop(name);
    }
    spdlog::shutdown();
}

struct Refuses : google::LogSink {
    void send(google::LogSeverity, const char*, const char*, int, const google::LogMessageTime&,
              const char* text, std::size_t size) override {
        if (std::string_view(text, size) == "refused") throw std::runtime_error("left");
    }
};

TEST_F(UserCode, LeavesLinesOfGlog) {
    const int status = in_child([&] {
        FLAGS_log_dir = directory_.string();
        google::InitGoogleLogging("ways");
        int failed = 0;
        for (const Way way : ways::kForGood)
            if (!leaves_ten_times(way, [&] {
                    LOG(INFO) << "before";
                    LOG(INFO) << "value " << Leaves{way};
                }))
                failed |= 1 << static_cast<int>(way);
        Refuses sink;
        google::AddLogSink(&sink);
        if (!leaves_ten_times(Way::kThrow, [] { LOG(INFO) << "refused"; })) failed |= 16;
        google::RemoveLogSink(&sink);
        LOG(INFO) << "after";
        google::FlushLogFiles(google::GLOG_INFO);
        return failed;
    });
    EXPECT_EQ(status, 0);
    std::size_t before = 0, after = 0;
    for (const auto& file : fs::directory_iterator(directory_)) {
        if (file.is_symlink() || file.path().string().find(".INFO.") == std::string::npos) continue;
        for (const std::string& line : lines(file.path().filename().string())) {
            before += line.ends_with("] before") ? 1 : 0;
            after += line.ends_with("] after") ? 1 : 0;
        }
    }
    EXPECT_EQ(before, 40u);
    EXPECT_EQ(after, 1u);
}

// --- Threads that are cancelled.

TEST_F(UserCode, CancelledThreadsLoseNoLine) {
    ASSERT_TRUE(silverpoint::start(logger_config("info").to(sink::file(path("log")).pattern("{text}"))));
    std::atomic<unsigned> made{0};
    for (int i = 0; i < 20; ++i) {
        std::atomic<bool> runs{false};
        struct Shared {
            std::atomic<unsigned>& made;
            std::atomic<bool>& runs;
            bool flushes;
        } shared{made, runs, i % 4 == 3};
        pthread_t thread;
        const auto log = [](void* data) -> void* {
            auto& it = *static_cast<Shared*>(data);
            for (;;) {
                SP_INFO("line {}", 1);
                ++it.made;
                it.runs = true;
                if (it.flushes) silverpoint::flush();
                pthread_testcancel();
                if (it.made % 100 == 0) std::this_thread::yield();
            }
        };
        ASSERT_EQ(pthread_create(&thread, nullptr, log, &shared), 0);
        while (!runs) std::this_thread::yield();
        pthread_cancel(thread);
        void* result = nullptr;
        pthread_join(thread, &result);
        EXPECT_EQ(result, PTHREAD_CANCELED);
    }
    ASSERT_TRUE(silverpoint::stop(std::chrono::seconds(300)));
    // (On a busy machine the log also says that a thread waited for room.)
    const auto all = lines("log");
    EXPECT_EQ(std::count(all.begin(), all.end(), "line 1"), made);
}

// Cancelled before: its first call is done whole, and then it ends.
TEST_F(UserCode, AThreadThatIsCancelledStartsAndStopsWhole) {
    const auto cancelled = [](const std::function<void()>& call) {
        struct Run {
            const std::function<void()>& call;
            bool came_back = false;
        } run{call};
        pthread_t thread;
        const auto start = [](void* data) -> void* {
            auto& it = *static_cast<Run*>(data);
            pthread_cancel(pthread_self());
            it.call();
            it.came_back = true;
            pthread_testcancel();
            return nullptr;
        };
        if (pthread_create(&thread, nullptr, start, &run) != 0) return false;
        void* result = nullptr;
        pthread_join(thread, &result);
        return run.came_back && result == PTHREAD_CANCELED;
    };
    for (int i = 0; i < 3; ++i) {
        EXPECT_TRUE(cancelled([&] {
            silverpoint::start(logger_config("info").to(sink::file(path("log")).pattern("{text}")));
        }));
        EXPECT_TRUE(cancelled([] { SP_INFO("first"); }));
        EXPECT_TRUE(cancelled([] { silverpoint::flush(std::chrono::seconds(300)); }));
        EXPECT_EQ(lines("log").size(), static_cast<std::size_t>(i + 1));
        EXPECT_TRUE(cancelled([] { silverpoint::stop(std::chrono::seconds(300)); }));
        EXPECT_FALSE(silverpoint::stop());  // it has ended
    }
}

}  // namespace
