// What streams mean: literals go to the site, everything else into the record. Part of front_test.
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <silverpoint/silverpoint.hpp>
#include <string>
#include <thread>
#include <utility>

#include "support/traced.hpp"

namespace {

using traced::one;
using traced::take;

TEST(Streams, LiteralsGoToTheSite) {
    const int x = 5;
    SP_DEBUG << "pos" << x << "of {all}" << 2.5 << "end";
    const auto seen = one();
    EXPECT_EQ(seen.site.kind, 1);
    EXPECT_EQ(seen.site.text, "pos {} of {{all}} {} end");
    EXPECT_EQ(seen.site.signature, "id");
    EXPECT_EQ(seen.text, "5 2.5");
}

TEST(Streams, OnlyLiteralsOrOnlyValues) {
    SP_DEBUG << "only";
    EXPECT_EQ(one().site.text, "only");
    SP_DEBUG << 1;
    EXPECT_EQ(one().site.text, "{}");
}

template <std::size_t N>
void stream_array(const char (&text)[N]) {
    SP_INFO << text << 1;
}

TEST(Streams, AnArrayThatChangesIsText) {
    char buffer[8] = "one";
    stream_array(buffer);
    auto seen = one();
    EXPECT_EQ(seen.text, "\"one\" 1");
    EXPECT_EQ(seen.site.text, "{} {}");
    std::strcpy(buffer, "two");
    stream_array(buffer);
    EXPECT_EQ(one().text, "\"two\" 1");
}

TEST(Streams, AnotherLiteralAtTheSameSiteIsText) {
    stream_array("first");
    auto seen = one();
    EXPECT_EQ(seen.site.text, "first {}");
    EXPECT_EQ(seen.text, "1");
    stream_array("other");
    seen = one();
    EXPECT_EQ(seen.site.text, "{} {}");
    EXPECT_EQ(seen.text, "\"other\" 1");
    stream_array("first");
    EXPECT_EQ(one().text, "1");
}

TEST(Streams, ALiteralThatIsNotUtf8IsText) {
    // Readers refuse a site whose template is not UTF-8, and then know none of its records.
    for (int i = 0; i < 2; ++i) {
        SP_INFO << "caf\xE9" << i;
        const auto seen = one();
        EXPECT_EQ(seen.site.text, "{} {}");
        EXPECT_EQ(seen.text, "\"caf\xE9\" " + std::to_string(i));
    }
    SP_INFO << "caf\xC3\xA9 \xF0\x9F\x99\x82" << 2;
    EXPECT_EQ(one().site.text, "caf\xC3\xA9 \xF0\x9F\x99\x82 {}");
}

TEST(Streams, ALiteralThatIsTooLongForATemplateIsText) {
    // 3,000 bytes: more than a template of a stream takes.
#define TEN(x) x x x x x x x x x x
    SP_INFO << TEN(TEN(TEN("abc"))) << 1;
#undef TEN
    const auto seen = one();
    EXPECT_EQ(seen.site.text, "{} {}");
    EXPECT_EQ(seen.text.size(), 3004u);
}

// One place for each number, used by two threads for the first time, with two literals.
template <int kPlace>
void stream_first_of_two(std::atomic<int>& ready, bool is_on) {
    ready.fetch_add(1);
    while (ready.load() < 2 * (kPlace + 1)) continue;
    SP_INFO << (is_on ? "on" : "of") << int(is_on) << kPlace;
}

TEST(Streams, TwoLiteralsAtTheFirstUseAreThoseOfTheirRecords) {
    std::atomic<int> ready{0};
    const auto all = [&]<int... kPlace>(std::integer_sequence<int, kPlace...>, bool is_on) {
        (stream_first_of_two<kPlace>(ready, is_on), ...);
        ready.fetch_add(1);
        while (ready.load() < 2 * (int(sizeof...(kPlace)) + 1)) continue;
        // Again, when all places are complete.
        (stream_first_of_two<kPlace>(ready, is_on), ...);
    };
    constexpr auto kPlaces = std::make_integer_sequence<int, 100>();
    std::thread other([&] { all(kPlaces, true); });
    all(kPlaces, false);
    other.join();
    const auto lines = take();
    EXPECT_EQ(lines.size(), 400u);
    for (const auto& seen : lines) {
        // The literal stands in the template, or is the first value.
        const std::string line = seen.site.text + " | " + seen.text;
        const bool is_on = line.find("on") != std::string::npos;
        const bool says_on = seen.text.find(is_on && seen.site.text[0] == '{' ? "\"on\" 1 " : "1 ") == 0;
        EXPECT_EQ(is_on, says_on) << line;
    }
}

// As in a child that was forked while another thread of its parent was at the place's first record.
TEST(Streams, APlaceThatAnotherProcessHadBegunIsCompletedByThisOne) {
    SP_DETAIL_HERE(info)
    for (void* place = SP_DETAIL_ON(info, kStream, "", ""); place != nullptr; place = nullptr) {
        auto& site = silverpoint::detail::stream_site(place);
        site.claimed.store(static_cast<std::uint32_t>(getppid()));
        silverpoint::detail::Sink{} & silverpoint::detail::Start{{site}}.SP_DETAIL_TEXT << "from" << 1;
    }
    const auto seen = one();
    EXPECT_EQ(seen.site.text, "from {}");
    EXPECT_EQ(seen.text, "1");
}

// A text that is not a literal is remembered by its address, and recorded as it is then.
TEST(Streams, AnArrayThatIsNoLiteralIsTextEachTime) {
    char texts[2][6] = {"first", "other"};
    for (int i = 0; i < 6; ++i) {
        texts[i % 2][0] = static_cast<char>('a' + i);
        SP_INFO << texts[i % 2] << i;
        const auto seen = one();
        EXPECT_EQ(seen.site.text, "{} {}");
        EXPECT_EQ(seen.text, '"' + std::string(texts[i % 2]) + "\" " + std::to_string(i));
    }
}

TEST(Streams, PrecedenceIsThatOfStreams) {
    const int a = 6, b = 3;
    SP_INFO << (a & b) << a + b << (a < b) << (a == b ? "eq" : "ne");
    const auto seen = one();
    EXPECT_EQ(seen.text, "2 9 false");
    EXPECT_EQ(seen.site.text, "{} {} {} ne");
}

}  // namespace
