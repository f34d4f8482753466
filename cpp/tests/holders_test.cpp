// Values of the library that hold others, and errors: their signatures and values, as a reader sees them.
#include <atomic>
#include <bitset>
#include <complex>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <silverpoint/silverpoint.hpp>
#include <silverpoint/thread.hpp>
#include <source_location>
#include <string>
#include <system_error>
#include <typeinfo>
#include <variant>
#include <vector>

#include "support/expect_value.hpp"

namespace shapes {
struct Circle {
    double radius;
};
struct Opaque {
    int hidden;
};
// As std::expected of C++23.
template <class T, class E>
struct Expected {
    using value_type = T;
    using error_type = E;
    std::variant<T, E> either;
    bool has_value() const { return either.index() == 0; }
    const T& operator*() const { return std::get<0>(either); }
    const E& error() const { return std::get<1>(either); }
};
template <class E>
struct Expected<void, E> {
    using value_type = void;
    using error_type = E;
    std::optional<E> failure;
    bool has_value() const { return !failure; }
    void operator*() const {}
    const E& error() const { return *failure; }
};
#ifdef __cpp_exceptions
struct Throws {
    Throws() = default;
    Throws(const Throws&) { throw 1; }
    Throws& operator=(const Throws&) = default;
};
#endif
}  // namespace shapes
SP_STRUCT(shapes::Circle, radius)
#ifdef __cpp_exceptions
SP_STRUCT(shapes::Throws)
#endif

namespace {

using traced::one;

// The piece of a stream that was held in a variable: in an array, one CBOR item, as bytes.
#define EXPECT_ITEM(hex_, ...)                     \
    do {                                           \
        SP_STREAM(info) << (__VA_ARGS__);          \
        EXPECT_EQ(one().text, "v:9f:" hex_ ":ff"); \
    } while (false)

TEST(Holders, Variants) {
    using Value = std::variant<int, std::string, std::vector<double>>;
    EXPECT_VALUE("/is[d|", "0:7", Value(7));
    EXPECT_VALUE("/is[d|", "1:\"text\"", Value("text"));
    EXPECT_VALUE("/is[d|", "2:[1.5, 2]", Value(std::vector{1.5, 2.0}));
    EXPECT_VALUE("/ni|", "0:null", std::variant<std::monostate, int>());
    EXPECT_VALUE("[/is|", "[1:\"a\", 0:2]", std::vector<std::variant<int, std::string>>{std::string("a"), 2});
    EXPECT_VALUE("/<shapes%3A%3ACircle|radius:d,>b|", "0:shapes%3A%3ACircle{radius: 2}",
                 std::variant<shapes::Circle, bool>(shapes::Circle{2}));
    EXPECT_ITEM("05", Value(5));
    EXPECT_ITEM("f6", std::variant<std::monostate, int>());
}

#ifdef __cpp_exceptions
TEST(Holders, AVariantWithoutAValue) {
    std::variant<int, shapes::Throws> broken;
    try {
        const shapes::Throws original;
        broken = original;
        broken.emplace<1>(original);
    } catch (int) {
    }
    ASSERT_TRUE(broken.valueless_by_exception());
    SP_INFO("{}", broken);
    EXPECT_EQ(static_cast<unsigned char>(one().record.args[0]), 255);
}
#endif

TEST(Holders, ExpectedValues) {
    using Result = shapes::Expected<int, std::string>;
    EXPECT_VALUE("/is|", "0:5", Result{5});
    EXPECT_VALUE("/is|", "1:\"no such file\"", Result{"no such file"});
    EXPECT_VALUE("/ni|", "0:null", shapes::Expected<void, int>{});
    EXPECT_VALUE("/ni|", "1:2", shapes::Expected<void, int>{2});
}

TEST(Holders, Pointers) {
    EXPECT_VALUE("?i", "3", std::make_unique<int>(3));
    EXPECT_VALUE("?i", "none", std::unique_ptr<int>());
    EXPECT_VALUE("?s", "\"shared\"", std::make_shared<std::string>("shared"));
    EXPECT_VALUE("?<shapes%3A%3ACircle|radius:d,>", "shapes%3A%3ACircle{radius: 1.5}",
                 std::make_shared<const shapes::Circle>(shapes::Circle{1.5}));
    // What cannot be recorded is its address.
    const auto opaque = std::make_unique<shapes::Opaque>();
    SP_INFO("{}", opaque);
    auto seen = one();
    EXPECT_EQ(seen.site.signature, "p");
    std::uint64_t address = 0;
    std::memcpy(&address, seen.record.args.data(), 8);
    EXPECT_EQ(address, reinterpret_cast<std::uintptr_t>(opaque.get()));
    EXPECT_VALUE("p", "0x0", std::shared_ptr<void>());
    // A weak one.
    auto owner = std::make_shared<int>(1);
    const std::weak_ptr<int> weak = owner;
    EXPECT_VALUE("b", "true", weak);
    owner.reset();
    EXPECT_VALUE("b", "false", weak);
}

TEST(Holders, SingleValues) {
    EXPECT_VALUE("i", "-4", std::atomic<int>(-4));
    EXPECT_VALUE("b", "true", std::atomic<bool>(true));
    const std::string text = "referred";
    EXPECT_VALUE("s", "\"referred\"", std::cref(text));
    EXPECT_VALUE("[s", "[\"referred\"]", std::vector{std::cref(text)});
    EXPECT_VALUE("<complex|re:d,im:d,>", "complex{re: 1, im: -2.5}", std::complex<double>(1, -2.5));
    EXPECT_VALUE("s", "\"0101\"", std::bitset<4>(5));
    EXPECT_VALUE("s", "\"\"", std::bitset<0>());
    SP_INFO("{}", std::byte{7});
    EXPECT_EQ(one().site.signature, "estd%3A%3Abyte|A|;");
    EXPECT_ITEM("07", std::atomic<unsigned>(7));
    EXPECT_ITEM("79:00:04:30:31:30:31", std::bitset<4>(5));
}

TEST(Holders, ErrorsAndPlaces) {
    EXPECT_VALUE("<error|category:s,value:i,>", "error{category: \"generic\", value: 2}",
                 std::make_error_code(std::errc::no_such_file_or_directory));
    EXPECT_VALUE("s", "\"broken\"", std::runtime_error("broken"));
#ifdef __cpp_rtti
    SP_INFO("{}", typeid(int));
    EXPECT_EQ(one().text, "\"i\"");
#endif
    const auto here = std::source_location::current();
    SP_INFO("{}", here);
    const auto seen = one();
    EXPECT_EQ(seen.site.signature, "<place|file:s,line:I,function:s,>");
    EXPECT_NE(seen.text.find("holders_test.cpp"), std::string::npos) << seen.text;
    EXPECT_NE(seen.text.find("line: " + std::to_string(here.line())), std::string::npos) << seen.text;
}

TEST(Holders, ThreadsOfTheLibrary) {
    const auto id = std::this_thread::get_id();
    SP_INFO("{}", id);
    const auto seen = one();
    EXPECT_EQ(seen.site.signature, "p");
    EXPECT_EQ(std::memcmp(seen.record.args.data(), &id, 8), 0);
}

TEST(Holders, Views) {
    EXPECT_VALUE("[i", "[0, 1, 2]", std::views::iota(0, 3));
    const std::vector<int> numbers{1, 2, 3, 4};
    EXPECT_VALUE("[i", "[2, 4]", numbers | std::views::filter([](int n) { return n % 2 == 0; }));
    EXPECT_VALUE("[s", "[\"1\", \"2\"]", numbers | std::views::take(2) | std::views::transform([](int n) {
                                             return std::to_string(n);
                                         }));
    EXPECT_VALUE("[i", "[4, 3, 2, 1]", numbers | std::views::reverse);
    const std::map<int, bool> map{{1, true}};
    EXPECT_VALUE("[i", "[1]", map | std::views::keys);
    EXPECT_ITEM("9f:02:04:ff", numbers | std::views::filter([](int n) { return n % 2 == 0; }));
}

}  // namespace
