// Contexts and trace contexts of C (c_points.c), as readers see them, and beside those of C++.
#include <map>
#include <silverpoint/context.hpp>
#include <silverpoint/silverpoint.hpp>
#include <thread>
#include <vector>

#include "c_points.h"
#include "support/traced.hpp"

namespace {

using namespace std::string_literals;

// Everything recorded since the last call: the text, and the fields that it has, as CBOR.
std::vector<std::string> take() {
    static std::map<std::uint32_t, std::string> stated;
    std::vector<std::string> all;
    for (const reader::Record& record : traced::session().drain()) {
        if (record.site == 6) {
            std::uint32_t size = 0;
            std::memcpy(&size, record.args.data(), 4);
            stated[record.stream] = record.args.substr(5, size - 2);
        } else if (record.site >= 16) {
            all.push_back(traced::session().site(record.site).text + ": " + stated[record.stream]);
        }
    }
    return all;
}
using All = std::vector<std::string>;

TEST(CContext, FieldsOfScopes) {
    take();
    c_contexts(7, "ada");
    const std::string request = "\x67request\x07", user = "\x64user\x63"s + "ada\x67user.id\x20";
    EXPECT_EQ(take(), (All{"outside: ", "in: " + request, "deeper: " + request + user,
                           "covered: " + request + user + "\x67request\x08", "in again: " + request,
                           "outside again: "}));
}

TEST(CContext, ValuesAsTheirTypes) {
    take();
    c_contexts_of_all_types();
    const std::string expected =
        "\x61"
        "a\xF5\x61"
        "b\x61x\x61"
        "c\x20\x61"
        "d\x18\xFF\x61"
        "e\x39\x01\x2B\x61"
        "f\xFA\x3F\xC0\0\0\x61"
        "g\xFB\xC0\x04\0\0\0\0\0\0\x61"
        "h\x66"
        "0x1000\x61"
        "i\x1B\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x61"
        "j\x3A\x7F\xFF\xFF\xFF\x61"
        "k\x59\0\2\1\2\x61"
        "l\x63"
        "abc\x61"
        "m\x68<secret>\x61"
        "n\x20\x61"
        "o\x1B\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF"s;
    EXPECT_EQ(take(), All{"types: " + expected});
}

TEST(CContext, NoMoreThanThereIsRoomFor) {
    take();
    EXPECT_EQ(c_contexts_too_deep(), 24u);
    EXPECT_EQ(take(), All{"none: "});
}

TEST(CContext, IsTakenAlong) {
    take();
    c_context_take();
    std::thread(c_context_enter).join();
    const std::string own = "\x63own\x01", along = "\x65taken\x65"s + "along";
    EXPECT_EQ(take(), (All{"entered: " + own + along, "left: " + own, "refused %d: " + own}));
}

TEST(CContext, IsOneWithThatOfCpp) {
    take();
    SP_CONTEXT("cpp", 1);
    c_contexts(1, "x");
    const All all = take();
    ASSERT_EQ(all.size(), 6u);
    EXPECT_EQ(all[0], "outside: \x63"s + "cpp\x01");
    EXPECT_EQ(all[1], "in: \x63"s + "cpp\x01\x67request\x01");
}

}  // namespace
