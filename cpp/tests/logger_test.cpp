// The logger inside the process: what tracepoints of this program record comes out in files.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "silverpoint/silverpoint.hpp"
#include "support/logged.hpp"

namespace {

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
            EXPECT_TRUE(silverpoint::flush(std::chrono::seconds(300)));
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
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(300);
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

// What is written to standard output and standard error while `work` runs. Both are `to`. `from` is the other
// end, read until `to` is closed everywhere.
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
        ASSERT_TRUE(silverpoint::stop(std::chrono::seconds(300)));
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
            // A thread that waited has a line of its own.
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
        // The output has no reader: the sink stands still.
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
        ASSERT_TRUE(silverpoint::stop(std::chrono::seconds(300)));
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

// As daemons do; what is recorded for it must not wait for ever.
TEST_F(LoggerTest, NothingWaitsForAStandardErrorThatTheProgramHasClosed) {
    const auto child = [&] {
        const auto config = logger_config("info").to(sink::standard_error()).to(sink::file(path("app.log")));
        if (!silverpoint::start(config)) return 1;
        close(STDERR_FILENO);
        SP_INFO("one");
        return silverpoint::stop(std::chrono::seconds(300)) ? 0 : 2;
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
        if (!silverpoint::flush(std::chrono::seconds(300))) _exit(2);
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
    ASSERT_TRUE(silverpoint::stop(std::chrono::seconds(300)));
    close(over[0]);
    close(over[1]);
    const auto text = lines("app.log");
    ASSERT_EQ(text.size(), 2u);
    EXPECT_NE(text[1].find("of the test 2"), std::string::npos) << text[1];
    EXPECT_FALSE(fs::exists(path("app-2.log")));
}

}  // namespace
