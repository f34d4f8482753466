// A program whose tracepoints LTTng and the ring both record: once to make them known, then N times behind a
// line of input.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <silverpoint/context.hpp>
#include <silverpoint/recursive.hpp>
#include <string>
#include <utility>
#include <vector>

SP_CATEGORY("shop")

namespace shop {
enum class Side { Buy = 1, Sell = 2 };
struct Point {
    int x;
    double y;
    std::string name;
};
struct Tree {
    double weight;
    std::uint64_t large;
    std::vector<Tree> parts;
};
}  // namespace shop
SP_ENUM(shop::Side, Buy, Sell)
SP_STRUCT(shop::Point, x, y, name)
SP_RECURSIVE(shop::Tree, weight, large, parts)

static void one(int i) {
    const std::string text = "text \"" + std::to_string(i) + "\" \u00fc";
    const bool odd = i % 2 != 0;
    const shop::Side side = odd ? shop::Side::Buy : shop::Side::Sell;
    const std::optional<double> maybe = odd ? std::optional(i / 4.0) : std::nullopt;
    const std::optional<std::string> word = odd ? std::optional(text) : std::nullopt;
    const std::vector<int> counts(static_cast<std::size_t>(i % 4), -i);
    const std::vector<float> samples{1.5F, static_cast<float>(i) / 8};
    const std::vector<std::string> words{"", text};
    const std::map<std::string, int> map{{"a", i}, {"b\"c", -i}};
    const shop::Point point{i, i / 2.0, text};
    SP_INFO("order {} at {:.2f} of {}", i, i / 3.0, text);
    SP_DEBUG << "stream" << i << odd << text;
    SP_EVENT("numbers", i, std::int8_t(-i), std::uint16_t(i), std::int64_t(i) << 40,
             std::uint64_t(-1) - unsigned(i));
    SP_EVENT("values", side, maybe, word, counts, samples, words, map, point,
             std::u16string(u"\u00fc\U0001F600"), std::pair(i, text));
    const shop::Tree tree{i / 3.0, std::uint64_t(-1) - unsigned(i), {{-1e300 * i, 0, {}}, {0.1, 1, {}}}};
    const std::map<shop::Side, int> sides{{side, i}};
    const std::map<std::pair<int, std::string>, bool> pairs{{{i, text}, odd}};
    SP_EVENT("items", tree, sides, pairs);
    SP_COUNTER("depth", i);
    SP_ASYNC_SPAN("fetch", i);
    {
        SP_CONTEXT("request", i, "user", text, "share", i / 8.0, "parts", counts);
        SP_CONTEXT("user", "inner");
        SP_EVENT("within", i);
    }
    SP_SPAN("span", i);
}

// One for each line of input. A question mark asks how often its argument was evaluated. A line `s` holds a
// span open until the next line.
static void tick(int& evaluated) {
    SP_INSTANT("tick", ++evaluated);
    std::puts("done");
    std::fflush(stdout);
}
static void ticks() {
    int evaluated = 0;
    for (int c = std::getchar(); c != EOF; c = std::getchar()) {
        while (c == 's') {
            SP_SPAN("sell");
            std::getchar();
            tick(evaluated);
            c = std::getchar();
        }
        if (c == '?') {
            std::printf("%d\n", evaluated);
        } else if (c != EOF) {
            tick(evaluated);
        }
    }
}

int main(int argc, char** argv) {
    if (argc > 1 && std::strcmp(argv[1], "ticks") == 0) {
        ticks();
        return 0;
    }
    const int times = argc > 1 ? std::atoi(argv[1]) : 3;
    one(0);
    if (std::getchar() == EOF) return 1;
    for (int i = 1; i <= times; ++i) one(i);
}
