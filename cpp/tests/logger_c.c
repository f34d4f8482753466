/* The logger's header is C, and so is a program that starts it and logs. */
#include <silverpoint/logger.h>
#include <silverpoint/silverpoint.h>
#include <stdio.h>

int main(void) {
    char error[256];
    if (silverpoint_flush(10) != SILVERPOINT_NOT_RUNNING) return 1;
    if (silverpoint_start("record = 'loud='", error, sizeof error) != SILVERPOINT_INVALID) return 2;
    printf("%s\n", error);
    if (silverpoint_start("[[sink]]\nto = 'stderr'\n", error, sizeof error) != SILVERPOINT_DONE) return 3;
    if (silverpoint_start(NULL, NULL, 0) != SILVERPOINT_RUNNING) return 4;
    SP_INFO("number %d of %s", 7, "C");
    if (silverpoint_flush(60000) != SILVERPOINT_DONE) return 5;
    if (silverpoint_stop(60000) != SILVERPOINT_DONE) return 6;
    puts("done");
    return 0;
}
