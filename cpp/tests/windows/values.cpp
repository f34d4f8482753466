// What differs on Windows from Linux: values, what a tracepoint leaves alone, and a handler of exceptions
// that records. Ends with 0; the driver compares the records. With an argument only two records, and how long
// it slept in between.
#include <silverpoint/chrono.hpp>
#include <silverpoint/context.hpp>
#include <silverpoint/debug_output.hpp>
#include <silverpoint/exceptions.hpp>
#include <silverpoint/filesystem.hpp>
#include <silverpoint/format.hpp>
#include <silverpoint/ostream.hpp>
#include <silverpoint/polymorphic.hpp>
#include <silverpoint/silverpoint.hpp>
#include <silverpoint/testing.hpp>
#include <silverpoint/text.hpp>
#include <silverpoint/thread.hpp>
#include <silverpoint/trace_context.hpp>
// After them: ours leave no macro and no declaration that contradicts it. With NOGDI it has no macro
// SP_ERROR.
#define NOGDI
#include <windows.h>

#include <cerrno>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <vector>

SP_CATEGORY("values")

struct Point {
    int x;
    long y;
};
SP_STRUCT(Point, x, y)

namespace {

// Makes the address accessible that a tracepoint could not read, and records meanwhile.
char* guarded = nullptr;
LONG CALLBACK on_exception(EXCEPTION_POINTERS* about) {
    if (about->ExceptionRecord->ExceptionCode != EXCEPTION_ACCESS_VIOLATION) return EXCEPTION_CONTINUE_SEARCH;
    DWORD before = 0;
    SP_WARN("in a handler {}", 7);
    VirtualProtect(guarded, 4096, PAGE_READWRITE, &before);
    return EXCEPTION_CONTINUE_EXECUTION;
}

}  // namespace

int main(int argc, char**) {
    if (argc > 1) {
        LARGE_INTEGER frequency, begin, end;
        QueryPerformanceFrequency(&frequency);
        SP_INFO("sleeps");
        QueryPerformanceCounter(&begin);
        Sleep(200);
        QueryPerformanceCounter(&end);
        SP_INFO("slept {} ns", (end.QuadPart - begin.QuadPart) * 1'000'000'000 / frequency.QuadPart);
        TerminateProcess(GetCurrentProcess(), 3);
    }
    SP_INFO("wide {}", std::wstring(L"\u00e4\u20ac"));
    SP_INFO("longs {} {} {}", 1L, -2L, 3UL);
    SP_INFO("long longs {} {}", -4LL, 5ULL);
    SP_INFO("size {}", sizeof(void*));
    SP_INFO("point {}", Point{1, -2});
    SP_INFO("map {}", std::map<std::string, std::vector<int>>{{"a", {1, 2}}});
    SP_INFO("seconds {}", std::chrono::milliseconds(1500));
    SP_INFO("path {}", std::filesystem::path("C:\\Users\\Ada"));
    SP_INFOF("percent %ld %5.1f %s", 6L, 2.5, "text");
    silverpoint::debug_output(L"debug \u20ac");
    SP_ERROR << "stream" << 8 << true;
    {
        SP_CONTEXT("request", 5);
        SP_INFO("within");
    }
    // Both stay, also where the session takes the cold path: 64 KiB of text fill the first rings.
    const std::string block(600, 'x');
    for (int i = 0; i < 100; ++i) {
        SetLastError(1234);
        errno = EDOM;
        SP_DEBUG("filler {}", block);
        if (GetLastError() != 1234 || errno != EDOM) return 2;
    }
    AddVectoredExceptionHandler(1, on_exception);
    guarded = static_cast<char*>(VirtualAlloc(nullptr, 4096, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE));
    std::snprintf(guarded, 4096, "guarded");
    DWORD before = 0;
    VirtualProtect(guarded, 4096, PAGE_NOACCESS, &before);
    // It is read while the record is being made, so the handler's goes into the thread's next ring.
    SP_INFO("text {}", std::string_view(guarded, 7));
    // Ids go to other programs: random.
    return silverpoint::TraceContext::fresh().header() != silverpoint::TraceContext::fresh().header() ? 0 : 3;
}
