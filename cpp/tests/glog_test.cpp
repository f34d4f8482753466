// What glog's macros record: what no program written for glog can see.
#define GLOG_CUSTOM_PREFIX_SUPPORT
#include "silverpoint/glog.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <string>
#include <thread>
#include <vector>

#include "silverpoint/logger.hpp"

namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

// A logger that was started before has its crash record, and glog's files have what was logged.
TEST(Glog, CrashesAreRecordedBeforeTheReport) {
    const fs::path directory =
        fs::temp_directory_path() / ("silverpoint-glog-crash-" + std::to_string(getpid()));
    fs::create_directories(directory);
    const pid_t child = fork();
    if (child == 0) {
        const rlimit none{};
        setrlimit(RLIMIT_CORE, &none);
        FLAGS_log_dir = directory.string();
        silverpoint::start("record = 'info'\ncrash-wait = '30s'\n[[sink]]\nto = 'file'\npath = '" +
                           (directory / "app.log").string() + "'\n");
        google::InitGoogleLogging("crasher");
        google::InstallFailureSignalHandler();
        LOG(ERROR) << "about to fail";
        raise(SIGSEGV);
        _exit(1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV) << status;
    const std::string log = text_of(directory / "app.log"), errors = text_of(directory / "crasher.ERROR");
    EXPECT_NE(log.find("about to fail"), std::string::npos) << log;
    EXPECT_NE(log.find("silverpoint.crash"), std::string::npos) << log;
    EXPECT_NE(errors.find("about to fail"), std::string::npos) << errors;
    fs::remove_all(directory);
}

// In glog itself threads may take each other's turn.
TEST(Glog, LimitsHoldWhenThreadsComeByTogether) {
    using namespace google::glog_internal_namespace_;
    constexpr int kThreads = 4, kTimes = 300, kRounds = 100;
    for (int round = 0; round < kRounds; ++round) {
        FirstN first;
        EveryN every;
        IfEveryN if_every;
        EveryT once;
        std::atomic<int> ready{0}, of_first{0}, of_every{0}, of_if_every{0}, of_once{0};
        std::vector<std::thread> threads;
        for (int thread = 0; thread < kThreads; ++thread)
            threads.emplace_back([&] {
                for (++ready; ready < kThreads;) std::this_thread::yield();
                for (int i = 0; i < kTimes; ++i) {
                    of_first += first.passes(3) != 0;
                    of_every += every.passes(3) != 0;
                    of_if_every += if_every.passes(true, 3) != 0;
                    of_once += once.passes(600) != 0;
                }
            });
        for (auto& thread : threads) thread.join();
        ASSERT_EQ(of_first, 3) << round;
        ASSERT_EQ(of_every, kThreads * kTimes / 3) << round;
        ASSERT_EQ(of_if_every, kThreads * kTimes / 3) << round;
        ASSERT_LE(of_once, 1) << round;
    }
}

TEST(Glog, MessagesAreRecordsWithTemplateAndTypedArguments) {
    const fs::path directory = fs::temp_directory_path() / ("silverpoint-glog-" + std::to_string(getpid()));
    fs::create_directories(directory);
    FLAGS_log_dir = directory.string();
    FLAGS_v = 2;
    const auto json = directory / "app.jsonl";
    ASSERT_TRUE(silverpoint::start(
        silverpoint::logger_config("info").to(silverpoint::sink::file(json.string()).json())));
    google::InitGoogleLogging(
        "glog_test",
        [](std::ostream& out, const google::LogMessageInfo& info, void* data) {
            out << static_cast<const char*>(data) << info.severity[0] << info.line_number;
        },
        const_cast<char*>("own "));
    LOG(INFO) << "order " << 7 << " at " << std::setprecision(3) << 3.14159 << " for " << std::string("ada");
    VLOG(2) << "verbose";
    google::FlushLogFiles(google::GLOG_INFO);
    ASSERT_TRUE(silverpoint::flush());
    const std::string records = text_of(json);
    EXPECT_NE(records.find("\"order {} at {:.3g} for {}\""), std::string::npos) << records;
    EXPECT_NE(records.find("order 7 at 3.14 for ada"), std::string::npos) << records;
    // Whole and as numbers, whatever they were shown with.
    EXPECT_NE(records.find("[7,3.14159,\"ada\"]"), std::string::npos) << records;
    EXPECT_NE(records.find("\"verbosity\":2"), std::string::npos) << records;
    const std::string lines = text_of(directory / "glog_test.INFO");
    EXPECT_NE(lines.find("\nown I" + std::to_string(__LINE__ - 11) + " order 7 at 3.14 for ada\n"),
              std::string::npos)
        << lines;
    google::ShutdownGoogleLogging();
    EXPECT_TRUE(silverpoint::stop());
    fs::remove_all(directory);
}

}  // namespace
