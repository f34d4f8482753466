/* Three numbers by the C frontend in a loop: what a tracepoint of .NET is compared with, in its process. */
#include <silverpoint/silverpoint.h>

SP_CATEGORY("bench");

__attribute__((visibility("default"))) void bench_loop(int calls);

void bench_loop(int calls) {
    for (int i = 0; i < calls; ++i) SP_INFO("%d %lld %f", i, 7LL, 1.5);
}
