// printf style: what is recorded. What is refused: compile_fail; what it renders as: the readers' tests.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <silverpoint/silverpoint.hpp>
#include <string>

#include "support/traced.hpp"

namespace {

using traced::one;
using traced::take;

TEST(Percent, RecordsTypedArgumentsAndTheTextAsItStands) {
    SP_INFOF("order %d at %.2f%%", 7, 2.5);
    const auto seen = one();
    EXPECT_EQ(seen.site.kind, 0);
    EXPECT_EQ(seen.site.flags, 2);
    EXPECT_EQ(seen.site.level, 2);
    EXPECT_EQ(seen.site.text, "order %d at %.2f%%");
    EXPECT_EQ(seen.site.signature, "id");
    EXPECT_EQ(seen.text, "7 2.5");
}

TEST(Percent, EveryConversion) {
    enum Plain { kOne = 1 };
    int value = 0;
    SP_INFOF("%i %u %x %X %o %c %p %a %A %e %E %f %F %g %G", 1, 2u, 3u, 4u, 5u, 'x',
             static_cast<void*>(&value), 1.0, 1.0, 1.0, 1.0, 1.0f, 1.0, 1.0, 1.0);
    EXPECT_EQ(one().site.signature, "iIIIIcpddddfddd");
    SP_INFOF("%hhd %hd %ld %lld %jd %zu %td %Lf %d", static_cast<signed char>(1), static_cast<short>(2), 3L,
             4LL, std::intmax_t{5}, std::size_t{6}, std::ptrdiff_t{7}, 8.0L, kOne);
    EXPECT_EQ(one().site.signature.substr(0, 8), "ahlllLld");
    SP_INFOF("%*d %-*.*f %.*s", 5, 1, 6, 2, 1.5, 3, "text");
    EXPECT_EQ(one().text, "5 1 6 2 1.5 3 \"text\"");
    SP_INFOF("%ls %lc %p", L"wide", L'w', nullptr);
    EXPECT_EQ(one().site.signature, "ZWp");
}

TEST(Percent, TextsOfEveryKindAndNull) {
    const char* null = nullptr;
    char array[8] = "array";
    SP_INFOF("%s %s %s %s", null, array, std::string("string"), std::string_view("view"));
    EXPECT_EQ(one().text, "\"(null)\" \"array\" \"string\" \"view\"");
}

TEST(Percent, PrecisionBoundsWhatIsRead) {
    // Nothing behind the third byte may be read: the page after it cannot be.
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    char* two = static_cast<char*>(
        mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(two, MAP_FAILED);
    ASSERT_EQ(mprotect(two + page, page, PROT_NONE), 0);
    char* text = two + page - 3;
    __builtin_memcpy(text, "abc", 3);
    const char* whole = "whole";
    const char* null = nullptr;
    SP_INFOF("%d %.*s %s", 1, 3, text, whole);
    auto seen = one();
    EXPECT_EQ(seen.text, "1 3 \"abc\" \"whole\"");
    EXPECT_EQ(seen.site.signature, "iiss");
    SP_INFOF("%.3s|%-8.2s|%.0s|%5.1f", text, text, text, 2.0);
    EXPECT_EQ(one().text, "\"abc\" \"ab\" \"\" 2");
    SP_INFOF("%.*s %.5s %.2s", -1, whole, null, std::string("whole"));
    EXPECT_EQ(one().text, "-1 \"whole\" \"(null)\" \"whole\"");
    SP_INFOF("%.2ls", L"wide");
    EXPECT_EQ(one().site.signature, "Z");
    munmap(two, 2 * page);
}

TEST(Percent, LevelsAndStatements) {
    SP_TRACEF("0");
    SP_DEBUGF("1");
    SP_INFOF("2");
    SP_WARNF("3");
    SP_ERRORF("4");
    SP_FATALF("5");
    const auto all = take();
    ASSERT_EQ(all.size(), 6u);
    for (std::size_t i = 0; i < all.size(); ++i)
        EXPECT_EQ(all[i].site.text, std::to_string(all[i].site.level));
    for (const bool yes : {true, false}) {
        if (yes)
            SP_INFOF("yes");
        else
            SP_INFOF("no %d", 1);
        EXPECT_EQ(one().site.text, yes ? "yes" : "no %d");
    }
}

}  // namespace
