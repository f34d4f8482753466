/* Makes the trace that bench/view shows: RECORDS records of four threads, about a hundred bytes each. Each
 * turn is a span with two lines of text in it, and every fourth turn a counter. */
#include <inttypes.h>
#include <pthread.h>
#include <silverpoint/silverpoint.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SP_CATEGORY("bench");

enum { THREADS = 4, LONG = 110, SHORT = 60, TURNS_WITH_COUNTER = 4 };

static uint64_t turns;
static char text[LONG];

static void* work(void* number) {
    for (uint64_t turn = 0; turn < turns; ++turn) {
        const uint64_t id = turn * THREADS + (uint64_t)(uintptr_t)number;
        sp_span span = SP_SPAN_BEGIN("request", id, SP_TEXT_N(text, SHORT));
        SP_INFO("read %" PRIu64 " %s", id, SP_TEXT_N(text, LONG));
        if (id % 1000 == 0)
            SP_WARN("late %" PRIu64 " %s", id, SP_TEXT_N(text, LONG));
        else
            SP_INFO("sent %" PRIu64 " %s", id, SP_TEXT_N(text, LONG));
        SP_SPAN_END(span);
        if (turn % TURNS_WITH_COUNTER == 0) SP_COUNTER("queue", (int64_t)(id % 977));
    }
    return 0;
}

int main(int count, char** words) {
    const unsigned long long records = count == 2 ? strtoull(words[1], 0, 10) : 0;
    if (records == 0) {
        fprintf(stderr, "usage: %s RECORDS\n", words[0]);
        return 2;
    }
    /* Of four turns each: four records, and one counter. */
    turns = records / (THREADS * (4 * TURNS_WITH_COUNTER + 1)) * TURNS_WITH_COUNTER;
    memset(text, 'x', sizeof text);
    pthread_t threads[THREADS];
    for (uintptr_t number = 0; number < THREADS; ++number)
        if (pthread_create(&threads[number], 0, work, (void*)number) != 0) return 1;
    for (int number = 0; number < THREADS; ++number) pthread_join(threads[number], 0);
    printf("%" PRIu64 "\n", turns * THREADS * 4 + turns / TURNS_WITH_COUNTER * THREADS);
    return 0;
}
