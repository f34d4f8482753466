/* The driver of the part `scale`: as many sites as asked for, texts of any length, and many processes at
 * once.
 *
 *   BENCH_SITES=N     of the case `sites`: each call is of the next of N places
 *   BENCH_PAYLOAD=N   of the case `payload`: bytes of the text
 *   BENCH_PROCESSES=N processes beside each other, each of BENCH_RECORDS=N calls of `three`; a line of JSON
 * each
 *
 * A program has fifty thousand places after years of work, not in a loop. Here they are made at run time,
 * from what the macros make at compile time (silverpoint.h, SP_C_ON). They differ by their lines. */
#include <silverpoint/silverpoint.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../harness/harness.h"

SP_CATEGORY("bench");

static struct sp_c_site* sites;
static uint64_t site_count = 10;
static char* payload;
static size_t payload_size;

static uint64_t from_environment(const char* name, uint64_t otherwise, uint64_t most) {
    const char* const text = getenv(name);
    if (!text) return otherwise;
    char* end;
    const unsigned long long value = strtoull(text, &end, 10);
    if (end == text || *end != '\0' || value > most) {
        fprintf(stderr, "bench: %s=%s: a whole number up to %llu is expected\n", name, text,
                (unsigned long long)most);
        exit(2);
    }
    return value;
}

static inline void at_site(uint64_t id) {
    struct sp_c_site* const sp_site_ = &sites[id % site_count];
    const unsigned char state = sp_c_state(sp_site_);
    if (SP_C_LIKELY(state == 1) ||
        (state != 0 && sp_c_is_on_otherwise(sp_site_, state, __func__, SP_C_CATEGORY.name, "bench site %lu")))
        (void)SP_C_RECORD(SP_C_KIND_PERCENT, (const char*)0, "", "bench site %lu", id);
}

/* The two loops of a case. */
#define CASE(function, ...)                                                                 \
    __attribute__((noinline)) static void function##_burst(uint64_t n, uint64_t first_id) { \
        for (uint64_t id = first_id; id != first_id + n; ++id) {                            \
            __VA_ARGS__;                                                                    \
        }                                                                                   \
    }                                                                                       \
    __attribute__((noinline)) static void function##_singles(uint64_t n, uint64_t first_id, \
                                                             uint32_t* elapsed_ticks) {     \
        for (uint64_t id = first_id; id != first_id + n; ++id) {                            \
            const uint64_t before = bench_ticks();                                          \
            __VA_ARGS__;                                                                    \
            *elapsed_ticks++ = (uint32_t)(bench_ticks() - before);                          \
        }                                                                                   \
    }

CASE(sites, at_site(id))
CASE(payload, SP_INFO("bench payload %lu %s", id, SP_TEXT_N(payload, payload_size)))
CASE(three, SP_INFO("bench three %d %g %lu", (int32_t)id, 0.125, id))

/* Of the mode `switch`. */
__attribute__((noinline)) static int is_on(void) { return SP_ENABLED(trace); }
__attribute__((noinline)) static int switched(uint64_t id) {
    int evaluated = 0;
    SP_TRACE("bench switched %lu", (evaluated = 1, id));
    return evaluated;
}

static void make_sites(void) {
    sites = calloc(site_count, sizeof *sites);
    if (!sites) {
        perror("bench: sites");
        exit(1);
    }
    for (uint64_t i = 0; i < site_count; ++i)
        sites[i] = (struct sp_c_site){&sp_c_unregistered,
                                      0,
                                      (uint32_t)(1000 + i),
                                      SP_C_LEVEL_info,
                                      3,
                                      0,
                                      0,
                                      0xFFFFFFFF,
                                      __FILE__,
                                      0,
                                      0,
                                      0,
                                      0};
}

/* One of many processes: its calls and nothing else, so that what all use together is theirs and the
 * collector's. The floor and the harness would cost more than the records. */
static int one_of_many(uint64_t records) {
    three_burst(records, 1);
    printf(
        "{\"schema\":1,\"facility\":\"silverpoint-scale\",\"case\":\"three\",\"mode\":\"many\",\"counted\":%"
        "lu,"
        "\"id_sum\":%lu}\n",
        (unsigned long)records, (unsigned long)(records * (records + 1) / 2));
    return fflush(stdout) == 0 ? 0 : 1;
}

int main(int argc, char** argv) {
    static const struct bench_case cases[] = {
        {"sites", sites_burst, sites_singles},
        {"payload", payload_burst, payload_singles},
        {"three", three_burst, three_singles},
    };
    const struct bench_facility facility = {.name = "silverpoint-scale",
                                            .cases = cases,
                                            .case_count = sizeof cases / sizeof cases[0],
                                            .observe = bench_observe_session,
                                            .is_on = is_on,
                                            .switched = switched};
    site_count = from_environment("BENCH_SITES", 10, 1000000);
    payload_size = from_environment("BENCH_PAYLOAD", 0, 1u << 24);
    if (site_count == 0) site_count = 1;
    payload = malloc(payload_size + 1);
    if (!payload) return 1;
    memset(payload, 'x', payload_size);
    make_sites();
    const uint64_t processes = from_environment("BENCH_PROCESSES", 0, 10000),
                   records = from_environment("BENCH_RECORDS", 1000, 1000000000);
    if (processes == 0) return bench_main(argc, argv, &facility);
    int failed = 0;
    for (uint64_t i = 0; i < processes; ++i) {
        const pid_t child = fork();
        if (child < 0) {
            perror("bench: fork");
            return 1;
        }
        if (child == 0) exit(one_of_many(records));
    }
    for (int status; wait(&status) > 0;) failed |= status != 0;
    return failed;
}
