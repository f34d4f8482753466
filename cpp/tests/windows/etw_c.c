/* Tracepoints in C that feed ETW. */
#include <silverpoint/silverpoint.h>
#include <windows.h>

SP_CATEGORY("c");

static void work(int number) {
    SP_SPAN("work", number);
    SP_WARN("text %s %d", "of C", number);
}

int main(void) {
    const HMODULE fake = LoadLibraryA("etw_fake.dll");
    void (*const want_all)(void) = (void (*)(void))(void*)GetProcAddress(fake, "fake_want_all");
    LONG (*const writes)(void) = (LONG(*)(void))(void*)GetProcAddress(fake, "fake_writes");
    if (want_all == NULL || writes == NULL) return 2;
    want_all();
    /* The events of one execution: begin, text and end. */
    for (LONG seen = -1, rounds = 0; writes() - seen != 3; ++rounds) {
        if (rounds > 60000) return 9;
        seen = writes();
        work((int)rounds);
        Sleep(1);
    }
    return 0;
}
