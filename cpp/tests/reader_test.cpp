// Reading what programs record: of a trace file, of a program that runs, and from C.
#include "silverpoint/reader.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "silverpoint/logger.hpp"
#include "silverpoint/silverpoint.hpp"
#include "support/scratch.hpp"

struct point {
    int x;
    double y;
};
SP_STRUCT(point, x, y)

namespace {

namespace fs = std::filesystem;
namespace reading = silverpoint::reading;
using reading::kind;
using reading::reader;

class ReaderTest : public testing::Test {
  protected:
    void SetUp() override { directory_ = scratch_directory("reader"); }
    void TearDown() override {
        silverpoint::stop();
        fs::remove_all(directory_);
    }

    std::string path(const std::string& name) const { return (directory_ / name).string(); }

    void start(const std::string& name) const {
        // All that is recorded is counted: nothing is dropped, however long the disk takes.
        ASSERT_TRUE(silverpoint::start(silverpoint::logger_config("trace")
                                           .policy("block=forever")
                                           .to(silverpoint::sink::trace_file(path(name)))));
    }

    fs::path directory_;
};

// All records of this program's tracepoints, beside what the logger may say.
reading::records all(reader& of) { return of.read(0, of.grow_all()); }

TEST_F(ReaderTest, WhatAProgramRecordsIsReadWithItsTypes) {
    start("app.silver");
    const std::vector<point> points{{1, 0.5}, {2, 1.5}};
    const std::map<std::string, int> prices{{"apple", 3}, {"pear", 4}};
    const std::string who = "ada";
    const bool sure = true;
    const auto late = std::chrono::milliseconds(1500);
    SP_LOG(warn, "app::net", "{} is late by {}", who, late);
    SP_EVENT("prices", points, prices, sure);
    ASSERT_TRUE(silverpoint::stop());

    reader trace(path("app.silver"));
    const auto records = all(trace);
    ASSERT_EQ(records.size(), 2u);
    const auto first = records[0], second = records[1];
    EXPECT_EQ(first.number(), 0u);
    EXPECT_EQ(first.level(), reading::level::warn);
    EXPECT_EQ(first.category(), "app::net");
    EXPECT_EQ(first.text(), "{} is late by {}");
    EXPECT_EQ(first.message().substr(0, 14), "ada is late by");
    EXPECT_EQ(first.pid(), static_cast<std::uint32_t>(getpid()));
    EXPECT_EQ(first.process(), "reader_test");
    EXPECT_EQ(first.tid(), static_cast<std::uint32_t>(gettid()));
    EXPECT_EQ(fs::path(first.file()).filename(), "reader_test.cpp");
    EXPECT_NE(first.function().find("WhatAProgramRecords"), std::string_view::npos);
    EXPECT_LT(first.line(), second.line());
    EXPECT_LE(first.time(), second.time());
    EXPECT_LT(std::chrono::abs(std::chrono::system_clock::now() - first.time()), std::chrono::hours(1));
    ASSERT_EQ(first.arguments().size(), 2u);
    EXPECT_EQ((*first.arguments().begin()).kind(), kind::text);
    EXPECT_EQ((*first.arguments().begin()).text(), "ada");
    EXPECT_EQ((*std::next(first.arguments().begin())).as_integer(), 1'500'000'000);

    const auto got = second.arguments().find("points");
    ASSERT_TRUE(got && got->kind() == kind::list && got->children().size() == 2);
    const auto last = *std::next(got->children().begin());
    EXPECT_EQ(last.kind(), kind::structure);
    EXPECT_EQ(last.type(), "point");
    EXPECT_EQ(last.text(), "point{x: 2, y: 1.5}");
    EXPECT_EQ(last.children().find("y")->as_number(), 1.5);
    const auto pear = second.arguments().find("prices")->children().find("pear");
    ASSERT_TRUE(pear);
    EXPECT_EQ(pear->as_integer(), 4);
    EXPECT_EQ(second.arguments().find("sure")->kind(), kind::boolean);
    EXPECT_FALSE(second.arguments().find("nobody"));
}

TEST_F(ReaderTest, AnyOfManyIsFoundAndFiltersCountAnew) {
    start("many.silver");
    constexpr int many = 50'000;
    for (int number = 0; number < many; ++number) SP_DEBUG("number {}", number);
    ASSERT_TRUE(silverpoint::stop());
    reader trace(path("many.silver"));
    trace.filter("0 >= 0");  // not that the thread has waited for room
    ASSERT_EQ(trace.grow_all(), std::uint64_t{many});
    reading::records records;
    for (const int at : {49'999, 0, 25'000, 25'003, 7, 40'000}) {
        trace.read(static_cast<std::uint64_t>(at), 3, records);
        ASSERT_EQ(records.size(), static_cast<std::size_t>(std::min(3, many - at)));
        EXPECT_EQ((*records[0].arguments().begin()).as_integer(), at);
    }
    // One batch after the other, as signals and models read.
    for (int at = 0; at < many; at += static_cast<int>(records.size())) {
        trace.read(static_cast<std::uint64_t>(at), 256, records);
        ASSERT_EQ(records.size(), static_cast<std::size_t>(std::min(256, many - at)));
        ASSERT_EQ((*records[0].arguments().begin()).as_integer(), at);
    }
    trace.filter("-l error");
    EXPECT_EQ(trace.grow_all(), 0u);
    trace.filter("-w '0 >= 30000 and 0 < 30010'");
    ASSERT_EQ(trace.grow_all(), 10u);
    EXPECT_EQ(trace.read(9, 1)[0].message(), "number 30009");
    try {
        trace.filter("0 >=");
        FAIL();
    } catch (const reading::error& error) {
        EXPECT_EQ(error.code(), SILVERPOINT_INVALID);
        EXPECT_STREQ(error.what(), "column 5: expected a value");
    }
    EXPECT_EQ(trace.count(), 10u);
    EXPECT_TRUE(trace.read(10, 5).empty());
}

TEST_F(ReaderTest, WhatCannotBeOpenedSaysWhy) {
    std::string error;
    EXPECT_FALSE(reader::open({path("none.silver")}, {}, error));
    EXPECT_NE(error.find("none.silver"), std::string::npos) << error;
    std::ofstream(path("text.silver")) << "this is a text, and no trace file, however long it may be";
    EXPECT_THROW(reader(path("text.silver")), reading::error);
    EXPECT_THROW(reader(std::vector<std::string>{}), reading::error);
    EXPECT_FALSE(reader::live({"no-such-program-*"}, {}, error));
    EXPECT_NE(error.find("no-such-program"), std::string::npos) << error;
    int code = 0;
    EXPECT_FALSE(reader::live({"no-such-program-*"}, {}, error, code));
    EXPECT_EQ(code, SILVERPOINT_NO_SESSION);
    EXPECT_FALSE(reader::live({"./a-file"}, {}, error, code));
    EXPECT_EQ(code, SILVERPOINT_INVALID);
    EXPECT_FALSE(reader::open({}, {}, error, code));
    EXPECT_EQ(code, SILVERPOINT_INVALID);
    EXPECT_FALSE(reader::open({path("not-there.silver")}, {}, error, code));
    EXPECT_EQ(code, SILVERPOINT_FAILED);
    EXPECT_NE(error.find("not-there"), std::string::npos) << error;
    silverpoint_reader* raw = nullptr;
    const char* const target = "no-such-program-*";
    char why[256] = "";
    EXPECT_EQ(silverpoint_reader_live(&target, 1, 0, &raw, why, sizeof why), SILVERPOINT_NO_SESSION);
    EXPECT_EQ(raw, nullptr);
    EXPECT_NE(std::string(why).find("no-such-program"), std::string::npos) << why;
    // Nothing is open: nothing is done.
    reader none;
    EXPECT_EQ(none.count(), 0u);
    EXPECT_FALSE(none.grow(std::chrono::milliseconds(1), error));
    EXPECT_FALSE(none.filter("", error));
    EXPECT_TRUE(none.messages().empty());
    silverpoint_reader_close(nullptr);
    silverpoint_records_free(nullptr);
    EXPECT_EQ(silverpoint_records_at(nullptr, 0), nullptr);
    char text[4] = "abc";
    EXPECT_EQ(silverpoint_reader_open(nullptr, 1, 0, nullptr, text, sizeof text), SILVERPOINT_INVALID);
    EXPECT_EQ(std::strlen(text), 3u);
}

// A program that records numbers until it is killed; nobody collects it.
TEST_F(ReaderTest, AProgramThatRunsIsReadWhileItRecords) {
    int begin[2];
    ASSERT_EQ(pipe(begin), 0);
    const pid_t child = fork();
    if (child == 0) {
        char go;
        for (int number = 0;; ++number) {
            SP_INFO("live {}", number);
            if (number % 100 == 99 && read(begin[0], &go, 1) != 1) _exit(0);
        }
    }
    ASSERT_GT(child, 0);
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(300);
    const auto is_time_left = [&] { return std::chrono::steady_clock::now() < patience; };
    std::string error;
    reader live;
    while (!live && is_time_left()) {
        live = reader::live({std::to_string(child)}, {}, error);
        if (!live) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ASSERT_TRUE(live) << error;
    reading::records records;
    for (unsigned rounds = 1; rounds <= 5; ++rounds) {
        while (live.count() < rounds * 100 && is_time_left()) live.grow(std::chrono::milliseconds(20));
        ASSERT_EQ(live.count(), rounds * 100) << "not all were seen in time";
        live.read(rounds * 100 - 1, 10, records);
        ASSERT_EQ(records.size(), 1u);
        EXPECT_EQ(records[0].message(), "live " + std::to_string(rounds * 100 - 1));
        EXPECT_EQ(records[0].pid(), static_cast<std::uint32_t>(child));
        ASSERT_EQ(write(begin[1], "g", 1), 1);
    }
    // From the beginning, while more comes.
    live.read(0, 1, records);
    EXPECT_EQ(records[0].message(), "live 0");
    // Killed when it has recorded what it was asked for last, and not before.
    while (live.count() < 600 && is_time_left()) live.grow(std::chrono::milliseconds(20));
    kill(child, SIGKILL);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    while (live.grow(std::chrono::milliseconds(20)) != reading::state::finished && is_time_left()) {
    }
    EXPECT_EQ(live.count(), 600u);
    EXPECT_EQ(live.read(599, 1)[0].message(), "live 599");
    close(begin[0]);
    close(begin[1]);
}

// What the logger writes is followed while it does.
TEST_F(ReaderTest, AFileThatGrowsIsFollowed) {
    start("grows.silver");
    SP_INFO("first");
    ASSERT_TRUE(silverpoint::flush());
    reader trace(path("grows.silver"), {.follow = true});
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(300);
    const auto wait_for = [&](std::uint64_t count) {
        while (trace.count() < count && std::chrono::steady_clock::now() < patience)
            trace.grow(std::chrono::milliseconds(20));
        return trace.count();
    };
    ASSERT_EQ(wait_for(1), 1u);
    for (int number = 0; number < 1000; ++number) SP_INFO("number {}", number);
    ASSERT_TRUE(silverpoint::stop());
    ASSERT_EQ(wait_for(1001), 1001u);
    EXPECT_EQ(trace.read(1000, 1)[0].message(), "number 999");
}

}  // namespace
