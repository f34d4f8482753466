// The capture for users' unit tests. All sites are off here but for it.
#include <chrono>
#include <map>
#include <optional>
#include <silverpoint/testing.hpp>
#include <string>
#include <thread>
#include <vector>

#include "support/traced.hpp"

struct Point {
    int x, y;
};
SP_STRUCT(Point, x, y)
enum class Side : std::uint8_t { Buy, Sell = 7 };
SP_ENUM(Side, Buy, Sell)
enum class Mode : std::uint8_t { kRead = 1, kWrite = 2 };
SP_FLAGS(Mode, kRead, kWrite)

namespace {

using silverpoint::testing::Capture;
using silverpoint::testing::Scope;

void fill(int id) {
    const std::string venue = "XETR";
    const double px = 2.5;
    SP_EVENT("order.filled", id, venue, px);
}

TEST(Capture, SeesAnEventByNameAndValues) {
    Capture capture;
    fill(7);
    EXPECT_TRUE(capture.has("order.filled"));
    EXPECT_TRUE(capture.has("order.filled", {{"id", 7}, {"venue", "XETR"}, {"px", 2.5}}));
    EXPECT_TRUE(capture.has("order.filled", {{"0", 7u}}));
    EXPECT_FALSE(capture.has("order.filled", {{"id", 8}}));
    EXPECT_FALSE(capture.has("order.filled", {{"id", "7"}}));
    EXPECT_FALSE(capture.has("order.filled", {{"price", 2.5}}));
    EXPECT_FALSE(capture.has("order"));
    fill(8);
    EXPECT_EQ(capture.count("order.filled"), 2u);
    EXPECT_EQ(capture.count("order.filled", {{"id", 8}}), 1u);
}

TEST(Capture, SaysWhatWasRecordedInstead) {
    Capture capture;
    const std::string nothing = capture.has("order.filled", {{"id", 7}}).message();
    EXPECT_EQ(nothing, "not recorded: order.filled id=7\nNothing was recorded.\n");
    fill(8);
    SP_WARN("slow: {} ms", 12);
    const std::string message = capture.has("order.filled", {{"id", 7}, {"venue", "X"}}).message();
    EXPECT_EQ(message.find("not recorded: order.filled id=7 venue=\"X\"\nWhat was recorded:\n"), 0u)
        << message;
    EXPECT_NE(
        message.find("  event order.filled id=8 (i32) venue=\"XETR\" (text) px=2.5 (f64)  testing_test.cpp:"),
        std::string::npos)
        << message;
    EXPECT_NE(message.find("  log slow: {} ms 0=12 (i32)  testing_test.cpp:"), std::string::npos) << message;
}

TEST(Capture, GoogleTestShowsTheMessage) {
    Capture capture;
    fill(8);
    const testing::AssertionResult result = capture.has("order.filled", {{"id", 7}});
    EXPECT_FALSE(result);
    EXPECT_NE(std::string(result.message()).find("id=8 (i32)"), std::string::npos) << result.message();
    // Without GoogleTest: something like a bool.
    if (!capture.has("order.filled")) FAIL();
    EXPECT_TRUE(static_cast<bool>(capture.has("order.filled")));
}

TEST(Capture, BeginsWhenItIsMadeOrCleared) {
    Capture outer;
    fill(1);
    {
        Capture inner;
        fill(2);
        EXPECT_FALSE(inner.has("order.filled", {{"id", 1}}));
        EXPECT_TRUE(inner.has("order.filled", {{"id", 2}}));
    }
    fill(3);
    EXPECT_EQ(outer.count("order.filled"), 3u);
    outer.clear();
    EXPECT_EQ(outer.count("order.filled"), 0u);
    fill(4);
    const auto all = outer.records();
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].kind, "event");
    EXPECT_EQ(all[0].level, silverpoint::Level::kInfo);
    EXPECT_NE(all[0].function.find("fill"), std::string::npos);
    EXPECT_EQ(all[0].find("id")->type, "i32");
}

TEST(Capture, OfOneThreadOrAll) {
    Capture process;
    Capture mine(Scope::kThread);
    std::thread([] { fill(5); }).join();
    fill(6);
    EXPECT_EQ(process.count("order.filled"), 2u);
    EXPECT_EQ(mine.count("order.filled"), 1u);
    EXPECT_TRUE(mine.has("order.filled", {{"id", 6}}));
}

TEST(Capture, SwitchesSitesOnOnlyWhileItLives) {
    const auto directives = [] {
        reader::Session& session = traced::session();
        std::string text;
        for (std::uint32_t i = 0; i < session.get<std::uint32_t>(708); ++i)
            text += session.get<char>(session.get<std::uint64_t>(128) + i);
        return text;
    };
    const std::string before = directives();
    fill(1);
    {
        Capture capture;
        EXPECT_NE(directives(), before);
        fill(2);
        EXPECT_EQ(capture.count("order.filled"), 1u);
    }
    EXPECT_EQ(directives(), before);
    EXPECT_FALSE(SP_ENABLED(fatal));
    traced::take();
    fill(3);
    EXPECT_TRUE(traced::take().empty());
}

TEST(Capture, TakesNothingFromACollector) {
    reader::Session& session = traced::session();
    traced::take();
    Capture capture;
    fill(1);
    EXPECT_TRUE(capture.has("order.filled", {{"id", 1}}));
    session.set<std::uint32_t>(768, 1);
    EXPECT_EQ(traced::take().size(), 1u);
    // What the collector has taken is seen all the same.
    EXPECT_TRUE(capture.has("order.filled", {{"id", 1}}));
    {
        // Directives are the collector's now.
        const auto generation = session.get<std::uint32_t>(704);
        Capture another;
        fill(2);
        EXPECT_TRUE(another.has("order.filled", {{"id", 2}}));
        EXPECT_EQ(session.get<std::uint32_t>(704), generation);
    }
    session.set<std::uint32_t>(768, 0);
    EXPECT_EQ(traced::take().size(), 1u);
}

TEST(Capture, ManyRecordsAreKeptAsLongAsTheRingHoldsThem) {
    Capture capture(Scope::kThread);
    for (int i = 0; i < 200'000; ++i) fill(i);
    EXPECT_TRUE(capture.has("order.filled", {{"id", 199'999}}));
    EXPECT_LT(capture.count("order.filled"), 200'000u);
    EXPECT_NE(capture.list().find("may have been overwritten"), std::string::npos);
    capture.clear();
    fill(1);
    EXPECT_EQ(capture.list().find("may have been overwritten"), std::string::npos) << capture.list();
    EXPECT_EQ(capture.count("order.filled"), 1u);
}

TEST(Capture, ValuesOfEveryType) {
    using namespace std::chrono_literals;
    __extension__ using Int128 = __int128;
    Capture capture;
    const float f = 0.1f;
    const auto big = static_cast<Int128>(-5) * 1'000'000'000'000'000'000 * 1000;
    const std::optional<int> none, some = 3;
    const std::vector<int> list{1, 2};
    const std::map<std::string, bool> map{{"a", true}};
    const std::pair<int, char> pair(1, 'x');
    const Point point{1, -2};
    const auto side = Side::Sell;
    const auto wide = u"\u00fc";
    const bool yes = true;
    SP_EVENT("values", f, big, none, some, list, map, pair, point, side, wide, yes, 1500ns, ~0ull, nullptr);
    EXPECT_TRUE(capture.has("values", {{"f", 0.1},
                                       {"none", nullptr},
                                       {"some", 3},
                                       {"list", "[1, 2]"},
                                       {"map", "{\"a\": true}"},
                                       {"pair", "(1, \"x\")"},
                                       {"point", "Point{x: 1, y: -2}"},
                                       {"side", "Sell"},
                                       {"wide", "ü"},
                                       {"yes", true}}));
    EXPECT_TRUE(capture.has("values", {{"side", 7}, {"12", ~0ull}, {"11", 1500}, {"13", 0}}));
    const auto records = capture.records();
    ASSERT_EQ(records.size(), 1u);
    EXPECT_EQ(records[0].find("big")->text, "-5000000000000000000000");
    EXPECT_EQ(records[0].find("list")->type, "[i32]");
    EXPECT_FALSE(capture.has("values", {{"yes", 1}}));
    EXPECT_FALSE(capture.has("values", {{"none", 0}}));
    EXPECT_FALSE(capture.has("values", {{"f", 0.2}}));
}

TEST(Capture, Metadata) {
    Capture capture;
    const int took = 12, address = 0x21, negative = -1;
    const double ratio = 1.5;
    const std::string password = "hunter2", name = "ada";
    const std::vector<int> list{255, 256};
    const std::optional<int> none;
    const auto both = static_cast<Mode>(3), more = static_cast<Mode>(9), zero = static_cast<Mode>(0);
    SP_EVENT("marked", SP_UNIT(took, "ms"), SP_UNIT(ratio, "m/s"), SP_HEX(address), SP_HEX(negative),
             SP_HEX(list), SP_SECRET(password), SP_UNIT(name, "users"), SP_UNIT(none, "ms"), both, more,
             zero);
    EXPECT_TRUE(
        capture.has("marked", {{"0", 12}, {"1", 1.5}, {"2", 0x21}, {"3", -1}, {"5", nullptr}, {"6", "ada"}}));
    EXPECT_TRUE(capture.has("marked", {{"0", "12 ms"},
                                       {"1", "1.5 m/s"},
                                       {"2", "0x21"},
                                       {"3", "-0x1"},
                                       {"4", "[0xff, 0x100]"},
                                       {"5", "<secret>"},
                                       {"7", nullptr},
                                       {"both", "kRead|kWrite"},
                                       {"more", "kRead|0x8"}}));
    EXPECT_TRUE(capture.has("marked", {{"both", 3}, {"more", 9}, {"zero", 0}}));
    EXPECT_FALSE(capture.has("marked", {{"0", "12"}}));
    EXPECT_FALSE(capture.has("marked", {{"1", "1.5"}}));
    EXPECT_FALSE(capture.has("marked", {{"5", "hunter2"}}));
    EXPECT_FALSE(capture.has("marked", {{"7", "none"}}));
    EXPECT_FALSE(capture.has("marked", {{"7", "none ms"}}));
    const auto records = capture.records();
    ASSERT_EQ(records.size(), 1u);
    EXPECT_EQ(records[0].find("0")->unit, "ms");
    EXPECT_EQ(records[0].find("2")->unit, "");
    const std::string line = records[0].text();
    for (const char* part : {"12 ms (i32)", "1.5 m/s (f64)", "0x21 (i32)", "<secret>", "\"ada\" users (text)",
                             "none (none)", "both=kRead|kWrite (Mode)"})
        EXPECT_NE(line.find(part), std::string::npos) << part << " in " << line;
    EXPECT_EQ(line.find("hunter2"), std::string::npos);
}

TEST(Capture, OtherKinds) {
    Capture capture;
    SP_INFO << "pos" << 1;
    SP_INFOF("%d", 5);
    SP_COUNTER("depth", 3, "items");
    SP_ASYNC_BEGIN("fetch", 9);
    { SP_SPAN("load"); }
    EXPECT_TRUE(capture.has("pos {}", {{"0", 1}}));
    EXPECT_TRUE(capture.has("%d", {{"0", 5}}));
    EXPECT_TRUE(capture.has("depth", {{"3", 3}}));
    EXPECT_TRUE(capture.has("depth", {{"3", "3 items"}}));
    EXPECT_TRUE(capture.has("fetch", {{"id", 9}}));
    EXPECT_TRUE(capture.has("load"));
    EXPECT_EQ(capture.records().size(), 5u);
}

}  // namespace
