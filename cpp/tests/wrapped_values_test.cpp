// Values in wrappers and own types described from outside: signatures, bytes, and names of arguments.
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <silverpoint/silverpoint.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/expect_value.hpp"

namespace people {
class Person {
  public:
    Person(std::string name, int age) : name_(std::move(name)), age_(age) {}
    const std::string& name() const { return name_; }
    int age() const { return age_; }
    std::vector<int> marks() const { return {age_, 1}; }

  private:
    friend struct silverpoint::Struct<Person>;
    std::string name_;
    int age_;
};

class Sealed {
  public:
    explicit Sealed(int x) : x_(x), low_(5) {}

  private:
    friend struct silverpoint::Struct<Sealed>;
    int x_;
    unsigned low_ : 3;
    [[maybe_unused]] unsigned high_ : 5 = 0;
};

struct Team {
    Person lead;
    std::vector<Person> others;
};

class Door {
  public:
    enum class Colour : std::uint8_t { kRed, kBlue };
    static auto locked() { return State::kLocked; }

  private:
    enum class State : std::int8_t { kOpen = -1, kLocked = 1 };
    friend struct silverpoint::Enum<State>;
};

enum class Mode : std::uint8_t { kRead = 1, kWrite = 2, kAppend = 4 };
enum Access { kNone = 0, kView = 1, kEdit = 2, kAll = 3, kTop = -2147483647 - 1 };
}  // namespace people

// Named as types of ours.
struct Span {
    int begin;
};
struct Site {
    Span span;
};
enum class Level { kLow, kHigh };
enum class Kind : unsigned { kA = 1, kB = 2 };

namespace {
enum class Hidden { kFirst, kSecond };
}

SP_STRUCT_OF(people::Person, (name, v.name()), (age, v.age()), (marks, v.marks()))
SP_STRUCT_OF(people::Sealed, (x, v.x_), (low, v.low_), (sum, SP_UNIT(v.x_ + 1, "m")))
SP_STRUCT(people::Team, lead, others)
SP_STRUCT(Span, begin)
SP_STRUCT_OF(Site, (span, v.span))
SP_ENUM(Level, kLow, kHigh)
SP_FLAGS(Kind, kA, kB)
SP_ENUM(people::Door::Colour, kRed, kBlue)
SP_ENUM(Hidden, kFirst, kSecond)
SP_FLAGS(people::Mode, kRead, kWrite, kAppend)
SP_FLAGS(people::Access, kNone, kAll, kView, kEdit, kTop)

namespace {

using traced::one;
using namespace std::string_literals;

// --- SP_HEX

TEST(Hex, IntegersKeepTheirType) {
    EXPECT_VALUE("@hex=;i", "-5", SP_HEX(-5));
    EXPECT_VALUE("@hex=;A", "255", SP_HEX(std::uint8_t{255}));
    EXPECT_VALUE("@hex=;L", "18446744073709551615", SP_HEX(~0ull));
    EXPECT_VALUE("@hex=;?I", "7", SP_HEX(std::optional<unsigned>{7}));
    EXPECT_VALUE("@hex=;[i", "[1, 255]", SP_HEX(std::vector<int>{1, 255}));
    int numbers[] = {1, 2};
    EXPECT_VALUE("@hex=;#2:i", "#[1, 2]", SP_HEX(numbers));
    EXPECT_VALUE("@hex=;A", "1", SP_HEX(people::Door::Colour::kBlue));
    EXPECT_VALUE("p", "0x1000", SP_HEX(reinterpret_cast<int*>(0x1000)));
    SP_INFO("{:08x}", SP_HEX(3));
    EXPECT_EQ(one().site.text, "{:08x}");
}

TEST(Hex, BytesAreBytes) {
    const unsigned char raw[] = {0, 0xAB, 0xFF};
    EXPECT_VALUE("y", "y:00:ab:ff", SP_HEX(raw));
    EXPECT_VALUE("y", "y:01", SP_HEX(std::vector<std::byte>{std::byte{1}}));
    EXPECT_VALUE("y", "y:41:00:42", SP_HEX(std::string("A\0B", 3)));
    EXPECT_VALUE("y", "y:ab:ff", SP_HEX((std::span<const unsigned char>(raw + 1, 2))));
    EXPECT_VALUE("y", "y", SP_HEX(std::string()));
    SP_INFO("{}", SP_HEX(std::string(1 << 24, 'x')));
    const auto seen = one();
    EXPECT_NE(seen.text.find("…+"), std::string::npos) << "too long for a record: cut";
    EXPECT_EQ(seen.text.substr(0, 7), "y:78:78");
}

// --- SP_UNIT

TEST(Unit, StandsOnAnyValue) {
    EXPECT_VALUE("@unit=ms;i", "12", SP_UNIT(12, "ms"));
    EXPECT_VALUE("@unit=m/s%3B%25;d", "0.5", SP_UNIT(0.5, "m/s;%"));
    EXPECT_VALUE("@unit=B;s", "\"text\"", SP_UNIT("text"s, "B"));
    const char* pointer = "pointer";
    EXPECT_VALUE("@unit=B;s", "\"pointer\"", SP_UNIT(pointer, "B"));
    EXPECT_VALUE("@unit=B;s", "\"literal\"", SP_UNIT("literal", "B"));
    EXPECT_VALUE("@unit=ms;[i", "[1, 2]", SP_UNIT((std::vector<int>{1, 2}), "ms"));
    EXPECT_VALUE("@unit=B;@hex=;i", "16", SP_UNIT(SP_HEX(16), "B"));
    EXPECT_VALUE("@unit=B;{si", "{\"a\": 1}", SP_UNIT((std::map<std::string, int>{{"a", 1}}), "B"));
}

TEST(Unit, LongTextIsCutAsWithoutAUnit) {
    SP_INFO("{}", SP_UNIT(std::string(1 << 24, 'x'), "B"));
    const auto seen = one();
    EXPECT_EQ(seen.site.signature, "@unit=B;s");
    EXPECT_NE(seen.text.find("x\"…+"), std::string::npos);
}

// --- SP_SECRET

TEST(Secret, NothingOfItIsRecorded) {
    const std::string password = "correct horse";
    int evaluated = 0;
    SP_INFO("{} {} {}", 1, SP_SECRET((++evaluated, password)), 2);
    const auto seen = one();
    EXPECT_EQ(seen.site.signature, "i@secret=;ni");
    EXPECT_EQ(seen.text, "1 null 2");
    EXPECT_EQ(seen.record.args.size(), 8u) << "two integers";
    EXPECT_EQ(evaluated, 1);
    struct Opaque {};
    EXPECT_VALUE("@secret=;n", "null", SP_SECRET(Opaque{}));
}

// --- Names of arguments

TEST(Names, OfWrappedValuesAreThoseOfTheValues) {
    const int size = 5, other = 6;
    const std::string key = "k";
    SP_EVENT("wrapped", SP_HEX(size), SP_UNIT(size + other, "a(,\")b"), SP_SECRET(key), other,
             SP_UNIT(SP_HEX(other), "B"));
    const auto seen = one();
    EXPECT_EQ(seen.site.names, "size\nsize + other\nkey\nother\nother\n");
    EXPECT_EQ(seen.text, "5 11 null 6 6");
}

// --- Streams that are held

TEST(Held, WrappersShowWhatTheySay) {
    {
        auto line = SP_STREAM(info);
        line << SP_UNIT(12, "ms") << SP_HEX(-255) << SP_HEX(std::string("\xAB")) << SP_SECRET("pw")
             << people::Mode::kRead << static_cast<people::Mode>(0x83) << people::Sealed(1);
    }
    for (const reader::Record& record : traced::session().drain()) {
        if (record.site < 16) continue;
        const std::string& bytes = record.args;
        EXPECT_NE(bytes.find("\x0C\x79"s + "\0\2"s + "ms"), std::string::npos) << "12, then text of 2 bytes";
        EXPECT_NE(bytes.find("-0xff"), std::string::npos);
        EXPECT_NE(bytes.find("\x59"s + "\0\1"s + "\xAB"), std::string::npos) << "a byte string";
        EXPECT_NE(bytes.find("<secret>"), std::string::npos);
        EXPECT_EQ(bytes.find("pw"), std::string::npos);
        EXPECT_NE(bytes.find("kRead"), std::string::npos);
        EXPECT_NE(bytes.find("kRead|kWrite|0x80"), std::string::npos);
        EXPECT_NE(bytes.find("low"), std::string::npos);
    }
}

// A stream that is held with one piece: what stands behind the head of the array, up to its end.
template <class T>
std::string piece(const T& value) {
    { SP_STREAM(info) << value; }
    for (const reader::Record& record : traced::session().drain()) {
        if (record.site < 16) continue;
        const auto size =
            static_cast<unsigned char>(record.args[0]) + 256u * static_cast<unsigned char>(record.args[1]);
        return record.args.substr(5, size - 2);
    }
    return "nothing";
}

// The tag of metadata, an array of two, and what it says.
std::string said(const std::string& metadata) {
    return "\xDA\x53\x50\x6D\x64\x82\x79"s + '\0' + static_cast<char>(metadata.size()) + metadata;
}
std::string name(const std::string& text) { return "\x79"s + '\0' + static_cast<char>(text.size()) + text; }

TEST(Held, MetadataInContainersIsThere) {
    const std::string one_metre = said("unit=m") + "\x01";
    EXPECT_EQ(piece(people::Sealed(0)),
              "\xBF" + name("x") + "\x00"s + name("low") + "\x05" + name("sum") + one_metre + "\xFF");
    EXPECT_EQ(piece(std::vector<people::Sealed>{people::Sealed(0)}),
              "\x9F\xBF" + name("x") + "\x00"s + name("low") + "\x05" + name("sum") + one_metre + "\xFF\xFF");
    // Of a container as a whole, and of what is within.
    EXPECT_EQ(piece(std::pair(7, SP_UNIT(0.5f, "m/s;%"))),
              "\x9F\x07" + said("unit=m/s;%") + "\xFA\x3F\0\0\0\xFF"s);
    EXPECT_EQ(piece(std::optional(SP_UNIT(1, "m"))), one_metre);
    EXPECT_EQ(piece(SP_HEX(std::vector<int>{1, 2})), said("hex=") + "\x9F\x01\x02\xFF");
    EXPECT_EQ(piece(std::pair(1, SP_UNIT(std::vector<int>{2}, "m"))),
              "\x9F\x01" + said("unit=m") + "\x9F\x02\xFF\xFF");
    EXPECT_EQ(piece(std::pair(1, SP_UNIT(SP_HEX(16), "B"))),
              "\x9F\x01" + said("unit=B") + name("0x10") + "\xFF");
    EXPECT_EQ(piece(std::pair(1, SP_SECRET("pw"))), "\x9F\x01" + name("<secret>") + "\xFF");
    // Durations that are no whole nanoseconds say their unit themselves.
    using Picoseconds = std::chrono::duration<long, std::pico>;
    EXPECT_EQ(piece(Picoseconds(5)), said("unit=ps") + "\x05");
    EXPECT_EQ(piece(std::vector{Picoseconds(5)}), "\x9F" + said("unit=ps") + "\x05\xFF");
    using Thirds = std::chrono::duration<int, std::ratio<1, 30'000'000'000>>;
    EXPECT_EQ(piece(Thirds(3)), said("unit=[1/30000000000]s") + "\x03");
    // Invalid UTF-8 is stored as such.
    EXPECT_EQ(piece(std::pair(1, SP_UNIT(2, "\xB5s"))), "\x9F\x01" + said("unit=\uFFFDs") + "\x02\xFF");
}

TEST(Held, ValuesWithMetadataThatDoNotFitLeaveNothingBehind) {
    for (int length = 900; length < 1000; ++length) {
        {
            auto line = SP_STREAM(info);
            line << std::string(static_cast<std::size_t>(length), 'x') << std::pair(1, SP_UNIT(2, "ms")) << 3;
        }
        for (const reader::Record& record : traced::session().drain()) {
            if (record.site < 16) continue;
            const bool is_there = record.args.find(said("unit=ms") + "\x02\xFF") != std::string::npos;
            const bool is_mentioned = record.args.find("unit") != std::string::npos;
            const bool is_cut = record.args.find("\u2026(+") != std::string::npos;
            EXPECT_EQ(is_there, is_mentioned) << length;
            EXPECT_TRUE(is_there || is_cut) << length;
        }
    }
}

// --- SP_STRUCT_OF

constexpr std::string_view kPerson = "<people%3A%3APerson|name:s,age:i,marks:[i,>";

TEST(StructOf, GettersOfATypeThatIsClosed) {
    const people::Person joe("Joe", 40);
    EXPECT_VALUE(kPerson, "people%3A%3APerson{name: \"Joe\", age: 40, marks: [40, 1]}", joe);
}

TEST(StructOf, PrivateMembersOfAFriendAndBitFields) {
    EXPECT_VALUE("<people%3A%3ASealed|x:i,low:I,sum:@unit=m;i,>", "people%3A%3ASealed{x: 7, low: 5, sum: 8}",
                 people::Sealed(7));
}

TEST(StructOf, WithinStruct) {
    const people::Team team{people::Person("A", 1), {people::Person("B", 2)}};
    const std::string person(kPerson);
    EXPECT_VALUE("<people%3A%3ATeam|lead:" + person + ",others:[" + person + ",>",
                 "people%3A%3ATeam{lead: people%3A%3APerson{name: \"A\", age: 1, marks: [1, 1]}, others: "
                 "[people%3A%3APerson{name: \"B\", age: 2, marks: [2, 1]}]}",
                 team);
}

TEST(StructOf, NamesThatTheLibraryHasToo) {
    EXPECT_VALUE("<Site|span:<Span|begin:i,>,>", "Site{span: Span{begin: 1}}", (::Site{{1}}));
    EXPECT_VALUE("eLevel|i|0=kLow,1=kHigh,;", "Level(1)", ::Level::kHigh);
    EXPECT_VALUE("@flags=1%3DkA%2C2%3DkB;eKind|I|;", "Kind(2)", ::Kind::kB);
}

// --- Enumerations

}  // namespace

SP_ENUM(people::Door::State, kOpen, kLocked)

namespace {

TEST(Enumerations, NestedPrivateAndHidden) {
    EXPECT_VALUE("epeople%3A%3ADoor%3A%3AColour|A|0=kRed,1=kBlue,;", "people%3A%3ADoor%3A%3AColour(1)",
                 people::Door::Colour::kBlue);
    EXPECT_VALUE("epeople%3A%3ADoor%3A%3AState|a|-1=kOpen,1=kLocked,;", "people%3A%3ADoor%3A%3AState(1)",
                 people::Door::locked());
    EXPECT_VALUE("eHidden|i|0=kFirst,1=kSecond,;", "Hidden(1)", Hidden::kSecond);
}

TEST(Enumerations, Flags) {
    EXPECT_VALUE("@flags=1%3DkRead%2C2%3DkWrite%2C4%3DkAppend;epeople%3A%3AMode|A|;", "people%3A%3AMode(5)",
                 static_cast<people::Mode>(5));
    EXPECT_VALUE(
        "@flags=0%3DkNone%2C3%3DkAll%2C1%3DkView%2C2%3DkEdit%2C2147483648%3DkTop;epeople%3A%3AAccess|I|;",
        "people%3A%3AAccess(2147483649)", static_cast<people::Access>(people::kTop | people::kView));
}

// --- Durations and points in time without any header of ours

TEST(Durations, EveryPeriodBecomesNanoseconds) {
    using namespace std::chrono_literals;
    EXPECT_VALUE("T", "5ns", 5ns);
    EXPECT_VALUE("T", "-1500000ns", -1500us);
    EXPECT_VALUE("T", "7200000000000ns", 2h);
    EXPECT_VALUE("T", "1500000000ns", (std::chrono::duration<double>(1.5)));
    EXPECT_VALUE("T", "250000000ns", (std::chrono::duration<int, std::ratio<1, 4>>(1)));
    EXPECT_VALUE("@unit=ps;l", "4", (std::chrono::duration<long, std::pico>(4)));
    EXPECT_VALUE("@unit=[1/3000000000]s;i", "4",
                 (std::chrono::duration<int, std::ratio<1, 3'000'000'000>>(4)));
}

TEST(Durations, BeyondTheRangeTheyAreAtItsEnd) {
    using std::chrono::duration;
    EXPECT_VALUE("T", "9223372036854775807ns", std::chrono::hours::max());
    EXPECT_VALUE("T", "-9223372036854775808ns", std::chrono::hours::min());
    EXPECT_VALUE("T", "9223372036854775807ns", (duration<long, std::peta>(1'000'000'000'000'000'000)));
    EXPECT_VALUE("T", "-9223372036854775808ns", (duration<long, std::peta>(-1'000'000'000'000'000'000)));
    EXPECT_VALUE("T", "9223372036854775807ns", (duration<std::uint64_t, std::nano>(~0ull)));
    EXPECT_VALUE("T", "9223372036854775807ns", (duration<double, std::ratio<3600>>(1e30)));
    EXPECT_VALUE("T", "0ns", (duration<double>(__builtin_nan(""))));
}

TEST(TimePoints, OfTheSystemAndOfOtherClocks) {
    using namespace std::chrono;
    EXPECT_VALUE("t", "@1500000000", system_clock::time_point(milliseconds(1500)));
    EXPECT_VALUE("t", "@86400000000000", sys_days(days(1)));
    EXPECT_VALUE("@clock=steady_clock;T", "5ns", steady_clock::time_point(nanoseconds(5)));
}

}  // namespace
