// Every kind of argument: its signature and its value, as a reader sees them.
#include <array>
#include <cstdint>
#include <deque>
#include <forward_list>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <silverpoint/silverpoint.hpp>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "support/expect_value.hpp"

namespace shapes {
struct Point {
    int x;
    std::int16_t y;
};
struct Path {
    std::string name;
    std::vector<Point> points;
    std::optional<Point> end;
    std::map<std::string, Point> marks;
    double length[2];
};
enum class Side : std::uint8_t { kBuy = 3 };
enum Plain { kFirst, kSecond };
}  // namespace shapes
SP_STRUCT(shapes::Point, x, y)
SP_STRUCT(shapes::Path, name, points, end, marks, length)

namespace {

using traced::one;
using namespace std::string_literals;

TEST(Values, Integers) {
    EXPECT_VALUE("a", "-128", static_cast<signed char>(-128));
    EXPECT_VALUE("A", "255", static_cast<unsigned char>(255));
    EXPECT_VALUE("h", "-32768", std::int16_t{-32768});
    EXPECT_VALUE("H", "65535", std::uint16_t{65535});
    EXPECT_VALUE("i", "-2147483648", std::numeric_limits<int>::min());
    EXPECT_VALUE("I", "4294967295", 0xFFFFFFFFu);
    EXPECT_VALUE("l", "-9223372036854775808", std::numeric_limits<long>::min());
    EXPECT_VALUE("l", "5", 5LL);
    EXPECT_VALUE("L", "18446744073709551615", ~0ull);
    EXPECT_VALUE("L", "7", std::size_t{7});
    __extension__ using Int128 = __int128;
    __extension__ using UInt128 = unsigned __int128;
    EXPECT_VALUE("o", "-170141183460469231731687303715884105728",
                 static_cast<Int128>(static_cast<UInt128>(1) << 127));
    EXPECT_VALUE("O", "340282366920938463463374607431768211455", ~static_cast<UInt128>(0));
    const int constant = 3;
    EXPECT_VALUE("i", "3", constant);
    volatile int changing = 4;
    EXPECT_VALUE("i", "4", static_cast<int>(changing));
}

TEST(Values, Floats) {
    EXPECT_VALUE("f", "0.100000001", 0.1f);
    EXPECT_VALUE("d", "0.10000000000000001", 0.1);
    EXPECT_VALUE("d", "0.5", 0.5L);
    EXPECT_VALUE("d", "inf", std::numeric_limits<double>::infinity());
}

TEST(Values, BoolsAndCharacters) {
    EXPECT_VALUE("b", "true", true);
    EXPECT_VALUE("b", "false", false);
    EXPECT_VALUE("c", "'x'", 'x');
    EXPECT_VALUE("c", "'y'", u8'y');
    EXPECT_VALUE("w", "'\\x{20AC}'", u'\u20ac');
    EXPECT_VALUE("W", "'\\x{1F600}'", U'\U0001F600');
    EXPECT_VALUE("W", "'z'", L'z');
}

TEST(Values, Enumerations) {
    const auto side = shapes::Side::kBuy;
    EXPECT_VALUE("eshapes%3A%3ASide|A|;", "shapes%3A%3ASide(3)", side);
    EXPECT_VALUE("eshapes%3A%3APlain|I|;", "shapes%3A%3APlain(1)", shapes::kSecond);
    EXPECT_VALUE("estd%3A%3Abyte|A|;", "std%3A%3Abyte(9)", std::byte{9});
}

TEST(Values, Pointers) {
    EXPECT_VALUE("p", "0x0", nullptr);
    int* const number = reinterpret_cast<int*>(0x1000);
    EXPECT_VALUE("p", "0x1000", number);
    const void* nothing = nullptr;
    EXPECT_VALUE("p", "0x0", nothing);
    void (*function)() = nullptr;
    EXPECT_VALUE("p", "0x0", function);
}

TEST(Values, Texts) {
    EXPECT_VALUE("s", "\"abc\"", "abc"s);
    EXPECT_VALUE("s", "\"\"", ""s);
    EXPECT_VALUE("s", "\"view\"", std::string_view("viewer", 4));
    const std::string with_zero("a\0b", 3);
    EXPECT_VALUE("s", "\"a\0b\""s, with_zero);
    const char* pointer = "pointer";
    EXPECT_VALUE("s", "\"pointer\"", pointer);
    const char* null = nullptr;
    EXPECT_VALUE("s", "\"(null)\"", null);
    char array[16] = "array";
    EXPECT_VALUE("s", "\"array\"", array);
    char* mutable_pointer = array;
    EXPECT_VALUE("s", "\"array\"", mutable_pointer);
    const char full[3] = {'a', 'b', 'c'};
    EXPECT_VALUE("s", "\"abc\"", full);
    EXPECT_VALUE("s", "\"u8\"", u8"u8");
    EXPECT_VALUE("s", "\"u8s\"", std::u8string(u8"u8s"));
    EXPECT_VALUE("S", "u\"\\x{FC} x\"", std::u16string(u"\u00fc x"));
    EXPECT_VALUE("S", "u\"x\"", u"x");
    EXPECT_VALUE("Z", "U\"\\x{1F600}\"", std::u32string_view(U"\U0001F600"));
    EXPECT_VALUE("Z", "U\"wide\"", L"wide");
    EXPECT_VALUE("Z", "U\"wide\"", std::wstring(L"wide"));
    const char16_t* null16 = nullptr;
    EXPECT_VALUE("S", "u\"(null)\"", null16);
}

// Units as they are, whether they are characters or not.
TEST(Values, UnitsOfWideTextsAreKept) {
    const char16_t halves[] = {u'a', 0xD800, 0xDC00, 0xDFFF, 0};
    const std::string kept16 = R"(u"a\x{D800}\x{DC00}\x{DFFF}")";
    EXPECT_VALUE("S", kept16, std::u16string(halves));
    EXPECT_VALUE("S", kept16, std::u16string_view(halves));
    EXPECT_VALUE("S", kept16, halves);
    const char16_t* const pointer16 = halves;
    EXPECT_VALUE("S", kept16, pointer16);
    EXPECT_VALUE("w", "'\\x{DFFF}'", halves[3]);
    const wchar_t wide[] = {L'a', static_cast<wchar_t>(0xD800), static_cast<wchar_t>(0x110000), 0};
    const std::string kept32 = R"(U"a\x{D800}\x{110000}")";
    EXPECT_VALUE("Z", kept32, std::wstring(wide));
    EXPECT_VALUE("Z", kept32, std::wstring_view(wide));
    EXPECT_VALUE("Z", kept32, wide);
    const wchar_t* const pointer = wide;
    EXPECT_VALUE("Z", kept32, pointer);
    const wchar_t* const none = nullptr;
    EXPECT_VALUE("Z", "U\"(null)\"", none);
    EXPECT_VALUE("[Z", "[U\"w\", U\"\"]", (std::vector<std::wstring>{L"w", L""}));
    EXPECT_VALUE("{SZ", "{u\"k\": U\"v\"}", (std::map<std::u16string, std::u32string>{{u"k", U"v"}}));
    EXPECT_VALUE("s", "\"u8\"", std::u8string_view(u8"u8"));
    EXPECT_VALUE("S", R"(u"a\x{0}b")", std::u16string_view(u"a\0b", 3));
    EXPECT_VALUE("Z", R"(U"a\x{0}b")", std::wstring_view(L"a\0b", 3));
    EXPECT_VALUE("S", "u\"a\"", u"a\0b");
    EXPECT_VALUE("Z", "U\"a\"", L"a\0b");
}

TEST(Values, TextsOfAllLengths) {
    for (std::size_t len = 0; len < 200; ++len) {
        std::string text;
        for (std::size_t i = 0; i < len; ++i) text += static_cast<char>('!' + (i * 7 + len) % 90);
        SP_INFO("{} {}", text, len);
        EXPECT_EQ(one().text, "\"" + text + "\" " + std::to_string(len));
    }
}

TEST(Values, SequencesAndSets) {
    EXPECT_VALUE("[i", "[1, 2, 3]", std::vector{1, 2, 3});
    EXPECT_VALUE("[i", "[]", std::vector<int>{});
    EXPECT_VALUE("[s", "[\"a\", \"bc\"]", (std::vector<std::string>{"a", "bc"}));
    EXPECT_VALUE("[b", "[true, false]", (std::vector<bool>{true, false}));
    EXPECT_VALUE("[h", "[1, 2]", (std::deque<short>{1, 2}));
    EXPECT_VALUE("[d", "[1.5]", (std::list<double>{1.5}));
    EXPECT_VALUE("[c", "['a']", (std::forward_list<char>{'a'}));
    EXPECT_VALUE("[[i", "[[1], [], [2, 3]]", (std::vector<std::vector<int>>{{1}, {}, {2, 3}}));
    EXPECT_VALUE("$i", "${-1, 5}", (std::set<int>{5, -1}));
    EXPECT_VALUE("$s", "${\"x\"}", (std::unordered_set<std::string>{"x"}));
    EXPECT_VALUE("$i", "${1, 1}", (std::multiset<int>{1, 1}));
    EXPECT_VALUE("[eshapes%3A%3ASide|A|;", "[shapes%3A%3ASide(3)]", (std::vector{shapes::Side::kBuy}));
}

TEST(Values, ArraysAndSpans) {
    EXPECT_VALUE("#3:H", "#[1, 2, 3]", (std::array<std::uint16_t, 3>{1, 2, 3}));
    EXPECT_VALUE("#0:i", "#[]", (std::array<int, 0>{}));
    EXPECT_VALUE("#2:s", "#[\"a\", \"b\"]", (std::array<std::string, 2>{"a", "b"}));
    const int numbers[4] = {4, 3, 2, 1};
    EXPECT_VALUE("#4:i", "#[4, 3, 2, 1]", numbers);
    const int table[2][2] = {{1, 2}, {3, 4}};
    EXPECT_VALUE("#2:#2:i", "#[#[1, 2], #[3, 4]]", table);
    const std::string texts[2] = {"x", "yz"};
    EXPECT_VALUE("#2:s", "#[\"x\", \"yz\"]", texts);
    EXPECT_VALUE("[i", "[4, 3]", std::span<const int>(numbers, 2));
    EXPECT_VALUE("[i", "[4, 3, 2, 1]", std::span(numbers));
    const bool flags[2] = {true, false};
    EXPECT_VALUE("#2:b", "#[true, false]", flags);
}

TEST(Values, Maps) {
    EXPECT_VALUE("{si", "{\"a\": 1, \"b\": 2}", (std::map<std::string, int>{{"b", 2}, {"a", 1}}));
    EXPECT_VALUE("{id", "{7: 0.5}", (std::unordered_map<int, double>{{7, 0.5}}));
    EXPECT_VALUE("{ii", "{1: 2, 1: 3}", (std::multimap<int, int>{{1, 2}, {1, 3}}));
    EXPECT_VALUE("{i{ss", "{1: {\"x\": \"y\"}}",
                 (std::map<int, std::map<std::string, std::string>>{{1, {{"x", "y"}}}}));
}

TEST(Values, TuplesAndOptionals) {
    EXPECT_VALUE("(is)", "(1, \"one\")", (std::pair<int, std::string>{1, "one"}));
    EXPECT_VALUE("(idb)", "(1, 2.5, true)", (std::tuple<int, double, bool>{1, 2.5, true}));
    EXPECT_VALUE("()", "()", std::tuple<>{});
    EXPECT_VALUE("?i", "5", std::optional<int>{5});
    EXPECT_VALUE("?s", "none", std::optional<std::string>{});
    EXPECT_VALUE("??i", "none", (std::optional<std::optional<int>>{std::optional<int>{}}));
    EXPECT_VALUE("[(i?s)", "[(1, \"x\"), (2, none)]",
                 (std::vector<std::pair<int, std::optional<std::string>>>{{1, "x"}, {2, std::nullopt}}));
    EXPECT_VALUE("?b", "true", std::optional<bool>{true});
}

TEST(Values, OwnTypes) {
    const shapes::Point point{1, -2};
    EXPECT_VALUE("<shapes%3A%3APoint|x:i,y:h,>", "shapes%3A%3APoint{x: 1, y: -2}", point);
    const shapes::Path path{"p", {point, {3, 4}}, point, {{"m", point}}, {0.5, 2}};
    SP_INFO("{}", path);
    const auto seen = one();
    const std::string p = "<shapes%3A%3APoint|x:i,y:h,>";
    EXPECT_EQ(seen.site.signature,
              "<shapes%3A%3APath|name:s,points:[" + p + ",end:?" + p + ",marks:{s" + p + ",length:#2:d,>");
    const std::string v = "shapes%3A%3APoint{x: 1, y: -2}";
    EXPECT_EQ(seen.text, "shapes%3A%3APath{name: \"p\", points: [" + v +
                             ", shapes%3A%3APoint{x: 3, y: 4}], end: " + v + ", marks: {\"m\": " + v +
                             "}, length: #[0.5, 2]}");
}

TEST(Values, ManyArgumentsAreInOrder) {
    SP_INFO("{} {} {} {} {} {} {} {}", 1, 2.5, "text", 'c', true, std::vector{1}, nullptr,
            std::optional<int>{});
    const auto seen = one();
    EXPECT_EQ(seen.site.signature, "idscb[ip?i");
    EXPECT_EQ(seen.text, "1 2.5 \"text\" 'c' true [1] 0x0 none");
}

TEST(Values, TemporariesLiveLongEnough) {
    SP_INFO << "made" << std::string(100, 'x') << std::make_unique<int>(5).get()[0];
    EXPECT_EQ(one().text, "\"" + std::string(100, 'x') + "\" 5");
}

}  // namespace
