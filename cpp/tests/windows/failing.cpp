// Ends in the way that its first argument says: `failing WAY [plain|before]`. plain: no crash handler;
// before: what the program has set up before the crash handler is called, and says so.
#include <cxxabi.h>
#include <windows.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <silverpoint/crash.hpp>
#include <stdexcept>
#include <string_view>
#include <thread>

#undef NDEBUG
#include <cassert>

SP_CATEGORY("failing")

namespace {

volatile std::uintptr_t low_address = 16;
volatile int zero = 0;

[[gnu::noinline]] void fault() { *reinterpret_cast<volatile int*>(low_address) = 1; }

void say(const char* text) {
    std::puts(text);
    std::fflush(stdout);
}

long __stdcall on_exception(EXCEPTION_POINTERS* about) {
    std::printf("filter %lx\n", about->ExceptionRecord->ExceptionCode);
    std::fflush(stdout);
    return EXCEPTION_CONTINUE_SEARCH;
}

void set_up() {
    std::signal(SIGABRT, [](int) { say("abort"); });
    std::set_terminate([] {
        say("terminate");
        std::_Exit(9);
    });
    SetUnhandledExceptionFilter(on_exception);
}

const std::map<std::string_view, std::function<void()>> ways = {
    {"assert", [] { assert(zero == 17); }},
    {"wide-assert", [] { _wassert(L"z\u00e4h", L"dir\\wide.cpp", 70); }},
    {"abort", [] { std::abort(); }},
    {"raise", [] { std::raise(SIGABRT); }},
    {"check", [] { SP_CHECK(zero == 17, "it is {}", int{zero}); }},
    {"throw", [] { throw std::runtime_error("out of luck"); }},
    {"throw-in-thread", [] { std::thread([] { throw 7; }).join(); }},
    {"terminate", [] { std::terminate(); }},
    {"pure", [] { abi::__cxa_pure_virtual(); }},
    {"write", fault},
    {"read", [] { std::printf("%d\n", *reinterpret_cast<volatile int*>(low_address)); }},
    {"call", [] { reinterpret_cast<void (*)()>(low_address - 16)(); }},
    {"fault-in-thread", [] { std::thread(fault).join(); }},
    {"divide", [] { std::printf("%d\n", 7 / zero); }},
    {"trap", [] { __builtin_trap(); }},
    {"breakpoint", [] { DebugBreak(); }},
    {"other", [] { RaiseException(0xE000'1234, 0, 0, nullptr); }},
    // The fault is within the tracepoint, whose lane is busy.
    {"within",
     [] { SP_INFO("never {}", std::string_view(reinterpret_cast<const char*>(low_address), 100)); }},
    {"mode", [] { std::printf("mode %u\n", GetErrorMode()); }},
};

}  // namespace

int main(int count, char** words) {
    if (count < 2 || !ways.contains(words[1])) return 2;
    const std::string_view how = count > 2 ? words[2] : "";
    if (how == "before") set_up();
    if (how != "plain" && !silverpoint::install_crash_handler()) return 4;
    SP_INFO("begin");
    ways.at(words[1])();
    say("end");
    return 0;
}
