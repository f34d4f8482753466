/* The floor as a facility of its own: a second floor, measured against the first like any candidate. What it
 * shows beside a ratio of 1 is the error of the method on this machine. */
#include <stdio.h>
#include <stdlib.h>

#include "../harness/harness.h"
#include "floor.h"

static struct floor* second;

static void burst(uint64_t n, uint64_t first_id) { floor_burst(second, n, first_id); }
static void singles(uint64_t n, uint64_t first_id, uint32_t* elapsed_ticks) {
    floor_singles(second, n, first_id, elapsed_ticks);
}

static void empty(uint64_t n, uint64_t first_id) {
    for (uint64_t id = first_id; id != first_id + n; ++id) __asm__ volatile("" : : "r"(id) : "memory");
}

static void turn_begins(void) { floor_reader_on(second); }
static void turn_ends(void) { floor_reader_off(second); }

static void flush(void) {
    turn_begins();
    turn_ends();
    const struct floor_account account = floor_account(second);
    if (account.read == account.written) return;
    fprintf(stderr, "floor: written and read differ\n");
    exit(1);
}

int main(int argc, char** argv) {
    second = floor_open();
    static const struct bench_case cases[] = {{"three", burst, singles}};
    const struct bench_facility facility = {

        .name = "floor",
        .cases = cases,
        .case_count = 1,
        .empty = empty,
        .disabled = empty,
        .turn_begins = turn_begins,
        .turn_ends = turn_ends,
        .flush = flush,
    };
    return bench_main(argc, argv, &facility);
}
