/* As across.cpp, in C: a span is a value, which may be passed on. */
#include <pthread.h>
#include <silverpoint/silverpoint.h>
#include <stdio.h>

SP_CATEGORY("shop");

static sp_span passed(int number) {
    const sp_span span = SP_SPAN_BEGIN("passed", number);
    SP_EVENT("inside", number);
    return span;
}

static void* end_other(void* given) {
    const sp_span own = passed(2);
    SP_SPAN_END(*(sp_span*)given);
    SP_EVENT("own", 2);
    SP_SPAN_END(own);
    return NULL;
}

static void* begin(void* given) {
    *(sp_span*)given = passed(3);
    return NULL;
}

static void in_thread(void* (*run)(void*), sp_span* span) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, span) == 0) pthread_join(thread, NULL);
}

int main(void) {
    while (getchar() != EOF) {
        sp_span span = passed(1);
        in_thread(&end_other, &span);
        SP_EVENT("behind");
        in_thread(&begin, &span);
        SP_SPAN_END(span);
        SP_EVENT("last");
        puts("done");
        fflush(stdout);
    }
    return 0;
}
