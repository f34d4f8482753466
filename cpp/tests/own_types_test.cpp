// Hierarchies by their dynamic type, and types that become text.
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <silverpoint/polymorphic.hpp>
#include <string>
#include <string_view>
#include <vector>
#if __has_include(<fmt/format.h>)
#    define FMT_HEADER_ONLY
#    include <fmt/format.h>
#endif
#include <silverpoint/text.hpp>

#include "support/expect_value.hpp"

namespace shapes {
struct Point {
    int x, y;
};
struct Shape {
    explicit Shape(int id) : id(id) {}
    virtual ~Shape() = default;
    int id;
};
struct Circle : Shape {
    Circle(int id, double radius) : Shape(id), radius(radius) {}
    double radius;
};
struct Square : Shape {
    Square(int id, Point at, std::string label) : Shape(id), at(at), label(std::move(label)) {}
    Point at;
    std::string label;
};
struct RoundedSquare : Square {
    using Square::Square;
};
struct Line : Shape {
    using Shape::Shape;
};
template <class T>
struct Of : Shape {
    using Shape::Shape;
};

struct Root {
    virtual ~Root() = default;
};
struct Virtual : virtual Root {
    int n = 6;
};

// Distinguished by a number of their own.
struct Message {
    enum Kind { kText, kNumber, kOther } kind;
};
struct Text : Message {
    std::string text;
};
inline int silverpoint_tag(const Message& message) {
    return message.kind == Message::kOther ? -1 : message.kind;
}
struct Numeric : Message {
    int number;
};

// The base is in its own list.
struct Node {
    virtual ~Node() = default;
    int depth = 3;
};
struct Leaf : Node {
    int value = 4;
};
struct Branch : Node {};
inline int silverpoint_tag(const Node& node) { return node.depth == 3 ? 0 : 1; }
}  // namespace shapes

// Named as a type of ours.
struct Shape {
    virtual ~Shape() = default;
};
inline int silverpoint_tag(const Shape&) { return 0; }
struct Fields : Shape {
    int n = 8;
};
SP_STRUCT(Fields, n)
SP_DYNAMIC(Shape, Fields)

SP_STRUCT(shapes::Point, x, y)
SP_STRUCT(shapes::Circle, id, radius)
SP_STRUCT(shapes::Square, at, label)
SP_STRUCT(shapes::Text, text)
SP_STRUCT(shapes::Numeric, number)
SP_STRUCT(shapes::Node, depth)
SP_STRUCT(shapes::Leaf, value)
SP_DYNAMIC(shapes::Message, shapes::Text, shapes::Numeric)
SP_DYNAMIC(shapes::Node, shapes::Leaf, shapes::Node)
#ifdef __cpp_rtti
SP_DYNAMIC(shapes::Shape, shapes::Circle, shapes::Square)
SP_STRUCT(shapes::Virtual, n)
SP_DYNAMIC(shapes::Root, shapes::Virtual)
#endif

namespace {

using traced::one;
using namespace std::string_literals;

template <class... Ts>
std::string held(const Ts&... values) {
    {
        auto line = SP_STREAM(info);
        (line << ... << values);
    }
    for (const reader::Record& record : traced::session().drain())
        if (record.site >= 16) return std::string(record.args);
    return {};
}

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// --- SP_DYNAMIC

#ifdef __cpp_rtti

constexpr std::string_view kShape =
    "/<shapes%3A%3ACircle|id:i,radius:d,>"
    "<shapes%3A%3ASquare|at:<shapes%3A%3APoint|x:i,y:i,>,label:s,>s|";

const shapes::Circle circle(1, 2.5);
const shapes::Square square(2, {3, 4}, "l");
constexpr std::string_view kCircle = "0:shapes%3A%3ACircle{id: 1, radius: 2.5}";
constexpr std::string_view kSquare = "1:shapes%3A%3ASquare{at: shapes%3A%3APoint{x: 3, y: 4}, label: \"l\"}";

TEST(Dynamic, ReferencesAreWhatTheyReferTo) {
    const shapes::Shape& one_shape = circle;
    const shapes::Shape& other = square;
    EXPECT_VALUE(kShape, kCircle, one_shape);
    EXPECT_VALUE(kShape, kSquare, other);
}

TEST(Dynamic, PointersMayBeNull) {
    const shapes::Shape* pointer = &circle;
    EXPECT_VALUE("?" + std::string(kShape), kCircle, pointer);
    pointer = nullptr;
    EXPECT_VALUE("?" + std::string(kShape), "none", pointer);
    shapes::Line line(5);
    shapes::Shape* changing = &line;
    EXPECT_VALUE("?" + std::string(kShape), "2:\"shapes::Line\"", changing);
}

TEST(Dynamic, ClassesThatAreNotListed) {
    const shapes::RoundedSquare rounded(2, {3, 4}, "l");
    const shapes::Shape& as_square = rounded;
    EXPECT_VALUE(kShape, kSquare, as_square);
    const shapes::Shape itself(9);
    EXPECT_VALUE(kShape, "2:\"shapes::Shape\"", itself);
    const shapes::Of<int> of(1);
    const shapes::Shape& generic = of;
    EXPECT_VALUE(kShape, "2:\"N6shapes2OfIiEE\"", generic);
    struct Local : shapes::Shape {
        using Shape::Shape;
    };
    const Local local(1);
    const shapes::Shape& in_function = local;
    SP_INFO("{}", in_function);
    EXPECT_TRUE(holds(one().text, "Local"));
}

TEST(Dynamic, VirtualBases) {
    const shapes::Virtual object;
    const shapes::Root& root = object;
    EXPECT_VALUE("/<shapes%3A%3AVirtual|n:i,>s|", "0:shapes%3A%3AVirtual{n: 6}", root);
}

TEST(Dynamic, InContainers) {
    const std::vector<const shapes::Shape*> all = {&circle, nullptr, &square};
    EXPECT_VALUE("[?" + std::string(kShape),
                 "[" + std::string(kCircle) + ", none, " + std::string(kSquare) + "]", all);
}

TEST(Dynamic, InSmartPointers) {
    const std::unique_ptr<shapes::Shape> owner = std::make_unique<shapes::Circle>(1, 2.5);
    const std::shared_ptr<const shapes::Shape> none;
    SP_INFO("{} {}", owner, none);
    const auto seen = one();
    EXPECT_TRUE(holds(seen.text, kCircle)) << seen.text;
    EXPECT_TRUE(seen.text.ends_with(" none")) << seen.text;
    EXPECT_TRUE(holds(seen.site.signature, kShape)) << seen.site.signature;
}

TEST(Dynamic, ClassesInTheListAreRecordedAsEver) {
    EXPECT_VALUE("<shapes%3A%3ACircle|id:i,radius:d,>", "shapes%3A%3ACircle{id: 1, radius: 2.5}", circle);
}

TEST(Dynamic, HeldStreams) {
    const shapes::Shape& shape = square;
    const shapes::Line line(1);
    const std::string bytes =
        held(shape, static_cast<const shapes::Shape*>(&line), static_cast<const shapes::Shape*>(nullptr));
    EXPECT_TRUE(holds(bytes, "label"));
    EXPECT_TRUE(holds(bytes, "shapes::Line\xF6")) << "and null";
}

#endif  // __cpp_rtti

TEST(Dynamic, ToldByATag) {
    const std::string signature = "/<shapes%3A%3AText|text:s,><shapes%3A%3ANumeric|number:i,>n|";
    const shapes::Text text{{shapes::Message::kText}, "t"};
    const shapes::Numeric number{{shapes::Message::kNumber}, 5};
    const shapes::Message other{shapes::Message::kOther};
    const shapes::Message &first = text, &second = number;
    EXPECT_VALUE(signature, "0:shapes%3A%3AText{text: \"t\"}", first);
    EXPECT_VALUE(signature, "1:shapes%3A%3ANumeric{number: 5}", second);
    EXPECT_VALUE(signature, "2:null", other);
    EXPECT_VALUE("?" + signature, "1:shapes%3A%3ANumeric{number: 5}", &second);
    EXPECT_TRUE(holds(held(other, second), "\xF6\xBF")) << "null, then a map";
}

TEST(Dynamic, TheBaseInItsOwnList) {
    const std::string signature = "/<shapes%3A%3ALeaf|value:i,><shapes%3A%3ANode|depth:i,>n|";
    const shapes::Leaf leaf;
    shapes::Branch branch;
    branch.depth = 7;
    const shapes::Node &first = leaf, &second = branch;
    EXPECT_VALUE(signature, "0:shapes%3A%3ALeaf{value: 4}", first);
    EXPECT_VALUE(signature, "1:shapes%3A%3ANode{depth: 7}", second);
    EXPECT_TRUE(holds(held(second), "depth"));
}

TEST(Dynamic, NamesThatTheLibraryHasToo) {
    const ::Fields fields;
    const ::Shape& shape = fields;
    EXPECT_VALUE("/<Fields|n:i,>n|", "0:Fields{n: 8}", shape);
}

TEST(ClassNames, AreSpelledOut) {
    const auto name = [](std::string_view mangled) {
        const auto text = silverpoint::detail::ClassName::text(mangled);
        return std::string(text.data, text.size);
    };
    EXPECT_EQ(name("6Circle"), "Circle");
    EXPECT_EQ(name("N3app5shape6CircleE"), "app::shape::Circle");
    EXPECT_EQ(name("N12_GLOBAL__N_16CircleE"), "Circle");
    EXPECT_EQ(name("St9exception"), "St9exception");
    EXPECT_EQ(name("N3app2OfIiEE"), "N3app2OfIiEE");
    EXPECT_EQ(name("99999999999999999999x"), "99999999999999999999x");
    EXPECT_EQ(name("5ab"), "5ab");
    EXPECT_EQ(name(""), "");
}

// --- SP_TEXT

struct Matrix {
    int rows;
    friend std::ostream& operator<<(std::ostream& out, const Matrix& matrix) {
        for (int i = 0; i < matrix.rows; ++i) out << "row " << i << '\n';
        return out;
    }
};
struct Version {
    int major, minor;
    friend std::string to_string(const Version& v) {
        return std::to_string(v.major) + "." + std::to_string(v.minor);
    }
};
struct Address {
    std::string to_string() const { return "10.0.0.1"; }
};

TEST(Text, ByWhateverTheTypeHas) {
    EXPECT_VALUE("s", "\"row 0\nrow 1\"", SP_TEXT(Matrix{2}));
    EXPECT_VALUE("s", "\"1.2\"", SP_TEXT(Version{1, 2}));
    EXPECT_VALUE("s", "\"10.0.0.1\"", SP_TEXT(Address{}));
    EXPECT_VALUE("s", "\"2.5\"", SP_TEXT(2.5));
    EXPECT_VALUE("s", "\"\"", SP_TEXT(Matrix{0}));
    EXPECT_TRUE(holds(held(SP_TEXT(Version{3, 4})), "3.4"));
    SP_INFO("{:>10s}", SP_TEXT(Address{}));
    EXPECT_EQ(one().site.text, "{:>10s}");
}

TEST(Text, IsBounded) {
    SP_INFO("{} {}", SP_TEXT(std::string(998, 'x').append("€uro")), 5);
    const auto seen = one();
    EXPECT_EQ(seen.text, "\"" + std::string(998, 'x') + "\"…+6 5") << "cut before a character, not in one";
    EXPECT_TRUE(seen.record.flags & 1);
    SP_INFO << SP_UNIT(SP_TEXT(std::string(1001, 'x')), "B");
    EXPECT_TRUE(one().record.flags & 1);
    SP_INFO << SP_TEXT(std::string(1000, 'x'));
    EXPECT_FALSE(one().record.flags & 1);
    const std::string bytes = held(SP_TEXT(std::string(5000, 'y')), 7);
    EXPECT_TRUE(holds(bytes, "yyyy") && holds(bytes, "(+2)")) << "two pieces are not whole";
}

TEST(Text, IsMadeOnlyWhenTheSiteIsOn) {
    int asked = 0;
    const auto count = [&asked] {
        ++asked;
        return Address{};
    };
    SP_EVENT("made", SP_TEXT(count()));
    EXPECT_EQ(one().site.names, "count()\n");
    EXPECT_EQ(asked, 1);
    {
        const bool off = false;
        SP_INFO_IF(off, "{}", SP_TEXT(count()));
    }
    EXPECT_EQ(asked, 1);
}

#ifdef __cpp_exceptions
struct Thrower {
    friend std::ostream& operator<<(std::ostream& out, const Thrower&) {
        out << "half";
        throw 5;
    }
};

TEST(Text, WhatIsThrownEndsIt) { EXPECT_VALUE("s", "\"half<exception>\"", SP_TEXT(Thrower{})); }
#endif

}  // namespace

#ifdef FMT_VERSION
namespace {
struct Celsius {
    double degrees;
};
}  // namespace
template <>
struct fmt::formatter<Celsius> : fmt::formatter<std::string_view> {
    auto format(const Celsius& value, fmt::format_context& context) const {
        return fmt::format_to(context.out(), "{:.1f} °C", value.degrees);
    }
};
TEST(Text, ByAFormatterOfFmt) { EXPECT_VALUE("s", "\"21.5 °C\"", SP_TEXT(Celsius{21.5})); }
#endif

#ifdef __cpp_lib_format
namespace {
struct Kelvin {
    double degrees;
};
}  // namespace
template <>
struct std::formatter<Kelvin> : std::formatter<std::string_view> {
    auto format(const Kelvin& value, auto& context) const {
        return std::format_to(context.out(), "{:.1f} K", value.degrees);
    }
};
TEST(Text, ByAFormatterOfTheLibrary) { EXPECT_VALUE("s", "\"21.5 K\"", SP_TEXT(Kelvin{21.5})); }
#endif
