/* Crash records: why the program ended, and where, as in C++ (silverpoint/crash.hpp, which says more).
 *
 *   int main(void) {
 *       sp_install_crash_handler(NULL);
 *       ...
 *   }
 *   SP_CHECK(index < size);
 *   SP_CHECK(index < size, "index %zu of %zu", index, size);
 *
 * A fatal signal or a failed check makes one record of level fatal and category silverpoint.crash. It has the
 * cause, the signal's details, the failing thread and its stack. Then the previous handler is called, or the
 * signal's default action happens. On Windows an exception that nobody handles is such a signal, and a failed
 * assert is a check. Install it once, in the executable, before threads are started. Call it
 * from any thread, not from signal handlers.
 *
 * sp_start_logger (silverpoint/start.h) installs the handler, too. The logger then delivers all records
 * before the process ends. */
#ifndef SILVERPOINT_CRASH_H
#define SILVERPOINT_CRASH_H

#include "platform/linux_or_windows.h"
#include "silverpoint.h"

#ifndef __cplusplus

typedef struct sp_crash_options {
    /* Which signals make a record. A program that uses one of them for another purpose leaves it out. */
    bool segv, bus, ill, fpe, abrt, sys, trap, term;
    /* How long `drain` may take, in milliseconds. */
    uint32_t wait_ms;
    /* Makes the logger inside the process deliver what is pending: silverpoint_drain_after_crash, or null. */
    int (*drain)(uint64_t wait_ms);
} sp_crash_options;
/* The defaults: sp_crash_options options = SP_CRASH_OPTIONS; options.term = true; */
#    define SP_CRASH_OPTIONS \
        { true, true, true, true, true, true, false, false, 3000, 0 }

/* Another call adds signals, and changes the wait and a drain that is not null. Null: SP_CRASH_OPTIONS.
 * False: no memory, or no session.
 * Thread-safe: one thread at a time. Cost: system calls, once for the process. */
bool sp_install_crash_handler(const sp_crash_options* options) SP_C_OWN;
/* A stack for the handler in the calling thread. Threads get one with their first record, or by this call.
 * Thread-safe: any thread. Cost: maps a stack, once for the thread. */
void sp_prepare_thread_for_crash(void) SP_C_OWN;

/* Ends the program if a condition is false: records the text beside it, then makes a crash record, then
 * aborts. */
#    define SP_CHECK(...) SP_C_JOIN(SP_C_CHECK_, SP_C_HAS_MORE(__VA_ARGS__))(#__VA_ARGS__, __VA_ARGS__)
#    define SP_C_HAS_MORE(...) \
        SP_C_COUNT2(__VA_ARGS__, more_than_16_arguments, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0)
#    define SP_C_CHECK_0(source, condition)                                              \
        do {                                                                             \
            if (!SP_C_LIKELY(condition)) sp_c_fail_check(source, 1, __FILE__, __LINE__); \
        } while (0)
#    define SP_C_CHECK_1(source, condition, ...)                                                     \
        do {                                                                                         \
            if (!SP_C_LIKELY(condition)) {                                                           \
                SP_FATAL(__VA_ARGS__);                                                               \
                sp_c_fail_check(source, 1 + SP_C_COUNT(condition, __VA_ARGS__), __FILE__, __LINE__); \
            }                                                                                        \
        } while (0)

/* `source` is the source text of `count` arguments, of which the first is the condition. */
__attribute__((noreturn)) void sp_c_fail_check(const char* source, unsigned count, const char* file,
                                               unsigned line) SP_C_OWN;

#endif
#endif
