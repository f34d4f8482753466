/* As no_session.cpp, in C. */
#include <silverpoint/silverpoint.h>
#include <silverpoint/start.h>
#include <stdio.h>

int main(void) {
    char error[300] = "";
    if (sp_start_logger(NULL, error, sizeof error) != SILVERPOINT_FAILED) return 1;
    fprintf(stderr, "%s\n", error);
    SP_ERROR("the disk is on fire");
    return silverpoint_flush(1000) == SILVERPOINT_DONE;
}
