/* Ends in the way that its argument says, for crash_test: `crash_c WAY`. C alone. */
#include <signal.h>
#include <silverpoint/crash.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#undef NDEBUG
#include <assert.h>

static volatile uintptr_t low_address = 16;

int main(int argc, char** arguments) {
    if (argc != 2) return 2;
    const char* const way = arguments[1];
    sp_crash_options options = SP_CRASH_OPTIONS;
    options.term = true;
    if (!sp_install_crash_handler(NULL) || !sp_install_crash_handler(&options)) return 3;
    sp_prepare_thread_for_crash();
    if (strcmp(way, "nothing") == 0) return 0;
    SP_INFO("begun");
    if (strcmp(way, "segv") == 0) *(volatile int*)low_address = 1;
    if (strcmp(way, "abort") == 0) abort();
    if (strcmp(way, "assert") == 0) assert(low_address == 17);
    if (strcmp(way, "term") == 0) raise(SIGTERM);
    if (strcmp(way, "check") == 0) SP_CHECK((int)low_address == EOF);
    if (strcmp(way, "check-with-text") == 0)
        SP_CHECK((low_address < 17 ? 1 : 0) == (int)strlen("a, b"), "it is %d, not %zu", 16, strlen("four"));
    SP_CHECK(low_address == 16);
    SP_CHECK(low_address == 16, "it is %lu", (unsigned long)low_address);
    puts("end");
    return 0;
}
