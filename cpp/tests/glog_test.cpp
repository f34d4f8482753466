// What glog's macros record: what no program written for glog can see.
#define GLOG_CUSTOM_PREFIX_SUPPORT
#include "silverpoint/glog.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <string>
#include <thread>
#include <vector>

#include "silverpoint/logger.hpp"
#include "support/scratch.hpp"

// What this thread's allocations do.
enum class OnNew { kNothing, kFatal, kError };
static thread_local constinit OnNew on_new = OnNew::kNothing;
[[gnu::noinline]] static void* allocate(std::size_t size) {
    if (on_new == OnNew::kFatal) LOG(FATAL) << "allocation of " << size << " bytes here";
    if (on_new == OnNew::kError) LOG(ERROR) << "allocation of " << size << " bytes here";
    return std::malloc(size);
}
[[gnu::noinline]] static void release(void* memory) { std::free(memory); }
void* operator new(std::size_t size) { return allocate(size); }
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }

namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

// A logger that was started before has its crash record, and glog's files have what was logged.
TEST(Glog, CrashesAreRecordedBeforeTheReport) {
    const fs::path directory = scratch_directory("glog-crash");
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

// What a child writes to standard error until it ends, which it does by itself.
template <class Body>
std::string said_by_child(const Body& body, int& status) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        const rlimit no_core{}, memory{4u << 30, 4u << 30};
        setrlimit(RLIMIT_CORE, &no_core);
        setrlimit(RLIMIT_AS, &memory);
        alarm(300);
        dup2(ends[1], STDERR_FILENO);
        body();
        _exit(0);
    }
    close(ends[1]);
    std::string said;
    char buffer[4096];
    for (ssize_t size; (size = read(ends[0], buffer, sizeof buffer)) > 0;)
        said.append(buffer, static_cast<std::size_t>(size));
    close(ends[0]);
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return said;
}

std::size_t count(const std::string& text, const std::string& of) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = text.find(of, at)) != std::string::npos; ++at) ++found;
    return found;
}

// A message takes memory itself: the hook's would be made without end.
TEST(Glog, AFatalMessageOfOperatorNewEndsTheProgramOnce) {
    int status = 0;
    const std::string said = said_by_child(
        [] {
            on_new = OnNew::kFatal;
            ::operator delete(::operator new(47));
        },
        status);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) << status << said;
    EXPECT_EQ(count(said, "allocation of 47 bytes here"), 1u) << said;
    EXPECT_EQ(count(said, "*** Check failure stack trace: ***"), 1u) << said;
    // A message of the program's own, whose memory is refused, is not lost.
    const std::string both = said_by_child(
        [] {
            google::InitGoogleLogging("hooked");
            FLAGS_logtostderr = true;
            on_new = OnNew::kFatal;
            LOG(FATAL) << "the reason is " << 4711;
        },
        status);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) << status << both;
    EXPECT_EQ(count(both, "the reason is 4711"), 1u) << both;
    EXPECT_EQ(count(both, "bytes here"), 1u) << both;
}

TEST(Glog, MessagesOfOperatorNewComeToAnEnd) {
    int status = 0;
    const std::string said = said_by_child(
        [] {
            on_new = OnNew::kError;
            ::operator delete(::operator new(47));
            struct Sink : google::LogSink {
                void send(google::LogSeverity, const char*, const char*, int, const std::tm*, const char*,
                          std::size_t) override {}
            } sink;
            google::AddLogSink(&sink);
            google::RemoveLogSink(&sink);
            google::SetLogDestination(google::GLOG_INFO, "a path that is too long for a short string");
            LOG(ERROR) << std::string(10, 'x');
            on_new = OnNew::kNothing;
        },
        status);
    EXPECT_EQ(status, 0) << said;
    EXPECT_EQ(count(said, "allocation of 47 bytes here"), 1u) << said;
    EXPECT_EQ(count(said, "xxxxxxxxxx"), 1u) << said;
}

TEST(Glog, LinksThatOthersMadeLeadToNoFile) {
    const fs::path directory = scratch_directory("glog-links");
    const std::string text(5000, 'x');
    std::ofstream(directory / "precious") << text;
    fs::create_symlink("precious", directory / "link");
    google::TruncateLogFile((directory / "link").c_str(), 100, 10);
    EXPECT_EQ(text_of(directory / "precious"), text);
    std::ofstream(directory / "long") << text << "the end";
    google::TruncateLogFile((directory / "long").c_str(), 100, 7);
    EXPECT_EQ(text_of(directory / "long"), "the end");
    // A file that has the name of the link to the log stays; a link is replaced.
    std::ofstream(directory / "linked.INFO") << "mine";
    fs::create_symlink("precious", directory / "linked.WARNING");
    int status = 0;
    const std::string said = said_by_child(
        [&] {
            FLAGS_log_dir = directory.string();
            google::InitGoogleLogging("linked");
            LOG(WARNING) << "logged";
            google::ShutdownGoogleLogging();
        },
        status);
    EXPECT_EQ(status, 0) << said;
    EXPECT_EQ(text_of(directory / "linked.INFO"), "mine");
    EXPECT_NE(text_of(directory / "linked.WARNING").find("logged"), std::string::npos);
    EXPECT_EQ(text_of(directory / "precious"), text);
    fs::remove_all(directory);
}

// Deleted by ShutdownGoogleLogging(), which glog does too.
struct OwnLogger : google::base::Logger {
    explicit OwnLogger(bool& gone) : is_gone(gone) {}
    ~OwnLogger() override { is_gone = true; }
    void Write(bool, time_t, const char* message, std::size_t size) override { text.assign(message, size); }
    void Flush() override {}
    google::uint32 LogSize() override { return 0; }
    std::string text;
    bool& is_gone;
};

TEST(Glog, ALoggerOfTheProgramsIsDeletedAtShutdown) {
    int status = 0;
    const std::string said = said_by_child(
        [] {
            google::InitGoogleLogging("own");
            bool is_replaced_gone = false, is_last_gone = false;
            auto* const before = google::base::GetLogger(google::GLOG_INFO);
            OwnLogger replaced(is_replaced_gone);
            google::base::SetLogger(google::GLOG_INFO, &replaced);
            google::base::SetLogger(google::GLOG_INFO, before);
            google::base::SetLogger(google::GLOG_INFO, new OwnLogger(is_last_gone));
            google::ShutdownGoogleLogging();
            _exit((is_last_gone ? 0 : 1) + (is_replaced_gone ? 2 : 0));
        },
        status);
    EXPECT_EQ(status, 0) << said;
}

// Another thread may be about to write one.
TEST(Glog, NamesOfTheProgramStayAfterShutdown) {
    int status = 0;
    const std::string said = said_by_child(
        [] {
            FLAGS_logtostderr = true;
            std::vector<const char*> names;
            for (const char* name : {"short", "a name that has no room where that was", "short"}) {
                google::InitGoogleLogging(name);
                names.push_back(google::glog_internal_namespace_::short_program_name());
                google::ShutdownGoogleLogging();
            }
            _exit((names[0] == std::string("short") ? 0 : 1) + (names[0] == names[2] ? 0 : 2) +
                  (names[1] == std::string("a name that has no room where that was") ? 0 : 4));
        },
        status);
    EXPECT_EQ(status, 0) << said;
}

TEST(Glog, MessagesAreWrittenToAsStreams) {
    int status = 0;
    const std::string said = said_by_child(
        [] {
            const auto prefix = [](std::ostream& out, const google::LogMessageInfo& about, void*) {
                out << '<' << std::setw(6) << about.line_number % 10 << '>';
            };
            google::InitGoogleLogging("streams", prefix);
            FLAGS_logtostderr = true;
            LOG(ERROR).write("binary\0rest", 6) << " behind";
            LOG(ERROR).precision(3);
            LOG(ERROR) << "plain " << std::setw(4) << 7;
        },
        status);
    EXPECT_EQ(status, 0) << said;
    EXPECT_NE(said.find("> binary behind\n"), std::string::npos) << said;
    EXPECT_NE(said.find("> plain    7\n"), std::string::npos) << said;
    // What has a width in the prefix has zeros before it, as in glog.
    EXPECT_EQ(count(said, "<00000"), count(said, "> ")) << said;
    char text[4] = "xyz";
    EXPECT_EQ(google::posix_strerror_r(ENOENT, nullptr, 0), -1);
    EXPECT_EQ(google::posix_strerror_r(ENOENT, text, 0), -1);
    EXPECT_EQ(google::posix_strerror_r(ENOENT, text, sizeof text), 0);
    EXPECT_STREQ(text, "No ");
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
    const fs::path directory = scratch_directory("glog");
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
    // Whole and as numbers, in every notation that showed them.
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
