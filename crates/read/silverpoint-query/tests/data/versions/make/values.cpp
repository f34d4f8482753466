// Records every kind of value and of tracepoint from C++, for the trace files that are kept
// (docs/format-versions.md). Then it records plain ones: their number is the first argument, the milliseconds
// before each the second.
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <silverpoint/silverpoint.hpp>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <vector>

SP_CATEGORY("kept::cpp")

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
enum class Side : std::uint8_t { kBuy = 3, kSell };
}  // namespace shapes
SP_STRUCT(shapes::Point, x, y)
SP_STRUCT(shapes::Path, name, points, end, marks, length)
SP_ENUM(shapes::Side, kBuy, kSell)

namespace {

void scalars() {
    __extension__ using Int128 = __int128;
    __extension__ using UInt128 = unsigned __int128;
    SP_INFO("{} {} {} {}", static_cast<signed char>(-128), std::int16_t{-32768}, -2147483647 - 1, INT64_MIN);
    SP_INFO("{} {} {:#x} {}", std::uint8_t{255}, std::uint16_t{65535}, 0xFFFFFFFFu, ~0ull);
    SP_INFO("{} {}", static_cast<Int128>(static_cast<UInt128>(1) << 127), ~static_cast<UInt128>(0));
    SP_INFO("{} {:.3f} {}", 0.1f, 0.1, 1.0 / 0.0);
    SP_INFO("{} {} {} {}", true, 'x', u'\u20ac', U'\U0001F600');
    SP_INFO("{} {}", shapes::Side::kSell, std::byte{9});
    SP_INFO("{}", reinterpret_cast<int*>(0x1000));
}

void texts() {
    using namespace std::string_literals;
    const char* null = nullptr;
    SP_INFO("{} {} {}", "text"s, std::string_view("view"), "with\n\"quotes\" and \0 zero"s);
    SP_INFO("{} {} {} {}", null, u"\u00fc"s, std::u32string(U"\U0001F600"), L"wide");
    SP_INFO("{}", std::string(300, 'x'));
}

void containers() {
    const shapes::Path path{"route", {{1, 2}, {3, 4}}, std::nullopt, {{"home", {5, 6}}}, {0.5, 2.5}};
    const std::array<float, 3> row{1.5f, 2.5f, 3.5f};
    SP_INFO("{} {} {}", std::vector<int>{3, 1, 4}, row, std::span<const float>(row));
    SP_INFO("{} {}", std::set<std::string>{"a", "b"},
            std::map<int, std::vector<std::string>>{{1, {"one"}}, {2, {}}});
    SP_INFO("{} {} {}", std::tuple(1, "two", 3.0), std::optional<int>{7}, std::optional<int>{});
    SP_EVENT("path", path);
}

void kinds(std::uint64_t id) {
    SP_SCOPE();
    SP_SPAN("outer", id);
    SP_FATAL("fatal {}", 1);
    SP_ERROR("error {}", 2);
    SP_WARN("warning {}", 3);
    SP_DEBUG << "streamed" << 4 << 0.25;
    SP_TRACE("trace {}", 5);
    SP_INFOF("printf %d %s %.2f", 6, "seven", 8.5);
    SP_COUNTER("queue.length", 12);
    SP_COUNTER("latency", 1.5, "ms");
    SP_INSTANT("market.closed");
    SP_ASYNC_BEGIN("fetch", id, "url");
    SP_ASYNC_INSTANT("fetch", id, 1);
    SP_ASYNC_END("fetch", id);
    SP_FLOW_BEGIN("order", id);
    SP_FLOW_STEP("order", id);
    SP_FLOW_END("order", id);
    SP_LINK(id, id + 1);
}

}  // namespace

int main(int argc, char** argv) {
    scalars();
    texts();
    containers();
    kinds(42);
    const std::uint64_t more = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 0;
    const std::chrono::milliseconds pause(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0);
    for (std::uint64_t number = 0; number < more; ++number) {
        std::this_thread::sleep_for(pause);
        SP_INFO("number {} of {}", number, more);
    }
}
