// Contexts: what is stated in the rings, and that it is right for every record.
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <silverpoint/signal.hpp>
#include <silverpoint/silverpoint.hpp>
#include <silverpoint/trace_context.hpp>
#include <string>
#include <thread>
#include <vector>

#include "support/traced.hpp"

namespace {

using namespace std::string_literals;

struct Said {
    std::string text;
    std::string pairs;  // of the last context of its stream
    bool cut;
    friend bool operator==(const Said&, const Said&) = default;
    friend std::ostream& operator<<(std::ostream& out, const Said& said) {
        out << said.text << " {";
        for (const char c : said.pairs) {
            if (c >= ' ' && c <= '~')
                out << c;
            else
                out << '\\' << std::hex << static_cast<unsigned>(static_cast<unsigned char>(c)) << std::dec;
        }
        return out << '}' << (said.cut ? " cut" : "");
    }
};

// The contexts of the streams so far: statements hold over calls of take.
std::map<std::uint32_t, Said>& stated() {
    static std::map<std::uint32_t, Said> all;
    return all;
}
std::size_t statements = 0;

// Everything recorded since the last call, with its fields.
std::vector<Said> take() {
    std::vector<Said> all;
    statements = 0;
    for (const reader::Record& record : traced::session().drain()) {
        Said& now = stated()[record.stream];
        if (record.site == 6) {
            std::uint32_t size = 0;
            std::memcpy(&size, record.args.data(), 4);
            const std::string item = record.args.substr(4, size);
            EXPECT_EQ(item.front(), '\xBF');
            EXPECT_EQ(item.back(), '\xFF');
            now = {"", item.substr(1, item.size() - 2), (record.flags & 1) != 0};
            ++statements;
        } else if (record.site >= 16) {
            const reader::Site site = traced::session().site(record.site);
            const std::string text =
                site.text + (record.args.empty() ? "" : " " + reader::text_of(record, site));
            all.push_back({text, now.pairs, now.cut});
        }
    }
    return all;
}

Said said(const std::string& text, const std::string& pairs = "", bool cut = false) {
    return {text, pairs, cut};
}
using All = std::vector<Said>;

TEST(Context, EachRecordHasTheFieldsOfItsScopes) {
    SP_INFO("outside");
    {
        const unsigned id = 7;
        SP_CONTEXT("request", id);
        SP_INFO("in");
        {
            silverpoint::Context scope("user", "ada", "user.id", -1L, "peer", std::string("x"));
            EXPECT_TRUE(scope);
            SP_INFO("deeper");
        }
        SP_INFO("in again");
        SP_INFO("twice");
    }
    SP_INFO("outside again");
    { SP_CONTEXT("nobody", 1); }
    SP_INFO("still outside");
    const std::string request = "\x67request\x07";
    EXPECT_EQ(take(), (All{said("outside"), said("in", request),
                           said("deeper", request + "\x64user\x63"s + "ada\x67user.id\x20\x64peer\x61x"),
                           said("in again", request), said("twice", request), said("outside again"),
                           said("still outside")}));
    // A scope without records has left nothing.
    EXPECT_EQ(statements, 4u);
}

TEST(Context, ScopesMayEndInAnyOrder) {
    auto* a = new silverpoint::Context("a", 1);
    auto* b = new silverpoint::Context("b", 2);
    SP_INFO("both");
    delete a;
    SP_INFO("b alone");
    delete b;
    SP_INFO("none");
    EXPECT_EQ(take(), (All{said("both",
                                "\x61"
                                "a\x01\x61"
                                "b\x02"),
                           said("b alone",
                                "\x61"
                                "b\x02"),
                           said("none")}));
}

TEST(Context, IsTakenAlong) {
    silverpoint::CapturedContext taken;
    EXPECT_TRUE(taken.empty());
    {
        SP_CONTEXT("request", 1);
        taken = silverpoint::capture_context();
    }
    EXPECT_FALSE(taken.empty());
    std::thread([copy = taken] {
        SP_CONTEXT("own", 2);
        {
            const auto scope = copy.enter();
            SP_INFO("in another thread");
        }
        SP_INFO("without");
    }).join();
    const auto moved = std::move(taken);
    {
        const auto scope = moved.enter();
        SP_INFO("here");
    }
    SP_INFO("nothing");
    const auto all = take();
    ASSERT_EQ(all.size(), 4u);
    for (const Said& expected :
         {said("in another thread", "\x63own\x02\x67request\x01"), said("without", "\x63own\x02"),
          said("here", "\x67request\x01"), said("nothing")})
        EXPECT_NE(std::find(all.begin(), all.end(), expected), all.end()) << expected;
}

TEST(Context, ACallableTakesItAlong) {
    std::function<int(int)> work;
    {
        SP_CONTEXT("request", 1);
        work = silverpoint::with_context([sum = 0](int more) mutable {
            SP_INFO("at work");
            return sum += more;
        });
    }
    int result = 0;
    std::thread([&] {
        work(20);
        result = work(1);
        SP_INFO("without");
    }).join();
    EXPECT_EQ(result, 21);
    EXPECT_EQ(take(),
              (All{said("at work", "\x67request\x01"), said("at work", "\x67request\x01"), said("without")}));
}

TEST(Context, GoesThroughTheQueueOfASignal) {
    silverpoint::signal<silverpoint::Carried<std::string>, int> placed;
    silverpoint::inbox inbox;
    std::vector<std::string> got;
    placed.connect_queued(inbox, silverpoint::carried([&](const std::string& order, int number) {
                              SP_INFO("placed");
                              got.push_back(order + std::to_string(number));
                          }));
    std::thread([&] {
        SP_CONTEXT("request", 1);
        placed(silverpoint::carry("first"s), 1);
    }).join();
    placed(silverpoint::carry("second"s), 2);
    {
        // What is open in the receiving thread is covered, and comes back.
        SP_CONTEXT("request", 2);
        inbox.drain();
        SP_INFO("after");
    }
    EXPECT_EQ(got, (std::vector<std::string>{"first1", "second2"}));
    const auto all = take();
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[0], said("placed", "\x67request\x02\x67request\x01"));
    EXPECT_EQ(all[1], said("placed", "\x67request\x02"));
    EXPECT_EQ(all[2], said("after", "\x67request\x02"));
}

TEST(Context, IsBounded) {
    {
        std::vector<std::unique_ptr<silverpoint::Context>> scopes;
        int recorded = 0;
        for (int i = 0; i < 30; ++i) {
            scopes.push_back(std::make_unique<silverpoint::Context>("n", i));
            recorded += *scopes.back() ? 1 : 0;
        }
        EXPECT_EQ(recorded, 24);
        SP_INFO("deep");
    }
    SP_INFO("out");
    auto all = take();
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].pairs.size(), 24u * 3);
    EXPECT_EQ(all[1], said("out"));
    const std::string text(5000, 'x');
    {
        SP_CONTEXT("first", 1, "long", text, "then", 2);
        SP_INFO("long");
        SP_CONTEXT("more", text, "last", 3);
        SP_INFO("full");
    }
    all = take();
    ASSERT_EQ(all.size(), 2u);
    for (const Said& one : all) {
        EXPECT_TRUE(one.cut);
        EXPECT_LE(one.pairs.size(), silverpoint::detail::kContextBytes);
        EXPECT_EQ(one.pairs.find("\x65"
                                 "first\x01\x64long\x79"),
                  0u);
    }
    SP_INFO("out");
    EXPECT_EQ(take(), All{said("out")});
}

TEST(Context, OfAHistoryThatIsCutShortIsStatedAgain) {
    SP_CONTEXT("request", 1);
    // Nobody has drained meanwhile: what is left begins somewhere.
    for (int n = 0; n < 200'000; ++n) SP_EVENT("many", n);
    const auto all = take();
    EXPECT_GT(all.size(), 10'000u);
    std::size_t wrong = 0;
    for (const Said& one : all) wrong += one.pairs == "\x67request\x01" ? 0 : 1;
    EXPECT_EQ(wrong, 0u);
    EXPECT_LE(statements, 64u);
}

void on_signal(int) {
    SP_CONTEXT("handler", true);
    SP_INFO("handler");
}

TEST(Context, SignalHandlersHaveTheThreadsAndTheirOwn) {
    take();
    signal(SIGUSR1, on_signal);
    SP_CONTEXT("request", 1);
    for (int i = 0; i < 3; ++i) {
        SP_INFO("before");
        raise(SIGUSR1);
        SP_INFO("after");
    }
    const std::string request = "\x67request\x01";
    All expected;
    for (int i = 0; i < 3; ++i) {
        expected.push_back(said("before", request));
        expected.push_back(said("handler", request + "\x67handler\xF5"));
        expected.push_back(said("after", request));
    }
    EXPECT_EQ(take(), expected);
}

TEST(Context, AForkedChildBeginsWithoutFields) {
    take();
    SP_CONTEXT("request", 1);
    SP_INFO("parent");
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        // What is left of the parent's scope does no harm.
        bool good = silverpoint::capture_context().empty();
        {
            SP_CONTEXT("own", 2);
            SP_INFO("child");
            good = good && !silverpoint::capture_context().empty();
        }
        _exit(good && silverpoint::capture_context().empty() ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    SP_INFO("parent again");
    EXPECT_EQ(take(), (All{said("parent", "\x67request\x01"), said("parent again", "\x67request\x01")}));
}

// --- W3C Trace Context.

using silverpoint::TraceContext;
const std::string kHeader = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

TEST(Trace, AHeaderIsReadAndWritten) {
    const auto trace = TraceContext::parse(kHeader);
    ASSERT_TRUE(trace);
    EXPECT_EQ(trace->header(), kHeader);
    EXPECT_TRUE(trace->is_sampled());
    const auto child = trace->child();
    EXPECT_EQ(child.trace_id(), trace->trace_id());
    EXPECT_EQ(child.parent_id(), trace->span_id());
    EXPECT_NE(child.span_id(), trace->span_id());
    // Of a later version what is known; flags without a meaning are not passed on.
    const auto later = TraceContext::parse("cc" + kHeader.substr(2, 51) + "fd-what comes");
    ASSERT_TRUE(later);
    EXPECT_EQ(later->header(), kHeader);
    EXPECT_TRUE(TraceContext::parse(TraceContext::fresh().header())->is_sampled());
}

TEST(Trace, WhateverIsNoHeaderIsRefused) {
    for (std::size_t cut = 0; cut < kHeader.size(); ++cut)
        EXPECT_FALSE(TraceContext::parse(kHeader.substr(0, cut)));
    for (std::size_t at = 0; at < kHeader.size(); ++at)
        for (const char bad : {'g', 'A', ' ', '-', '\0', '\xC3'}) {
            std::string text = kHeader;
            text[at] = bad;
            EXPECT_EQ(TraceContext::parse(text).has_value(), text == kHeader) << text;
        }
    for (const std::string& text :
         {kHeader + "-", kHeader + "0", "01" + kHeader.substr(2) + "x", "ff" + kHeader.substr(2),
          "00-" + std::string(32, '0') + kHeader.substr(35),
          kHeader.substr(0, 36) + std::string(16, '0') + "-01"})
        EXPECT_FALSE(TraceContext::parse(text)) << text;
}

TEST(Trace, IdsAreFieldsOfTheContext) {
    take();
    EXPECT_FALSE(TraceContext::current());
    const auto accepted = TraceContext::accept(kHeader, "a=1");
    EXPECT_EQ(accepted.state(), "a=1");
    {
        const auto scope = accepted.enter();
        SP_CONTEXT("request", std::vector<int>{1, 2}, "deep", (std::map<std::string, double>{{"x", 0.5}}));
        EXPECT_EQ(TraceContext::current(), accepted);
        SP_INFO("inside");
        std::optional<TraceContext> outside;
        std::thread([&, taken = silverpoint::capture_context()] {
            const auto scope_there = taken.enter();
            outside = TraceContext::current();
        }).join();
        EXPECT_EQ(outside, accepted);
        {
            // Another trace within: nothing of the outer one shows through.
            const auto own = TraceContext::fresh();
            const auto inner = own.enter();
            EXPECT_EQ(TraceContext::current(), own);
        }
        EXPECT_EQ(TraceContext::current(), accepted);
    }
    EXPECT_FALSE(TraceContext::current());
    const auto all = take();
    ASSERT_EQ(all.size(), 1u);
    const std::string span = accepted.header().substr(36, 16);
    EXPECT_EQ(all[0].pairs.find("\x68trace_id\x78\x20"
                                "4bf92f3577b34da6a3ce929d0e0e4736\x67span_id\x70" +
                                span +
                                "\x69parent_id\x70"
                                "00f067aa0ba902b7\x6Btrace_flags\x62"
                                "01\x6Atracestate\x63"
                                "a=1"),
              0u);
}

TEST(Trace, ARequestThatBringsNonsenseBeginsATrace) {
    EXPECT_EQ(TraceContext::accept("00-zz", "a=1").state(), "");
    EXPECT_FALSE(TraceContext::accept("").parent_id());
    EXPECT_EQ(TraceContext::accept(kHeader, std::string(513, 'x')).state(), "");
    EXPECT_EQ(TraceContext::accept(kHeader, "a=\n").state(), "");
}

}  // namespace
