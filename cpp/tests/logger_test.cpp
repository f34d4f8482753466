// The logger inside the process: what tracepoints of this program record comes out in files.
#include "silverpoint/logger.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "silverpoint/silverpoint.hpp"

namespace {

namespace fs = std::filesystem;
using silverpoint::logger_config;
using silverpoint::sink;

// A directory that is removed in the end.
class LoggerTest : public testing::Test {
  protected:
    void SetUp() override {
        const auto* test = testing::UnitTest::GetInstance()->current_test_info();
        directory_ =
            fs::temp_directory_path() / ("silverpoint-logger-" + std::to_string(getpid()) + test->name());
        fs::create_directories(directory_);
    }
    void TearDown() override {
        silverpoint::stop();
        fs::remove_all(directory_);
    }

    std::string path(const std::string& name) const { return (directory_ / name).string(); }

    std::vector<std::string> lines(const std::string& name) const {
        std::ifstream file(directory_ / name);
        std::vector<std::string> found;
        for (std::string line; std::getline(file, line);) found.push_back(line);
        return found;
    }

    fs::path directory_;
};

TEST_F(LoggerTest, WhatIsRecordedComesOut) {
    ASSERT_TRUE(silverpoint::start(logger_config("debug")
                                       .to(sink::file(path("app.log")))
                                       .to(sink::file(path("errors.jsonl")).level("error").json())));
    for (int i = 0; i < 1000; ++i) SP_INFO("number {}", i);
    SP_ERROR("code {}", 7);
    ASSERT_TRUE(silverpoint::flush());
    const auto text = lines("app.log");
    ASSERT_EQ(text.size(), 1001u);
    EXPECT_NE(text[999].find("number 999"), std::string::npos) << text[999];
    const auto json = lines("errors.jsonl");
    ASSERT_EQ(json.size(), 1u);
    EXPECT_NE(json[0].find("\"code {}\""), std::string::npos) << json[0];

    ASSERT_TRUE(silverpoint::stop());
    SP_ERROR("between two loggers {}", 1);
    ASSERT_TRUE(silverpoint::start(logger_config("info").to(sink::file(path("app.log")))));
    SP_INFO("again");
    ASSERT_TRUE(silverpoint::stop());
    EXPECT_EQ(lines("app.log").size(), 1003u) << "the file is gone on with, with what came between";
    EXPECT_FALSE(fs::exists(path("app.log.spool")));
}

TEST_F(LoggerTest, ATraceFileIsWrittenBesideALog) {
    ASSERT_TRUE(silverpoint::start(logger_config("debug")
                                       .to(sink::file(path("app.log")))
                                       .to(sink::trace_file(path("app.silver")).level("warn"))));
    SP_INFO("below {}", 1);
    SP_WARN("number {} of {}", 2, "a trace file");
    ASSERT_TRUE(silverpoint::stop());
    EXPECT_EQ(lines("app.log").size(), 2u);
    std::ifstream file(path("app.silver"), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    EXPECT_EQ(bytes.substr(0, 8), "\x9ESPBLK\r\n");
    EXPECT_NE(bytes.find("a trace file"), std::string::npos);
    EXPECT_NE(bytes.find("number {} of {}"), std::string::npos);
}

TEST_F(LoggerTest, DetailsComeOutBeforeAWarningWithTheirContext) {
    ASSERT_TRUE(silverpoint::start(
        logger_config("debug").to(sink::file(path("app.log")).level("info").backtrace(2))));
    {
        SP_CONTEXT("request", 7);
        for (int i = 0; i < 5; ++i) SP_DEBUG("detail {}", i);
    }
    SP_INFO("all is well");
    ASSERT_TRUE(silverpoint::flush());
    ASSERT_EQ(lines("app.log").size(), 1u);
    SP_WARN("not any more");
    ASSERT_TRUE(silverpoint::flush());
    auto text = lines("app.log");
    ASSERT_EQ(text.size(), 4u);
    EXPECT_NE(text[1].find("[backtrace] detail 3 {request=7}"), std::string::npos) << text[1];
    EXPECT_NE(text[2].find("[backtrace] detail 4 {request=7}"), std::string::npos) << text[2];
    EXPECT_NE(text[3].find("not any more   "), std::string::npos) << text[3];
    SP_DEBUG("on demand");
    ASSERT_TRUE(silverpoint::dump_backtrace());
    text = lines("app.log");
    ASSERT_EQ(text.size(), 5u);
    EXPECT_NE(text[4].find("[backtrace] on demand"), std::string::npos) << text[4];
}

TEST_F(LoggerTest, ThreadsAreFlushedFromAnyOther) {
    ASSERT_TRUE(silverpoint::start(logger_config("info").to(sink::file(path("app.log")))));
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([thread] {
            for (int i = 0; i < 5000; ++i) SP_INFO("thread {} number {}", thread, i);
            EXPECT_TRUE(silverpoint::flush(std::chrono::seconds(30)));
        });
    }
    for (auto& thread : threads) thread.join();
    std::size_t records = 0;
    for (const auto& line : lines("app.log")) records += line.find(" number ") != std::string::npos;
    EXPECT_EQ(records, 20000u);
}

// What the program asks for in its code, and what its user says instead.
TEST_F(LoggerTest, TheEnvironmentComesBeforeCode) {
    const auto config = logger_config("info").to(sink::file(path("app.log")).pattern("{text}"));
    const auto run = [&](auto&& start) {
        EXPECT_TRUE(start());
        SP_DEBUG("quiet");
        SP_WARN("loud");
        EXPECT_TRUE(silverpoint::stop());
        const auto found = lines("app.log");
        fs::remove(path("app.log"));
        return found;
    };
    using found = std::vector<std::string>;
    const auto with = [&] { return silverpoint::start_with_environment(config); };
    EXPECT_EQ(run(with), found{"loud"});
    setenv("SILVERPOINT", "debug", 1);
    EXPECT_EQ(run(with), (found{"quiet", "loud"}));
    EXPECT_EQ(run([&] { return silverpoint::start(config); }), found{"loud"});
    std::ofstream(path("other.toml")) << "record = 'warn'\n[[sink]]\nto = 'file'\npath = '"
                                      << path("other.log") << "'\npattern = 'as the file says: {text}'\n";
    setenv("SILVERPOINT", path("other.toml").c_str(), 1);
    EXPECT_EQ(run(with), found{});
    EXPECT_EQ(lines("other.log"), found{"as the file says: loud"});
    setenv("SILVERPOINT", "loud=", 1);
    EXPECT_THROW(with(), std::invalid_argument);
    unsetenv("SILVERPOINT");
    setenv("SILVERPOINT_POLICY", "block=soon", 1);
    EXPECT_THROW(with(), std::invalid_argument);
    setenv("SILVERPOINT_POLICY", "drop", 1);
    setenv("SILVERPOINT_BLOCK_MAX", "5ms", 1);
    EXPECT_EQ(run(with), found{"loud"});
    unsetenv("SILVERPOINT_POLICY");
    unsetenv("SILVERPOINT_BLOCK_MAX");
    EXPECT_THROW(silverpoint::start_with_environment("record = 3"), std::invalid_argument);
    EXPECT_EQ(run(with), found{"loud"});
}

// Levels, forms and sinks change while the program runs; a mistake changes nothing.
TEST_F(LoggerTest, AFileIsFollowed) {
    const auto configure = [&](const std::string& sinks) {
        std::ofstream(path("new.toml")) << sinks;
        fs::rename(path("new.toml"), path("log.toml"));
    };
    const std::string log = "[[sink]]\nto = 'file'\npath = '" + path("app.log") + "'\n";
    EXPECT_FALSE(silverpoint::reload()) << "none runs";
    EXPECT_THROW(silverpoint::start_file(path("none.toml")), std::invalid_argument);
    configure(log);
    ASSERT_TRUE(silverpoint::start_file(path("log.toml")));
    SP_INFO("one {}", 1);
    configure(log + "level = 'warn'\nformat = 'qt'\nflush.every = '1h'\n");
    ASSERT_TRUE(silverpoint::reload());
    SP_INFO("two {}", 2);
    SP_WARN("three {}", 3);
    configure(log + "level = 'wran'\n");
    EXPECT_THROW(silverpoint::reload(), std::invalid_argument);
    SP_WARN("four {}", 4);
    ASSERT_TRUE(silverpoint::flush());
    auto found = lines("app.log");
    ASSERT_EQ(found.size(), 3u);
    EXPECT_NE(found[0].find("INFO"), std::string::npos) << found[0];
    EXPECT_EQ(found[1], "three 3");
    EXPECT_EQ(found[2], "four 4");

    fs::rename(path("app.log"), path("moved.log"));
    silverpoint::reopen();
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!fs::exists(path("app.log")) && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_TRUE(fs::exists(path("app.log")));
    ASSERT_TRUE(silverpoint::stop());

    ASSERT_TRUE(silverpoint::start(logger_config().to(
        sink::file(path("set.log")).format("qdebug").set("flush.every", "1h").set("sync", "error"))));
    EXPECT_THROW(silverpoint::reload(), std::invalid_argument) << "no file is behind it";
    SP_INFO("five {}", std::vector<int>{1, 2});
    ASSERT_TRUE(silverpoint::stop());
    found = lines("set.log");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0], "five (1, 2)");
}

// What is written to standard output and standard error, both of them `to`, while `work` runs; `from` is the
// other end, read until nobody has `to` any more.
std::string written(int from, int to, const std::function<void()>& work) {
    std::string text;
    std::thread reader([&] {
        char buffer[4096];
        // Of a terminal that nobody has open any more reading fails.
        for (ssize_t n; (n = read(from, buffer, sizeof buffer)) > 0;)
            text.append(buffer, static_cast<std::size_t>(n));
    });
    std::fflush(stdout);
    const int saved[] = {dup(1), dup(2)};
    dup2(to, 1);
    dup2(to, 2);
    close(to);
    work();
    std::cout.flush();
    std::fflush(stdout);
    dup2(saved[0], 1);
    dup2(saved[1], 2);
    close(saved[0]);
    close(saved[1]);
    reader.join();
    close(from);
    return text;
}

// Lines of the logger and of the program, through iostream and stdio, to one pipe or terminal.
TEST_F(LoggerTest, LinesOfTheConsoleAreWhole) {
    constexpr int count = 1000;
    const auto work = [&] {
        ASSERT_TRUE(silverpoint::start(logger_config()
                                           .to(sink::standard_error().format("qdebug"))
                                           .to(sink::standard_output().format("qdebug"))));
        const std::string filling(100, 'x');
        std::vector<std::thread> threads;
        const auto run = [&](auto print) {
            threads.emplace_back([print] {
                for (int i = 0; i < count; ++i) print(i);
            });
        };
        run([&](int i) {
            std::cout << "cout " + std::to_string(i) + " " + filling + " end\n" << std::flush;
        });
        run([&](int i) {
            std::printf("printf %d %s end\n", i, filling.c_str());
            std::fflush(stdout);
        });
        run([&](int i) { std::fprintf(stderr, "fprintf %d %s end\n", i, filling.c_str()); });
        run([&](int i) { SP_INFO("record {} {} end", i, filling); });
        for (auto& thread : threads) thread.join();
        ASSERT_TRUE(silverpoint::stop(std::chrono::seconds(30)));
    };
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    std::string texts[2] = {written(ends[0], ends[1], work), ""};
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    ASSERT_TRUE(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
    const int other = open(ptsname(terminal), O_RDWR | O_NOCTTY | O_CLOEXEC);
    ASSERT_GE(other, 0);
    texts[1] = written(terminal, other, work);
    for (const auto& text : texts) {
        std::map<std::string, int> found;
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) {
            if (!line.empty() && line.back() == '\r') line.pop_back();
            // A thread that waited is told in a line of its own.
            if (line.find(" for room in the ring") != std::string::npos) continue;
            std::istringstream words(line);
            std::string what, number, filling, end, more;
            ASSERT_TRUE(words >> what >> number >> filling >> end && !(words >> more)) << line;
            ASSERT_TRUE(filling.size() == 100 && end == "end") << line;
            ++found[what];
        }
        const std::map<std::string, int> expected{
            {"cout", count}, {"printf", count}, {"fprintf", count}, {"record", 2 * count}};
        EXPECT_EQ(found, expected);
    }
}

TEST_F(LoggerTest, ThereIsOneAtATime) {
    EXPECT_FALSE(silverpoint::flush()) << "none runs";
    EXPECT_FALSE(silverpoint::stop());
    ASSERT_TRUE(silverpoint::start(logger_config().to(sink::file(path("app.log")))));
    EXPECT_FALSE(silverpoint::start(logger_config().to(sink::file(path("other.log")))));
    EXPECT_FALSE(fs::exists(path("other.log")));
}

TEST_F(LoggerTest, MistakesAreThrown) {
    try {
        silverpoint::start(std::string("\n\n[[sink]]\nto = \"fiel\"\n"));
        FAIL() << "that is no destination";
    } catch (const std::invalid_argument& error) {
        EXPECT_STREQ(error.what(),
                     "configuration:4: \"fiel\" is no destination; valid are stderr, stdout, file, "
                     "trace-file, journald, "
                     "syslog");
    }
    EXPECT_THROW(silverpoint::start(logger_config("net=loud")), std::invalid_argument);
    EXPECT_THROW(silverpoint::start(logger_config().policy("wait")), std::invalid_argument);
    EXPECT_THROW(silverpoint::start(logger_config().to(sink::syslog("host"))), std::invalid_argument);
    EXPECT_THROW(silverpoint::start(logger_config().to(sink::journald().facility("user"))),
                 std::invalid_argument);
    EXPECT_THROW(silverpoint::start(logger_config().to(sink::file(path("missing/app.log")))),
                 std::runtime_error);
    EXPECT_THROW(
        silverpoint::start(logger_config().to(sink::file(path("app.log"))).to(sink::file(path("app.log")))),
        std::invalid_argument);
    // Also what the environment says.
    for (const std::string& value : {std::string("net=loud"), path("missing.toml")}) {
        setenv("SILVERPOINT", value.c_str(), 1);
        EXPECT_THROW(silverpoint::start(), std::invalid_argument) << value;
    }
    unsetenv("SILVERPOINT");
    // Nothing of these runs.
    EXPECT_FALSE(silverpoint::flush());
    // The text is cut where there is no room for it, with its zero.
    char error[12] = "";
    EXPECT_EQ(silverpoint_start("recrod = 1", error, sizeof error), SILVERPOINT_INVALID);
    EXPECT_STREQ(error, "configurati");
    EXPECT_EQ(silverpoint_start("recrod = 1", nullptr, 0), SILVERPOINT_INVALID);
    EXPECT_EQ(silverpoint_start("\xff", error, sizeof error), SILVERPOINT_INVALID);
}

// How a forked child ends that does this; it is killed when it hangs.
int in_child(const std::function<int()>& what) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        exit(what());
    }
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child ? status : -1;
}

TEST_F(LoggerTest, ForkedChildrenHaveNone) {
    ASSERT_TRUE(silverpoint::start(logger_config("info").to(sink::file(path("app.log")))));
    SP_INFO("before");
    // The lock is held at some of the forks.
    std::atomic<bool> is_over = false;
    std::thread busy([&] {
        while (!is_over) EXPECT_EQ(silverpoint_start(nullptr, nullptr, 0), SILVERPOINT_RUNNING);
    });
    for (int i = 0; i < 40; ++i) {
        const int status = in_child([] {
            if (silverpoint_flush(UINT64_MAX) != SILVERPOINT_NOT_RUNNING) return 1;
            return silverpoint_stop(0) == SILVERPOINT_NOT_RUNNING ? 0 : 2;
        });
        ASSERT_EQ(status, 0) << "child " << i;
    }
    is_over = true;
    busy.join();
    // Their end waits for nothing; if each waited for the parent's sinks, the test would take minutes.
    for (int i = 0; i < 40; ++i) ASSERT_EQ(in_child([] { return 0; }), 0);
    SP_INFO("after");
    EXPECT_TRUE(silverpoint::stop()) << "the parent's goes on";
    EXPECT_EQ(lines("app.log").size(), 2u);
}

TEST_F(LoggerTest, AFlushThatWaitsHoldsUpNobody) {
    const auto child = [] {
        // Nobody reads what comes out: the sink stands still.
        int pipe_ends[2];
        if (pipe(pipe_ends) != 0 || dup2(pipe_ends[1], STDOUT_FILENO) < 0) return 1;
        if (!silverpoint::start(logger_config("info").to(sink::standard_output()))) return 2;
        for (int i = 0; i < 5000; ++i) SP_INFO("number {} of a line that is longer than others are", i);
        std::atomic<int> flushing = 0;
        for (int i = 0; i < 2; ++i) {
            std::thread([&flushing] {
                ++flushing;
                silverpoint_flush(UINT64_MAX);
            }).detach();
        }
        while (flushing < 2) std::this_thread::yield();
        usleep(100'000);  // they are within it, most likely
        if (silverpoint_start(nullptr, nullptr, 0) != SILVERPOINT_RUNNING) return 3;
        if (silverpoint_flush(1) != 1) return 4;
        if (silverpoint_stop(1) != 1) return 5;
        return silverpoint_stop(1) == SILVERPOINT_NOT_RUNNING ? 0 : 6;
    };
    EXPECT_EQ(in_child(child), 0);
}

// The buffer of a pipe goes out where it is full, in the middle of a line.
TEST_F(LoggerTest, LinesOfTheLoggerStoodWithinWhatTheProgramHadPrinted) {
    constexpr int count = 3000;
    const auto work = [&] {
        ASSERT_TRUE(silverpoint::start(logger_config().to(sink::standard_output().format("qdebug"))));
        std::thread printing([] {
            for (int i = 0; i < count; ++i) std::printf("printed %d of the program's end\n", i);
        });
        for (int i = 0; i < count; ++i) SP_INFO("record {} of the logger's end", i);
        printing.join();
        ASSERT_TRUE(silverpoint::stop(std::chrono::seconds(30)));
    };
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    std::istringstream text(written(ends[0], ends[1], work));
    int found[2] = {};
    for (std::string line; std::getline(text, line);) {
        if (line.find(" for room in the ring") != std::string::npos) continue;
        const bool recorded = line.starts_with("record ");
        const std::string expected = (recorded ? "record " : "printed ") + std::to_string(found[recorded]++) +
                                     (recorded ? " of the logger's end" : " of the program's end");
        ASSERT_EQ(line, expected);
    }
    EXPECT_TRUE(found[0] == count && found[1] == count) << found[0] << ' ' << found[1];
}

TEST_F(LoggerTest, ForkedChildrenMayStartTheirOwn) {
    ASSERT_TRUE(silverpoint::start(logger_config("info").to(sink::file(path("app.log")))));
    const auto child = [&] {
        if (!silverpoint::start(logger_config("info").to(sink::file(path("child.log"))))) return 1;
        if (silverpoint::start(logger_config("info").to(sink::file(path("other.log"))))) return 2;
        SP_INFO("in the child");
        return 0;  // its end delivers it
    };
    EXPECT_EQ(in_child(child), 0);
    SP_INFO("in the parent");
    EXPECT_TRUE(silverpoint::flush());
    EXPECT_EQ(lines("child.log").size(), 1u);
    EXPECT_EQ(lines("app.log").size(), 1u);
    // Also when nobody wants anything of the parent, as of one that becomes a daemon.
    ASSERT_TRUE(silverpoint::stop());
    EXPECT_EQ(in_child(child), 0);
    EXPECT_EQ(lines("child.log").size(), 2u);
}

TEST_F(LoggerTest, LongTextsBehindShortOnesAreKept) {
    ASSERT_TRUE(silverpoint::start(logger_config("info").to(sink::file(path("app.log")))));
    // The first ring of a thread takes records of 512 bytes at most; a larger record needs a larger one.
    for (const std::size_t size : {400u, 480u, 520u, 700u, 1000u, 4000u, 30'000u}) {
        std::thread([size] {
            SP_INFO("short {}", 1);
            for (int i = 0; i < 3; ++i) SP_INFO("long {}", std::string(size, 'x'));
        }).join();
    }
    ASSERT_TRUE(silverpoint::stop());
    EXPECT_EQ(lines("app.log").size(), 7u * 4);
}

TEST_F(LoggerTest, PathsMayHoldAnything) {
    const std::string name = "a \"quoted\" \\ name\twith \xC3\xA4.log";
    ASSERT_TRUE(silverpoint::start(logger_config("info").to(sink::file(path(name)).rotate("64K", 3))));
    SP_INFO("one");
    ASSERT_TRUE(silverpoint::stop());
    EXPECT_EQ(lines(name).size(), 1u);
}

TEST_F(LoggerTest, AFunctionOfTheProgramsIsGivenRecordsUnformatted) {
    struct Seen {
        std::vector<std::string> records;
        int ends = 0;
    };
    static Seen seen;
    const auto text = [](const silverpoint_text& of) { return std::string(of.data, of.size); };
    static const auto as_text = text;
    const auto take = [](const silverpoint_event* event, void* data) {
        auto& to = *static_cast<Seen*>(data);
        if (event == nullptr) {
            ++to.ends;
            return;
        }
        int number = 0;
        if (event->args_size >= sizeof number) std::memcpy(&number, event->args, sizeof number);
        to.records.push_back(
            as_text(event->category) + "|" + as_text(event->text) + "|" + as_text(event->signature) + "|" +
            std::to_string(number) + "|" + std::to_string(event->level) + "|" +
            std::to_string(event->tid == static_cast<unsigned>(getpid())) + "|" + as_text(event->context));
    };
    EXPECT_EQ(silverpoint_add_handler(nullptr, "", take, nullptr), SILVERPOINT_INVALID);
    ASSERT_EQ(silverpoint_add_handler("handled", "handled=debug", take, &seen), SILVERPOINT_DONE);
    ASSERT_TRUE(silverpoint::start(logger_config("warn").to(sink::file(path("app.log")))));
    {
        SP_CONTEXT("user", "ada");
        SP_LOG(debug, "handled", "order {}", 7);
    }
    SP_LOG(debug, "other", "order {}", 8);
    SP_LOG(warn, "other", "order {}", 9);
    ASSERT_TRUE(silverpoint::flush());
    EXPECT_EQ(seen.records, std::vector<std::string>{"handled|order {}|i|7|1|1|{\"user\":\"ada\"}"});
    EXPECT_GE(seen.ends, 1);
    ASSERT_TRUE(silverpoint::stop());
    // A sink has what is recorded because of a handler too: its own level decides.
    EXPECT_EQ(lines("app.log").size(), 2u);
}

// As programs of glog have it, whose records go to such a function.
TEST_F(LoggerTest, WhatAFunctionIsGivenIsRecordedAfterAReloadToo) {
    const auto configure = [&](const char* record) {
        std::ofstream(path("log.toml")) << "record = '" << record << "'\n";
    };
    configure("warn");
    const auto child = [&] {
        static std::atomic<int> seen{0};
        const auto take = [](const silverpoint_event* event, void*) { seen += event != nullptr; };
        if (silverpoint_add_handler("handled", "handled=debug", take, nullptr) != SILVERPOINT_DONE) return 1;
        if (!silverpoint::start_file(path("log.toml"))) return 2;
        SP_LOG(debug, "handled", "one");
        if (!silverpoint::flush(std::chrono::seconds(60)) || seen != 1) return 3;
        configure("error");
        if (!silverpoint::reload()) return 4;
        SP_LOG(debug, "handled", "two");
        return silverpoint::flush(std::chrono::seconds(60)) && seen == 2 ? 0 : 5;
    };
    EXPECT_EQ(in_child(child), 0);
}

// What a handler is given of a record, but for the time.
std::string told(const silverpoint_event& event) {
    std::ostringstream out;
    for (const auto& text : {event.category, event.file, event.function, event.thread, event.text,
                             event.names, event.signature, event.context})
        out << std::string_view(text.data, text.size) << '|';
    out << event.tid << '|' << event.line << '|' << event.level << '|' << event.kind << '|'
        << std::string_view(reinterpret_cast<const char*>(event.args), event.args_size);
    return out.str();
}

TEST_F(LoggerTest, ASynchronousHandlerIsGivenWhatAnotherIsBeforeTheTracepointReturns) {
    const auto child = [&] {
        static std::vector<std::string> later, at_once;
        static pid_t by = 0;
        static std::string line;
        const auto take_later = [](const silverpoint_event* event, void*) {
            if (event != nullptr) later.push_back(told(*event));
        };
        const auto take_at_once = [](const silverpoint_event* event, void*) {
            at_once.push_back(told(*event));
            by = gettid();
            char text[100];
            const std::size_t size = silverpoint_event_line(event, "{text}{fields}", text, sizeof text);
            line.assign(text, size < sizeof text ? size : sizeof text);
            SP_LOG(debug, "sync", "within {}", at_once.size());  // recorded, and given to the other alone
        };
        if (silverpoint_add_handler("sync", "sync=debug", take_later, nullptr) != SILVERPOINT_DONE) return 1;
        silverpoint::synchronous_handler handler("sync", "sync=debug", take_at_once, nullptr);
        if (!silverpoint::start(logger_config("off"))) return 2;
        std::size_t due = 0;
        const auto is_there = [&] { return at_once.size() == ++due && by == gettid(); };
        const auto record_all = [&](int number) {
            SP_LOG(debug, "sync", "plain");
            if (!is_there()) return 3;
            SP_LOG(info, "sync", "number {} of {}", number, 2.5);
            if (!is_there() || line != "number " + std::to_string(number) + " of 2.5") return 4;
            SP_LOG(warn, "sync.below", "text {}", "x" + std::string(100, 'y'));
            if (!is_there()) return 5;
            SP_TO(warn, "sync") << "stream" << number << "text";
            if (!is_there()) return 6;
            SP_LOG(debug, "other", "not for it");
            SP_CONTEXT("user", "ada", "number", number);
            SP_LOG(error, "sync", "large {}", std::string(20'000, 'z'));
            if (!is_there()) return 7;
            SP_LOG(error, "sync", "cut {}", std::string(1'000'000, 'c'));
            return is_there() ? 0 : 8;
        };
        for (int number = 0; number < 3; ++number)
            if (const int failed = record_all(number)) return failed;
        int in_thread = 0;
        std::thread([&] { in_thread = record_all(7); }).join();
        if (in_thread != 0) return 100 + in_thread;
        if (!silverpoint::flush(std::chrono::seconds(60))) return 9;
        std::erase_if(
            later, [](const std::string& record) { return record.find("|within {}|") != std::string::npos; });
        if (later.size() != due) return 10;
        // The logger names a thread as it was when its ring was made.
        for (std::size_t i = 0; i < due; ++i)
            if (later[i] != at_once[i]) return 200 + static_cast<int>(i);
        handler.remove();
        SP_LOG(debug, "sync", "one more");
        return at_once.size() == due ? 0 : 11;
    };
    EXPECT_EQ(in_child(child), 0);
}

TEST_F(LoggerTest, SynchronousHandlersAreCalledInTheirOrderAndTakenAway) {
    static std::string calls;
    const auto take = [](const silverpoint_event*, void* data) { calls += static_cast<const char*>(data); };
    const auto handler = [&](const char* name) {
        return silverpoint::synchronous_handler("chain", "chain=info", take, const_cast<char*>(name));
    };
    EXPECT_THROW(silverpoint::synchronous_handler("chain=loud", "", take, nullptr), std::invalid_argument);
    auto first = handler("1");
    auto second = handler("2");
    ASSERT_TRUE(silverpoint::start(logger_config("off").to(sink::file(path("app.log")))));
    auto third = handler("3");  // while a logger runs
    const auto called = [&] {
        calls.clear();
        SP_LOG(info, "chain", "one");
        return calls;
    };
    EXPECT_EQ(called(), "123");
    second.remove();
    EXPECT_EQ(called(), "13");
    third.remove();
    EXPECT_EQ(called(), "1");
    auto fourth = handler("4");  // in the place of the third
    EXPECT_EQ(called(), "14");
    first.remove();
    EXPECT_EQ(called(), "4");
    fourth = handler("5");
    EXPECT_EQ(called(), "5");
    fourth.remove();
    EXPECT_EQ(called(), "");
    auto last = handler("6");
    // A forked child has them, and takes them away for itself.
    EXPECT_EQ(in_child([&] {
                  if (called() != "6") return 1;
                  last.remove();
                  return called().empty() ? 0 : 2;
              }),
              0);
    EXPECT_EQ(called(), "6");
    ASSERT_TRUE(silverpoint::stop());
    EXPECT_EQ(lines("app.log").size(), 8u);
}

// Each thread takes the hot path when the handler comes: none of what they begin to record afterwards is
// missed, nothing is given twice, and the log has everything.
TEST_F(LoggerTest, ASynchronousHandlerThatComesWhileThreadsRecordMissesNothing) {
    constexpr int kThreads = 4;
    static std::vector<std::uint64_t> given[kThreads];
    const auto take = [](const silverpoint_event* event, void*) {
        std::uint64_t words[2];
        std::memcpy(words, event->args, sizeof words);
        given[words[0]].push_back(words[1]);
    };
    ASSERT_TRUE(silverpoint::start(
        logger_config("off,rush=debug").policy("block=forever").to(sink::file(path("app.log")))));
    std::uint64_t all = 0;
    for (int round = 0; round < 3; ++round) {
        for (auto& numbers : given) numbers.clear();
        std::atomic<bool> is_there{false};
        std::atomic<int> running{0};
        std::uint64_t due[kThreads] = {};
        std::vector<std::thread> threads;
        for (std::uint64_t thread = 0; thread < kThreads; ++thread) {
            threads.emplace_back([&, thread] {
                std::uint64_t number = 0;
                const auto record = [&] { SP_LOG(debug, "rush", "{} {}", thread, number); };
                for (bool is_first = true; !is_there.load(); ++number, is_first = false) {
                    record();
                    if (is_first) running.fetch_add(1);
                }
                due[thread] = number;
                for (int i = 0; i < 3000; ++i, ++number) record();
            });
        }
        while (running.load() != kThreads) std::this_thread::yield();
        silverpoint::synchronous_handler handler("rush", "", take, nullptr);
        is_there.store(true);
        for (auto& thread : threads) thread.join();
        handler.remove();
        for (int thread = 0; thread < kThreads; ++thread) {
            const auto& numbers = given[thread];
            ASSERT_FALSE(numbers.empty());
            EXPECT_LE(numbers.front(), due[thread]);
            EXPECT_EQ(numbers.back(), due[thread] + 2999);
            all += due[thread] + 3000;
            for (std::size_t i = 1; i < numbers.size(); ++i) ASSERT_EQ(numbers[i], numbers[i - 1] + 1);
        }
    }
    EXPECT_TRUE(silverpoint::stop(std::chrono::seconds(60)));
    // The log also says of each thread how long it had to wait for room, if it had.
    const auto found = lines("app.log");
    const auto is_record = [](const std::string& line) { return line.find(" waited ") == std::string::npos; };
    EXPECT_EQ(static_cast<std::uint64_t>(std::count_if(found.begin(), found.end(), is_record)), all);
}

// As daemons do; what is recorded for it must not wait for ever.
TEST_F(LoggerTest, NothingWaitsForAStandardErrorThatTheProgramHasClosed) {
    const auto child = [&] {
        const auto config = logger_config("info").to(sink::standard_error()).to(sink::file(path("app.log")));
        if (!silverpoint::start(config)) return 1;
        close(STDERR_FILENO);
        SP_INFO("one");
        return silverpoint::stop(std::chrono::seconds(60)) ? 0 : 2;
    };
    EXPECT_EQ(in_child(child), 0);
    EXPECT_EQ(lines("app.log").size(), 1u);
}

// A forked child that lives on has inherited every descriptor of its parent. The parent's log is free all the
// same when the parent has died.
TEST_F(LoggerTest, AChildThatLivesLongerDoesNotKeepTheLog) {
    int over[2];
    ASSERT_EQ(pipe(over), 0);
    const pid_t parent = fork();
    if (parent == 0) {
        close(over[1]);
        if (!silverpoint::start(logger_config("info").to(sink::file(path("app.log"))))) _exit(1);
        SP_INFO("of the parent {}", 1);
        if (!silverpoint::flush(std::chrono::seconds(30))) _exit(2);
        const pid_t child = fork();
        if (child == 0) {
            char byte;
            // Until the test closes its end.
            while (read(over[0], &byte, 1) < 0) {
            }
            _exit(0);
        }
        _exit(child > 0 ? 0 : 3);
    }
    int status = -1;
    ASSERT_EQ(waitpid(parent, &status, 0), parent);
    ASSERT_EQ(status, 0);
    ASSERT_TRUE(silverpoint::start(logger_config("info").to(sink::file(path("app.log")))));
    SP_INFO("of the test {}", 2);
    ASSERT_TRUE(silverpoint::stop(std::chrono::seconds(30)));
    close(over[0]);
    close(over[1]);
    const auto text = lines("app.log");
    ASSERT_EQ(text.size(), 2u);
    EXPECT_NE(text[1].find("of the test 2"), std::string::npos) << text[1];
    EXPECT_FALSE(fs::exists(path("app-2.log")));
}

}  // namespace
