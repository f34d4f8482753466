// Streams that are held in a variable, and std::ostream.
#include <bit>
#include <chrono>
#include <iomanip>
#include <map>
#include <optional>
#include <ostream>
#include <silverpoint/ostream.hpp>
#include <string>
#include <thread>
#include <vector>

#include "support/traced.hpp"

struct Point {
    int x, y;
};
SP_STRUCT(Point, x, y)
enum class Side : std::uint8_t { Buy, Sell = 7 };
SP_ENUM(Side, Buy, Sell)
struct Printed {
    int value;
};
static std::ostream& operator<<(std::ostream& out, const Printed& printed) {
    return out << "Printed(" << printed.value << ')';
}

namespace {

using traced::one;
using traced::take;

// CBOR as text, written from RFC 8949; `at` goes behind the item.
class Diagnostic {
  public:
    explicit Diagnostic(std::string_view bytes) : bytes_(bytes) {}
    std::string item() {
        const unsigned first = byte();
        const unsigned major = first >> 5, code = first & 31;
        if (major == 7) {
            if (code == 20 || code == 21) return code == 21 ? "true" : "false";
            if (code == 22) return "null";
            if (code == 26) return number(std::bit_cast<float>(static_cast<std::uint32_t>(big_endian(4))));
            if (code == 27) return number(std::bit_cast<double>(big_endian(8)));
            reader::fail("simple value");
        }
        if (code == 31) {
            std::string out = major == 4 ? "[" : "{";
            for (unsigned i = 0; static_cast<unsigned char>(bytes_.at(at_)) != 0xFF; ++i) {
                if (i != 0) out += major == 5 && i % 2 == 1 ? ": " : ", ";
                out += item();
            }
            ++at_;
            return out + (major == 4 ? "]" : "}");
        }
        if (code > 27) reader::fail("length");
        const std::uint64_t value = code < 24 ? code : big_endian(1u << (code - 24));
        if (major == 0) return std::to_string(value);
        if (major == 1) return value == ~0ull ? "-2^64" : "-" + std::to_string(value + 1);
        if (major == 6) return std::to_string(value) + "(" + item() + ")";
        if (major != 2 && major != 3) reader::fail("major type");
        const std::string text(bytes_.substr(at_, value));
        if (text.size() != value) reader::fail("end of a text");
        at_ += value;
        return major == 3 ? '"' + text + '"' : "h" + std::to_string(value);
    }
    bool is_at_end() const { return at_ == bytes_.size(); }

  private:
    unsigned byte() { return static_cast<unsigned char>(bytes_.at(at_++)); }
    std::uint64_t big_endian(unsigned count) {
        std::uint64_t value = 0;
        while (count-- > 0) value = value << 8 | byte();
        return value;
    }
    static std::string number(double value) {
        char text[32];
        std::snprintf(text, sizeof text, "%g", value);
        return text;
    }
    std::string_view bytes_;
    std::size_t at_ = 0;
};

std::string pieces_of(const traced::Seen& seen) {
    std::uint32_t len = 0;
    std::memcpy(&len, seen.record.args.data(), 4);
    const std::string item = seen.record.args.substr(4, len);
    Diagnostic diagnostic(item);
    std::string text = diagnostic.item();
    if (item.size() != len || !diagnostic.is_at_end()) reader::fail("one item");
    return text;
}

// The only record since the last call, as pieces.
std::string pieces() {
    for (const reader::Record& record : traced::session().drain()) {
        if (record.site < 16) continue;
        const reader::Site site = traced::session().site(record.site);
        EXPECT_EQ(site.signature, "v");
        EXPECT_EQ(site.text, "");
        EXPECT_EQ(site.kind, 1);
        return pieces_of({site, record, {}});
    }
    return "no record";
}

void add_to(silverpoint::DynamicStream& line) { line << "by a function"; }

TEST(Held, OneRecordAtItsEnd) {
    for (const bool more : {false, true}) {
        {
            auto line = SP_STREAM(info);
            line << "x" << 1;
            if (more) line << 2.5;
            add_to(line);
            EXPECT_TRUE(traced::session().drain().empty());
        }
        EXPECT_EQ(pieces(), more ? R"(["x", 1, 2.5, "by a function"])" : R"(["x", 1, "by a function"])");
    }
}

TEST(Held, EndsOnceAndRecordsNothingWhenNothingWasWritten) {
    {
        auto line = SP_STREAM(info);
        line << 1;
        line.end();
        EXPECT_EQ(pieces(), "[1]");
        line << 2;
        EXPECT_FALSE(line);
    }
    { auto line = SP_STREAM(warn); }
    EXPECT_EQ(pieces(), "no record");
    SP_STREAM(error) << "at once" << true;
    EXPECT_EQ(pieces(), R"(["at once", true])");
}

TEST(Held, EveryType) {
    using namespace std::chrono_literals;
    __extension__ using Int128 = __int128;
    const char* null = nullptr;
    SP_STREAM(info) << false << -1 << 255u << std::int64_t{-5'000'000'000} << ~0ull << 1.5f << -2.5 << 'c'
                    << U'\u20ac' << null << std::string("s") << u"\u00fc\U0001F600" << L"w";
    EXPECT_EQ(pieces(),
              "[false, -1, 255, -5000000000, 18446744073709551615, 1.5, -2.5, \"c\", \"€\", "
              "\"(null)\", \"s\", \"ü😀\", \"w\"]");
    SP_STREAM(info) << std::vector<int>{1, 2} << std::map<std::string, int>{{"a", 1}} << std::optional<int>()
                    << std::optional<int>(3) << std::pair<int, bool>(1, true) << Point{1, -2} << Side::Sell
                    << static_cast<Side>(3) << 1500ns << -2ms << std::vector<bool>{true}
                    << reinterpret_cast<void*>(0x1f0) << nullptr << Int128{-7} << (Int128{1} << 100);
    EXPECT_EQ(pieces(),
              "[[1, 2], {\"a\": 1}, null, 3, [1, true], {\"x\": 1, \"y\": -2}, \"Sell\", 3, "
              "\"1500 ns\", \"-2000000 ns\", [true], \"0x1f0\", \"0x0\", -7, 2(h16)]");
}

TEST(Held, TextIsAlwaysUtf8) {
    SP_STREAM(info) << "a\xff\xc3" << std::string("\xc0\x80\xed\xa0\x80") << std::u16string(1, u'\xd800');
    EXPECT_EQ(pieces(), "[\"a��\", \"�����\", \"�\"]");
}

TEST(Held, WhatDoesNotFitIsCutAndCounted) {
    {
        auto line = SP_STREAM(info);
        line << std::string(2000, 'x') << 1 << 2;
    }
    auto all = traced::session().drain();
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].flags, 1u);
    const std::string text = pieces_of({{}, all[0], {}});
    EXPECT_EQ(text.substr(0, 3), "[\"x");
    EXPECT_TRUE(text.ends_with("x\", \"…(+3)\"]")) << text;
    EXPECT_GT(text.size(), 950u);
    {
        auto line = SP_STREAM(info);
        line << "kept" << std::vector<int>(5000, 1000) << "not";
    }
    EXPECT_EQ(pieces(), "[\"kept\", \"…(+2)\"]");
    {
        auto line = SP_STREAM(info);
        for (int i = 0; i < 100'000; ++i) line << 1;
    }
    const std::string numbers = pieces();
    EXPECT_TRUE(numbers.ends_with(", 1, \"…(+99001)\"]")) << numbers.substr(numbers.size() - 30);
}

TEST(Held, TheFirstRecordOfAThreadKeepsItsFlag) {
    std::thread([] {
        auto line = SP_STREAM(info);
        line << std::string(2000, 'x');
    }).join();
    const auto all = traced::session().drain();
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].flags, 1u);
}

void print(std::ostream& out) { out << std::hex << std::showbase << 255 << std::endl; }

TEST(Ostream, IsARealOne) {
    SP_OSTREAM(info) << std::setw(5) << 42 << std::fixed << std::setprecision(2) << ' ' << 2.0 << ' '
                     << Printed{7};
    auto seen = one();
    EXPECT_EQ(seen.site.text, "{}");
    EXPECT_EQ(seen.site.signature, "s");
    EXPECT_EQ(seen.text, "\"   42 2.00 Printed(7)\"");
    print(SP_OSTREAM(warn));
    seen = one();
    EXPECT_EQ(seen.text, "\"0xff\"");
    EXPECT_EQ(seen.site.level, 3);
}

TEST(Ostream, HeldRecordsOnceWhateverIsFlushed) {
    {
        auto out = SP_OSTREAM_HELD(info);
        out << "a\n" << std::flush << "b" << std::endl;
        EXPECT_TRUE(take().empty());
    }
    EXPECT_EQ(one().record.args, std::string("\x03\0\0\0a\nb\0", 8));
    { auto out = SP_OSTREAM_HELD(info); }
    EXPECT_TRUE(take().empty());
}

TEST(Ostream, IsCutWithinNoCharacter) {
    SP_OSTREAM(info) << std::string(999, 'x') << "ü" << 12;
    const auto all = traced::session().drain();
    ASSERT_EQ(all.size(), 1u);
    std::uint32_t words[2];
    std::memcpy(words, all[0].args.data(), 8);
    EXPECT_EQ(words[0], 999u | 1u << 31);
    EXPECT_EQ(words[1], 4u);
    EXPECT_EQ(all[0].args.substr(8, 999), std::string(999, 'x'));
    EXPECT_EQ(all[0].flags, 1u);
}

}  // namespace
