/* The logger's header is C, and so is a program that starts it and logs. */
#include <silverpoint/logger.h>
#include <silverpoint/silverpoint.h>
#include <silverpoint/start.h>
#include <stdio.h>
#include <string.h>

/* (POSIX, which the headers do not need.) */
int setenv(const char* name, const char* value, int replace);

/* Counts the records that it is given before their tracepoints return, and the last number in them. */
static struct {
    int count, number;
} seen;

static void take(const silverpoint_event* event, void* data) {
    ++seen.count;
    if (event->args_size >= sizeof seen.number) memcpy(data, event->args, sizeof seen.number);
    SP_INFO("nobody is given this");
}

static int check_synchronous(void) {
    struct silverpoint_synchronous* added = sp_add_synchronous_handler("", "", NULL, &seen.number);
    if (added != NULL) return 20;
    SP_INFO("before %d", 1);
    added = sp_add_synchronous_handler("", "", take, &seen.number);
    if (added == NULL || seen.count != 0) return 21;
    SP_INFO("number %d of %s", 8, "C");
    if (seen.count != 1 || seen.number != 8) return 22;
    SP_EVENT("event", 9);
    if (seen.count != 2 || seen.number != 9) return 23;
    silverpoint_remove_synchronous_handler(added);
    SP_INFO("number %d of %s", 10, "C");
    return seen.count == 2 ? 0 : 24;
}

int main(void) {
    char error[256];
    if (silverpoint_flush(10) != SILVERPOINT_NOT_RUNNING) return 1;
    if (silverpoint_start("record = 'loud='", error, sizeof error) != SILVERPOINT_INVALID) return 2;
    printf("%s\n", error);
    if (silverpoint_start("[[sink]]\nto = 'stderr'\n", error, sizeof error) != SILVERPOINT_DONE) return 3;
    if (silverpoint_start(NULL, NULL, 0) != SILVERPOINT_RUNNING) return 4;
    SP_INFO("number %d of %s", 7, "C");
    const int failed = check_synchronous();
    if (failed != 0) return failed;
    if (silverpoint_flush(60000) != SILVERPOINT_DONE) return 5;
    if (silverpoint_stop(60000) != SILVERPOINT_DONE) return 6;
    setenv("SILVERPOINT", "error", 1);
    if (sp_start_logger_with_environment("[[sink]]\nto = 'stderr'\n", error, sizeof error) !=
        SILVERPOINT_DONE)
        return 7;
    SP_WARN("nobody wants number %d", 11);
    SP_ERROR("number %d of %s", 12, "C");
    if (silverpoint_stop(60000) != SILVERPOINT_DONE) return 8;
    setenv("SILVERPOINT", "loud=", 1);
    if (sp_start_logger_with_environment(NULL, error, sizeof error) != SILVERPOINT_INVALID) return 9;
    puts("done");
    return 0;
}
