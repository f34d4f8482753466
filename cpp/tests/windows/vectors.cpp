// The bytes of records as spec/vectors has them, in its form: a line for each with its name and the bytes.
// The driver compares them, but for the site and the ticks.
#include <array>
#include <chrono>
#include <cstdio>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <silverpoint/chrono.hpp>
#include <silverpoint/debug_output.hpp>
#include <silverpoint/silverpoint.hpp>
#include <string>
#include <utility>
#include <vector>

struct Point {
    std::int32_t x, y;
};
SP_STRUCT(Point, x, y)
enum class Side : std::uint8_t { Buy, Sell = 7 };
SP_ENUM(Side, Buy, Sell)

namespace {

const char* begin = nullptr;

// What was recorded since the last call.
void show(const char* name) {
    const char* const end = silverpoint::detail::tls_lane->cur;
    std::printf("%s\t", name);
    for (const char* at = begin; at != end; ++at) std::printf("%02x", static_cast<unsigned char>(*at));
    std::printf("\n");
    begin = end;
}

}  // namespace

int main() {
    // Then the thread has a ring of 16 KiB, in which all that follows has room.
    const std::string filler(1000, 'x');
    SP_INFO("{}", filler);
    begin = silverpoint::detail::tls_lane->cur;

    SP_INFO("");
    show("literal only");
    SP_INFO("{} {} {}", -7, 2.5, ~0ull);
    show("three numbers");
    SP_INFO("{} {} {} {}", 0.1f, std::int8_t{-128}, std::uint16_t{65535},
            (std::numeric_limits<long long>::min)());
    show("float and small numbers");
    __extension__ using Int128 = __int128;
    __extension__ using UInt128 = unsigned __int128;
    SP_INFO("{} {}", static_cast<Int128>(static_cast<UInt128>(1) << 127), ~static_cast<UInt128>(0));
    show("numbers of 128 bits");
    SP_INFO("{}", reinterpret_cast<void*>(4096));
    show("pointer");
    SP_INFO("{} {} {}", "Gr\u00fc\u00dfe", 4'000'000'000u, std::int16_t{-2});
    show("text and two numbers");
    SP_INFO("{}", std::string());
    show("empty text");
    SP_INFO("{} {} {}", true, false, U'\U0001F600');
    show("bool and code point");
    SP_INFO("{} {} {}", 'x', L'\u20ac', U'\U0001F600');
    show("characters of 8, 16 and 32 bits");
    SP_INFO("{}", L"\u00fc \U0001F600");
    show("UTF-16 text");
    silverpoint::debug_output(L"na\u00efve {}\n");
    show("wide debug output");
    SP_INFO("{} {} {} {}", (std::map<std::string, int>{{"a", 1}, {"b", 2}, {"c", 3}}), true, -1LL, "atom");
    show("map of three and atoms");
    std::array<float, 128> floats{};
    for (int i = 0; i < 128; ++i) floats[static_cast<std::size_t>(i)] = 0.5f * static_cast<float>(i) - 16.0f;
    SP_INFO("{}", std::vector<float>(floats.begin(), floats.end()));
    show("128 floats");
    SP_INFO("{} {} {}", std::optional<int>(-7), std::optional<int>(), std::optional<std::string>("x"));
    show("optional both ways");
    SP_INFO("{}", (std::array<std::uint16_t, 3>{1, 2, 3}));
    show("array");
    SP_INFO("{}", (std::set<int>{5, -1}));
    show("set");
    SP_INFO("{} {}", std::vector<int>(), (std::map<std::string, int>()));
    show("empty sequence and map");
    const Point point{1, -2};
    SP_INFO("{}", point);
    show("record");
    SP_INFO("{}", (std::vector<Point>{point, point}));
    show("sequence of records");
    SP_INFO("{}", Side::Sell);
    show("enumeration");
    SP_EVENT("order", std::uint64_t{42}, "XETR");
    show("event with two fields");
    SP_COUNTER("depth", 17LL);
    show("counter");
    SP_INSTANT("tick");
    show("instant");
    SP_ASYNC_BEGIN("fetch", 7, "a.txt");
    show("async begin");
    SP_LINK(7, 8);
    show("link");
    return 0;
}
