/* One tracepoint behind a function, for a listener of .NET: text of a given length. And what the processes
 * that serve the session have used. */
#define _GNU_SOURCE
#include <silverpoint/silverpoint.h>
#include <unistd.h>

#include "../harness/harness.h"

SP_CATEGORY("dotnet");

__attribute__((visibility("default"))) void bench_tracepoint(const char* text, size_t size);
__attribute__((visibility("default"))) double bench_helpers_us(void);

void bench_tracepoint(const char* text, size_t size) { SP_INFO("%s", SP_TEXT_N(text, size)); }

/* Negative when there is no session, or something waits for longer than ten seconds. */
double bench_helpers_us(void) {
    for (int turn = 0; turn < 100000; ++turn) {
        struct bench_observation seen = {0};
        if (bench_observe_session(&seen) != 0) break;
        if (seen.pending_bytes == 0) return (double)seen.helper_cpu_ns / 1e3;
        usleep(100);
    }
    return -1;
}
