// Functions as of std::format: each call is a site of its own.
#include <memory>
#include <silverpoint/format.hpp>
#include <string>
#include <thread>
#include <vector>

#include "format_part.hpp"
#include "support/traced.hpp"

namespace {

using traced::one;
using traced::take;

TEST(Format, RecordsTypedArgumentsAndWhereItStands) {
    silverpoint::info("order {} at {:.2f} of {}", 7, 2.5, std::string("me"));
    const auto line = static_cast<std::uint32_t>(__LINE__ - 1);
    const auto seen = one();
    EXPECT_EQ(seen.site.kind, 0);
    EXPECT_EQ(seen.site.level, 2);
    EXPECT_EQ(seen.site.line, line);
    EXPECT_TRUE(seen.site.file.ends_with("format_test.cpp"));
    EXPECT_NE(seen.site.function.find("TestBody"), std::string::npos);
    EXPECT_EQ(seen.site.text, "order {} at {:.2f} of {}");
    EXPECT_EQ(seen.site.signature, "ids");
    EXPECT_EQ(seen.text, "7 2.5 \"me\"");
}

TEST(Format, AllLevels) {
    silverpoint::trace("{}", 0);
    silverpoint::debug("{}", 1);
    silverpoint::info("{}", 2);
    silverpoint::warn("{}", 3);
    silverpoint::error("{}", 4);
    silverpoint::fatal("{}", 5);
    const auto all = take();
    ASSERT_EQ(all.size(), 6u);
    for (int i = 0; i < 6; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)].site.level, i);
}

TEST(Format, ALiteralAloneIsTextAndSoIsAMessage) {
    silverpoint::info("braces {} } {");
    EXPECT_EQ(one().site.text, "braces {{}} }} {{");
    const std::string message = "made {} elsewhere";
    silverpoint::warn(message);
    auto seen = one();
    EXPECT_EQ(seen.site.text, "{}");
    EXPECT_EQ(seen.text, "\"made {} elsewhere\"");
    silverpoint::info(message.c_str());
    EXPECT_EQ(one().text, "\"made {} elsewhere\"");
    silverpoint::info(42);
    EXPECT_EQ(one().text, "42");
}

// Twice on one line, in a template, in a header of two files: never one for another.
template <class T>
void generic(T value) {
    silverpoint::info("generic {}", value);
}

TEST(Format, EachCallIsASiteOfItsOwn) {
    for (int i = 0; i < 2; ++i) silverpoint::info("same {}", 1), silverpoint::info("same {}", 2.5);
    auto all = take();
    ASSERT_EQ(all.size(), 4u);
    EXPECT_EQ(all[0].site.id, all[2].site.id);
    EXPECT_EQ(all[1].site.id, all[3].site.id);
    EXPECT_EQ(all[0].site.signature, "i");
    EXPECT_EQ(all[1].site.signature, "d");
    generic(1);
    generic(2.5);
    all = take();
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].text + all[1].text, "12.5");
    format_here("here");
    format_elsewhere("elsewhere");
    format_here("here");
    all = take();
    ASSERT_EQ(all.size(), 6u);
    for (std::size_t i = 0; i < 6; ++i) {
        EXPECT_EQ(all[i].text, i / 2 == 1 ? "\"elsewhere\"" : "\"here\"");
        EXPECT_EQ(all[i].site.text, i % 2 == 0 ? "in a header {}" : "of a member {}");
    }
    first_of_part(1);
    first_of_other_part(2);
    all = take();
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].site.text, "part {}");
    EXPECT_EQ(all[1].site.text, "other part {}");
}

TEST(Format, OffIsOff) {
    const auto call = [] { silverpoint::info("switched {}", 1); };
    call();
    const auto seen = one();
    traced::session().state(seen.site.id) = 0;
    call();
    EXPECT_TRUE(take().empty());
    traced::session().state(seen.site.id) = 1;
    call();
    EXPECT_EQ(one().site.id, seen.site.id);
}

TEST(Format, ManyThreadsMeetAtOneCall) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([i] {
            for (int j = 0; j < 50; ++j) silverpoint::info("met {} {}", i, j);
        });
    for (auto& thread : threads) thread.join();
    const auto all = take();
    EXPECT_EQ(all.size(), 400u);
    for (const auto& seen : all) EXPECT_EQ(seen.site.text, "met {} {}");
}

// Loggers of variable names may take half of the table; what a native call has to say is not theirs.
TEST(Format, TextsInVariablesAreRecordedWhenOthersHaveTheirHalf) {
    namespace detail = silverpoint::detail;
    auto& next = detail::session.header().sites_next;
    const std::uint32_t before = next.load();
    next.store(detail::session.sites_cap / 2);
    const auto say = [](char(&text)[16], bool first) {
        silverpoint::info(text);
        silverpoint::info(first ? "first" : "other");
    };
    char text[16] = "in an array";
    for (const bool first : {true, false}) say(text, first);
    const auto all = take();
    ASSERT_EQ(all.size(), 4u);
    EXPECT_EQ(all[0].text, "\"in an array\"");
    EXPECT_EQ(all[1].site.text, "first");
    EXPECT_EQ(all[2].text, "\"in an array\"");
    EXPECT_EQ(all[3].text, "\"other\"");
    // Without any room they are counted.
    const auto losses = [] {
        std::uint64_t sum = 0;
        for (unsigned cause = 0; cause < 8; ++cause) sum += traced::session().session_losses(cause);
        return sum;
    };
    const std::uint64_t losses_before = losses(), now = next.load();
    next.store(detail::session.sites_cap);
    silverpoint::info(text);
    EXPECT_EQ(losses(), losses_before + 1);
    next.store(static_cast<std::uint32_t>(now));
    EXPECT_LT(before, now);
}

}  // namespace

void format_here(const char* text) {
    in_header(text);
    Member{}.call(text);
}
void first_of_part(int number) { Member{}.info("part {}", number); }
