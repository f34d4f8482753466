// Tracepoints that feed ETW, as sessions of etw_fake.dll want it: `etw SCENARIO`. A line in the log of that
// DLL stands before each part of a scenario. The driver knows which events each part makes. The last number
// of an event is how many arguments have been evaluated so far.
#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <optional>
#include <silverpoint/chrono.hpp>
#include <silverpoint/context.hpp>
#include <silverpoint/silverpoint.hpp>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "etw_session.hpp"

enum class Color : std::uint8_t { kRed = 1, kGreen };
SP_ENUM(Color, kRed, kGreen)
struct Point {
    int x;
    float y;
};
SP_STRUCT(Point, x, y)

namespace {

constexpr const char *kShop = "Silverpoint-shop", *kNet = "Silverpoint-net", *kNone = "Silverpoint";

int evaluated = 0;
int count() { return ++evaluated; }

namespace orders {
SP_CATEGORY("shop::orders")
void fatal() { SP_FATAL("fatal {}", count()); }
void error() { SP_ERROR("error {}", count()); }
void warning() { SP_WARN("warning {}", count()); }
void info() { SP_INFO("info {}", count()); }
void debug() { SP_DEBUG("debug {}", count()); }
void trace() { SP_TRACE("trace {}", count()); }
}  // namespace orders
namespace stock {
SP_CATEGORY("shop::stock")
void info() { SP_INFO("stock {}", count()); }
void span_around(void (*within)()) {
    SP_SPAN_AT(info, "take", count());
    within();
}
void span() {
    span_around([] {});
}
}  // namespace stock
namespace net {
SP_CATEGORY("net")
void warning() { SP_WARN("sent {}", count()); }
}  // namespace net
void uncategorised() { SP_INFO("plain {}", count()); }

void (*const all[])() = {orders::fatal, orders::error, orders::warning, orders::info, orders::debug,
                         orders::trace, stock::info,   stock::span,     net::warning, uncategorised};
void execute_all() {
    for (auto* const one : all) one();
}
void begin(const char* part) { fake::mark((std::string(part) + " " + std::to_string(evaluated)).c_str()); }

// All are known to the library, and nothing is wanted.
void make_known() {
    execute_all();
    for (const char* provider : {kShop, kNet, kNone}) fake::enable(provider);
    for (auto* const one : all) fake::await_events("events of each", one == stock::span ? 2 : 1, one);
    for (const char* provider : {kShop, kNet, kNone}) fake::disable(provider);
}

int switches() {
    const auto part = [](const char* name) {
        begin(name);
        execute_all();
    };
    make_known();
    part("off");
    fake::enable(kShop, 3);
    part("level 3 of shop");
    fake::enable(kNet, 5);
    part("and net");
    fake::disable(kShop);
    part("net");
    fake::disable(kNet);
    fake::enable(kShop, 5, silverpoint::etw::keyword_of_category("shop::stock"));
    part("category");
    fake::enable(kShop, 4, 2);
    part("spans");
    fake::enable(kShop, 5, fake::kAll, 1 | silverpoint::etw::keyword_of_category("shop::stock"));
    part("both keywords");
    fake::control(kShop, 2, 1, 0, 0);
    part("state asked for");
    fake::enable(kShop, 0, 0);
    fake::enable(kNone, 255, 0);
    part("all");
    fake::disable(kNone);
    fake::enable(kShop);
    begin("off within a span");
    stock::span_around([] { fake::disable(kShop); });
    begin("on within a span");
    stock::span_around([] { fake::enable(kShop); });
    fake::disable(kShop);
    part("end");
    return 0;
}

namespace kinds {
SP_CATEGORY("kinds")
void values() {
    const std::int8_t small = -1;
    const std::uint16_t port = 8080;
    const std::uint64_t large = std::uint64_t{1} << 63;
    const bool is_sold = true;
    const float half = 0.5f;
    const double more = 2.5;
    const std::string euro = "\u20ac";
    const wchar_t* const wide = L"wide";
    const Color color = Color::kGreen;
    const Point point{3, 4.5f};
    const int array[] = {1, 2, 3};
    const std::vector<std::string> words{"a", "bc"};
    const std::optional<int> nothing;
    const std::map<std::string, int> map{{"k", 7}};
    const std::chrono::milliseconds wait(3);
    SP_EVENT("values", small, port, -2, large, half, more, is_sold, SP_HEX(255u), "text", euro, wide, color,
             point, array, words, nothing, map, wait);
}
void within() { SP_EVENT("within"); }
void spans() {
    SP_CONTEXT("request", 5);
    SP_SPAN_AT(info, "outer", 1);
    within();
    {
        SP_SPAN_AT(info, "inner", 2);
        within();
    }
    SP_ASYNC_BEGIN("fetch", 77);
    SP_ASYNC_END("fetch", 77);
    within();
}
// Is written while the hook, or a handler, records another one.
void around() { SP_WARN("around"); }
void nested() { SP_ERROR("nested"); }
char* guarded = nullptr;
void faulting() { SP_INFO("guarded {}", std::string_view(guarded, 7)); }
LONG CALLBACK on_exception(EXCEPTION_POINTERS* about) {
    if (about->ExceptionRecord->ExceptionCode != EXCEPTION_ACCESS_VIOLATION) return EXCEPTION_CONTINUE_SEARCH;
    DWORD before = 0;
    nested();
    VirtualProtect(guarded, 4096, PAGE_READWRITE, &before);
    return EXCEPTION_CONTINUE_EXECUTION;
}
}  // namespace kinds

int values() {
    fake::want_all();
    for (auto* const one : {kinds::values, kinds::within, kinds::around, kinds::nested})
        fake::await_events("an event of each", 1, one);
    // Begin, two within, begin, end, both of fetch, the last, end.
    fake::await_events("all events of spans", 9, kinds::spans);
    begin("values");
    kinds::values();
    begin("spans");
    kinds::spans();
    begin("within an event");
    fake::hook(kinds::nested);
    kinds::around();
    AddVectoredExceptionHandler(1, kinds::on_exception);
    kinds::guarded =
        static_cast<char*>(VirtualAlloc(nullptr, 4096, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE));
    std::memcpy(kinds::guarded, "guarded", 7);
    fake::await_events("the guarded text", 1, kinds::faulting);
    begin("in a handler");
    DWORD before = 0;
    VirtualProtect(kinds::guarded, 4096, PAGE_NOACCESS, &before);
    kinds::faulting();
    begin("end");
    return 0;
}

namespace busy {
SP_CATEGORY("busy")
void work(int thread, int round) {
    SP_SPAN_AT(info, "round", thread, round);
    SP_INFO("in round {} {}", thread, round);
}
}  // namespace busy

constexpr int kThreads = 4;
std::atomic<bool> is_over{false};

std::vector<std::thread> start_threads() {
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread)
        threads.emplace_back([thread] {
            for (int round = 0; !is_over; ++round) busy::work(thread, round);
        });
    return threads;
}

// Sessions come and go while threads write.
int threads() {
    auto all_threads = start_threads();
    for (int time = 1; time <= 100; ++time) {
        const LONG before = fake::writes();
        fake::enable("Silverpoint-busy", time % 2 == 0 ? 4 : 5);
        fake::await("events", [&] { return fake::writes() > before + 10; });
        fake::disable("Silverpoint-busy");
    }
    is_over = true;
    for (auto& one : all_threads) one.join();
    begin("quiet");
    busy::work(kThreads, 0);
    return 0;
}

// The program ends while threads write.
int ends() {
    fake::want_all();
    for (auto& one : start_threads()) one.detach();
    fake::await("events", [] { return fake::writes() > 100; });
    return 0;
}

// A DLL comes and goes: `path`.
int plugin(const char* path) {
    // Before any provider is registered.
    fake::enable("Silverpoint-plugged");
    fake::enable(kShop);
    fake::await_events("an event of the host", 1, orders::info);
    for (int time = 0; time < 3; ++time) {
        begin("load");
        const HMODULE loaded = LoadLibraryA(path);
        if (loaded == nullptr) return 3;
        for (const auto& [name, count] : {std::pair{"work_own", 3}, std::pair{"work_shared", 1}}) {
            auto* const work =
                reinterpret_cast<void (*)(int)>(reinterpret_cast<void*>(GetProcAddress(loaded, name)));
            if (work == nullptr) return 4;
            fake::await_events(name, count, [&] { work(time); });
        }
        if (!fake::is_registered("Silverpoint-plugged")) return 5;
        FreeLibrary(loaded);
        fake::await("unregistering", [] { return !fake::is_registered("Silverpoint-plugged"); });
        // Sessions change what they want meanwhile.
        fake::control("Silverpoint-plugged", 1, static_cast<UCHAR>(4 + time), fake::kAll, 0);
        fake::enable(kShop, 4);
        fake::await_events("an event of the host", 1, orders::info);
        if (!fake::is_registered(kShop)) return 6;
    }
    begin("end");
    return 0;
}

// Windows refuses what it is asked for.
int refused() {
    fake::refuse(5);
    fake::want_all();
    execute_all();
    fake::await("all are refused", [] { return fake::refusals() == 3; });
    const int before = evaluated;
    for (int time = 0; time < 100; ++time) execute_all();
    if (evaluated != before) return 4;
    return fake::writes() == 0 ? 0 : 3;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string_view scenario = argc > 1 ? argv[1] : "";
    if (scenario == "switches") return switches();
    if (scenario == "values") return values();
    if (scenario == "threads") return threads();
    if (scenario == "ends") return ends();
    if (scenario == "plugin" && argc > 2) return plugin(argv[2]);
    if (scenario == "refused") return refused();
    return 2;
}
