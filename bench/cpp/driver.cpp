// The driver of the C++ frontend: the tracepoints of the suite, each in a loop of its own.
//
// A case is a tracepoint (case.hpp); those of one kind of argument each are in arguments.hpp. Arguments
// change from call to call and are computed by nothing dearer than an addition.
#include <array>
#include <cstdint>
#include <map>
#include <silverpoint/atrace.hpp>
#include <silverpoint/silverpoint.hpp>
#include <string>

#include "../harness/harness.h"
#include "case.hpp"

SP_CATEGORY("bench")

#include "arguments.hpp"

namespace {

// What the tracepoints take as arguments. `fraction` stands for a measured value that never repeats.
struct Inputs {
    std::array<float, 128> samples{};
    std::map<std::string, std::int32_t> counts{{"alpha", 1}, {"beta", 20}, {"gamma", 300}};
    std::string path = "/var/lib/silverpoint/data/frame.000";  // 35 bytes
    Inputs() {
        for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = 0.25F * static_cast<float>(i);
    }
};
const Inputs inputs;

}  // namespace

CASE(literal, SP_INFO("bench literal"))
CASE(three, SP_INFO("bench three {} {} {}", index, fraction, id))
CASE(text, SP_INFO("bench text {} {} {}", id, fraction, inputs.path))
CASE(map, SP_INFO("bench map {} {} {} {}", id, index, fraction, inputs.counts))
CASE(floats, SP_INFO("bench floats {}", inputs.samples))
CASE(literal_stream, SP_INFO << "bench literal stream")
CASE(three_stream, SP_INFO << "bench three" << index << fraction << id)
CASE(text_stream, SP_INFO << "bench text" << id << fraction << inputs.path)
CASE(map_stream, SP_INFO << "bench map" << id << index << fraction << inputs.counts)
CASE(floats_stream, SP_INFO << "bench floats" << inputs.samples)
// Of bench/instructions; timed in bench/cpp/atrace.cpp.
CASE(atrace_instant, silverpoint::atrace::instant(silverpoint::atrace::kApp, "name of 10"))
CASE(atrace_counter,
     silverpoint::atrace::int64(silverpoint::atrace::kApp, "a counter.", static_cast<std::int64_t>(id)))
CASE(atrace_scope, SP_ATRACE("name of 10"))

// The same loop with nothing in it and with a tracepoint that is off (the runner's filter leaves trace out).
LOOP(empty, (void)0)
LOOP(disabled, SP_TRACE("bench disabled {} {}", id, inputs.path))

// Of the mode `switch`.
[[gnu::noinline]] static int is_on() { return SP_ENABLED(trace) ? 1 : 0; }
[[gnu::noinline]] static int switched(std::uint64_t id) {
    int evaluated = 0;
    SP_TRACE("bench switched {}", (evaluated = 1, id));
    return evaluated;
}

int main(int argc, char** argv) {
    static const bench_case cases[] = {
        {"literal", literal_burst, literal_singles},
        {"three", three_burst, three_singles},
        {"text", text_burst, text_singles},
        {"map", map_burst, map_singles},
        {"floats", floats_burst, floats_singles},
        {"literal.stream", literal_stream_burst, literal_stream_singles},
        {"three.stream", three_stream_burst, three_stream_singles},
        {"text.stream", text_stream_burst, text_stream_singles},
        {"map.stream", map_stream_burst, map_stream_singles},
        {"floats.stream", floats_stream_burst, floats_stream_singles},
        {"atrace.instant", atrace_instant_burst, atrace_instant_singles},
        {"atrace.counter", atrace_counter_burst, atrace_counter_singles},
        {"atrace.scope", atrace_scope_burst, atrace_scope_singles},
        BENCH_ARGUMENT_CASES,
    };
    bench_facility facility{};
    facility.name = "silverpoint-cpp";
    facility.cases = cases;
    facility.case_count = sizeof cases / sizeof cases[0];
    facility.empty = empty;
    facility.disabled = disabled;
    facility.prepare_thread = [] { silverpoint::prepare_thread(); };
    facility.observe = bench_observe_session;
    facility.is_on = is_on;
    facility.switched = switched;
    return bench_main(argc, argv, &facility);
}
