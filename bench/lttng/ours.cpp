// Tracepoints of Silverpoint with the names and arguments of events.h: into the ring, into LTTng-UST, or into
// both, as the environment says.
#include <array>
#include <cstdlib>
#include <silverpoint/silverpoint.hpp>
#include <string>

#include "../cpp/case.hpp"
#include "../harness/harness.h"
#include "gate.h"

SP_CATEGORY("bench")

namespace {

struct Inputs {
    std::array<float, 128> samples{};
    std::string path = "/var/lib/silverpoint/data/frame.000";  // 35 bytes
    Inputs() {
        for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = 0.25F * static_cast<float>(i);
    }
};
const Inputs inputs;

}  // namespace

CASE(literal, SP_EVENT("literal"))
CASE(three_fields, SP_EVENT("three", index, fraction, id))
CASE(text_fields, SP_EVENT("text", id, fraction, inputs.path))
CASE(floats_fields, SP_EVENT("floats", inputs.samples))
CASE(span, SP_SPAN("span", id))
CASE(async_begin, SP_ASYNC_BEGIN("async", id))

int main(int argc, char** argv) {
    static const bench_case cases[] = {
        {"literal", literal_burst, literal_singles},
        {"three.fields", three_fields_burst, three_fields_singles},
        {"text.fields", text_fields_burst, text_fields_singles},
        {"floats.fields", floats_fields_burst, floats_fields_singles},
        {"span", span_burst, span_singles},
        {"async.begin", async_begin_burst, async_begin_singles},
    };
    bench_wait_for_session(cases, sizeof cases / sizeof cases[0], argc, argv);
    const auto nothing = [](std::uint64_t, std::uint64_t) {};
    bench_facility facility{};
    facility.name = "silverpoint and LTTng-UST";
    facility.cases = cases;
    facility.case_count = sizeof cases / sizeof cases[0];
    facility.empty = nothing;
    facility.disabled = nothing;
    // Without a ring there is nothing to observe: babeltrace2 counts what has arrived.
    if (std::getenv("BENCH_RING") != nullptr) facility.observe = bench_observe_session;
    return bench_main(argc, argv, &facility);
}
