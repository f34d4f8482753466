// Debug output: narrow and wide texts as records of one kind.
#include <silverpoint/debug_output.hpp>
#include <string>

#include "support/traced.hpp"

namespace {

using silverpoint::debug_output;
using traced::one;
using traced::take;

TEST(DebugOutput, IsARecordOfItsCategoryWhereItStands) {
    debug_output("loaded {}\n");
    const auto line = static_cast<std::uint32_t>(__LINE__ - 1);
    const auto seen = one();
    EXPECT_EQ(seen.site.kind, 0);
    EXPECT_EQ(seen.site.level, 1);
    EXPECT_EQ(seen.site.line, line);
    EXPECT_EQ(seen.site.category, "debug_output");
    EXPECT_TRUE(seen.site.file.ends_with("debug_output_test.cpp"));
    EXPECT_EQ(seen.site.text, "{}");
    EXPECT_EQ(seen.site.signature, "s");
    EXPECT_EQ(seen.text, "\"loaded {}\n\"");
}

TEST(DebugOutput, WideTextStaysWide) {
    const std::string narrow = "na\xC3\xAFve";
    const std::u16string text16 = u"na\u00EFve";
    debug_output(narrow);
    debug_output(narrow.c_str());
    debug_output(u8"na\u00EFve");
    debug_output(text16);
    debug_output(text16.c_str());
    debug_output(U"na\u00EFve");
    debug_output(L"na\u00EFve");
    const auto all = take();
    ASSERT_EQ(all.size(), 7u);
    const char* const wide = sizeof(wchar_t) == 2 ? "S" : "Z";
    const std::string quoted = "\"na\xC3\xAFve\"", escaped = "\"na\\x{EF}ve\"";
    const char* const signatures[] = {"s", "s", "s", "S", "S", "Z", wide};
    for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(all[i].site.signature, signatures[i]) << i;
        EXPECT_EQ(all[i].site.category, "debug_output");
        EXPECT_EQ(all[i].text, i < 3 ? quoted : (i < 5 || *signatures[i] == 'S' ? "u" : "U") + escaped) << i;
    }
}

TEST(DebugOutput, NullAndEmptyAreEmpty) {
    debug_output(static_cast<const char*>(nullptr));
    debug_output(static_cast<const char16_t*>(nullptr));
    debug_output(nullptr);
    debug_output("");
    // An array ends at its first zero, as what a function of C has filled.
    char room[16] = "so far";
    debug_output(room);
    const auto all = take();
    ASSERT_EQ(all.size(), 5u);
    EXPECT_EQ(all[0].text, "\"\"");
    EXPECT_EQ(all[1].text, "u\"\"");
    EXPECT_EQ(all[2].text, "\"\"");
    EXPECT_EQ(all[3].text, "\"\"");
    EXPECT_EQ(all[4].text, "\"so far\"");
}

}  // namespace
