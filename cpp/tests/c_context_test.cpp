// Contexts and trace contexts of C (c_points.c), as readers see them, and beside those of C++.
#include <map>
#include <silverpoint/context.hpp>
#include <silverpoint/silverpoint.hpp>
#include <silverpoint/trace_context.hpp>
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

// --- W3C Trace Context.

const std::string kHeader = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

TEST(CTrace, ReadsAndRefusesAsCppDoes) {
    EXPECT_TRUE(c_trace_is_read(kHeader.c_str()));
    EXPECT_FALSE(c_trace_is_read(nullptr));
    for (std::size_t i = 0; i < kHeader.size(); ++i) {
        EXPECT_FALSE(c_trace_is_read(kHeader.substr(0, i).c_str()));
        for (const char c : {'0', 'f', 'F', 'g', '-', ' '}) {
            std::string text = kHeader;
            text[i] = c;
            EXPECT_EQ(c_trace_is_read(text.c_str()), silverpoint::TraceContext::parse(text).has_value())
                << text;
        }
    }
    char header[56] = {};
    c_trace_written(kHeader.c_str(), header);
    EXPECT_EQ(header, kHeader);
    c_trace_written(("cc" + kHeader.substr(2, 51) + "fd-what comes").c_str(), header);
    EXPECT_EQ(header, kHeader);
}

TEST(CTrace, IdsAreFieldsOfTheContext) {
    take();
    char header[56] = {}, state[513] = {};
    EXPECT_FALSE(c_trace_current(header, state));
    EXPECT_EQ(c_trace_accepted(kHeader.c_str(), "a=1", header, state), nullptr);
    EXPECT_EQ(std::string(header).substr(0, 36), kHeader.substr(0, 36));
    EXPECT_NE(std::string(header).substr(36, 16), kHeader.substr(36, 16));
    EXPECT_EQ(state, "a=1"s);
    All all = take();
    ASSERT_EQ(all.size(), 3u);
    const std::string span = "\x67span_id\x70" + std::string(header).substr(36, 16);
    const std::string accepted = "\x68trace_id\x78\x20" + kHeader.substr(3, 32) + span + "\x69parent_id\x70" +
                                 kHeader.substr(36, 16) + "\x6Btrace_flags\x62" + "01\x6Atracestate\x63" +
                                 "a=1";
    EXPECT_EQ(all[0], "accepted: " + accepted);
    // Neither parent nor state of the outer one show through: null, and empty.
    EXPECT_NE(all[1].find("\x69parent_id\xF6"), std::string::npos) << all[1];
    EXPECT_TRUE(all[1].ends_with("\x6Atracestate\x60")) << all[1];
    EXPECT_EQ(all[2], "outside: ");
    // Nonsense begins a trace; an invalid state is dropped.
    for (const char* text : {"00-zz", ""}) {
        EXPECT_EQ(c_trace_accepted(text, "a=1", header, state), nullptr);
        EXPECT_EQ(state, ""s);
    }
    EXPECT_EQ(c_trace_accepted(nullptr, nullptr, header, state), nullptr);
    EXPECT_EQ(c_trace_accepted(kHeader.c_str(), std::string(513, 'x').c_str(), header, state), nullptr);
    EXPECT_EQ(state, ""s);
    EXPECT_EQ(c_trace_accepted(kHeader.c_str(), std::string(512, 'x').c_str(), header, state), nullptr);
    EXPECT_EQ(state, std::string(512, 'x'));
}

TEST(CTrace, IsOneWithThatOfCpp) {
    char header[56] = {}, state[513] = {};
    const auto accepted = silverpoint::TraceContext::accept(kHeader, "a=1");
    const auto scope = accepted.enter();
    EXPECT_TRUE(c_trace_current(header, state));
    EXPECT_EQ(header, accepted.header());
    EXPECT_EQ(state, accepted.state());
}

}  // namespace
