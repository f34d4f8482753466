// Code of the program that runs within a tracepoint (spec/wire.md, section 5). Values that give something
// else each time they are read. Ways out of one: exceptions, the end of a thread, jumps, forks, records
// within records, signals. A record is right, or is not there; its neighbours are whole.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <ranges>
#include <set>
#include <silverpoint/context.hpp>
#include <silverpoint/polymorphic.hpp>
#include <silverpoint/recursive.hpp>
#include <silverpoint/silverpoint.hpp>
#include <silverpoint/text.hpp>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <variant>
#include <vector>

#include "support/traced.hpp"
#include "support/ways.hpp"

namespace fickle {

// Another number at each call: now less, now more than the last, from none to more than a page.
std::size_t any() {
    static std::uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    constexpr std::size_t kSizes[] = {0, 1, 3, 17, 64, 300, 1100, 5000};
    return kSizes[state >> 61];
}

struct Text {  // a class whose getter gives a copy of what is there now
    std::string text() const { return std::string(any(), 'x'); }
};
struct Number {
    int number() const { return static_cast<int>(any()); }
};
struct Viewed {  // looks like a string
    using traits_type = std::char_traits<char>;
    const char* data() const { return all().data(); }
    std::size_t size() const { return any(); }
    static const std::string& all() {
        static const std::string text(8192, 'v');
        return text;
    }
};
struct Numbers {  // numbers one after the other, of which there are more or less
    using value_type = int;
    const int* begin() const { return all().data(); }
    const int* end() const { return all().data() + size(); }
    const int* data() const { return all().data(); }
    std::size_t size() const { return any(); }
    static const std::vector<int>& all() {
        static const std::vector<int> numbers(8192, 7);
        return numbers;
    }
};
template <class Element>
struct Range {  // a size of its own, and as many elements as it likes
    using value_type = Element;
    mutable std::array<Element, 3> three{};
    struct Iterator {
        const Range* of;
        std::size_t left;
        const Element& operator*() const { return of->three[left % 3]; }
        Iterator& operator++() {
            --left;
            return *this;
        }
        bool operator==(const Iterator& other) const { return left == other.left; }
        bool operator!=(const Iterator& other) const { return left != other.left; }
    };
    std::size_t size() const { return any() / 16; }
    Iterator begin() const { return {this, any() / 16}; }
    Iterator end() const { return {this, 0}; }
};
struct Map : Range<std::pair<const int, std::string>> {
    using key_type = int;
    using mapped_type = std::string;
};
struct Set : Range<int> {
    using key_type = int;
};
struct Array : Range<int> {};  // as std::array: so many, says its type
struct Maybe {
    using value_type = std::string;
    bool has_value() const { return any() > 17; }
    const std::string& operator*() const { return text; }
    explicit operator bool() const { return has_value(); }
    std::string text = "here";
};
struct Owner {
    using element_type = std::string;
    const std::string* get() const { return &text; }
    explicit operator bool() const { return any() > 17; }
    const std::string& operator*() const { return text; }
    std::string text = std::string(40, 'o');
};
struct Error : std::exception {
    const char* what() const noexcept override { return Viewed::all().c_str() + 8192 - any(); }
};
struct Category : std::error_category {
    const char* name() const noexcept override { return Viewed::all().c_str() + 8192 - any(); }
    std::string message(int) const override { return ""; }
};
struct Node {
    std::vector<Text> texts{2};
};
struct Shape {
    virtual ~Shape() = default;
};
struct Circle : Shape {
    std::string name() const { return std::string(any(), 'c'); }
};
struct Square : Shape {
    int side = 4;
};
int silverpoint_tag(const Shape&) { return static_cast<int>(any() % 2); }

}  // namespace fickle

template <>
struct std::tuple_size<fickle::Array> : std::integral_constant<std::size_t, 20> {};

SP_STRUCT_OF(fickle::Text, (text, v.text()))
SP_STRUCT_OF(fickle::Number, (number, v.number()), (twice, 2 * v.number()))
SP_RECURSIVE(fickle::Node, texts)
SP_STRUCT_OF(fickle::Circle, (name, v.name()))
SP_STRUCT(fickle::Square, side)
SP_DYNAMIC(fickle::Shape, fickle::Circle)

namespace {

using traced::lost;
using traced::Seen;

// Records values of a kind many times, each between two records of its neighbour. The neighbours are as they
// were made, each of the kind is whole, and each missing one is counted.
template <class... Ts>
void expect_whole(const char* what, const Ts&... values) {
    SCOPED_TRACE(what);
    traced::take();
    const std::uint64_t lost_before = lost();
    std::uint64_t seen = 0;
    for (std::uint64_t i = 0; i < 200; ++i) {
        SP_INFO("before {}", i);
        SP_EVENT("fickle", values...);
        SP_INFO("after {} {}", i, "text");
        const auto all = traced::take();
        ASSERT_TRUE(all.size() == 2 || all.size() == 3) << all.size();
        EXPECT_EQ(all.front().text, std::to_string(i));
        EXPECT_EQ(all.back().text, std::to_string(i) + " \"text\"");
        seen += all.size() == 3 ? 1 : 0;
        // (What was not whole text_of has thrown for.)
        if (all.size() == 3) {
            EXPECT_EQ(all[1].site.text, "fickle");
        }
    }
    EXPECT_EQ(seen + lost() - lost_before, 200u);
}

TEST(Fickle, EachKindIsWholeOrCounted) {
    using namespace fickle;
    const Text text;
    expect_whole("getter", text);
    expect_whole("getter of a number", Number{});
    expect_whole("two getters", text, 7, text);
    expect_whole("text", Viewed{});
    expect_whole("numbers", Numbers{});
    expect_whole("range", Range<int>{});
    expect_whole("range of texts", Range<std::string>{});
    expect_whole("range of getters", Range<Text>{});
    expect_whole("map", Map{});
    expect_whole("set", Set{});
    expect_whole("optional", Maybe{});
    expect_whole("owner", Owner{});
    expect_whole("exception", Error{});
    const Category category;
    expect_whole("error code", std::error_code(3, category));
    expect_whole("node", Node{});
    const Circle circle;
    const Shape& shape = circle;
    expect_whole("dynamic", shape);
    expect_whole("pointer to it", &shape);
}

TEST(Fickle, WithinContainersOfTheLibrary) {
    using namespace fickle;
    const std::vector<Text> texts(3);
    expect_whole("vector", texts);
    expect_whole("map", std::map<int, Text>{{1, {}}, {2, {}}});
    expect_whole("optional", std::optional<Text>(Text{}));
    expect_whole("tuple", std::tuple<int, Text, Numbers>{});
    expect_whole("pair", std::pair<Text, int>{});
    expect_whole("array", std::array<Text, 2>{});
    const Text two[2];
    expect_whole("C array", two);
    expect_whole("variant", std::variant<int, Text>(Text{}));
    expect_whole("unique_ptr", std::make_unique<Text>());
    expect_whole("shared_ptr", std::make_shared<Viewed>());
    expect_whole("reference", std::cref(texts));
    expect_whole("unit", SP_UNIT(Text{}, "ms"));
    expect_whole("vector of errors", std::vector<Error>(2));
    expect_whole("vector of nodes", std::vector<Node>(2));
}

TEST(Fickle, Views) {
    const std::vector<int> numbers{1, 2, 3};
    expect_whole("transform",
                 numbers | std::views::transform([](int) { return std::string(fickle::any(), 't'); }));
    expect_whole("filter", numbers | std::views::filter([](int) { return fickle::any() > 17; }));
    expect_whole("take_while of endless",
                 std::views::iota(0) | std::views::transform([](int) { return fickle::any(); }) |
                     std::views::take_while([](std::size_t size) { return size != 5000; }));
}

TEST(Fickle, AnArrayThatHasFewerIsCounted) {
    traced::take();
    fickle::Array array;
    std::uint64_t seen = 0;
    const std::uint64_t before = lost();
    for (int i = 0; i < 100; ++i) SP_EVENT("array", array);
    for (const Seen& one : traced::take()) seen += one.record.args.size() == 20 * sizeof(int);
    EXPECT_EQ(seen + lost() - before, 100u);
    EXPECT_GT(seen, 0u);
    EXPECT_LT(seen, 100u);
}

// Each is asked once for a record, so that a range that can be walked once is recorded.
TEST(Fickle, EachIsAskedOnce) {
    int calls = 0;
    const std::vector<int> numbers{1, 2, 3};
    SP_INFO("{}", numbers | std::views::transform([&](int n) {
                      return std::string(static_cast<std::size_t>(n), static_cast<char>('a' + calls++));
                  }));
    EXPECT_EQ(traced::one().text, "[\"a\", \"bb\", \"ccc\"]");
    EXPECT_EQ(calls, 3);
}

TEST(Fickle, NeverMoreThanARecordMayHave) {
    traced::take();
    const std::uint64_t before = lost();
    SP_INFO("{}", std::views::iota(0));  // endless
    SP_INFO("{} {}",
            std::views::iota(0, 3) | std::views::transform([](int) { return std::string(200'000, 'x'); }), 1);
    EXPECT_EQ(lost() - before, 2u);
    SP_INFO("{}", std::views::iota(0, 3));
    EXPECT_EQ(traced::one().text, "[0, 1, 2]");
}

// --- Ways out.

using ways::Way;

struct Leaves {
    Way way;
    int leave() const {
        return ways::leave(way, [] { SP_INFO("child"); });
    }
    friend std::ostream& operator<<(std::ostream& out, const Leaves& it) { return out << it.leave(); }
};
struct Getter : Leaves {};
struct Walked : Leaves {  // its iterators leave
    using value_type = int;
    struct Iterator {
        const Walked* of;
        int at;
        int operator*() const { return at == 1 ? of->leave() : at; }
        Iterator& operator++() {
            ++at;
            return *this;
        }
        bool operator==(const Iterator& other) const { return at == other.at; }
        bool operator!=(const Iterator& other) const { return at != other.at; }
    };
    Iterator begin() const { return {this, 0}; }
    Iterator end() const { return {this, 3}; }
};

// Runs it as often as would use all lanes of a thread up, and more, in a thread of its own.
template <class Record>
void leave_again_and_again(Way way, const Record& record) {
    traced::take();
    const std::uint64_t before = lost();
    constexpr int kTimes = 20;
    std::thread([&] {
        for (int i = 0; i < kTimes; ++i) {
            EXPECT_TRUE(ways::leaves(way, [&] {
                struct Ends {  // what is recorded while the stack is unwound
                    bool is_at_end;
                    ~Ends() {
                        if (is_at_end) SP_INFO("ends");
                    }
                } ends{ways::ends_thread(way)};
                record();
            }));
            SP_INFO("next {}", i);
        }
    }).join();
    int next = 0, ends = 0, made = 0;
    for (const Seen& one : traced::take()) {
        if (one.site.text == "ends") {
            ++ends;
        } else if (one.site.text == "next {}") {
            EXPECT_EQ(one.text, std::to_string(next++));
        } else {
            ++made;
        }
        EXPECT_EQ(one.record.lane, 0u);
    }
    EXPECT_EQ(next, kTimes);
    EXPECT_EQ(ends, ways::ends_thread(way) ? kTimes : 0);
    EXPECT_EQ(made, way == Way::kFork ? kTimes : 0);
    EXPECT_EQ(lost(), before);
}

}  // namespace

SP_STRUCT_OF(Getter, (value, v.leave()))

namespace {

class WayOut : public testing::TestWithParam<Way> {};

TEST_P(WayOut, OfAGetter) {
    leave_again_and_again(GetParam(), [] { SP_INFO("{} {}", Getter{{GetParam()}}, 1); });
}
TEST_P(WayOut, OfAStream) {
    leave_again_and_again(GetParam(), [] { SP_INFO << "value" << Getter{{GetParam()}} << 2; });
}
TEST_P(WayOut, OfAnIterator) {
    leave_again_and_again(GetParam(), [] { SP_EVENT("walk", Walked{{GetParam()}}); });
}
TEST_P(WayOut, OfAView) {
    const std::vector<int> numbers{1, 2, 3};
    const Leaves it{GetParam()};
    leave_again_and_again(GetParam(), [&] {
        SP_INFO("{}", numbers | std::views::transform([&](int n) { return n == 2 ? it.leave() : n; }));
    });
}
TEST_P(WayOut, OfAViewThatIsLong) {  // beyond what lies on the stack
    const Leaves it{GetParam()};
    leave_again_and_again(GetParam(), [&] {
        SP_INFO("{}", std::views::iota(0, 3000) |
                          std::views::transform([&](int n) { return n == 2000 ? it.leave() : n; }));
    });
}
TEST_P(WayOut, OfASpan) {
    leave_again_and_again(GetParam() == Way::kFork ? Way::kThrow : GetParam(), [] {
        const Way way = GetParam() == Way::kFork ? Way::kThrow : GetParam();
        SP_SPAN("span", Getter{{way}});
    });
}
TEST_P(WayOut, OfAHeldStream) {
    const Way way = GetParam();
    leave_again_and_again(way, [way] {
        if (way == Way::kFork) {
            SP_STREAM(info) << Getter{{way}};
        } else {  // what was written before is recorded where its destructor runs: not here
            auto out = SP_STREAM(debug);
            if (out) out << Getter{{way}};
        }
    });
}
TEST_P(WayOut, OfAFormatter) {
    // What a formatter throws is in the text.
    if (GetParam() == Way::kThrow) {
        SP_INFO("{}", SP_TEXT(Leaves{Way::kThrow}));
        EXPECT_EQ(traced::one().text, "\"<exception>\"");
        return;
    }
    leave_again_and_again(GetParam(), [] { SP_INFO("{}", SP_TEXT(Leaves{GetParam()})); });
}
TEST_P(WayOut, OfAContext) {
    leave_again_and_again(GetParam(), [] {
        SP_CONTEXT("value", Getter{{GetParam()}});
        if (GetParam() == Way::kFork) SP_INFO("within");
    });
}

INSTANTIATE_TEST_SUITE_P(All, WayOut,
                         testing::Values(Way::kThrow, Way::kThreadExit, Way::kCancel, Way::kJump, Way::kFork),
                         [](const testing::TestParamInfo<Way>& info) { return ways::name_of(info.param); });

// --- Records within records.

struct Records {
    int depth;
    int value() const {
        SP_INFO("within {}", depth);
        return depth;
    }
};
}  // namespace

SP_STRUCT_OF(Records, (value, v.value()))

namespace {

TEST(Within, RecordsComeBeforeTheOneThatTheyAreIn) {
    traced::take();
    SP_INFO("outer {}", Records{5});
    const auto all = traced::take();
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].text, "5");
    EXPECT_EQ(all[1].text, "Records{value: 5}");
    EXPECT_LE(all[0].record.ticks, all[1].record.ticks);
    EXPECT_EQ(all[0].record.lane, 0u);
}

// However deep: nothing of the outer ones is begun yet.
int record_deep(int depth) {
    SP_INFO("deep {} {}", depth, std::views::iota(0, 1) | std::views::transform([depth](int) {
                                     return depth == 0 ? 0 : record_deep(depth - 1);
                                 }));
    return depth;
}
TEST(Within, AsDeepAsAProgramLikes) {
    traced::take();
    const std::uint64_t before = lost();
    record_deep(20);
    EXPECT_EQ(traced::take().size(), 21u);
    EXPECT_EQ(lost(), before);
}

// --- Signals.

std::atomic<int> signals{0};
sigjmp_buf over;

// A handler that records while values are evaluated, and while records are made.
TEST(Signals, RecordWhileOthersAreMade) {
    traced::take();
    struct sigaction act = {}, old = {};
    act.sa_handler = [](int) { SP_INFO("signal {}", ++signals); };
    sigaction(SIGUSR1, &act, &old);
    const std::uint64_t before = lost();
    std::atomic<bool> end{false};
    const pthread_t self = pthread_self();
    int made = 0, seen = 0, seen_signals = 0;
    const auto count = [&] {
        for (const Seen& one : traced::take()) (one.site.text == "signal {}" ? seen_signals : seen) += 1;
    };
    std::thread sends([&] {
        for (int i = 0; i < 300 && !end; ++i) {
            pthread_kill(self, SIGUSR1);
            std::this_thread::yield();
        }
        end = true;
    });
    for (int i = 0; i < 20000 || !end; ++i) {
        SP_INFO("{} {}",
                std::views::iota(0, 5) | std::views::transform([](int n) { return std::to_string(n); }), i);
        ++made;
        if (i % 50 == 0) count();
    }
    sends.join();
    sigaction(SIGUSR1, &old, nullptr);
    count();
    EXPECT_EQ(static_cast<std::uint64_t>(seen + seen_signals) + lost() - before,
              static_cast<std::uint64_t>(made + signals));
}

// A handler that jumps out of what it has interrupted, many times. The thread goes on recording in its own
// ring, and every record is whole.
TEST(Signals, JumpOutOfRecords) {
    traced::take();
    struct sigaction act = {}, old = {};
    act.sa_handler = [](int) { siglongjmp(over, 1); };
    sigaction(SIGALRM, &act, &old);
    const itimerval soon{{0, 300}, {0, 300}}, never{};
    static std::atomic<int> jumps{0};
    static std::atomic<std::uint64_t> i{0};
    jumps = 0;
    const std::map<std::string, int> map{{"a", 1}, {"bc", 2}};
    if (sigsetjmp(over, 1) != 0) ++jumps;
    setitimer(ITIMER_REAL, &soon, nullptr);
    while (jumps < 300 && i < 100'000'000) {
        const std::uint64_t n = i.fetch_add(1);
        SP_INFO("{} {}", n, "some text");
        SP_INFO("{} {}", map, n);
        SP_SPAN("span");
    }
    setitimer(ITIMER_REAL, &never, nullptr);
    sigaction(SIGALRM, &old, nullptr);
    EXPECT_GE(jumps, 300);
    traced::take();
    // What was left behind is taken back within a few records whose frame lies no deeper: so there are all
    // kinds.
    for (int k = 0; k < 40; ++k) {
        SP_INFO("last {}", k);
        SP_INFO("{} {}", map, k);
        SP_SPAN("span");
    }
    const std::vector<Seen> all = traced::take();
    // (The first ones may be in the ring of a lane that was busy.)
    const auto last = std::find_if(all.begin(), all.end(), [](const Seen& one) { return one.text == "39"; });
    ASSERT_NE(last, all.end());
    EXPECT_EQ(last->record.lane, 0u);
    const std::uint64_t before = lost();
    for (int k = 0; k < 1000; ++k) SP_INFO("last {}", k);
    EXPECT_EQ(traced::take().size(), 1000u);
    EXPECT_EQ(lost(), before);
}

// --- Threads.

// A class whose getters take its lock: each call is consistent, two calls need not give the same.
class Connection {
  public:
    std::string state() const {
        const std::lock_guard lock(mutex_);
        return state_;
    }
    void set(std::string state) {
        const std::lock_guard lock(mutex_);
        state_ = std::move(state);
    }

  private:
    mutable std::mutex mutex_;
    std::string state_ = "up";
};

}  // namespace

SP_STRUCT_OF(Connection, (state, v.state()))

namespace {

TEST(Threads, GettersThatChangeLoseNothing) {
    traced::take();
    // There is a collector, and what has no room is counted.
    for (std::size_t level = 0; level < 6; ++level) traced::session().set<std::uint8_t>(792 + level, 1);
    traced::session().set<std::uint32_t>(768, static_cast<std::uint32_t>(getpid()));
    const std::uint64_t before = lost();
    constexpr int kThreads = 3, kEach = 3000;
    Connection connection;
    std::atomic<bool> end{false};
    std::atomic<int> running{kThreads};
    std::thread changes([&] {
        while (!end) {
            connection.set("up");
            connection.set("waiting for the peer to answer the second challenge of the handshake");
        }
    });
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < kEach; ++i) {
                SP_INFO("connection {} {} {}", t, i, connection);
                SP_INFO("other {} {}", t, i);
            }
            --running;
        });
    std::map<std::string, std::set<std::string>> seen;
    std::uint64_t count = 0;
    const auto take = [&] {
        for (const Seen& one : traced::take()) {
            ++count;
            if (one.site.text != "connection {} {} {}") continue;
            const std::size_t at = one.text.find("Connection");
            ASSERT_NE(at, std::string::npos);
            seen[one.text.substr(at)].insert(one.text.substr(0, at));
        }
    };
    while (running > 0) take();
    for (auto& thread : threads) thread.join();
    end = true;
    changes.join();
    take();
    traced::session().set<std::uint32_t>(768, 0);
    EXPECT_EQ(count + lost() - before, 2u * kThreads * kEach);
    for (const auto& [text, all] : seen)
        EXPECT_TRUE(
            text == "Connection{state: \"up\"}" ||
            text ==
                "Connection{state: \"waiting for the peer to answer the second challenge of the handshake\"}")
            << text;
}

}  // namespace
