/* As shop.cpp. */
#include <silverpoint/silverpoint.h>
#include <stdio.h>
#include <stdlib.h>

SP_CATEGORY("net::shop");

static int evaluated = 0;
static int count(void) { return ++evaluated; }

static void scope(void) { SP_SCOPE(); }

/* In a file without probes. */
void end_passed(sp_span span);

static void run(int i) {
    char text[32];
    snprintf(text, sizeof text, "text %d", i);
    const int64_t least = INT64_MIN + i;
    const char* const pointer = i % 2 == 0 ? "even" : NULL;

    SP_INFO("evaluated %d", count());
    SP_INFO("%d of %-5s%% is %#llx", i, pointer, (unsigned long long)i << 40);
    SP_INFO("%d", i);
    SP_EVENT("numbers.small", (signed char)-i, (unsigned char)(200 + i), (short)(-300 - i),
             (unsigned short)(60000 + i), (_Bool)(i % 2 == 0), 'x');
    SP_EVENT("numbers.large", -i, 4000000000U + (unsigned)i, least, ~(uint64_t)0, (float)i,
             (void*)&evaluated);
    SP_EVENT("9.numbers", i / 4.0, (__int128)-i, SP_SECRET(i));
    SP_LOG(warn, "Other Category", "slow: %d ms", i);
    SP_COUNTER("queue.depth", i, "orders");
    SP_ASYNC_BEGIN("fetch", (uint64_t)i, text);
    SP_ASYNC_END("fetch", (uint64_t)i);
    SP_EVENT("many", i, i, i, i, i, i, i, i, i, i, i, i, i, i);
    SP_INFO("a text that is longer than a name of a probe may be in C, %d", i);
    SP_SPAN("load", i);
    if (SP_ENABLED(debug)) SP_INSTANT("within");
    scope();
    end_passed(SP_SPAN_BEGIN("passed", text));
}

int main(int argc, char** arguments) {
    if (argc < 2) return 2;
    for (int i = 0; i < atoi(arguments[1]); ++i) run(i);
    printf("%d evaluated\n", evaluated);
    return 0;
}
