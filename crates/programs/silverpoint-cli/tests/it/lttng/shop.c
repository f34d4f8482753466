/* As shop.cpp, in C. */
#include <silverpoint/silverpoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SP_CATEGORY("shop");

static void one(int i) {
    char text[40];
    /* A little shorter than what has no memory of its own, and a little longer. */
    char sized[1000];
    memset(sized, 'a' + i % 26, sizeof sized);
    sized[400 + i % 200] = 0;
    snprintf(text, sizeof text, "text \"%d\"", i);
    SP_INFO("order %d at %.2f of %s", i, i / 3.0, text);
    SP_EVENT("numbers", i, (unsigned char)i, (long long)i << 40, -i / 8.0);
    SP_EVENT("sized", i, sized, -i, i / 8.0);
    SP_SPAN("span", i);
    SP_CONTEXT("request", i, "user", "inner", "share", i / 8.0);
    SP_EVENT("within", i);
}

/* One for each line of input. A line `s` holds a span open until the next line. */
static void tick(void) {
    SP_INSTANT("tick");
    puts("done");
    fflush(stdout);
}
static void ticks(void) {
    for (int c = getchar(); c != EOF; c = getchar()) {
        while (c == 's') {
            SP_SPAN("sell");
            getchar();
            tick();
            c = getchar();
        }
        if (c != EOF) tick();
    }
}

int main(int argc, char** argv) {
    if (argc > 1 && strcmp(argv[1], "ticks") == 0) {
        ticks();
        return 0;
    }
    const int times = argc > 1 ? atoi(argv[1]) : 3;
    one(0);
    if (getchar() == EOF) return 1;
    for (int i = 1; i <= times; ++i) one(i);
    return 0;
}
