// Loggers inside the process under the harness. Each runs the cases of the tracepoints that it supports, in
// bursts beside the floor and at a rate. Compiled once a facility, with -DFACILITY='"facilities/….hpp"'
// (bench/logging/facilities/facility.hpp) and that library. The output goes to $BENCH_FILE.
#include FACILITY

#include <cstdlib>
#include <string>

#include "../cpp/case.hpp"
#include "../harness/harness.h"

static const std::string the_path = "/var/lib/silverpoint/data/frame.000";  // 35 bytes

CASE(literal, LITERAL())
CASE(three, THREE(id, index, fraction))
CASE(text, TEXT(id, fraction, the_path))

// The same loop with nothing in it and with a line that is off.
LOOP(empty, (void)0)
#ifdef OFF
LOOP(disabled, OFF(id, the_path))
#endif

int main(int argc, char** argv) {
    static const bench_case cases[] = {{"literal", literal_burst, literal_singles},
                                       {"three", three_burst, three_singles},
                                       {"text", text_burst, text_singles}};
    bench_facility facility{};
    facility.name = "logger";
    facility.cases = cases;
    facility.case_count = sizeof cases / sizeof cases[0];
    facility.empty = empty;
#ifdef OFF
    facility.disabled = disabled;
#endif
    facility.flush = flush;
    const char* const file = std::getenv("BENCH_FILE");
    if (!file) return bench_main(argc, argv, &facility);
    begin(Run{file, 0});
    const int status = bench_main(argc, argv, &facility);
    end();
    return status;
}
