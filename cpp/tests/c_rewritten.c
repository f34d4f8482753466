/* Texts of printf that are not recorded as they stand, as c_rewritten_test.cpp calls them. */
#include "c_rewritten.h"

#include <errno.h>
#include <silverpoint/silverpoint.h>

/* What a program's own functions do to errno. */
static const char* changing_errno(const char* text) {
    errno = EINTR;
    return text;
}

void c_error(int error) {
    errno = error;
    SP_INFO("%m");
}

void c_error_of_call(int error, const char* path) {
    errno = error;
    SP_ERROR("%s: %m (%d)", changing_errno(path), 7);
}

void c_error_formatted(int error, int width) {
    errno = error;
    SP_INFO("[%-25m|%25m|%.4m|%*m|%%m|%d ms]", width, 5);
}

void c_error_kept(int error, int* after) {
    errno = error;
    SP_INFO("%m");
    *after = errno;
}

void c_letters(void) { SP_INFO("%d ms, 10m, %%m, 5%%m", 7); }

void c_numbered(const char* name, int count) {
    SP_INFO("%2$s has %1$d, and %1$d again, %3$.2f%%", count, name, 2.5);
}

void c_numbered_amounts(const char* unterminated, int width, int precision, double value) {
    SP_INFO("%4$*2$.*3$f|%1$.*3$s|%1$.2s|%2$05d", unterminated, width, precision, value);
}

void c_numbered_types(void* pointer) {
    SP_INFO("%5$p %4$hhd %3$llu %2$c %1$s %6$s", SP_TEXT_N("text and more", 4), 'x', 1ULL << 63,
            (signed char)-1, pointer, SP_SECRET("hidden"));
}

void c_numbered_with_error(int error) {
    errno = error;
    SP_INFO("%2$d %1$d: %m", 1, 2);
}

void c_numbered_in_turn(int i) { SP_INFO_EVERY_N(1, "%2$d after %1$d", i, i + 1); }

/* A long text. */
#define TEN(text) text text text text text text text text text text
void c_without_room(int error, int i) {
    errno = error;
    SP_INFO(TEN("a text that is not put on a small stack, as it is long; ") "%m after %d", i);
}
