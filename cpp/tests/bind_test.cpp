// Values read and written as JSON and CBOR, by their description for tracing.
#include <gtest/gtest.h>

#include <atomic>
#include <bitset>
#include <cmath>
#include <complex>
#include <deque>
#include <filesystem>
#include <forward_list>
#include <fstream>
#include <limits>
#include <list>
#include <set>
#include <sstream>
#include <unordered_map>
#include <variant>

#include "bind_types.hpp"

namespace {

using namespace bound;
using silverpoint::BindError;
using silverpoint::from_cbor;
using silverpoint::from_json;

std::string file(const char* name) {
    std::ifstream in(std::string(SILVERPOINT_VECTORS) + "/bind/" + name, std::ios::binary);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
}

TEST(Bind, Vectors) {
    std::vector<Vector> vectors;
    const auto read = from_json(file("values.json"), vectors);
    ASSERT_TRUE(read) << read.text();
    int tested = 0;
    for (const Vector& vector : vectors) {
        tested += with_type(vector.type, [&]<class T>(const T&) {
            const auto same = [&](const T& value, const std::string& from) {
                EXPECT_EQ(json(value), vector.json) << vector.name << " from " << from;
                EXPECT_EQ(cbor(value), vector.cbor) << vector.name << " from " << from;
            };
            const auto reads_json = [&](const std::string& text) {
                T value{};
                const auto result = from_json(text, value);
                EXPECT_TRUE(result) << vector.name << ' ' << text << ' ' << result.text();
                same(value, text);
            };
            const auto reads_cbor = [&](const std::string& hex) {
                T value{};
                const auto result = from_cbor(from_hex(hex), value);
                EXPECT_TRUE(result) << vector.name << ' ' << hex << ' ' << result.text();
                same(value, hex);
            };
            reads_json(vector.json);
            reads_cbor(vector.cbor);
            for (const auto& text : vector.read_json) reads_json(text);
            for (const auto& hex : vector.read_cbor) reads_cbor(hex);
            // Cut anywhere, it is no value: but a number of JSON may be a shorter one.
            const std::string bytes = from_hex(vector.cbor);
            for (std::size_t size = 0; size < bytes.size(); ++size) {
                T value{};
                EXPECT_FALSE(from_cbor(std::string(bytes, 0, size), value))
                    << vector.name << " cut at " << size;
            }
        });
    }
    EXPECT_GE(tested, 30);
}

TEST(Bind, Faults) {
    const std::string text = file("errors.json");
    if (text.empty()) GTEST_SKIP() << "no vectors of errors";
    std::vector<Fault> faults;
    const auto read = from_json(text, faults);
    ASSERT_TRUE(read) << read.text();
    for (const Fault& fault : faults) {
        with_type(fault.type, [&]<class T>(T value) {
            const auto result =
                fault.json ? from_json(*fault.json, value) : from_cbor(from_hex(*fault.cbor), value);
            ASSERT_FALSE(result) << fault.name;
            const BindError& error = result.error();
            EXPECT_EQ(error.offset, fault.offset) << fault.name << ' ' << result.text();
            EXPECT_EQ(error.line, fault.line) << fault.name;
            EXPECT_EQ(error.column, fault.column) << fault.name;
            EXPECT_EQ(error.path, fault.path) << fault.name;
            EXPECT_EQ(error.found, fault.found) << fault.name;
            EXPECT_EQ(error.expected, fault.expected) << fault.name;
        });
    }
}

// Written, read and written again, in both formats; gives the JSON.
template <class T>
std::string round(const T& value) {
    const std::string text = json(value), bytes = cbor(value);
    T again{};
    auto result = from_json(text, again);
    EXPECT_TRUE(result) << result.text() << " in " << text;
    EXPECT_EQ(json(again), text);
    T other{};
    result = from_cbor(from_hex(bytes), other);
    EXPECT_TRUE(result) << result.text() << " in " << bytes;
    EXPECT_EQ(cbor(other), bytes);
    return text;
}

enum class Bare : unsigned char { kOne = 1, kTwo };
enum class Mode : unsigned { kRead = 1, kWrite = 2 };
struct Node {
    std::string name;
    std::vector<Node> children;
    std::unique_ptr<Node> next;
};
class Closed {
  public:
    Closed() = default;
    Closed(int number, std::string word) : number_(number), word_(std::move(word)) {}

  private:
    friend struct silverpoint::Struct<Closed>;
    int number_ = 0;
    std::string word_;
};
struct Colour {
    unsigned rgb = 0;
};
struct Empty {};
struct Outer {
    Point corner;
    std::shared_ptr<Point> other;
    std::map<std::string, Point> named;
    std::variant<std::monostate, Point, int, std::string> choice;
};

}  // namespace

SP_FLAGS(Mode, kRead, kWrite)
SP_STRUCT(Node, name, children, next)
SP_STRUCT_OF(Closed, (number, v.number_), (word, v.word_))
SP_STRUCT(Empty)
SP_STRUCT(Outer, corner, other, named, choice)
template <>
struct silverpoint::Bind<Colour> {
    using As = std::string;
    static As to(const Colour& colour) {
        std::string text = "#";
        for (int shift = 20; shift >= 0; shift -= 4) text += "0123456789abcdef"[colour.rgb >> shift & 15];
        return text;
    }
    static bool from(Colour& colour, As&& text) {
        if (text.size() != 7 || text[0] != '#') return false;
        const auto parsed = std::from_chars(text.data() + 1, text.data() + 7, colour.rgb, 16);
        return parsed.ptr == text.data() + 7;
    }
};

namespace {

TEST(Bind, Kinds) {
    EXPECT_EQ(round(std::tuple(true, false)), "[true,false]");
    EXPECT_EQ(round(std::tuple<>()), "[]");
    EXPECT_EQ(round(Empty()), "{}");
    EXPECT_EQ(round(Bare::kTwo), "2");
    EXPECT_EQ(round(Side::Sell), "\"Sell\"");
    EXPECT_EQ(round(static_cast<Side>(7)), "7");
    EXPECT_EQ(round(static_cast<Mode>(3)), "\"kRead|kWrite\"");
    EXPECT_EQ(round(static_cast<Mode>(9)), "\"kRead|0x8\"");
    EXPECT_EQ(round(static_cast<Mode>(0)), "\"0\"");
    EXPECT_EQ(round(std::tuple('a', u'\u00e9', U'\U0001F600', L'x', '"', '\x01')),
              "[\"a\",\"\u00e9\",\"\U0001F600\",\"x\",\"\\\"\",\"\\u0001\"]");
    EXPECT_EQ(round(std::tuple('\xE9', char16_t{0xD800})), "[233,55296]");
    EXPECT_EQ(round(std::u16string(u"a\u20ac\U0001F600")), "\"a\u20ac\U0001F600\"");
    EXPECT_EQ(round(std::wstring(L"w\u00fc")), "\"w\u00fc\"");
    EXPECT_EQ(round(std::u8string(u8"\u00fc\n")), "\"\u00fc\\n\"");
    EXPECT_EQ(round(std::list<int>{1, 2}), "[1,2]");
    EXPECT_EQ(round(std::deque<bool>{true}), "[true]");
    EXPECT_EQ(round(std::vector<bool>{true, false}), "[true,false]");
    EXPECT_EQ(round(std::forward_list<int>{3, 4}), "[3,4]");
    EXPECT_EQ(round(std::set<std::string>{"b", "a"}), "[\"a\",\"b\"]");
    EXPECT_EQ(round(std::multimap<std::string, int>{{"a", 1}, {"a", 2}}), "{\"a\":1,\"a\":2}");
    EXPECT_EQ(round(std::unordered_map<int, bool>{{5, true}}), "[[5,true]]");
    EXPECT_EQ(round(std::map<std::u16string, int>{{u"\u00e9", 1}}), "{\"\u00e9\":1}");
    EXPECT_EQ(round(std::optional<int>()), "null");
    EXPECT_EQ(round(std::make_shared<int>(4)), "4");
    EXPECT_EQ(round(std::vector<std::optional<int>>{1, std::nullopt}), "[1,null]");
    EXPECT_EQ(round(std::complex<float>(1, -2)), "[1.0,-2.0]");
    EXPECT_EQ(round(std::bitset<5>("10110")), "\"10110\"");
    EXPECT_EQ(round(std::filesystem::path("/etc/hosts")), "\"/etc/hosts\"");
    EXPECT_EQ(round(std::byte{7}), "7");
    EXPECT_EQ(round(std::array<std::byte, 4>{std::byte{1}}), "\"AQAAAA==\"");
    EXPECT_EQ(round(std::chrono::milliseconds(7)), "7000000");
    EXPECT_EQ(round(std::chrono::duration<double>(0.5)), "500000000");
    EXPECT_EQ(round(std::chrono::sys_seconds(std::chrono::seconds(1700000000))),
              "\"2023-11-14T22:13:20.000000000Z\"");
    EXPECT_EQ(round(std::chrono::sys_seconds(std::chrono::seconds(-62167219200))),
              "\"0000-01-01T00:00:00.000000000Z\"");
    EXPECT_EQ(round(std::chrono::steady_clock::time_point(std::chrono::seconds(1))), "1000000000");
    EXPECT_EQ(round(Colour{0x10AB20}), "\"#10ab20\"");
    EXPECT_EQ(round(Closed(4, "four")), "{\"number\":4,\"word\":\"four\"}");
    int plain[2][2] = {{1, 2}, {3, 4}};
    EXPECT_EQ(json(plain), "[[1,2],[3,4]]");
    ASSERT_TRUE(from_json("[[5,6],[7,8]]", plain));
    EXPECT_EQ(plain[1][0], 7);
    char text[4] = "abc";
    EXPECT_EQ(json(text), "\"abc\"");
    ASSERT_TRUE(from_json("\"wxyz\"", text));
    EXPECT_EQ(std::string_view(text, 4), "wxyz");
    EXPECT_FALSE(from_json("\"five!\"", text));
    std::atomic<int> counter = 5;
    EXPECT_EQ(json(counter), "5");
    ASSERT_TRUE(from_json("6", counter));
    EXPECT_EQ(counter.load(), 6);
    EXPECT_EQ(json(std::ref(plain[0][0])), "5");
    EXPECT_EQ(json("literal"), "\"literal\"");
    EXPECT_EQ(json(static_cast<const char*>(nullptr)), "null");
}

TEST(Bind, Variants) {
    Outer value;
    EXPECT_EQ(round(value), "{\"corner\":{\"x\":0,\"y\":0},\"other\":null,\"named\":{},\"choice\":null}");
    value.choice = Point{1, 2};
    value.other = std::make_shared<Point>();
    value.named["k\""] = {3, 4};
    EXPECT_EQ(
        round(value),
        "{\"corner\":{\"x\":0,\"y\":0},\"other\":{\"x\":0,\"y\":0},\"named\":{\"k\\\"\":{\"x\":3,\"y\":4}},"
        "\"choice\":{\"Point\":{\"x\":1,\"y\":2}}}");
    value.choice = 5;
    EXPECT_NE(round(value).find("\"choice\":{\"2\":5}"), std::string::npos);
    value.choice = "five";
    EXPECT_NE(round(value).find("\"choice\":{\"3\":\"five\"}"), std::string::npos);
    std::variant<int, bool> plain;
    auto result = from_json("{\"2\":1}", plain);
    EXPECT_EQ(result.text(), "byte 1 (line 1, column 2): found the member `2`, expected one of `0`, `1`");
    result = from_json("{}", plain);
    EXPECT_EQ(result.text(),
              "byte 0 (line 1, column 1): found an object of none, expected an object of one member");
    EXPECT_FALSE(from_json("{\"0\":1,\"1\":true}", plain));
}

TEST(Bind, Trees) {
    Node root{"r", {}, nullptr};
    root.children.push_back({"c", {}, std::make_unique<Node>(Node{"n", {}, nullptr})});
    EXPECT_EQ(round(root),
              "{\"name\":\"r\",\"children\":[{\"name\":\"c\",\"children\":[],\"next\":{\"name\":\"n\","
              "\"children\":[],"
              "\"next\":null}}],\"next\":null}");
    std::string deep;
    for (int i = 0; i < 100000; ++i) deep += "{\"name\":\"\",\"children\":[";
    Node read;
    const auto result = from_json(deep, read);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, BindError::Kind::kDepth);
    EXPECT_EQ(result.error().expected, "at most 128 levels");
    EXPECT_FALSE(from_cbor(std::string(100000, '\x81'), read));
    std::vector<silverpoint::Raw> raw;
    EXPECT_FALSE(from_cbor(std::string(100000, '\x81'), raw));
    EXPECT_FALSE(from_json(std::string(100000, '['), raw));
}

TEST(Bind, Numbers) {
    EXPECT_EQ(round(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
    __extension__ using Wide = unsigned __int128;
    EXPECT_EQ(round(~Wide{0}), "340282366920938463463374607431768211455");
    EXPECT_EQ(round(Wide{10'000'000'000'000'000'000u} * 10), "100000000000000000000");
    EXPECT_EQ(
        round(std::tuple(101.25, 0.1, -1e-4, 12345.6789, 1e15, 1e22, 5e-324, 123456789012345678.0, 0.3f,
                         99.5f)),
        "[101.25,0.1,-0.0001,12345.6789,1000000000000000.0,1e22,5e-324,1.2345678901234568e17,0.3,99.5]");
    // Many of all sizes, against the library's conversions.
    std::uint64_t state = 88172645463325252u;
    for (int i = 0; i < 20000; ++i) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        double wide;
        std::memcpy(&wide, &state, 8);
        if (i % 2 == 0)
            wide = static_cast<double>(static_cast<std::int64_t>(state >> 20)) / std::pow(10, i % 9);
        if (!std::isfinite(wide)) continue;
        const auto narrow = static_cast<float>(i % 3 == 0 ? std::fmod(wide, 1000) : wide);
        const std::string text = json(wide);
        double again = 0;
        ASSERT_TRUE(from_json(text, again)) << text;
        ASSERT_EQ(again, wide) << text;
        ASSERT_EQ(std::strtod(text.c_str(), nullptr), wide) << text;
        char shortest[40];
        const char* end = std::to_chars(shortest, shortest + 40, wide, std::chars_format::scientific).ptr;
        const auto digits = [](std::string_view number) {
            std::string out;
            for (const char c : number.substr(0, number.find('e')))
                if (c >= '0' && c <= '9' && (c != '0' || !out.empty())) out += c;
            while (!out.empty() && out.back() == '0') out.pop_back();
            return out;
        };
        ASSERT_EQ(digits(text), digits({shortest, end}));
        if (!std::isfinite(narrow)) continue;
        float single = 0;
        ASSERT_TRUE(from_json(json(narrow), single));
        ASSERT_EQ(single, narrow) << json(narrow);
        end = std::to_chars(shortest, shortest + 40, narrow, std::chars_format::scientific).ptr;
        ASSERT_EQ(digits(json(narrow)), digits({shortest, end}));
        ASSERT_EQ(round(static_cast<std::int64_t>(state) >> (i % 64)),
                  std::to_string(static_cast<std::int64_t>(state) >> (i % 64)));
    }
    double number = 0;
    for (const char* text : {"1e400", "-1e400", "123456789012345678901234567890e300"}) {
        ASSERT_TRUE(from_json(text, number)) << text;
        EXPECT_TRUE(std::isinf(number)) << text;
    }
    ASSERT_TRUE(from_json("-1e-400", number));
    EXPECT_TRUE(number == 0 && std::signbit(number));
    for (const char* text :
         {"", "-", "+1", "01", ".5", "1.", "1e", "1e+", "0x1", "inf", "NaN", "1 2", "\"1\""})
        EXPECT_FALSE(from_json(text, number)) << text;
    int whole = 0;
    for (const char* text : {"", "-", "1.0", "1e3", "2147483648", "-2147483649", "01", "\"1\"", "null",
                             "true", "99999999999999999999999999999999999999999999"})
        EXPECT_FALSE(from_json(text, whole)) << text;
    std::uint8_t byte = 0;
    const auto result = from_json(" 300", byte);
    EXPECT_EQ(result.text(),
              "byte 1 (line 1, column 2): found the number 300, expected an integer from 0 to 255");
    silverpoint::JsonWriteOptions options;
    options.not_finite = silverpoint::JsonWriteOptions::NotFinite::kText;
    const double infinite[] = {HUGE_VAL, -HUGE_VAL, NAN};
    EXPECT_EQ(json(infinite, options), "[\"inf\",\"-inf\",\"nan\"]");
    options.not_finite = silverpoint::JsonWriteOptions::NotFinite::kRefuse;
    EXPECT_EQ(json(infinite, options), "byte 1, in [0]: found inf, expected a finite number");
    for (const std::complex<double> value :
         {std::complex<double>(NAN, 1.0), std::complex<double>(1.0, HUGE_VAL)})
        EXPECT_NE(json(value, options).find("expected a finite number"), std::string::npos);
    EXPECT_EQ(round(std::optional<Wide>(~Wide{0})), "340282366920938463463374607431768211455");
}

TEST(Bind, Texts) {
    // Every length and place of what must be escaped, for the scan goes by blocks.
    for (std::size_t size = 0; size < 70; ++size) {
        std::string plain(size, 'x');
        EXPECT_EQ(round(plain), '"' + plain + '"');
        for (std::size_t at = 0; at < size; ++at) {
            for (const std::string_view special :
                 {"\"", "\\", "\n", "\x1f", "\x7f", "\u00e9", "\U0001F600"}) {
                std::string text = plain;
                text.replace(at, 1, special);
                std::string again;
                const std::string written = json(text);
                ASSERT_TRUE(from_json(written, again)) << written;
                ASSERT_EQ(again, text);
                ASSERT_TRUE(from_cbor(from_hex(cbor(text)), again));
                ASSERT_EQ(again, text);
            }
            std::string bad = plain;
            bad[at] = '\xC3';
            std::string out;
            const auto result = silverpoint::to_json(bad, out);
            ASSERT_FALSE(result);
            ASSERT_EQ(result.error().kind, BindError::Kind::kText);
            ASSERT_FALSE(silverpoint::to_cbor(bad, out));
            ASSERT_FALSE(from_json('"' + bad + '"', out));
            ASSERT_FALSE(from_cbor("\x78" + std::string(1, static_cast<char>(size)) + bad, out));
        }
    }
    silverpoint::JsonWriteOptions options;
    options.replaces_bad_text = true;
    EXPECT_EQ(json(std::string("a\xFF\xC3z"), options), "\"a\uFFFD\uFFFDz\"");
    EXPECT_EQ(json(std::u16string{u'a', 0xDC00, u'z'}, options), "\"a\uFFFDz\"");
    std::string out;
    EXPECT_FALSE(silverpoint::to_json(std::u16string{0xDC00}, out));
    for (const char* text : {"\"\\ud800\"", "\"\\udc00\"", "\"\\u12g4\"", "\"\\x\"", "\"\\", "\"a", "\"\n\"",
                             "\"\\ud800\\u0041\""})
        EXPECT_FALSE(from_json(text, out)) << text;
    ASSERT_TRUE(from_json("\"\\ud83d\\uDE00\\/\\b\\f\"", out));
    EXPECT_EQ(out, "\U0001F600/\b\f");
}

TEST(Bind, Members) {
    Point point;
    const auto says = [](const auto& result) { return result.ok() ? "fine" : result.text(); };
    EXPECT_EQ(says(from_json("{\"x\":1}", point)),
              "byte 6 (line 1, column 7): found an object without `y`, expected the member `y`");
    EXPECT_EQ(says(from_json("{\"x\":1,\"y\":2,\"x\":3}", point)),
              "byte 13 (line 1, column 14): found the member `x` again, expected each member once");
    EXPECT_EQ(says(from_json("{\"x\":1,\n \"y\":[]}", point)),
              "byte 13 (line 2, column 6), in .y: found an array, expected an integer from -2147483648 to "
              "2147483647");
    Strict strict;
    EXPECT_EQ(says(from_json("{\"a\":1, \"c\":2}", strict)),
              "byte 8 (line 1, column 9): found the member `c`, expected one of `a`, `b`");
    silverpoint::ReadOptions options;
    options.refuses_unknown = true;
    EXPECT_TRUE(from_json("{\"z\":[{}],\"y\":1,\"x\":2}", point));
    EXPECT_FALSE(from_json("{\"z\":[{}],\"y\":1,\"x\":2}", point, options));
    options.allows_missing = true;
    point = {8, 9};
    EXPECT_TRUE(from_json("{\"y\":1}", point, options));
    EXPECT_EQ(json(point), "{\"x\":8,\"y\":1}");
    // What is missing empties an optional, and keeps what has a default.
    Order order{1, Side::Buy, 0, 0, "", "old", {}, Point()};
    EXPECT_TRUE(from_json(
        "{\"id\":2,\"side\":\"Sell\",\"price\":1,\"quantity\":2,\"symbol\":\"s\",\"tags\":[]}", order));
    EXPECT_FALSE(order.note.has_value() || order.at.has_value());
    EXPECT_EQ(order.side, Side::Sell);
    silverpoint::JsonWriteOptions skips;
    skips.skips_empty = true;
    EXPECT_EQ(json(order, skips),
              "{\"id\":2,\"side\":\"Sell\",\"price\":1.0,\"quantity\":2,\"symbol\":\"s\",\"tags\":[]}");
    EXPECT_EQ(says(from_json("{\"side\":\"Bye\"}", order)),
              "byte 8 (line 1, column 9), in .side: found the text \"Bye\", expected one of `Buy`, `Sell`");
    std::vector<Order> orders;
    EXPECT_EQ(says(from_json("[{\"tags\":[\"a\",5]}]", orders)),
              "byte 14 (line 1, column 15), in [0].tags[1]: found the number 5, expected text");
    std::map<std::string, int> names;
    EXPECT_EQ(says(from_json("{\"a\":1,\"a\":2}", names)),
              "byte 7 (line 1, column 8): found a key again, expected each key once");
    std::array<int, 2> two;
    EXPECT_EQ(says(from_json("[1]", two)),
              "byte 0 (line 1, column 1): found an array of 1, expected an array of 2");
    EXPECT_EQ(says(from_json("[1,2,3]", two)),
              "byte 0 (line 1, column 1): found an array of more than 2, expected an array of 2");
    EXPECT_EQ(says(from_json("[1,2] x", two)),
              "byte 6 (line 1, column 7): found 'x', expected the end of the input");
    EXPECT_EQ(says(from_json("[1,2", two)),
              "byte 4 (line 1, column 5): found the end of the input, expected ',' or ']'");
    Colour colour;
    EXPECT_EQ(
        says(from_json("\"red\"", colour)),
        "byte 0 (line 1, column 1): found a value that the program refuses, expected one that it takes");
    std::chrono::milliseconds ms;
    EXPECT_FALSE(from_json("1500", ms));
    EXPECT_FALSE(from_json("[1,]", two));
    EXPECT_FALSE(from_json("{\"x\":1,}", point));
}

TEST(Bind, SeveralValues) {
    silverpoint::JsonWriter writer;
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(silverpoint::bind(writer, Point{i, -i}));
    EXPECT_EQ(writer.view(), "{\"x\":0,\"y\":0}\n{\"x\":1,\"y\":-1}\n{\"x\":2,\"y\":-2}");
    silverpoint::JsonReader reader(writer.view());
    int count = 0;
    for (Point point; reader.more(); ++count) {
        ASSERT_TRUE(silverpoint::bind(reader, point));
        EXPECT_EQ(point.y, -count);
    }
    EXPECT_EQ(count, 3);
    // What fails is taken back.
    ASSERT_FALSE(silverpoint::bind(writer, std::vector<std::string>{"a", "\xFF"}));
    EXPECT_EQ(writer.view().size(), 43u);
}

TEST(Bind, Sink) {
    std::vector<std::string> words(20000, "a text of some length, for it to be more than one piece");
    std::string whole, pieces;
    ASSERT_TRUE(silverpoint::to_json(words, whole));
    const auto take = [](void* to, const char* data, std::size_t size) {
        static_cast<std::string*>(to)->append(data, size);
        return true;
    };
    silverpoint::JsonWriter writer(take, &pieces);
    ASSERT_TRUE(silverpoint::bind(writer, words));
    EXPECT_LT(writer.view().size(), 200000u);
    ASSERT_TRUE(writer.finish());
    EXPECT_EQ(pieces, whole);
    silverpoint::JsonWriter refused([](void*, const char*, std::size_t) { return false; }, nullptr);
    const auto result = silverpoint::bind(refused, words);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, BindError::Kind::kSink);
}

}  // namespace
