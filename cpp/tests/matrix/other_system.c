/* The same in C, with the library compiled for that system. */
#include <silverpoint/silverpoint.h>
#include <silverpoint/trace_context.h>
#include <string.h>

SP_CATEGORY("net");

int main(void) {
    int evaluated = 0;
    sp_trace_context first, second;
    for (int i = 0; i < 3; ++i) {
        SP_INFO("text %d %s", ++evaluated, "x");
        SP_EVENT("event", ++evaluated);
        SP_SPAN("span", ++evaluated);
        SP_CONTEXT("request", 5);
        SP_COUNTER("depth", ++evaluated, "ms");
        SP_INFO_EVERY_N(2, "text %d", ++evaluated);
    }
    if (evaluated != 0 || SP_ENABLED(fatal)) return 1;
    sp_trace_fresh(&first);
    sp_trace_fresh(&second);
    return memcmp(first.trace_id, second.trace_id, sizeof first.trace_id) != 0 ? 0 : 2;
}
