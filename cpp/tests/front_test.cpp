// What the macros mean: sites, names, categories, levels, evaluation of arguments, spans. Streams:
// front_streams.cpp.
#include <atomic>
#include <cerrno>
#include <silverpoint/silverpoint.hpp>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "support/traced.hpp"

// A type whose signature is long: members' names count.
struct Wide {
    int a_name_that_is_as_long_as_a_line_and_of_which_there_are_many_so_that_the_signature_is_long;
};
SP_STRUCT(Wide, a_name_that_is_as_long_as_a_line_and_of_which_there_are_many_so_that_the_signature_is_long)

namespace {

using traced::one;
using traced::take;

// Sets the directives as a controller does, for sites that exist and for those to come.
class Filter {
  public:
    explicit Filter(const std::string& text) {
        reader::Session& session = traced::session();
        const auto generation = session.get<std::uint32_t>(704);
        session.set<std::uint32_t>(704, generation | 1);
        old_ = session.get<std::uint32_t>(708);
        write(text);
        session.set<std::uint32_t>(704, (generation | 1) + 1);
    }
    ~Filter() { write("trace"); }
    Filter(const Filter&) = delete;
    Filter& operator=(const Filter&) = delete;

  private:
    void write(const std::string& text) {
        reader::Session& session = traced::session();
        for (std::size_t i = 0; i < text.size(); ++i)
            session.set<char>(session.get<std::uint64_t>(128) + i, text[i]);
        session.set<std::uint32_t>(708, static_cast<std::uint32_t>(text.size()));
    }
    std::uint32_t old_ = 0;
};

int evaluated = 0;
int evaluate() { return ++evaluated; }
std::string evaluate_text() {
    ++evaluated;
    return "text";
}

// One site, as often as it is called.
void off_site() { SP_TRACE("off {}", evaluate()); }
void off_stream() { SP_TRACE << "off" << evaluate() << evaluate_text(); }
void off_event() { SP_EVENT_AT(trace, "off", evaluate(), evaluate_text()); }
void off_span() { SP_SPAN("off", evaluate()); }
void off_counter() { SP_COUNTER("off", evaluate()); }

TEST(Off, ArgumentsAreNeverEvaluatedNotEvenTheFirstTime) {
    const Filter filter("warn");
    evaluated = 0;
    for (int i = 0; i < 3; ++i) {
        off_site();
        off_stream();
        off_event();
        off_span();
        off_counter();
    }
    EXPECT_EQ(evaluated, 0);
    EXPECT_TRUE(take().empty());
    int located = 0;
    for (const reader::Site& site : traced::session().sites()) {
        if (site.function.find("off_") == std::string::npos) continue;
        ++located;
        EXPECT_EQ(site.stage, 2u) << site.function;
        EXPECT_EQ(site.flags, 1) << site.function;
        EXPECT_EQ(site.signature, "");
        EXPECT_EQ(traced::session().state(site.id), 0) << site.function;
    }
    EXPECT_EQ(located, 5);
}

TEST(Off, ASiteIsSwitchedOnAndOffByOneByteInSharedMemory) {
    {
        const Filter filter("off");
        off_site();
    }
    evaluated = 0;
    std::uint8_t* state = nullptr;
    for (const reader::Site& site : traced::session().sites())
        if (site.function.find("off_site") != std::string::npos) state = &traced::session().state(site.id);
    ASSERT_NE(state, nullptr);
    *state = 1;
    off_site();
    EXPECT_EQ(evaluated, 1);
    EXPECT_EQ(one().text, "1");
    *state = 0;
    off_site();
    EXPECT_EQ(evaluated, 1);
    EXPECT_TRUE(take().empty());
}

TEST(Sites, KeepWhereTheyStand) {
    const std::uint32_t line = __LINE__ + 1;
    SP_WARN("here {}", 1);
    const auto seen = one();
    EXPECT_EQ(seen.site.line, line);
    EXPECT_EQ(seen.site.level, 3);
    EXPECT_EQ(seen.site.language, 1);
    EXPECT_TRUE(seen.site.file.ends_with("front_test.cpp")) << seen.site.file;
    EXPECT_NE(seen.site.function.find("TestBody"), std::string::npos) << seen.site.function;
    EXPECT_EQ(seen.site.category, "");
}

TEST(Sites, HaveTheLevelOfTheirMacro) {
    SP_TRACE("0");
    SP_DEBUG("1");
    SP_INFO("2");
    SP_WARN("3");
    SP_ERROR("4");
    SP_FATAL("5");
    const auto all = take();
    ASSERT_EQ(all.size(), 6u);
    for (std::size_t i = 0; i < all.size(); ++i)
        EXPECT_EQ(all[i].site.text, std::to_string(all[i].site.level));
}

TEST(Sites, OneForEachInstanceOfATemplate) {
    const auto record = [](auto value) { SP_INFO("{}", value); };
    record(1);
    record(2.5);
    record(3);
    const auto all = take();
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[0].site.signature, "i");
    EXPECT_EQ(all[1].site.signature, "d");
    EXPECT_EQ(all[0].site.id, all[2].site.id);
    EXPECT_NE(all[0].site.id, all[1].site.id);
}

// --- Statements.

TEST(Statements, StandBeforeAnElse) {
    for (const bool yes : {true, false}) {
        if (yes)
            SP_INFO("yes");
        else
            SP_INFO << "no";
        EXPECT_EQ(one().site.text, yes ? "yes" : "no");
        if (yes)
            SP_EVENT("yes");
        else if (!yes)
            SP_EVENT("no", yes);
        EXPECT_EQ(one().site.text, yes ? "yes" : "no");
        for (int i = 0; i < 2; ++i) SP_INFO << i;
        EXPECT_EQ(take().size(), 2u);
    }
    bool reached = false;
    if (SP_ENABLED(info))
        SP_INFO("in");
    else
        reached = true;
    EXPECT_FALSE(reached);
    EXPECT_EQ(one().site.text, "in");
}

TEST(Statements, OffDoesNotTakeTheElse) {
    const Filter filter("off");
    bool other = false;
    if (true)
        SP_INFO("off");
    else
        other = true;
    EXPECT_FALSE(other);
    if (false)
        SP_INFO("off");
    else
        other = true;
    EXPECT_TRUE(other);
}

// Every macro that records, as the statement of an `if` and of its `else`: what the first branch records is
// called "first". `evaluate()` stands once in each statement.
#define SP_TEST_EITHER(first, second) \
    do {                              \
        if (yes)                      \
            first;                    \
        else                          \
            second;                   \
        ++statements;                 \
        check(yes);                   \
    } while (false)
#define SP_TEST_CALLS(macro) SP_TEST_EITHER(macro("first", evaluate()), macro("second", evaluate()))
#define SP_TEST_LEVEL(macro)                                                       \
    SP_TEST_EITHER(macro("first {}", evaluate()), macro("second {}", evaluate())); \
    SP_TEST_EITHER(macro << "first" << evaluate(), macro << "second" << evaluate())
#define SP_TEST_FORMS(macro)                                                                             \
    SP_TEST_EITHER(macro##F("first %d", evaluate()), macro##F("second %d", evaluate()));                 \
    SP_TEST_EITHER(macro##_IF(true, "first {}", evaluate()), macro##_IF(true, "second {}", evaluate())); \
    SP_TEST_EITHER(macro##_ONCE("first {}", evaluate()), macro##_ONCE("second {}", evaluate()));         \
    SP_TEST_EITHER(macro##_EVERY_N(1) << "first" << evaluate(), macro##_EVERY_N(1)                       \
                                                                    << "second" << evaluate());          \
    SP_TEST_EITHER(macro##_EVERY(0, "first {}", evaluate()), macro##_EVERY(0, "second {}", evaluate())); \
    SP_TEST_EITHER(macro##_FIRST_N(9, "first {}", evaluate()), macro##_FIRST_N(9, "second {}", evaluate()))
#define SP_TEST_AT(macro) SP_TEST_EITHER(macro(warn, "first", evaluate()), macro(warn, "second", evaluate()))
#define SP_TEST_STATEMENTS()                                                                             \
    SP_TEST_LEVEL(SP_TRACE);                                                                             \
    SP_TEST_LEVEL(SP_DEBUG);                                                                             \
    SP_TEST_FORMS(SP_DEBUG);                                                                             \
    SP_TEST_LEVEL(SP_INFO);                                                                              \
    SP_TEST_LEVEL(SP_WARN);                                                                              \
    SP_TEST_LEVEL(SP_ERROR);                                                                             \
    SP_TEST_LEVEL(SP_FATAL);                                                                             \
    SP_TEST_CALLS(SP_EVENT);                                                                             \
    SP_TEST_CALLS(SP_INSTANT);                                                                           \
    SP_TEST_CALLS(SP_COUNTER);                                                                           \
    SP_TEST_CALLS(SP_SPAN);                                                                              \
    SP_TEST_CALLS(SP_EVENT_ONCE);                                                                        \
    SP_TEST_CALLS(SP_ASYNC_BEGIN);                                                                       \
    SP_TEST_CALLS(SP_ASYNC_INSTANT);                                                                     \
    SP_TEST_CALLS(SP_ASYNC_END);                                                                         \
    SP_TEST_CALLS(SP_FLOW_BEGIN);                                                                        \
    SP_TEST_CALLS(SP_FLOW_STEP);                                                                         \
    SP_TEST_CALLS(SP_FLOW_END);                                                                          \
    SP_TEST_AT(SP_EVENT_AT);                                                                             \
    SP_TEST_AT(SP_SPAN_AT);                                                                              \
    SP_TEST_AT(SP_ASYNC_BEGIN_AT);                                                                       \
    SP_TEST_EITHER(SP_EVENT_EVERY_N(1, "first", evaluate()), SP_EVENT_EVERY_N(1, "second", evaluate())); \
    SP_TEST_EITHER(SP_EVENT_IF(true, "first", evaluate()), SP_EVENT_IF(true, "second", evaluate()));     \
    SP_TEST_EITHER(SP_LOG(warn, "net", "first {}", evaluate()),                                          \
                   SP_LOG(warn, "net", "second {}", evaluate()));                                        \
    SP_TEST_EITHER(SP_TO(warn, "net") << "first" << evaluate(), SP_TO(warn, "net") << "second" << evaluate())

template <bool kIsOn>
int statements_at_run_time(bool yes) {
    int statements = 0;
    const auto check = [](bool is_first) {
        const auto seen = take();
        ASSERT_EQ(seen.size(), kIsOn ? 1u : 0u);
        if (kIsOn) {
            EXPECT_TRUE(seen[0].site.text.starts_with(is_first ? "first" : "second")) << seen[0].site.text;
        }
    };
    SP_TEST_STATEMENTS();
    return statements;
}

TEST(Statements, EveryMacroStandsBeforeAnElse) {
    for (const bool yes : {true, false}) {
        evaluated = 0;
        const int statements = statements_at_run_time<true>(yes);
        EXPECT_EQ(statements, 36);
        EXPECT_EQ(evaluated, statements);
    }
}

TEST(Statements, EveryMacroThatIsOffEvaluatesNothing) {
    const Filter filter("off");
    for (const bool yes : {true, false, true, false}) {
        evaluated = 0;
        EXPECT_EQ(statements_at_run_time<false>(yes), 36);
        EXPECT_EQ(evaluated, 0);
    }
}

// Levels that are not compiled.
#undef SP_MIN_LEVEL
#define SP_MIN_LEVEL 6
int statements_not_compiled(bool yes) {
    int statements = 0;
    const auto check = [](bool) { EXPECT_TRUE(take().empty()); };
    SP_TEST_STATEMENTS();
    EXPECT_FALSE(SP_ENABLED(fatal));
    return statements;
}
#undef SP_MIN_LEVEL
#define SP_MIN_LEVEL 4
int some_not_compiled() {
    SP_WARN("left out {}", evaluate());
    SP_COUNTER("left out", evaluate());
    SP_SPAN("left out", evaluate());
    SP_EVENT_AT(warn, "left out", evaluate());
    SP_ERROR("compiled {}", evaluate());
    SP_EVENT_AT(error, "compiled", evaluate());
    return 2;
}
#undef SP_MIN_LEVEL
#define SP_MIN_LEVEL 0

TEST(Statements, EveryMacroThatIsNotCompiledEvaluatesNothing) {
    const std::size_t sites = traced::session().sites().size();
    evaluated = 0;
    for (const bool yes : {true, false}) EXPECT_EQ(statements_not_compiled(yes), 36);
    EXPECT_EQ(evaluated, 0);
    EXPECT_EQ(traced::session().sites().size(), sites);
    EXPECT_EQ(some_not_compiled(), evaluated);
    EXPECT_EQ(take().size(), 2u);
    EXPECT_EQ(traced::session().sites().size(), sites + 2);
}

TEST(Statements, KeepErrno) {
    errno = 4711;
    SP_INFO("first {}", 1);
    SP_EVENT("first");
    EXPECT_EQ(errno, 4711);
    take();
}

int nested(int value) {
    SP_INFO("inner {}", value);
    return value + 1;
}

TEST(Statements, AnArgumentMayRecordItself) {
    SP_INFO("outer {}", nested(nested(1)));
    const auto all = take();
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[0].text, "1");
    EXPECT_EQ(all[1].text, "2");
    EXPECT_EQ(all[2].text, "3");
}

// --- Templates.

TEST(Templates, AreStoredAsWritten) {
    SP_INFO("a {{b}} {0:>5} {1:.2f} {0}", 1, 2.5);
    EXPECT_EQ(one().site.text, "a {{b}} {0:>5} {1:.2f} {0}");
    SP_INFO("");
    EXPECT_EQ(one().site.text, "");
    SP_INFO("{:#x} {:+} {:*^8} {:08.3f} {:?} {:s} {:p} {:c} {:d} {:é<3}", 1, 2, "x", 2.5, "q", true, nullptr,
            'c', 'c', 5);
    EXPECT_EQ(one().site.signature, "iisdsbpcci");
    SP_INFO("{:.1f} {:>3}", (std::vector<double>{1}), (std::vector<std::string>{"x"}));
    take();
}

TEST(Sites, WhatIsNotUtf8OfADescriptionIsAQuestionMark) {
    SP_INFO("caf\xE9 {} \xED\xA0\x80 \xC0\x80 \xF4\x90\x80\x80 \xE2\x82", 1);
    EXPECT_EQ(one().site.text, "caf? {} ??? ?? ???? ??");
    SP_INFO("\xC2\x80 \xE0\xA0\x80 \xED\x9F\xBF \xEE\x80\x80 \xF0\x90\x80\x80 \xF4\x8F\xBF\xBF {}", 1);
    EXPECT_EQ(one().site.text,
              "\xC2\x80 \xE0\xA0\x80 \xED\x9F\xBF \xEE\x80\x80 \xF0\x90\x80\x80 \xF4\x8F\xBF\xBF {}");
}

// --- Events and others.

TEST(Events, NameTheirArguments) {
    const int id = 42;
    const std::vector<int> v{1, 2};
    SP_EVENT("order.filled", id, v.size(), std::pair<int, char>{1, ','}, "a,b(", v[0] + std::min(id, 1));
    const auto seen = one();
    EXPECT_EQ(seen.site.kind, 2);
    EXPECT_EQ(seen.site.level, 2);
    EXPECT_EQ(seen.site.text, "order.filled");
    EXPECT_EQ(seen.text, "42 2 (1, ',') \"a,b(\" 2");
    EXPECT_EQ(seen.site.names,
              "id\nv.size()\nstd::pair<int, char>{1, ','}\n\"a,b(\"\nv[0] + std::min(id, 1)\n");
    SP_EVENT("alone");
    EXPECT_EQ(one().site.names, "");
    SP_EVENT_AT(error, "loud", id);
    EXPECT_EQ(one().site.level, 4);
}

TEST(Events, CountersAndInstants) {
    SP_COUNTER("depth", 17L);
    auto seen = one();
    EXPECT_EQ(seen.site.kind, 4);
    EXPECT_EQ(seen.text, "17");
    SP_INSTANT("tick");
    seen = one();
    EXPECT_EQ(seen.site.kind, 5);
    EXPECT_EQ(seen.site.text, "tick");
}

TEST(Spans, EndWithTheirScopeInnermostFirst) {
    {
        SP_SPAN("outer", 1);
        SP_SPAN("inner", std::string("x"));
    }
    const auto all = traced::session().drain();
    ASSERT_EQ(all.size(), 4u);
    const auto argument = [](const reader::Record& record, std::size_t at, auto kind) {
        std::memcpy(&kind, record.args.data() + at, sizeof kind);
        return kind;
    };
    EXPECT_EQ(traced::session().site(all[0].site).kind, 3);
    EXPECT_EQ(traced::session().site(all[0].site).text, "outer");
    for (int i : {0, 1}) {
        const auto& begin = all[i == 0 ? 1 : 0];
        const auto& end = all[i == 0 ? 2 : 3];
        EXPECT_EQ(end.site, 3u);
        EXPECT_EQ(end.size, 32u);
        EXPECT_EQ(argument(end, 0, std::uint32_t{}), begin.site);
        EXPECT_EQ(argument(end, 4, std::uint64_t{}), begin.ticks);
        EXPECT_GE(end.ticks, begin.ticks);
    }
}

TEST(Spans, SwitchedOffInTheMiddleTheyStillEnd) {
    std::uint32_t id = 0;
    {
        SP_SPAN("switched");
        const auto begin = traced::session().records();
        ASSERT_EQ(begin.size(), 1u);
        id = begin[0].site;
        traced::session().state(id) = 0;
    }
    traced::session().state(id) = 1;
    EXPECT_EQ(traced::session().drain().size(), 2u);
}

}  // namespace

// --- Categories.

namespace net {
SP_CATEGORY("net")
void send() { SP_INFO("send"); }
namespace tcp {
SP_CATEGORY("net::tcp")
void send() { SP_INFO << "send"; }
struct Connection {
    SP_CATEGORY("net::tcp::connection")
    void open() const { SP_EVENT("open"); }
    static void close() { SP_INFO("close"); }
};
void in_function() {
    SP_INFO("before");
    {
        SP_CATEGORY("inner");
        SP_INFO("inside");
    }
}
}  // namespace tcp
}  // namespace net

namespace {

TEST(Categories, AreThoseOfTheNearestScope) {
    net::send();
    EXPECT_EQ(one().site.category, "net");
    net::tcp::send();
    EXPECT_EQ(one().site.category, "net::tcp");
    net::tcp::Connection{}.open();
    EXPECT_EQ(one().site.category, "net::tcp::connection");
    net::tcp::Connection::close();
    EXPECT_EQ(one().site.category, "net::tcp::connection");
    net::tcp::in_function();
    const auto all = take();
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].site.category, "net::tcp");
    EXPECT_EQ(all[1].site.category, "inner");
    SP_LOG(warn, "own", "text {}", 1);
    const auto own = one();
    EXPECT_EQ(own.site.category, "own");
    EXPECT_EQ(own.site.level, 3);
}

TEST(Categories, DecideWhatIsOn) {
    const auto site = [](const char*) { SP_LOG(info, "filter::some", "here"); };
    {
        const Filter filter("warn,filter=debug,filter::other=off");
        site("");
        EXPECT_EQ(take().size(), 1u);
    }
    const Filter filter("off");
    const auto other = [] { SP_LOG(info, "filter::some", "there"); };
    other();
    EXPECT_EQ(take().size(), 0u);
}

// As long as the contract admits (spec/wire.md, section 10).
TEST(Sites, HaveSignaturesUpToTheLimit) {
    using Two = std::pair<Wide, Wide>;
    using Four = std::pair<Two, Two>;
    using Sixteen = std::pair<std::pair<Four, Four>, std::pair<Four, Four>>;
    using Many = std::tuple<Sixteen, Sixteen, Sixteen, Sixteen, Sixteen, Sixteen, Sixteen, Sixteen>;
    const std::uint64_t losses = traced::session().losses();
    SP_INFO("{}", Many{});
    const auto recorded = one();
    EXPECT_GT(recorded.site.signature.size(), 12'000u);
    EXPECT_EQ(recorded.record.args.size(), 512u) << "128 numbers";
    EXPECT_EQ(traced::session().losses(), losses);
}

}  // namespace
