/* What our drivers do before a run in LTTng's session. LTTng knows an event after the first execution of its
 * tracepoint. bench/lttng/run starts the session when the event is there, and then makes the file
 * BENCH_LTTNG_GATE. */
#ifndef SILVERPOINT_BENCH_GATE_H
#define SILVERPOINT_BENCH_GATE_H
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../harness/harness.h"

static inline void bench_wait_for_session(const struct bench_case* cases, size_t count, int argc,
                                          char** argv) {
    const char* const gate = getenv("BENCH_LTTNG_GATE");
    if (gate == NULL) return;
    for (size_t i = 0; i < count; ++i)
        if (argc > 2 && strcmp(cases[i].name, argv[2]) == 0) cases[i].burst(1, 0);
    while (access(gate, F_OK) != 0) usleep(1000);
}

#endif
