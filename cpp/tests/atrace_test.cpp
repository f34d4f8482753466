// ATrace into a file that stands for trace_marker, and into the ring; both have every call.
#include <errno.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <silverpoint/atrace.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "support/traced.hpp"

namespace {

namespace atrace = silverpoint::atrace;

// Files of this process beside its session.
const std::string& place() {
    static const std::string path = [] {
        std::string base = std::string(std::getenv("SILVERPOINT_DIR")) + "-atrace";
        (void)mkdir(base.c_str(), 0700);
        return base;
    }();
    return path;
}

std::string read_file(const std::string& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> all;
    std::stringstream stream(text);
    for (std::string line; std::getline(stream, line);) all.push_back(line);
    return all;
}

// Written by another name and moved into place.
void set_properties(const std::string& text) {
    const std::string path = place() + "/properties";
    std::ofstream(path + ".new") << text;
    ASSERT_EQ(std::rename((path + ".new").c_str(), path.c_str()), 0);
}

// The state follows the file in a thread of its own.
void become(const std::string& text, atrace::Tag tags) {
    set_properties(text);
    const auto start = std::chrono::steady_clock::now();
    while (silverpoint::detail::atrace_state.marker_tags() != tags) {
        ASSERT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(120)) << text;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

class Atrace : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        std::ofstream(place() + "/marker").flush();
        // Where there is none, until a test needs it.
        setenv("SILVERPOINT_ATRACE_MARKER", (place() + "/absent").c_str(), 1);
        setenv("SILVERPOINT_ATRACE_PROPERTIES", (place() + "/properties").c_str(), 1);
        EXPECT_EQ(silverpoint::detail::atrace_state.marker_tags(), 0u);
    }
    static void TearDownTestSuite() {
        for (const char* name : {"/marker", "/properties"}) std::remove((place() + name).c_str());
        rmdir(place().c_str());
    }
    void SetUp() override {
        ASSERT_EQ(truncate((place() + "/marker").c_str(), 0), 0);
        const bool needs_none =
            testing::UnitTest::GetInstance()->current_test_info()->name() == std::string("TheRingAlone");
        if (needs_none && has_marker) GTEST_SKIP() << "it has been opened: this one comes first";
        if (!needs_none && !has_marker) {
            setenv("SILVERPOINT_ATRACE_MARKER", (place() + "/marker").c_str(), 1);
            has_marker = true;
        }
        (void)traced::take();
    }
    static inline bool has_marker = false;
    static std::vector<std::string> marker() { return lines_of(read_file(place() + "/marker")); }
};

// What a tag's gate says is what its properties and directives say, through all that may change.
TEST_F(Atrace, TheRingAlone) {
    namespace detail = silverpoint::detail;
    const auto until = [](const std::string& text, bool is_on) {
        set_properties(text);
        const auto start = std::chrono::steady_clock::now();
        while (atrace::is_in_ring(atrace::kGraphics) != is_on ||
               detail::atrace_gate(atrace::kGraphics) != (is_on ? 1 : 0)) {
            ASSERT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(120)) << text;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    };
    // Names of what was recorded, and how many spans have ended.
    const auto taken = [] {
        std::vector<std::string> names;
        std::size_t ends = 0;
        for (const auto& record : traced::session().drain()) {
            if (record.site >= 16) names.push_back(traced::session().site(record.site).text.substr(0, 12));
            if (record.site == 3) ++ends;
        }
        return std::pair(names, ends);
    };
    const auto call_all = [] {
        atrace::begin(atrace::kGraphics, "b");
        atrace::instant(atrace::kGraphics, "instant");
        atrace::track_instant(atrace::kGraphics, "track", "on a track");
        atrace::int64(atrace::kGraphics, "count", 7);
        { SP_ATRACE_TAG(atrace::kGraphics, "scope"); }
        { SP_ATRACE_TAG(atrace::kGraphics, std::string(100, 'n')); }
        atrace::async_begin(atrace::kGraphics, "load", 1);
        atrace::async_end(atrace::kGraphics, "load", 1);
        atrace::track_begin(atrace::kGraphics, "net", "fetch", 2);
        atrace::track_end(atrace::kGraphics, "net", 2);
        atrace::instant(atrace::kGraphics | atrace::kApp, "of both");
        atrace::end(atrace::kGraphics);
        atrace::instant(atrace::kApp, "of another");
        atrace::instant(std::uint64_t{1} << 40, "of none");
    };
    using Names = std::vector<std::string>;
    const std::pair all(Names{"b", "instant", "on a track", "count", "scope", std::string(12, 'n'), "load",
                              "load", "net", "net", "of both"},
                        std::size_t{3});
    const std::pair nothing(Names{}, std::size_t{0});

    until("debug.atrace.tags.enableflags=2\n", true);
    EXPECT_FALSE(atrace::is_in_marker(atrace::kGraphics));
    for (int i = 0; i < 3; ++i) {
        call_all();
        EXPECT_EQ(taken(), all);
    }
    // Directives, whose answer is one byte.
    const std::size_t state = traced::session().get<std::uint64_t>(152) + detail::atrace_asked[1].site.entry;
    traced::session().set<std::uint8_t>(state, 0);
    EXPECT_FALSE(atrace::is_tag_enabled(atrace::kGraphics));
    EXPECT_EQ(detail::atrace_gate(atrace::kGraphics), 0);
    call_all();
    EXPECT_EQ(taken(), nothing);
    traced::session().set<std::uint8_t>(state, 1);
    {
        SP_ATRACE_TAG(atrace::kGraphics, "ends");
        traced::session().set<std::uint8_t>(state, 0);
    }
    traced::session().set<std::uint8_t>(state, 1);
    EXPECT_EQ(taken(), std::pair(Names{"ends"}, std::size_t{1}));
    // Properties, which shut it whatever directives say.
    until("debug.atrace.tags.enableflags=4\n", false);
    call_all();
    EXPECT_EQ(taken(), nothing);
    until("debug.atrace.tags.enableflags=6\n", true);
    call_all();
    EXPECT_EQ(taken(), all);
    EXPECT_EQ(marker(), Names{});
    until("\n", false);
}

TEST_F(Atrace, NamesOfAnyLengthAreMadeSafe) {
    for (std::size_t size = 0; size < 100; ++size) {
        std::string odd, plain(size, 'x'), safe;
        for (std::size_t at = 0; at < size; ++at) {
            odd += "|x\x7Fy\x1F~ "[at % 7];
            safe += "/x y ~ "[at % 7];
        }
        // In plain names, too: one byte that is not, at each place.
        for (std::size_t at = 0; at <= size; ++at) {
            std::string one = plain, made = plain;
            if (at < size) one[at] = '\n', made[at] = ' ';
            const std::string_view names[] = {odd, one};
            const std::int64_t number = -10;
            silverpoint::detail::AtraceMessage message('N', 42, names, 2, &number);
            ASSERT_EQ(message.text(), "N|42|" + safe + "|" + made + "|-10");
        }
    }
}

TEST_F(Atrace, BothOutputsHaveEveryCall) {
    become("debug.atrace.tags.enableflags=0x1000\n", 0x1001);
    (void)traced::take();
    atrace::begin(atrace::kApp, "outer");
    {
        SP_ATRACE("inner");
        atrace::instant(atrace::kApp, "point|of\ntime");
        atrace::track_instant(atrace::kApp, "track", "point");
    }
    atrace::int32(atrace::kApp, "small", INT32_MIN);
    atrace::int64(atrace::kApp, "large", INT64_MAX);
    atrace::async_begin(atrace::kApp, "load", -7);
    std::thread([] { atrace::async_end(atrace::kApp, "load", -7); }).join();
    atrace::track_begin(atrace::kApp, "net", "fetch", 8);
    atrace::track_end(atrace::kApp, "net", 8);
    { SP_ATRACE_TAG(atrace::kGraphics, "off"); }
    atrace::begin(atrace::kApp, std::string(3000, 'x'));
    atrace::end(atrace::kApp);
    atrace::end(atrace::kApp);
    const std::string pid = "|" + std::to_string(getpid());
    const std::string begin = "B" + pid + "|";
    const std::vector<std::string> expected = {begin + "outer",
                                               begin + "inner",
                                               "I" + pid + "|point/of time",
                                               "N" + pid + "|track|point",
                                               "E" + pid,
                                               "C" + pid + "|small|-2147483648",
                                               "C" + pid + "|large|9223372036854775807",
                                               "S" + pid + "|load|-7",
                                               "F" + pid + "|load|-7",
                                               "G" + pid + "|net|fetch|8",
                                               "H" + pid + "|net|8",
                                               begin + std::string(1023 - begin.size(), 'x'),
                                               "E" + pid,
                                               "E" + pid};
    EXPECT_EQ(marker(), expected);
    std::vector<std::string> seen;
    auto records = traced::take();
    std::sort(records.begin(), records.end(),
              [](const auto& a, const auto& b) { return a.record.ticks < b.record.ticks; });
    for (const auto& one : records) {
        EXPECT_EQ(one.site.category, "atrace::app");
        seen.push_back(std::to_string(one.site.kind) + " " + one.site.text.substr(0, 20) + " " + one.text);
    }
    const std::string id = std::to_string(static_cast<std::uint32_t>(-7));
    ASSERT_EQ(seen.size(), 11u) << testing::PrintToString(seen);
    EXPECT_EQ(seen[0].substr(0, 7), "3 outer");
    EXPECT_EQ(seen[1].substr(0, 7), "3 inner");
    EXPECT_EQ(seen[2].substr(0, 15), "5 point|of\ntime");
    EXPECT_NE(seen[5].find("9223372036854775807"), std::string::npos);
    EXPECT_NE(seen[6].find(id), std::string::npos);
    EXPECT_EQ(seen[7].substr(0, 6), "7 load");
    EXPECT_EQ(seen[8].substr(0, 5), "6 net");
    EXPECT_NE(seen[8].find("fetch"), std::string::npos);
    EXPECT_EQ(seen[9].substr(0, 5), "7 net");
    EXPECT_EQ(seen[10].substr(0, 22), "3 " + std::string(20, 'x'));
}

TEST_F(Atrace, PropertiesAreFollowedAndNamePrograms) {
    become("debug.atrace.tags.enableflags = 2 # gfx\n", 3);
    atrace::instant(atrace::kGraphics, "one");
    atrace::instant(atrace::kApp, "off");
    const std::string own = program_invocation_short_name;
    become("debug.atrace.app_number=2\ndebug.atrace.app_0=other\ndebug.atrace.app_1=" + own + "\n", 0x1001);
    atrace::instant(atrace::kApp, "two");
    become("debug.atrace.app_number=1\ndebug.atrace.app_0=other\n", 0);
    EXPECT_EQ(atrace::enabled_tags(), 0u);
    atrace::instant(atrace::kApp, "off");
    become("debug.atrace.app_number=99999999999999999999\ndebug.atrace.app_0=*\n", 0);
    become("debug.atrace.app_number=1\ndebug.atrace.app_0=*\n", 0x1001);
    atrace::instant(atrace::kApp, "three");
    const std::string instant = "I|" + std::to_string(getpid()) + "|";
    const std::vector<std::string> expected = {instant + "one", instant + "two", instant + "three"};
    EXPECT_EQ(marker(), expected);
}

// Its number is the session's, which a forked child has of its own, or asked for.
TEST_F(Atrace, AForkedChildSaysItsOwnNumber) {
    become("debug.atrace.tags.enableflags=2\n", 3);
    atrace::instant(atrace::kGraphics, "parent");
    const pid_t child = fork();
    if (child == 0) {
        atrace::instant(atrace::kGraphics, "at once");
        SP_INFO("a session of its own");
        atrace::instant(atrace::kGraphics, "later");
        _exit(0);
    }
    int status = 1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
    const std::string own = "I|" + std::to_string(child) + "|";
    const std::vector<std::string> expected = {"I|" + std::to_string(getpid()) + "|parent", own + "at once",
                                               own + "later"};
    EXPECT_EQ(marker(), expected);
}

TEST_F(Atrace, NamesBeyondThoseThatAreRememberedAreArguments) {
    become("debug.atrace.tags.enableflags=0x2\n", 3);
    (void)traced::take();
    for (int i = 0; i < 6000; ++i) {
        atrace::instant(atrace::kGraphics, "name " + std::to_string(i));
        if (i % 1000 == 999) {
            const auto records = traced::take();
            ASSERT_EQ(records.size(), 1000u);
            if (i > 5000) {
                EXPECT_EQ(records.back().site.text, "atrace");
                EXPECT_NE(records.back().text.find("name 5999"), std::string::npos) << records.back().text;
            }
        }
    }
}

}  // namespace
