// A portable program, compiled as for a system that is not Linux. Every tracepoint is off and evaluates no
// argument; what needs no session works. Exits with 0 if so.
#include <silverpoint/chrono.hpp>
#include <silverpoint/debug_output.hpp>
#include <silverpoint/filesystem.hpp>
#include <silverpoint/format.hpp>
#include <silverpoint/ostream.hpp>
#include <silverpoint/silverpoint.hpp>
#include <silverpoint/testing.hpp>
#include <silverpoint/trace_context.hpp>
#include <string>
#include <vector>

SP_CATEGORY("net")

struct Point {
    int x, y;
};
SP_STRUCT(Point, x, y)

int main() {
    int evaluated = 0;
    const std::vector<int> values{1, 2};
    for (int i = 0; i < 3; ++i) {
        SP_INFO("text {} {}", ++evaluated, std::string("x"));
        SP_INFOF("text %d", ++evaluated);
        SP_FATAL << "text" << ++evaluated << values << Point{1, 2} << std::chrono::milliseconds(5);
        SP_EVENT("event", ++evaluated, values);
        SP_SPAN("span", ++evaluated);
        SP_SCOPE();
        SP_CONTEXT("request", 5);
        SP_COUNTER("depth", ++evaluated, "ms");
        SP_INFO_EVERY_N(2, "text {}", ++evaluated);
        silverpoint::debug_output(L"text");
        const auto open = SP_ASYNC_SPAN("fetch", ++evaluated);
    }
    if (evaluated != 0 || SP_ENABLED(fatal)) return 1;
    // Ids go to other programs, with tracepoints and without: random, so that no two are the same.
    const auto first = silverpoint::TraceContext::fresh().header(),
               second = silverpoint::TraceContext::fresh().header();
    return first != second ? 0 : 2;
}
