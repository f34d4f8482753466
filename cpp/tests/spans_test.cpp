// Async spans, flows, links, ids, counters with units, scopes, and limits of one place.
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <silverpoint/silverpoint.hpp>
#include <string>
#include <thread>
#include <vector>

#include "support/traced.hpp"

namespace {

using traced::one;
using traced::Seen;
using traced::take;

std::uint64_t id_in(const Seen& seen) {
    std::uint64_t id = 0;
    std::memcpy(&id, seen.record.args.data(), sizeof id);
    return id;
}

// --- Ids.

TEST(Ids, AreUniqueOverThreadsAndNeverZero) {
    constexpr std::size_t kThreads = 4, kEach = 5000;
    std::vector<std::uint64_t> ids[kThreads];
    std::vector<std::thread> threads;
    for (auto& mine : ids)
        threads.emplace_back([&mine] {
            for (std::size_t i = 0; i < kEach; ++i) mine.push_back(silverpoint::new_id());
        });
    for (auto& thread : threads) thread.join();
    std::set<std::uint64_t> all;
    for (const auto& mine : ids) all.insert(mine.begin(), mine.end());
    EXPECT_EQ(all.size(), kThreads * kEach);
    EXPECT_FALSE(all.contains(0));
}

TEST(Ids, OfAForkedChildAreUniqueAmongThemselves) {
    (void)silverpoint::new_id();  // A block is open when the child begins.
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        // Before and after the child has a session of its own.
        std::set<std::uint64_t> all;
        for (int i = 0; i < 100; ++i) all.insert(silverpoint::new_id());
        SP_INFO("a session");
        for (int i = 0; i < 3000; ++i) all.insert(silverpoint::new_id());
        std::thread([&all] {
            for (int i = 0; i < 3000; ++i) all.insert(silverpoint::new_id());
        }).join();
        _exit(all.size() == 6100 && !all.contains(0) ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

// --- Async spans.

TEST(Async, BeginInstantAndEndHaveAnId) {
    SP_ASYNC_BEGIN("fetch", 7, std::string("http"), 5);
    SP_ASYNC_INSTANT("fetch", 7);
    SP_ASYNC_END("fetch", 7u, true);
    const auto all = take();
    ASSERT_EQ(all.size(), 3u);
    const int kinds[] = {6, 8, 7};
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(all[i].site.kind, kinds[i]);
        EXPECT_EQ(all[i].site.text, "fetch");
        EXPECT_EQ(all[i].site.level, 1);
        EXPECT_EQ(id_in(all[i]), 7u);
    }
    EXPECT_EQ(all[0].site.names, "id\nstd::string(\"http\")\n5\n");
    EXPECT_EQ(all[0].site.signature, "Lsi");
    EXPECT_EQ(all[1].site.names, "id\n");
    EXPECT_EQ(all[2].site.signature, "Lb");
}

TEST(Async, ASpanMayEndInAnotherThread) {
    std::uint64_t id = 0;
    {
        silverpoint::AsyncSpan span = SP_ASYNC_SPAN("load", 5);
        ASSERT_TRUE(span);
        id = span.id();
        std::thread([moved = std::move(span)]() mutable { moved.end(); }).join();
        EXPECT_FALSE(span);  // NOLINT: what is left behind is empty
    }
    auto all = take();
    ASSERT_EQ(all.size(), 2u);
    if (all[0].site.kind != 6) std::swap(all[0], all[1]);
    EXPECT_EQ(all[0].site.kind, 6);
    EXPECT_EQ(all[1].site.kind, 7);
    EXPECT_EQ(all[0].site.text, all[1].site.text);
    EXPECT_EQ(all[0].site.category, all[1].site.category);
    EXPECT_EQ(id_in(all[0]), id);
    EXPECT_EQ(id_in(all[1]), id);
    EXPECT_NE(all[0].record.tid, all[1].record.tid);
    EXPECT_LE(all[0].record.ticks, all[1].record.ticks);
}

TEST(Async, ASpanEndsOnceWhateverIsMoved) {
    {
        silverpoint::AsyncSpan a = SP_ASYNC_SPAN("a");
        silverpoint::AsyncSpan b = std::move(a);
        a = SP_ASYNC_SPAN("b");
        b = std::move(a);  // ends the first
        const auto so_far = take();
        ASSERT_EQ(so_far.size(), 3u);
        EXPECT_EQ(so_far[2].site.kind, 7);
        EXPECT_EQ(id_in(so_far[2]), id_in(so_far[0]));
        b.end();
        b.end();
    }
    EXPECT_EQ(take().size(), 1u);
}

TEST(Async, FlowsAndLinks) {
    SP_FLOW_BEGIN("order", 9);
    SP_FLOW_STEP("order", 9);
    SP_FLOW_END("order", 9);
    int object = 0;
    SP_LINK(9, &object);
    const auto all = take();
    ASSERT_EQ(all.size(), 4u);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)].site.kind, 9 + i);
    EXPECT_EQ(all[0].site.names, "id\n");
    EXPECT_EQ(all[3].site.text, "link");
    EXPECT_EQ(all[3].site.names, "from\nto\n");
    EXPECT_EQ(all[3].site.signature, "LL");
}

// --- Scopes and counters.

namespace inner {
struct Class {
    void run(int) const { SP_SCOPE(); }
    template <class T>
    T generic(T value) {
        SP_SCOPE();
        return value;
    }
    bool operator<(const Class&) const {
        SP_SCOPE();
        return false;
    }
    std::vector<int>* pointer() {
        SP_SCOPE();
        return nullptr;
    }
};
}  // namespace inner

TEST(Scope, IsNamedAfterItsFunction) {
    inner::Class object;
    object.run(1);
    object.generic(2.5);
    (void)(object < object);
    object.pointer();
    const auto all = take();
    ASSERT_EQ(all.size(), 4u);
    const char* ends[] = {"inner::Class::run", "inner::Class::generic", "inner::Class::operator<",
                          "inner::Class::pointer"};
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(all[i].site.kind, 3);
        EXPECT_TRUE(all[i].site.text.ends_with(ends[i])) << all[i].site.text;
        EXPECT_EQ(all[i].site.text.find(' '), all[i].site.text.find(" namespace")) << all[i].site.text;
    }
}

TEST(Counter, HasAUnit) {
    SP_COUNTER("latency", 1.5, "ms");
    auto seen = one();
    EXPECT_EQ(seen.site.kind, 4);
    EXPECT_EQ(seen.site.signature, "@unit=ms;d");
    EXPECT_EQ(seen.record.size, 24u);
    EXPECT_EQ(seen.site.names, "1.5\n");
    SP_COUNTER("share", 5, "%");
    EXPECT_EQ(one().site.signature, "@unit=%25;i");
    SP_COUNTER("plain", 5);
    EXPECT_EQ(one().site.signature, "i");
}

// --- Levels.

void without_levels() {
    SP_EVENT("event");
    SP_SPAN("span");
    SP_SCOPE();
    SP_COUNTER("counter", 1);
    SP_INSTANT("instant");
    SP_ASYNC_BEGIN("async", 1);
    SP_ASYNC_INSTANT("async", 1);
    SP_ASYNC_END("async", 1);
    const auto span = SP_ASYNC_SPAN("async span");
    SP_FLOW_BEGIN("flow", 1);
    SP_FLOW_STEP("flow", 1);
    SP_FLOW_END("flow", 1);
    SP_LINK(1, 2);
}

TEST(Levels, EventsAreInfoAndAllElseDebug) {
    take();
    without_levels();
    const auto all = take();
    ASSERT_EQ(all.size(), 14u);
    for (const auto& seen : all)
        EXPECT_EQ(seen.site.level, seen.site.text == "event" ? 2 : 1) << seen.site.text;
}

// --- Limits.

int evaluated = 0;
int evaluate() { return ++evaluated; }

TEST(Limits, EveryNth) {
    evaluated = 0;
    for (int i = 0; i < 10; ++i) SP_INFO_EVERY_N(4, "{} {}", i, evaluate());
    const auto all = take();
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[0].text, "0 1");
    EXPECT_EQ(all[1].text, "4 2");
    EXPECT_EQ(all[2].text, "8 3");
    for (int i = 0; i < 3; ++i) SP_WARN_EVERY_N(0, "{}", i);
    EXPECT_EQ(take().size(), 3u);
}

TEST(Limits, FirstNAndOnce) {
    for (int i = 0; i < 10; ++i) SP_DEBUG_FIRST_N(2, "{}", i);
    EXPECT_EQ(take().size(), 2u);
    for (int i = 0; i < 10; ++i) SP_ERROR_ONCE("{}", i);
    auto seen = one();
    EXPECT_EQ(seen.text, "0");
    EXPECT_EQ(seen.site.level, 4);
}

TEST(Limits, EveryDuration) {
    using namespace std::chrono_literals;
    for (int i = 0; i < 1000; ++i) SP_INFO_EVERY(1h, "{}", i);
    EXPECT_EQ(one().text, "0");
    for (int i = 0; i < 1000; ++i) SP_INFO_EVERY(3'600'000, "{}", i);
    EXPECT_EQ(one().text, "0");
    for (int i = 0; i < 5; ++i) SP_INFO_EVERY(0ms, "{}", i);
    EXPECT_EQ(take().size(), 5u);
    for (int i = 0; i < 3; ++i) {
        SP_INFO_EVERY(1ms, "{}", i);
        std::this_thread::sleep_for(2ms);
    }
    EXPECT_EQ(take().size(), 3u);
}

TEST(Limits, If) {
    evaluated = 0;
    for (int i = 0; i < 4; ++i) SP_FATAL_IF(i % 2 == 1, "{} {}", i, evaluate());
    const auto all = take();
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[1].text, "3 2");
}

TEST(Limits, StreamsAndEventsToo) {
    evaluated = 0;
    for (int i = 0; i < 4; ++i) {
        SP_INFO_EVERY_N(2) << "at" << i << evaluate();
        SP_EVENT_ONCE("once", i, evaluate());
        SP_EVENT_EVERY_N(3, "third", i);
        SP_EVENT_IF(i == 2, "two");
        SP_EVENT_FIRST_N(1, "first");
        SP_EVENT_EVERY(3'600'000, "hour", i);
    }
    EXPECT_EQ(evaluated, 3);
    const auto all = take();
    std::vector<std::string> texts;
    for (const Seen& seen : all) texts.push_back(seen.site.text);
    EXPECT_EQ(texts, (std::vector<std::string>{"at {} {}", "once", "third", "first", "hour", "at {} {}",
                                               "two", "third"}));
    EXPECT_EQ(all[1].site.names, "i\nevaluate()\n");
}

TEST(Limits, StandBeforeAnElse) {
    for (const bool yes : {true, false}) {
        if (yes)
            SP_INFO_ONCE("yes");
        else
            SP_INFO_IF(true) << "no";
        EXPECT_EQ(one().site.text, yes ? "yes" : "no");
    }
}

TEST(Limits, AreSharedByThreads) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([] {
            for (int i = 0; i < 1000; ++i) {
                SP_INFO_EVERY_N(100, "shared");
                SP_INFO_FIRST_N(7, "first");
            }
        });
    for (auto& thread : threads) thread.join();
    const auto all = take();
    EXPECT_EQ(std::count_if(all.begin(), all.end(), [](auto& s) { return s.site.text == "shared"; }), 40);
    EXPECT_EQ(std::count_if(all.begin(), all.end(), [](auto& s) { return s.site.text == "first"; }), 7);
}

// Compiled out, nothing is evaluated, not even the limit; the same when a site is off.
TEST(Limits, OffNothingIsEvaluated) {
    const auto off = [] {
        SP_TRACE_EVERY_N(evaluate(), "off {}", evaluate());
        SP_TRACE_IF(evaluate() != 0) << evaluate();
        const silverpoint::AsyncSpan span = SP_ASYNC_SPAN_AT(trace, "off", evaluate());
        EXPECT_FALSE(span);
    };
    reader::Session& session = traced::session();
    const std::string text = "warn";
    session.set<std::uint32_t>(708, 0);
    for (std::size_t i = 0; i < text.size(); ++i)
        session.set<char>(session.get<std::uint64_t>(128) + i, text[i]);
    session.set<std::uint32_t>(708, 4);
    evaluated = 0;
    for (int i = 0; i < 3; ++i) off();
    EXPECT_EQ(evaluated, 0);
    EXPECT_TRUE(take().empty());
}

}  // namespace
