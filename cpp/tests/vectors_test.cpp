// The records of spec/vectors, byte for byte; only the site's id differs.
#define SILVERPOINT_TEST_TICKS test_ticks
static constexpr unsigned long long test_ticks = 0x0123456789abcdef;

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <silverpoint/debug_output.hpp>
#include <silverpoint/silverpoint.hpp>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "support/traced.hpp"

struct Point {
    std::int32_t x, y;
};
SP_STRUCT(Point, x, y)
enum class Side : std::uint8_t { Buy, Sell = 7 };
SP_ENUM(Side, Buy, Sell)

struct Line {
    Point a;
    std::optional<std::string> name;
};
SP_STRUCT(Line, a, name)
enum class E : std::int16_t { Least = -300 };
SP_ENUM(E, Least)

namespace {

std::string lines_of(const std::string& name) {
    std::ifstream file(std::string(SILVERPOINT_VECTORS) + "/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
}

class Vectors : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        std::istringstream records(lines_of("records.tsv"));
        for (std::string line; std::getline(records, line);) {
            const auto tab = line.find('\t');
            hex()[line.substr(0, tab)] = line.substr(tab + 1);
        }
        std::istringstream described(lines_of("records.json"));
        for (std::string line; std::getline(described, line);) {
            const std::string name = text_after(line, "{\"name\": \"", 0);
            if (!name.empty())
                signatures()[name] = text_after(line, "\"signature\": \"", line.find("\"template\""));
        }
        ASSERT_GT(hex().size(), 30u);
        traced::session().drain();
    }
    void TearDown() override { EXPECT_TRUE(traced::take().empty()) << "records without an expectation"; }

    static std::map<std::string, std::string>& hex() {
        static std::map<std::string, std::string> all;
        return all;
    }
    static std::map<std::string, std::string>& signatures() {
        static std::map<std::string, std::string> all;
        return all;
    }
    static std::string text_after(const std::string& line, const std::string& key, std::size_t from) {
        const auto begin = from == std::string::npos ? from : line.find(key, from);
        if (begin == std::string::npos) return "";
        return line.substr(begin + key.size(), line.find('"', begin + key.size()) - begin - key.size());
    }
    // A text of a vector's, without JSON's escapes.
    static std::string field(const std::string& line, const std::string& key) {
        const std::string opening = "\"" + key + "\": \"";
        const auto begin = line.find(opening);
        std::string text;
        const auto code_at = [&](std::size_t at) {
            return static_cast<std::uint32_t>(std::stoul(line.substr(at, 4), nullptr, 16));
        };
        for (std::size_t at = begin + opening.size(); begin != std::string::npos && line[at] != '"'; ++at) {
            if (line[at] != '\\') {
                text += line[at];
                continue;
            }
            const char escaped = line[++at];
            if (escaped != 'u') {
                text += escaped == 'n' ? '\n' : escaped == 't' ? '\t' : escaped == 'r' ? '\r' : escaped;
                continue;
            }
            std::uint32_t code = code_at(at + 1);
            at += 4;
            if (code >= 0xD800 && code < 0xDC00) {
                code = 0x10000 + ((code - 0xD800) << 10) + (code_at(at + 3) - 0xDC00);
                at += 6;
            }
            const int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
            constexpr std::uint32_t first[] = {0, 0xC0, 0xE0, 0xF0};
            text += static_cast<char>(first[more] | code >> (6 * more));
            for (int rest = more; rest-- > 0;) text += static_cast<char>(0x80 | (code >> (6 * rest) & 0x3F));
        }
        return text;
    }
    // Whether a vector has a number or a text of this name.
    static bool is_given(const std::string& line, const std::string& key) {
        return line.find("\"" + key + "\": ") != std::string::npos;
    }
    static std::uint64_t number(const std::string& line, const std::string& key) {
        const std::string opening = "\"" + key + "\": ";
        return std::stoull(line.substr(line.find(opening) + opening.size()));
    }
    static std::string hex_of(std::string_view bytes) {
        std::string text;
        for (const char byte : bytes) {
            text += "0123456789abcdef"[static_cast<unsigned char>(byte) >> 4];
            text += "0123456789abcdef"[static_cast<unsigned char>(byte) & 15];
        }
        return text;
    }
    static std::string hex_of(const reader::Record& record) {
        std::string bytes(16, '\0');
        const std::uint32_t head = record.size | record.flags << 24;
        std::memcpy(bytes.data(), &head, 4);
        std::memcpy(bytes.data() + 4, &record.site, 4);
        std::memcpy(bytes.data() + 8, &record.ticks, 8);
        return hex_of(bytes + record.args);
    }
    // The one record made since: like this vector, but for the id of its site.
    static void expect(const std::string& name) {
        const auto all = traced::session().drain();
        ASSERT_EQ(all.size(), 1u) << name;
        ASSERT_TRUE(hex().contains(name)) << name;
        std::string expected = hex()[name], got = hex_of(all[0]);
        if (all[0].site >= 16) {
            expected.replace(8, 8, "........");
            got.replace(8, 8, "........");
            EXPECT_EQ(traced::session().site(all[0].site).signature, signatures()[name]) << name;
        }
        EXPECT_EQ(got, expected) << name;
    }
};

TEST_F(Vectors, Numbers) {
    SP_INFO("");
    expect("literal only");
    SP_INFO("{} {} {}", -7, 2.5, ~0ull);
    expect("three numbers");
    SP_INFO("{} {} {} {}", 0.1f, std::int8_t{-128}, std::uint16_t{65535}, std::numeric_limits<long>::min());
    expect("float and small numbers");
    __extension__ using Int128 = __int128;
    __extension__ using UInt128 = unsigned __int128;
    SP_INFO("{} {}", static_cast<Int128>(static_cast<UInt128>(1) << 127), ~static_cast<UInt128>(0));
    expect("numbers of 128 bits");
    SP_INFO("{}", reinterpret_cast<void*>(4096));
    expect("pointer");
    SP_INFO("{} {}", std::chrono::microseconds(5),
            std::chrono::system_clock::time_point(std::chrono::nanoseconds(1'700'000'000'123'456'789)));
    expect("duration and date-time");
}

TEST_F(Vectors, Texts) {
    SP_INFO("{} {} {}", "Grüße", 4'000'000'000u, std::int16_t{-2});
    expect("text and two numbers");
    SP_INFO("{}", std::string());
    expect("empty text");
    SP_INFO("{} {} {}", true, false, U'\U0001F600');
    expect("bool and code point");
    SP_INFO("{} {} {}", 'x', u'\u20ac', U'\U0001F600');
    expect("characters of 8, 16 and 32 bits");
    SP_INFO("{}", u"\u00fc \U0001F600");
    expect("UTF-16 text");
    silverpoint::debug_output("na\u00efve {}\n");
    expect("debug output");
    silverpoint::debug_output(u"na\u00efve {}\n");
    expect("wide debug output");
}

TEST_F(Vectors, Containers) {
    SP_INFO("{} {} {} {}", (std::map<std::string, int>{{"a", 1}, {"b", 2}, {"c", 3}}), true, -1L, "atom");
    expect("map of three and atoms");
    std::array<float, 128> floats{};
    for (int i = 0; i < 128; ++i) floats[static_cast<std::size_t>(i)] = 0.5f * static_cast<float>(i) - 16.0f;
    SP_INFO("{}", std::vector<float>(floats.begin(), floats.end()));
    expect("128 floats");
    SP_INFO("{} {} {}", std::optional<int>(-7), std::optional<int>(), std::optional<std::string>("x"));
    expect("optional both ways");
    using Pairs = std::vector<std::pair<int, std::string>>;
    SP_INFO("{}", (std::vector<Pairs>{{{1, "one"}, {-2, ""}}, {}, {{3, "three"}}}));
    expect("nested sequence of pairs");
    SP_INFO("{}", (std::array<std::uint16_t, 3>{1, 2, 3}));
    expect("array");
    SP_INFO("{}", (std::set<int>{5, -1}));
    expect("set");
    SP_INFO("{} {}", std::vector<int>(), (std::map<std::string, int>()));
    expect("empty sequence and map");
    SP_INFO("{}", (std::vector<bool>{true, false}));
    expect("sequence of bools");
}

TEST_F(Vectors, OwnTypes) {
    const Point point{1, -2};
    SP_INFO("{}", point);
    expect("record");
    SP_INFO("{}", (std::vector<Point>{point, point}));
    expect("sequence of records");
    SP_INFO("{}", Side::Sell);
    expect("enumeration");
}

TEST_F(Vectors, Tails) {
    const auto f = [](int n) { return static_cast<std::uint8_t>(0xF0 + n); };
    SP_INFO("{}", f(1));
    expect("tail 7");
    SP_INFO("{} {}", f(1), f(2));
    expect("tail 6");
    SP_INFO("{} {} {}", f(1), f(2), f(3));
    expect("tail 5");
    SP_INFO("{} {} {} {}", f(1), f(2), f(3), f(4));
    expect("tail 4");
    SP_INFO("{} {} {} {} {}", f(1), f(2), f(3), f(4), f(5));
    expect("tail 3");
    SP_INFO("{} {} {} {} {} {}", f(1), f(2), f(3), f(4), f(5), f(6));
    expect("tail 2");
    SP_INFO("{} {} {} {} {} {} {}", f(1), f(2), f(3), f(4), f(5), f(6), f(7));
    expect("tail 1");
    SP_INFO("{} {} {} {} {} {} {} {}", f(1), f(2), f(3), f(4), f(5), f(6), f(7), f(8));
    expect("tail 0");
}

TEST_F(Vectors, OtherKinds) {
    SP_EVENT("order", std::uint64_t{42}, "XETR");
    expect("event with two fields");
    SP_COUNTER("depth", 17L);
    expect("counter");
    SP_INSTANT("tick");
    expect("instant");
    SP_ASYNC_BEGIN("fetch", 7, "a.txt");
    expect("async begin");
    SP_ASYNC_END("fetch", 7);
    expect("async end");
    SP_ASYNC_INSTANT("fetch", 7, 512);
    expect("async instant");
    SP_FLOW_BEGIN("path", 8);
    expect("flow begin");
    SP_FLOW_STEP("path", 8);
    expect("flow step");
    SP_FLOW_END("path", 8);
    expect("flow end");
    SP_LINK(7, 8);
    expect("link");
    {
        SP_SPAN("load", "a.txt");
        expect("span");
    }
    EXPECT_EQ(traced::session().drain().size(), 1u);
}

TEST_F(Vectors, Contexts) {
    const auto expect_statement = [](const std::string& name) {
        const auto all = traced::session().drain();
        ASSERT_EQ(all.size(), 2u) << name;
        // Its ticks are not the test's.
        std::string got = hex_of(all[0]), expected = hex()[name];
        EXPECT_EQ(got.replace(16, 16, ""), expected.replace(16, 16, "")) << name;
    };
    {
        SP_CONTEXT("request", 7u, "user", std::string("ada"));
        SP_INFO("in the outer scope");
        expect_statement("context");
        SP_CONTEXT("ratio", 2.5, "ok", true, "delta", std::int16_t{-2}, "request", 256ull);
        SP_INFO("in the inner scope");
        expect_statement("context of two scopes");
    }
    SP_INFO("in no scope");
    expect_statement("context without fields");
}

TEST_F(Vectors, DirectivesDecideAlike) {
    // Each line is one object of plain texts without quotes within.
    std::istringstream lines(lines_of("directives.json"));
    int compared = 0;
    for (std::string line; std::getline(lines, line);) {
        if (line.find("\"verdict\": \"ok\"") == std::string::npos || line.find('\\') != std::string::npos)
            continue;
        const auto field = [&](const char* key) {
            return text_after(line, std::string("\"") + key + "\": \"", 0);
        };
        constexpr const char* levels[] = {"trace", "debug", "info", "warn", "error", "fatal"};
        int level = 0;
        while (field("level") != levels[level]) ++level;
        const std::string category = field("category"), file = field("file"), function = field("function");
        const auto at = line.find("\"line\": ");
        const silverpoint::detail::SiteFacts facts{
            static_cast<silverpoint::Level>(level), category, file,
            static_cast<std::uint32_t>(std::stoul(line.substr(at + 8))), function};
        const bool expected = line.find("\"on\": true") != std::string::npos;
        EXPECT_EQ(silverpoint::detail::decide(field("directives"), facts), expected) << line;
        ++compared;
    }
    EXPECT_GT(compared, 100);
}

// A program's environment is read at its start: here its readers are asked directly.
TEST_F(Vectors, SettingsAskForTheSame) {
    namespace detail = silverpoint::detail;
    std::istringstream lines(lines_of("settings.json"));
    int compared = 0;
    for (std::string line; std::getline(lines, line);) {
        if (line.find("\"verdict\"") == std::string::npos) continue;
        std::string levels;
        detail::Settings settings;
        if (is_given(line, "block_max"))
            settings.block_max_ms = detail::parse_milliseconds(field(line, "block_max"), 1000);
        if (is_given(line, "memory")) settings.memory = detail::parse_size(field(line, "memory"));
        if (is_given(line, "policy")) detail::parse_policy(field(line, "policy"), settings);
        constexpr const char* names[] = {"block", "drop", "overwrite"};
        for (const detail::Policy policy : settings.policy)
            (levels += levels.empty() ? "" : " ") += names[static_cast<int>(policy)];
        EXPECT_EQ(levels, field(line, "levels")) << line;
        EXPECT_EQ(settings.block_max_ms, number(line, "block_max_ms")) << line;
        EXPECT_EQ(settings.memory, number(line, "bytes")) << line;
        ++compared;
    }
    EXPECT_GT(compared, 60);
}

TEST_F(Vectors, SessionsTakeTheSameMemory) {
    namespace detail = silverpoint::detail;
    std::istringstream lines(lines_of("memory.json"));
    int compared = 0;
    for (std::string line; std::getline(lines, line);) {
        if (line.find("\"verdict\"") == std::string::npos) continue;
        const auto limit = [&](const char* key, std::uint64_t none) {
            return is_given(line, key) ? number(line, key) : none;
        };
        constexpr std::uint64_t kNone = ~std::uint64_t{0};
        const bool has_addresses = detail::allow_more_than(
            detail::kSmallMemory, limit("addresses", RLIM_INFINITY), limit("locked", RLIM_INFINITY));
        const detail::MemoryLimits limits{limit("machine", kNone), limit("room", kNone), has_addresses};
        const std::uint64_t wanted = limit("asked", detail::default_memory(limits));
        const std::uint64_t rings = detail::session_memory(wanted, limit("file_size", kNone));
        const std::uint32_t slab_bytes = detail::slab_bytes_of(rings);
        EXPECT_EQ(slab_bytes, number(line, "slab_bytes")) << line;
        EXPECT_EQ(rings / slab_bytes, number(line, "slabs")) << line;
        ++compared;
    }
    EXPECT_GT(compared, 20);
}

TEST_F(Vectors, SitesAreDescribedByteForByte) {
    namespace detail = silverpoint::detail;
    constexpr const char* kinds[] = {"log",       "stream",      "event",     "span",          "counter",
                                     "instant",   "async_begin", "async_end", "async_instant", "flow_begin",
                                     "flow_step", "flow_end",    "link"};
    constexpr const char* levels[] = {"trace", "debug", "info", "warn", "error", "fatal"};
    std::istringstream lines(lines_of("sites.json"));
    int compared = 0;
    for (std::string line; std::getline(lines, line);) {
        // Flags and languages that only readers see; and a category that this frontend cuts.
        if (line.find("\"verdict\": \"ok\"") == std::string::npos || number(line, "flags") > 1 ||
            number(line, "language") > 255 || field(line, "category").size() > 255)
            continue;
        const auto place = [&](const auto& names, const char* key) {
            const auto found = std::find(std::begin(names), std::end(names), field(line, key));
            return static_cast<std::uint8_t>(found - std::begin(names));
        };
        const std::string category = field(line, "category"), file = field(line, "file"),
                          function = field(line, "function"), names = field(line, "names"),
                          text = field(line, "template"), signature = field(line, "signature");
        detail::Site site(static_cast<silverpoint::Level>(place(levels, "level")), file.c_str(),
                          static_cast<std::uint32_t>(number(line, "line")));
        site.language = static_cast<std::uint8_t>(number(line, "language"));
        site.category = category.c_str();
        site.function = function.c_str();
        const detail::Description description(site, static_cast<detail::Kind>(place(kinds, "kind")),
                                              number(line, "flags") == 1, names, text, signature);
        std::string bytes;
        description.each([&](const char* piece, std::size_t len) { bytes.append(piece, len); });
        EXPECT_EQ(hex_of(bytes), field(line, "hex")) << line;
        EXPECT_EQ(bytes.size(), description.size());
        ++compared;
    }
    EXPECT_GE(compared, 30);
}

// One value of a type that C++ has, packed as the vector of this name says.
#define EXPECT_PACKED(name, ...)           \
    do {                                   \
        SP_INFO("{}", __VA_ARGS__);        \
        expect_packed(name, values[name]); \
    } while (false)

void expect_packed(const std::string& name, const std::pair<std::string, std::string>& expected) {
    const auto all = traced::session().drain();
    ASSERT_EQ(all.size(), 1u) << name;
    EXPECT_EQ(traced::session().site(all[0].site).signature, expected.first) << name;
    // Zero bytes behind the arguments fill the record up.
    const std::string hex = expected.second;
    std::string args;
    for (const char byte : all[0].args) {
        constexpr const char* digits = "0123456789abcdef";
        (args += digits[static_cast<unsigned char>(byte) >> 4]) +=
            digits[static_cast<unsigned char>(byte) & 15];
    }
    EXPECT_EQ(args, hex + std::string(args.size() - std::min(hex.size(), args.size()), '0')) << name;
    EXPECT_LT(args.size() - std::min(hex.size(), args.size()), 16u) << name;
}

TEST_F(Vectors, ValuesArePackedByteForByte) {
    std::map<std::string, std::pair<std::string, std::string>> values;
    std::istringstream lines(lines_of("values.json"));
    for (std::string line; std::getline(lines, line);)
        if (line.find("\"verdict\": \"ok\"") != std::string::npos)
            values[field(line, "name")] = {field(line, "signature"), field(line, "hex")};
    using std::numeric_limits;
    EXPECT_PACKED("i8 min", numeric_limits<std::int8_t>::min());
    EXPECT_PACKED("i16 min", numeric_limits<std::int16_t>::min());
    EXPECT_PACKED("i32 min", numeric_limits<int>::min());
    EXPECT_PACKED("i32 -1", -1);
    EXPECT_PACKED("i64 max", numeric_limits<long>::max());
    EXPECT_PACKED("i64 -9007199254740992 at the edge of f64", -9007199254740992ll);
    EXPECT_PACKED("u8 high bit", std::uint8_t{128});
    EXPECT_PACKED("u16 high bit", std::uint16_t{0x8000});
    EXPECT_PACKED("u32 max", ~0u);
    EXPECT_PACKED("u64 high bit", 1ull << 63);
    __extension__ using UInt128 = unsigned __int128;
    EXPECT_PACKED("u128 bytes in order",
                  static_cast<UInt128>(0x0f0e0d0c0b0a0908u) << 64 | 0x0706050403020100u);
    EXPECT_PACKED("f32 -0", -0.0f);
    EXPECT_PACKED("f32 0.1", 0.1f);
    EXPECT_PACKED("f32 least", numeric_limits<float>::denorm_min());
    EXPECT_PACKED("f64 -inf", -numeric_limits<double>::infinity());
    EXPECT_PACKED("f64 max", numeric_limits<double>::max());
    EXPECT_PACKED("f64 nan", numeric_limits<double>::quiet_NaN());
    EXPECT_PACKED("char8 half of a character", '\xc3');
    EXPECT_PACKED("char16 surrogate", u'\xd83d');
    EXPECT_PACKED("char32 smile", U'\U0001F600');
    EXPECT_PACKED("UTF-8 empty", "");
    EXPECT_PACKED("UTF-16 empty", u"");
    EXPECT_PACKED("UTF-32 empty", U"");
    EXPECT_PACKED("UTF-8 ASCII", "order 66");
    EXPECT_PACKED("UTF-16 ASCII", std::u16string(u"order 66"));
    EXPECT_PACKED("UTF-32 ASCII", std::u32string(U"order 66"));
    EXPECT_PACKED("UTF-8 non-ASCII", std::string("Grüße ✓ 😀"));
    EXPECT_PACKED("UTF-16 non-ASCII", std::u16string_view(u"Grüße ✓ 😀"));
    EXPECT_PACKED("UTF-32 non-ASCII", std::u32string_view(U"Grüße ✓ 😀"));
    EXPECT_PACKED("UTF-8 controls", std::string("a\0b\n\t\"\\\x7f", 8));
    EXPECT_PACKED("UTF-8 invalid: overlong", std::string("\xc0\xaf"));
    EXPECT_PACKED("UTF-8 invalid: never a byte", std::string_view("x\xff\xfey"));
    EXPECT_PACKED("UTF-16 invalid: lone high", std::u16string({u'a', char16_t{0xD83D}}));
    EXPECT_PACKED("UTF-32 invalid: beyond", std::u32string({U'a', char32_t{0x110000}, U'b'}));
    EXPECT_PACKED("false", false);
    EXPECT_PACKED("true", true);
    EXPECT_PACKED("pointer 0xdeadbeef", reinterpret_cast<void*>(0xDEADBEEFu));
    EXPECT_PACKED("time -1", std::chrono::sys_time<std::chrono::nanoseconds>(std::chrono::nanoseconds(-1)));
    EXPECT_PACKED("duration 1700000000123456789", std::chrono::nanoseconds(1700000000123456789));
    EXPECT_PACKED("optional, none", std::optional<int>());
    EXPECT_PACKED("optional, some", std::optional<int>(-7));
    EXPECT_PACKED("optional of optional, some none",
                  std::optional<std::optional<std::string>>(std::optional<std::string>()));
    EXPECT_PACKED("sequence, empty", std::vector<int>());
    EXPECT_PACKED("sequence", std::vector<int>{1, -1, 2147483647});
    EXPECT_PACKED("sequence of text", std::vector<std::string>{"", "b"});
    EXPECT_PACKED("set", std::set<std::uint8_t>{9, 3});
    EXPECT_PACKED("array", std::array<std::uint16_t, 3>{1, 2, 65535});
    EXPECT_PACKED("array of text", std::array<std::string, 2>{"a", "bc"});
    EXPECT_PACKED("map, empty", std::map<std::string, int>());
    EXPECT_PACKED("map", std::map<std::string, int>{{"a", 1}, {"b", 2}});
    EXPECT_PACKED("map of numbers, equal keys kept",
                  std::multimap<std::uint8_t, bool>{{1, true}, {1, false}});
    EXPECT_PACKED("tuple", std::tuple<int, std::string>(1, "x"));
    // The vector has its keys in this order.
    using Downwards = std::map<std::string, std::vector<std::pair<int, std::string>>, std::greater<>>;
    EXPECT_PACKED("sequence of map of sequence",
                  std::vector<Downwards>{{{"k", {{1, "a"}, {2, ""}}}, {"", {}}}, {}});
    EXPECT_PACKED("variant, first", std::variant<int, std::string>(-1));
    EXPECT_PACKED("variant, second", std::variant<int, std::string>("x"));
    EXPECT_PACKED("record", Point{1, -2});
    EXPECT_PACKED("record of records", Line{{1, -2}, "l"});
    EXPECT_PACKED("enumeration, negative label", E::Least);
}

}  // namespace
