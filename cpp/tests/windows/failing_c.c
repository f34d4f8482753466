/* As failing.cpp, in C: `failing_c check|assert|write`. */
#include <silverpoint/crash.h>
#include <silverpoint/silverpoint.h>
#include <stdint.h>
#include <string.h>

#undef NDEBUG
#include <assert.h>

SP_CATEGORY("failing");

static volatile uintptr_t low_address = 16;

int main(int count, char** words) {
    const char* const way = count > 1 ? words[1] : "";
    if (!sp_install_crash_handler(NULL)) return 4;
    if (strcmp(way, "check") == 0) SP_CHECK(low_address == 17, "it is %d", (int)low_address);
    if (strcmp(way, "assert") == 0) assert(low_address == 17);
    if (strcmp(way, "write") == 0) *(volatile int*)low_address = 1;
    return 0;
}
