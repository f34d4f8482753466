/* Tracepoints in C on Windows: numbers, texts, a span and a context. */
#include <silverpoint/silverpoint.h>
#include <silverpoint/trace_context.h>
#include <windows.h>

SP_CATEGORY("c");

static DWORD CALLBACK work(void* argument) {
    (void)argument;
    for (int i = 0; i < 1000; ++i) {
        SP_SPAN("work", i);
        SP_INFO("numbers %d %ld %.1f", i, 2L, 0.5);
        SP_INFO("text %s", "of C");
    }
    return 0;
}

int main(void) {
    const HANDLE thread = CreateThread(NULL, 0, work, NULL, 0, NULL);
    work(NULL);
    WaitForSingleObject(thread, INFINITE);
    SP_CONTEXT("request", 5);
    SP_EVENT("end", thread != NULL);
    return 0;
}
