// spdlog's interface over Silverpoint: what is recorded, and what becomes of it. What it writes, compared
// with spdlog: spdlog/compare.sh.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <silverpoint/spdlog.hpp>
#include <silverpoint/spdlog/network.hpp>
#include <sstream>
#include <thread>

#include "spdlog_fixture.hpp"

namespace {

TEST_F(Spdlog, EachCallIsASiteWithItsPlaceItsTypesAndTheLoggersName) {
    auto log = spdlog::basic_logger_mt("net", path("net.log"));
    log->set_pattern("%n %l %v %s");
    log->warn("slow {} {}", 7, 2.5);
    const auto line = static_cast<std::uint32_t>(__LINE__ - 1);
    log->flush();
    EXPECT_EQ(text("net.log"), "net warning slow 7 2.5 spdlog_test.cpp\n");
    const auto sites = traced::session().sites();
    const auto* found = site(sites, "slow {} {}");
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->category, "net");
    EXPECT_EQ(found->line, line);
    EXPECT_EQ(found->level, 3);
    EXPECT_EQ(found->signature, "id");
    EXPECT_TRUE(found->file.ends_with("spdlog_test.cpp"));
}

TEST_F(Spdlog, OneCallServesManyLoggersAndLevels) {
    for (int round = 0; round < 2; ++round)
        for (const char* name : {"a", "b", "c"}) {
            auto log = spdlog::get(name);
            if (log == nullptr) log = spdlog::basic_logger_mt(name, path(std::string(name) + ".log"));
            log->set_pattern("%n %l %v");
            for (const auto level : {spdlog::level::info, spdlog::level::err})
                log->log(level, "round {}", round);
        }
    spdlog::get("a")->flush();
    for (const char* name : {"a", "b", "c"}) {
        std::string expected;
        for (const char* round : {"0", "1"})
            for (const char* level : {" info round ", " error round "})
                expected += std::string(name) + level + round + "\n";
        EXPECT_EQ(text(std::string(name) + ".log"), expected);
    }
}

TEST_F(Spdlog, LinesOfOtherThreadsOutliveThatLoggersAreAdded) {
    auto log = spdlog::basic_logger_mt("steady", path("steady.log"));
    log->set_pattern("%v");
    log->info("{}", 0);
    std::atomic<bool> done{false};
    std::atomic<int> count{1};
    std::thread other([&] {
        while (!done && count < 200'000) {
            log->info("{}", count.load());
            ++count;
            std::this_thread::yield();
        }
    });
    for (int i = 0; i < 5; ++i) {
        auto added =
            spdlog::basic_logger_mt("added" + std::to_string(i), path("added.log" + std::to_string(i)));
        added->set_pattern("%v");
        added->info("here");
    }
    done = true;
    other.join();
    log->flush();
    std::istringstream lines(text("steady.log"));
    int expected = 0;
    for (std::string line; std::getline(lines, line); ++expected) ASSERT_EQ(line, std::to_string(expected));
    EXPECT_EQ(expected, count);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(text("added.log" + std::to_string(i)), "here\n");
}

TEST_F(Spdlog, LevelsOfSinksAndFlushOn) {
    auto all = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path("all.log"));
    auto errors = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path("errors.log"));
    errors->set_level(spdlog::level::err);
    spdlog::logger log("two", {all, errors});
    log.set_pattern("%v");
    log.flush_on(spdlog::level::err);
    log.info("one");
    log.error("two");  // waits until it is written
    EXPECT_EQ(text("all.log"), "one\ntwo\n");
    EXPECT_EQ(text("errors.log"), "two\n");
}

TEST_F(Spdlog, RotatingOnOpenKeepsWhatEarlierRunsWrote) {
    for (const char* run : {"first\n", "second\n", "third\n", "fourth\n"}) {
        auto log = spdlog::rotating_logger_mt("runs", path("runs.log"), 1 << 20, 2, true);
        log->set_pattern("%v");
        log->info(std::string(run, std::strlen(run) - 1));
        // What still waits goes into the file that it was logged for.
        spdlog::drop("runs");
    }
    spdlog::shutdown();
    EXPECT_EQ(text("runs.log"), "fourth\n");
    EXPECT_EQ(text("runs.1.log"), "third\n");
    EXPECT_EQ(text("runs.2.log"), "second\n");
    EXPECT_FALSE(fs::exists(path("runs.3.log")));
    // An empty file is not rotated, and a file without old ones is replaced.
    std::ofstream(path("empty.log"));
    spdlog::sinks::rotating_file_sink_mt(path("empty.log"), 1 << 20, 2, true);
    EXPECT_FALSE(fs::exists(path("empty.1.log")));
    spdlog::sinks::rotating_file_sink_mt(path("runs.log"), 1 << 20, 0, true);
    EXPECT_EQ(fs::file_size(path("runs.log")), 0u);
    EXPECT_EQ(text("runs.1.log"), "third\n");
    // With any wrong argument the file stays as it is.
    std::ofstream(path("kept.log")) << "kept";
    EXPECT_THROW(spdlog::rotating_logger_mt("none", path("kept.log"), 0, 3, true), spdlog::spdlog_ex);
    EXPECT_THROW(spdlog::daily_logger_mt("none", path("kept.log"), 24, 0, true), spdlog::spdlog_ex);
    EXPECT_EQ(text("kept.log"), "kept");
}

TEST_F(Spdlog, ATakenNameTruncatesNoFile) {
    const auto log = spdlog::basic_logger_mt("taken", path("taken.log"));
    log->set_pattern("%v");
    log->info("stays");
    EXPECT_TRUE(flushed(*log));
    EXPECT_THROW(spdlog::basic_logger_mt("taken", path("taken.log"), true), spdlog::spdlog_ex);
    EXPECT_EQ(text("taken.log"), "stays\n");
}

TEST_F(Spdlog, WhatIsBelowTheLevelIsKeptBackAndWrittenOnDemand) {
    auto log = spdlog::basic_logger_mt("kept", path("kept.log"));
    log->set_pattern("%l %v");
    log->debug("before that");
    log->enable_backtrace(2);
    EXPECT_TRUE(log->should_backtrace());
    for (int i = 0; i < 4; ++i) log->debug("{}", i);
    log->critical("brings nothing out");
    EXPECT_TRUE(log->flush());
    EXPECT_EQ(text("kept.log"), "critical brings nothing out\n");
    EXPECT_TRUE(log->dump_backtrace());
    const std::string dumped = "critical brings nothing out\ndebug [backtrace] 2\ndebug [backtrace] 3\n";
    EXPECT_EQ(text("kept.log"), dumped);
    log->trace("again");
    EXPECT_TRUE(log->dump_backtrace());
    EXPECT_EQ(text("kept.log"), dumped + "trace [backtrace] again\n");
    // A level that changes meanwhile, and another logger with the same sink.
    log->set_level(spdlog::level::debug);
    log->debug("shown");
    log->disable_backtrace();
    EXPECT_FALSE(log->should_backtrace());
    log->trace("gone");
    log->dump_backtrace();
    EXPECT_EQ(text("kept.log"), dumped + "trace [backtrace] again\ndebug shown\n");
    spdlog::enable_backtrace(1);
    auto later = spdlog::basic_logger_mt("later", path("later.log"));
    EXPECT_TRUE(later->should_backtrace());
    later->set_pattern("%v");
    later->debug("of the later");
    spdlog::set_default_logger(later);
    EXPECT_TRUE(spdlog::dump_backtrace());
    EXPECT_EQ(text("later.log"), "[backtrace] of the later\n");
    spdlog::disable_backtrace();
}

TEST_F(Spdlog, TemplatesThatAreMadeWhenTheProgramRuns) {
    auto log = spdlog::basic_logger_mt("made", path("made.log"));
    log->set_pattern("%v");
    for (const char* made : {"{} and {:.1f}", "{1:>4}|{0}", "{} and {:.1f}"})
        log->info(fmt::runtime(made), 7, 2.5);
    const auto line = static_cast<std::uint32_t>(__LINE__ - 1);
    log->log(spdlog::level::warn, fmt::runtime(std::string("no argument")));
    spdlog::fmt_lib::runtime("unused");
    EXPECT_TRUE(log->flush());
    EXPECT_EQ(text("made.log"), "7 and 2.5\n 2.5|7\n7 and 2.5\nno argument\n");
    const auto sites = traced::session().sites();
    const auto* found = site(sites, "{1:>4}|{0}");
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->signature, "id");
    EXPECT_EQ(found->line, line);
    // Any number of them, with any text.
    std::string expected;
    for (int i = 0; i < 200; ++i) {
        const std::string made = "text " + std::to_string(i) + " {}";
        log->info(fmt::runtime(made), i);
        expected += i < 64 ? "text " + std::to_string(i) + " " + std::to_string(i) + '\n'
                           : made + " " + std::to_string(i) + '\n';
    }
    EXPECT_TRUE(log->flush());
    EXPECT_TRUE(text("made.log").ends_with(expected)) << text("made.log");
    log->info(fmt::runtime("{:d} {} }{"), "x");
    EXPECT_TRUE(log->flush());
    EXPECT_NE(text("made.log").find("x\n"), std::string::npos)
        << text("made.log").substr(text("made.log").size() - 40);
}

TEST_F(Spdlog, RotatingFilesAreNamedAsThere) {
    auto log = spdlog::rotating_logger_mt("rotating", path("log.txt"), 4096, 2);
    log->set_pattern("%v");
    for (int i = 0; i < 500; ++i) log->info("{:040}", i);
    log->flush();
    for (const char* name : {"log.txt", "log.1.txt", "log.2.txt"})
        EXPECT_TRUE(fs::exists(path(name))) << name;
    EXPECT_FALSE(fs::exists(path("log.3.txt")));
    EXPECT_NE(text("log.txt").find("0499\n"), std::string::npos);
    EXPECT_THROW(spdlog::rotating_logger_mt("none", path("x.txt"), 0, 2), spdlog::spdlog_ex);
}

TEST_F(Spdlog, AForkedChildWritesBesideItsParent) {
    auto log = spdlog::basic_logger_mt("forks", path("forks.log"));
    log->set_pattern("%v");
    log->info("parent");
    log->flush();
    const pid_t child = fork();
    if (child == 0) {
        log->info("child");
        log->flush();
        _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    log->info("parent again");
    log->flush();
    EXPECT_EQ(text("forks.log"), "parent\nparent again\n");
    EXPECT_EQ(text("forks-2.log"), "child\n");
}

TEST_F(Spdlog, MacrosHaveLevelsThatCompileOut) {
    auto log = spdlog::basic_logger_mt("macros", path("macros.log"));
    log->set_level(spdlog::level::trace);
    log->set_pattern("%l %v");
    int evaluated = 0;
    SPDLOG_LOGGER_DEBUG(log, "left out {}", ++evaluated);
    SPDLOG_LOGGER_INFO(log, "in {}", ++evaluated);
    SPDLOG_LOGGER_CALL(log, spdlog::level::warn, "by call {}", ++evaluated);
    if (evaluated == 2)
        SPDLOG_LOGGER_ERROR(log, "literal {}");
    else
        SPDLOG_LOGGER_CRITICAL(log, "not {}", 1);
    log->flush();
    EXPECT_EQ(text("macros.log"), "info in 1\nwarning by call 2\nerror literal {}\n");
}

}  // namespace
