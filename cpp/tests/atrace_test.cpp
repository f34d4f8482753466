// ATrace into a file that stands for trace_marker, and into the ring; both have every call.
#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <silverpoint/atrace.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "atrace_fixture.hpp"

namespace {

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
    // Properties shut it, against all directives.
    until("debug.atrace.tags.enableflags=4\n", false);
    call_all();
    EXPECT_EQ(taken(), nothing);
    until("debug.atrace.tags.enableflags=6\n", true);
    call_all();
    EXPECT_EQ(taken(), all);
    EXPECT_EQ(marker(), Names{});
    // The kernel gets the tag while a stretch is open that only the ring has: it does not get the end.
    const auto nest = [&](const auto& again, int depth) -> void {
        SP_ATRACE_TAG(atrace::kGraphics, "alone");
        if (depth < 1000) return again(again, depth + 1);
        setenv("SILVERPOINT_ATRACE_MARKER", (place() + "/marker").c_str(), 1);
        has_marker = true;
        atrace::update_tags();
        EXPECT_TRUE(atrace::is_in_marker(atrace::kGraphics));
    };
    nest(nest, 1);
    EXPECT_EQ(marker(), Names{});
    EXPECT_EQ(taken(), std::pair(Names(1000, "alone"), std::size_t{1000}));
    become("\n", 0);
}

// Tags go to the kernel, and no longer, while stretches of time are open. It gets the end of each stretch
// whose beginning it got, and no other end. So does the ring.
TEST_F(Atrace, TheKernelIsToldOfAnEndWhereItWasToldOfTheBegin) {
    const auto is_now = [](const char* flags) {
        set_properties(std::string("debug.atrace.tags.enableflags=") + flags + "\n");
        atrace::update_tags();
    };
    is_now("2");
    (void)traced::session().drain();
    {
        SP_ATRACE_TAG(atrace::kGraphics, "outer");
        is_now("4");
        {
            SP_ATRACE_TAG(atrace::kGraphics, "silent");
            SP_ATRACE_TAG(atrace::kInput, "other");
            is_now("2");
        }
        atrace::begin(atrace::kGraphics, "by hand");
        is_now("0");
        is_now("2");
        atrace::end(atrace::kGraphics);
        is_now("0");
    }
    is_now("2");
    // As on Android, where its category is unknown.
    atrace::end(atrace::kGraphics);
    const std::string pid = "|" + std::to_string(getpid());
    const std::vector<std::string> expected = {"B" + pid + "|outer",
                                               "B" + pid + "|other",
                                               "E" + pid,
                                               "B" + pid + "|by hand",
                                               "E" + pid,
                                               "E" + pid,
                                               "E" + pid};
    EXPECT_EQ(marker(), expected);
    std::size_t begins = 0, ends = 0;
    for (const auto& record : traced::session().drain()) (record.site == 3 ? ends : begins) += 1;
    EXPECT_EQ(std::pair(begins, ends), std::pair(std::size_t{3}, std::size_t{3}));
}

// Deeper than the ring's ends are known. When the tag was switched off, the kernel kept all of those open. It
// also got ends of stretches that it did not have.
TEST_F(Atrace, TheKernelIsToldOfAnEndHoweverDeepItsBeginLies) {
    const auto is_now = [](const char* flags) {
        set_properties(std::string("debug.atrace.tags.enableflags=") + flags + "\n");
        atrace::update_tags();
    };
    // Every second one is the kernel's.
    const auto nest = [&](const auto& again, int depth) -> void {
        if (depth == 1000) return is_now("0");
        SP_ATRACE_TAG(depth % 2 == 0 ? atrace::kGraphics : atrace::kInput, "s");
        again(again, depth + 1);
    };
    const std::string end = "E|" + std::to_string(getpid());
    for (const std::size_t round : {1, 2}) {
        is_now("2");
        nest(nest, 0);
        std::size_t begins = 0, ends = 0;
        for (const std::string& line : marker()) (line == end ? ends : begins) += 1;
        EXPECT_EQ(std::pair(begins, ends), std::pair(500 * round, 500 * round));
    }
}

// Those deeper than 64 were missing in the ring, and counted nowhere.
TEST_F(Atrace, StretchesHoweverDeepAreInTheRingOrCounted) {
    become("debug.atrace.tags.enableflags=0x1000\n", 0x1001);
    const auto nest = [&](const auto& again, int depth) -> void {
        if (depth == 0) return;
        SP_ATRACE("deep");
        again(again, depth - 1);
    };
    const auto count = [&](int depth) {
        traced::session().drain();
        const std::uint64_t lost = traced::session().losses();
        std::thread([&] { nest(nest, depth); }).join();
        std::size_t begins = 0, ends = 0;
        for (const auto& record : traced::session().drain()) (record.site == 3 ? ends : begins) += 1;
        return std::tuple(begins, ends, traced::session().losses() - lost);
    };
    EXPECT_EQ(count(1000), std::tuple(std::size_t{1000}, std::size_t{1000}, std::uint64_t{0}));
    EXPECT_EQ(count(10'010), std::tuple(std::size_t{10'010}, std::size_t{10'000}, std::uint64_t{10}));
}

// A pipe as marker, whose reader has gone: the program was ended by SIGPIPE.
TEST_F(Atrace, AMarkerThatNobodyReadsDoesNotEndTheProgram) {
    const std::string path = place() + "/pipe";
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    const pid_t child = fork();
    if (child == 0) {
        const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK);
        setenv("SILVERPOINT_ATRACE_MARKER", path.c_str(), 1);
        setenv("debug.atrace.tags.enableflags", "0x1000", 1);
        silverpoint::detail::AtraceState state;
        state.update();
        state.write("B|1|read\n");
        close(reader);
        state.write("E|1\n");
        // One that the program itself has waiting stays.
        sigset_t pipe, pending;
        sigemptyset(&pipe);
        sigaddset(&pipe, SIGPIPE);
        sigprocmask(SIG_BLOCK, &pipe, nullptr);
        raise(SIGPIPE);
        state.write("E|1\n");
        sigpending(&pending);
        _exit(sigismember(&pending, SIGPIPE) == 1 ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    std::remove(path.c_str());
}

TEST_F(Atrace, MemoryOfThreadsThatHaveEndedIsUsedAgain) {
    become("debug.atrace.tags.enableflags=0x1000\n", 0x1001);
    const auto count = [] {
        std::size_t all = 0;
        for (auto* open = silverpoint::detail::atrace_opens.load(); open != nullptr; open = open->another)
            ++all;
        return all;
    };
    const std::size_t before = count();
    for (int i = 0; i < 100; ++i) {
        ASSERT_EQ(truncate((place() + "/marker").c_str(), 0), 0);
        std::thread([] {
            // One that its thread leaves open is not the next thread's.
            atrace::begin(atrace::kApp, "left");
            atrace::begin(atrace::kApp, "ended");
            atrace::end(atrace::kApp);
        }).join();
        EXPECT_EQ(marker().size(), 3u);
    }
    EXPECT_LE(count(), before + 4) << "a thread is seen as dead a moment after it was joined";
}

TEST_F(Atrace, AForkedChildGoesOnWithWhatItsParentHasBegun) {
    become("debug.atrace.tags.enableflags=0x1000\n", 0x1001);
    atrace::begin(atrace::kApp, "both");
    ASSERT_EQ(truncate((place() + "/marker").c_str(), 0), 0);
    const pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 10; ++i)
            std::thread([] {
                atrace::begin(atrace::kApp, "thread");
                atrace::end(atrace::kApp);
            }).join();
        const auto* open = silverpoint::detail::tls_atrace_open;
        _exit(silverpoint::detail::tls_atrace_next == open->all + 2 && open->all[1].id != 0 ? 0 : 1);
    }
    int status = 1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    atrace::end(atrace::kApp);
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

TEST_F(Atrace, LongNamesAreCutBetweenCharactersAndNumbersNever) {
    const auto text = [](char letter, std::vector<std::string_view> names, const std::int64_t* number) {
        return std::string(
            silverpoint::detail::AtraceMessage(letter, 42, names.data(), names.size(), number).text());
    };
    std::string two, three, four;
    for (int i = 0; i < 2000; ++i) two += "ä", three += "€", four += "\U0001F600";
    const std::int64_t least = INT64_MIN;
    for (const std::string& name : {two, three, four}) {
        const std::size_t width = name.size() / 2000;
        for (const std::string ahead : {"", "x", "xx", "xxx"}) {
            const std::string begin = text('B', {ahead + name}, nullptr);
            EXPECT_LE(begin.size(), 1023u);
            EXPECT_GT(begin.size(), 1023 - width);
            EXPECT_EQ((begin.size() - 5 - ahead.size()) % width, 0u);
            const std::string counter = text('C', {ahead + name}, &least), tail = "|-9223372036854775808";
            EXPECT_EQ(counter.substr(counter.size() - tail.size()), tail);
            EXPECT_EQ((counter.size() - 5 - ahead.size() - tail.size()) % width, 0u);
        }
    }
    // Invalid UTF-8 is cut too, and something of it remains.
    EXPECT_EQ(text('B', {std::string(3000, '\x80')}, nullptr).size(), 1023u);
    // A track is the same in all of its messages, and leaves room for what is on it.
    const std::string track(2000, 't'), name(2000, 'n'), cut(900, 't');
    const std::int64_t cookie = -7;
    EXPECT_EQ(text('H', {track}, &cookie), "H|42|" + cut + "|-7");
    EXPECT_EQ(text('G', {track, name}, &cookie).substr(0, 907), "G|42|" + cut + "|n");
    EXPECT_EQ(text('N', {track, name}, nullptr).size(), 1023u);
}

TEST_F(Atrace, BothOutputsHaveEveryCall) {
    become("debug.atrace.tags.enableflags=0x1000\n", 0x1001);
    (void)traced::take();
    call_everything();
    EXPECT_EQ(marker(), messages(getpid()));
    std::vector<std::string> seen;
    auto records = traced::take();
    std::sort(records.begin(), records.end(),
              [](const auto& a, const auto& b) { return a.record.ticks < b.record.ticks; });
    // What convert tells calls apart by (its tests have the same): kind, types and names of arguments.
    std::set<std::string> shapes;
    for (const auto& one : records) {
        EXPECT_EQ(one.site.category, "atrace::app");
        shapes.insert(std::to_string(one.site.kind) + " " + one.site.signature + " " + one.site.names);
        seen.push_back(std::to_string(one.site.kind) + " " + one.site.text.substr(0, 20) + " " + one.text);
    }
    const std::set<std::string> known = {"3  ",      "4 l value\n",     "5  ",     "5 s track\n",
                                         "6 L id\n", "6 Ls id\nname\n", "7 L id\n"};
    EXPECT_EQ(shapes, known);
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
