/* For a tool that counts instructions: a case called so many times within one function, and nothing else
 * there. */
#define _GNU_SOURCE
#include <stdio.h>

#include "internal.h"

/* The tool counts from its entry to its end, with all calls within; so it must stay a function with a name.
 */
__attribute__((noinline)) void bench_counted(void (*burst)(uint64_t n, uint64_t first_id), uint64_t n,
                                             uint64_t first_id) {
    burst(n, first_id);
    __asm__ volatile("" : : : "memory"); /* the call is not the last thing here: no jump takes its place */
}

/* No collector: rings grow as in a burst that nobody empties. Before the calls that count come as many as it
 * takes until site and ring are there. */
int mode_count(struct run* run) {
    const uint64_t n = option(&run->options, "n", 1024), before = option(&run->options, "before", 256);
    void (*burst)(uint64_t, uint64_t) = run->chosen ? run->chosen->burst : run->facility->disabled;
    burst(before, run_claim(run, before));
    bench_counted(burst, n, run_claim(run, n));
    printf("{\"schema\":1,\"facility\":\"%s\",\"case\":\"%s\",\"mode\":\"count\",\"calls\":%llu}\n",
           run->facility->name, run->chosen ? run->chosen->name : "disabled", (unsigned long long)n);
    return 0;
}
