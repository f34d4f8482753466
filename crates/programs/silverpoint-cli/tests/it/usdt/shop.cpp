// Tracepoints of all sorts, whose probes the test knows. Prints how many arguments were evaluated.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <silverpoint/ostream.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "owner.hpp"

SP_CATEGORY("net::shop")

extern "C" void part_of_shop(int number);

struct Order {
    int id;
    double price;
    std::string symbol;
};
SP_STRUCT(Order, id, price, symbol)

enum class Side : short { kBuy = -3, kSell };
SP_ENUM(Side, kBuy, kSell)

static int evaluated = 0;
static int count() { return ++evaluated; }

template <class T>
static void instance(T value) {
    SP_SCOPE();
    SP_INFO("instance of {:>4}, {{{}}}", value, sizeof(T));
}

static void run(int i) {
    const std::string text = "text " + std::to_string(i);
    const Order order{i, i / 4.0, text};
    const std::vector<float> floats(static_cast<std::size_t>(i), 0.5F);
    const std::int64_t least = INT64_MIN + i;
    const char* const pointer = i % 2 == 0 ? "even" : nullptr;

    SP_INFO("evaluated {}", count());
    SP_INFO("order {} at {:.2f}", i, i / 8.0);
    SP_INFOF("%d of %-5s%% is %#llx", i, pointer, static_cast<unsigned long long>(i) << 40);
    SP_EVENT("numbers.small", static_cast<std::int8_t>(-i), static_cast<std::uint8_t>(200 + i),
             static_cast<std::int16_t>(-300 - i), static_cast<std::uint16_t>(60000 + i), i % 2 == 0, 'x');
    SP_EVENT("numbers.large", -i, 4000000000U + static_cast<unsigned>(i), least, ~std::uint64_t{0},
             static_cast<float>(i), static_cast<const void*>(&evaluated));
    SP_EVENT("order.filled", order, Side::kBuy);
    SP_EVENT("optional", i % 2 == 0 ? std::optional<int>(i) : std::nullopt,
             std::make_tuple(i, std::uint8_t{7}), std::chrono::microseconds(i));
    SP_EVENT("lists", floats, SP_HEX(i), SP_SECRET(i), SP_UNIT(i, "ms"));
    SP_DEBUG << "streamed" << i << text;
    // What has no form as numbers: where it is.
    SP_EVENT("others", std::map<std::string, int>{{text, i}}, std::vector<std::string>{text});
    SP_LOG(warn, "Other Category", "slow: {} ms", i);
    SP_COUNTER("queue.depth", i, "orders");
    SP_ASYNC_BEGIN("fetch", i, text);
    SP_ASYNC_END("fetch", i);
    SP_EVENT_EVERY_N(2, "9.limited", i);
    SP_EVENT("many", i, i, i, i, i, i, i, i, i, i, i, i, i, i);
    instance(static_cast<unsigned char>(i));
    instance(static_cast<long>(i));
    {
        SP_SPAN("load", i);
        if (SP_ENABLED(debug)) SP_INSTANT("within");
    }
    {
        const silverpoint::AsyncSpan span = SP_ASYNC_SPAN("held", i, text);
        auto line = SP_STREAM(warn);
        if (line) line << "held" << count();
    }
    SP_OSTREAM(warn) << "written " << i;
    part_of_shop(i);
    const Owner none{};
}

int main(int, char** arguments) {
    for (int i = 0; i < std::atoi(arguments[1]); ++i) run(i);
    std::printf("%d evaluated\n", evaluated);
}
