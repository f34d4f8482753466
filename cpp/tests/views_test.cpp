// Views, parts of ranges and other ranges that own nothing: signatures, bytes, and as pieces of items.
#include <algorithm>
#include <array>
#include <deque>
#include <initializer_list>
#include <list>
#include <map>
#include <ranges>
#include <silverpoint/silverpoint.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/expect_value.hpp"

struct Point {
    int x, y;
};
namespace shapes {
// A range with two elements by the rules of tuples, too, and no value_type.
struct Between {
    const int *first, *last;
    const int* begin() const { return first; }
    const int* end() const { return last; }
};
// A map that says that it has fewer than it gives.
struct Modest : std::map<int, int> {
    using std::map<int, int>::map;
    std::size_t size() const { return 2; }
};
// Those that say that they have more than they give.
template <class Container>
struct Boastful : Container {
    using Container::Container;
    std::size_t size() const { return Container::size() + 3; }
};
}  // namespace shapes
SP_STRUCT(Point, x, y)

template <>
struct std::tuple_size<shapes::Between> : std::integral_constant<std::size_t, 2> {};

namespace {

TEST(Subranges, AreRangesAndNotTuplesOrArraysOfTwo) {
    const std::vector<int> numbers{1, 2, 3, 4};
    EXPECT_VALUE("[i", "[2, 3]", std::ranges::subrange(numbers.begin() + 1, numbers.end() - 1));
    EXPECT_VALUE("[i", "[1, 2]", std::ranges::subrange(numbers.data(), numbers.data() + 2));
    EXPECT_VALUE("[i", "[]", std::ranges::subrange(numbers.end(), numbers.end()));
    const std::list<std::string> names{"a", "bc"};
    EXPECT_VALUE("[s", "[\"a\", \"bc\"]", std::ranges::subrange(names.begin(), names.end()));
    EXPECT_VALUE("[s", "[\"a\", \"bc\"]", std::ranges::subrange(names.begin(), names.end(), 2));
    const std::map<int, bool> map{{1, true}, {2, false}};
    EXPECT_VALUE("[(ib)", "[(1, true), (2, false)]", std::ranges::subrange(map.begin(), map.end()));
    EXPECT_VALUE("[(ib)", "[(1, true)]",
                 std::ranges::subrange(map.equal_range(1).first, map.equal_range(1).second));
    const std::vector<bool> bits{true, false, true};
    EXPECT_VALUE("[b", "[false, true]", std::ranges::subrange(bits.begin() + 1, bits.end()));
    std::vector<bool> changing{true, false};
    EXPECT_VALUE("[b", "[true, false]", std::ranges::subrange(changing.begin(), changing.end()));
    EXPECT_VALUE("[i", "[3, 4]",
                 std::ranges::find(numbers, 3) == numbers.end()
                     ? std::ranges::subrange(numbers.begin(), numbers.begin())
                     : std::ranges::subrange(std::ranges::find(numbers, 3), numbers.end()));
    EXPECT_VALUE("[i", "[4]", (shapes::Between{numbers.data() + 3, numbers.data() + 4}));
}

TEST(Subranges, InsideOthers) {
    const std::vector<int> numbers{1, 2, 3};
    const auto tail = std::ranges::subrange(numbers.begin() + 1, numbers.end());
    EXPECT_VALUE("([ii)", "([2, 3], 7)", std::pair(tail, 7));
    EXPECT_VALUE("[[i", "[[2, 3], [2, 3]]", (std::vector{tail, tail}));
    SP_STREAM(info) << tail;
    EXPECT_EQ(traced::one().text, "v:9f:9f:02:03:ff:ff");
}

TEST(Arrays, AreStillArrays) {
    EXPECT_VALUE("#2:i", "#[1, 2]", (std::array<int, 2>{1, 2}));
    EXPECT_VALUE("#0:i", "#[]", (std::array<int, 0>{}));
    EXPECT_VALUE("(ii)", "(1, 2)", std::pair(1, 2));
}

TEST(Spans, OfOwnTypes) {
    const std::vector<Point> points{{1, 2}, {3, 4}};
    const std::string signature = "[<Point|x:i,y:i,>";
    const std::string shown = "[Point{x: 1, y: 2}, Point{x: 3, y: 4}]";
    EXPECT_VALUE(signature, shown, std::span<const Point>(points));
    EXPECT_VALUE(signature, shown, (std::span<const Point, 2>(points.data(), 2)));
    EXPECT_VALUE(signature, shown, points);
    EXPECT_VALUE("[" + signature, "[" + shown + "]", (std::vector{std::span<const Point>(points)}));
    EXPECT_VALUE(signature, shown, std::ranges::subrange(points.begin(), points.end()));
    EXPECT_VALUE("[i", "[2, 4]", points | std::views::transform(&Point::y));
    std::vector<Point> changing = points;
    EXPECT_VALUE(signature, shown, std::span(changing));
    const std::vector<std::string> texts{"a", "b"};
    EXPECT_VALUE("[s", "[\"a\", \"b\"]", std::span<const std::string>(texts));
}

TEST(Maps, ThatGiveMoreThanTheySayHaveWhatTheyGive) {
    EXPECT_VALUE("{ii", "{1: 2, 3: 4, 5: 6, 7: 8}", (shapes::Modest{{1, 2}, {3, 4}, {5, 6}, {7, 8}}));
}

TEST(Containers, ThatGiveFewerThanTheySayHaveWhatTheyGive) {
    EXPECT_VALUE("[s", "[\"a\", \"b\"]", (shapes::Boastful<std::list<std::string>>{"a", "b"}));
    EXPECT_VALUE("[s", "[]", (shapes::Boastful<std::list<std::string>>{}));
    EXPECT_VALUE("{si", "{\"a\": 1}", (shapes::Boastful<std::map<std::string, int>>{{"a", 1}}));
    EXPECT_VALUE("{is", "{1: \"a\"}", (shapes::Boastful<std::map<int, std::string>>{{1, "a"}}));
    SP_INFO("{} {}", (shapes::Boastful<std::map<int, std::string>>{{1, "a"}}), 7);
    EXPECT_EQ(traced::one().text, "{1: \"a\"} 7") << "what follows is found";
}

TEST(InitializerLists, AreRanges) {
    EXPECT_VALUE("[i", "[1, 2, 3]", (std::initializer_list<int>{1, 2, 3}));
    EXPECT_VALUE("[s", "[\"a\", \"b\"]", (std::initializer_list<std::string_view>{"a", "b"}));
    EXPECT_VALUE("[<Point|x:i,y:i,>", "[Point{x: 1, y: 2}]", (std::initializer_list<Point>{{1, 2}}));
    EXPECT_VALUE("[i", "[]", (std::initializer_list<int>{}));
}

TEST(Views, OfOtherRanges) {
    std::vector<int> numbers{1, 2, 3, 4};
    EXPECT_VALUE("[i", "[1, 2, 3, 4]", std::ranges::ref_view(numbers));
    EXPECT_VALUE("[i", "[1, 2, 3, 4]", std::views::all(numbers));
    EXPECT_VALUE("[i", "[1, 2]", numbers | std::views::take(2));
    EXPECT_VALUE("[i", "[3, 4]", numbers | std::views::drop(2));
    EXPECT_VALUE("[i", "[1, 2]", numbers | std::views::take_while([](int n) { return n < 3; }));
    EXPECT_VALUE("[i", "[3, 4]", numbers | std::views::drop_while([](int n) { return n < 3; }));
    EXPECT_VALUE("[i", "[2, 3]", std::views::counted(numbers.begin() + 1, 2));
    EXPECT_VALUE("[i", "[7]", std::views::single(7));
    EXPECT_VALUE("[i", "[]", std::views::empty<int>);
    EXPECT_VALUE("[i", "[1, 2]", std::views::iota(1) | std::views::take(2));
    EXPECT_VALUE("[i", "[4, 3]", numbers | std::views::reverse | std::views::take(2));
    EXPECT_VALUE("[i", "[1, 2]",
                 numbers | std::views::take_while([](int n) { return n < 3; }) | std::views::common);
    const std::vector<std::vector<int>> nested{{1}, {2, 3}, {}};
    EXPECT_VALUE("[i", "[1, 2, 3]", nested | std::views::join);
    std::list<int> list{1, 2, 3};
    EXPECT_VALUE("[i", "[1, 3]", list | std::views::filter([](int n) { return n != 2; }));
    EXPECT_VALUE("[i", "[1, 2]", list | std::views::take(2));
    const std::vector<std::pair<int, std::string>> pairs{{1, "a"}};
    EXPECT_VALUE("[s", "[\"a\"]", pairs | std::views::values);
    EXPECT_VALUE("[i", "[1]", pairs | std::views::elements<0>);
    std::vector<bool> bits{true, false};
    EXPECT_VALUE("[b", "[false, true]", bits | std::views::reverse);
    EXPECT_VALUE("[b", "[true]", bits | std::views::filter([](bool bit) { return bit; }));
    std::deque<Point> points{{1, 2}};
    EXPECT_VALUE("[<Point|x:i,y:i,>", "[Point{x: 1, y: 2}]", std::views::all(points));
}

// More than a record holds: what has its numbers in one piece is cut, even if it does not know their count.
TEST(Views, LongOnesAreCut) {
    const std::vector<int> numbers(100'000, 7);
    SP_INFO("{}", std::ranges::subrange(numbers.begin(), numbers.end()));
    const auto whole = traced::one();
    SP_INFO("{}", numbers | std::views::take_while([](int n) { return n == 7; }));
    const auto counted = traced::one();
    EXPECT_GT(whole.record.args.size(), 1000u);
    EXPECT_EQ(whole.record.args, counted.record.args);
}

TEST(Views, ThatSplit) {
    const std::string_view text = "ab,c";
    EXPECT_VALUE("[[c", "[['a', 'b'], ['c']]", text | std::views::split(','));
    const std::vector<int> numbers{1, 0, 2, 3};
    EXPECT_VALUE("[[i", "[[1], [2, 3]]", numbers | std::views::lazy_split(0));
}

}  // namespace
