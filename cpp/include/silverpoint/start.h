/* A logger inside the process, for a program in C that has tracepoints: silverpoint_start (see logger.h) and
 * its additions. Crashes are recorded, and everything is delivered before the process ends (crash.h). A
 * forked child may start its own logger.
 *
 *   #include <silverpoint/start.h>
 *
 *   sp_start_logger("[[sink]]\nto = 'stderr'\n", error, sizeof error);
 *   SP_INFO("ready");
 *   silverpoint_stop(5000);
 *
 * As silverpoint::start() in C++. What is recorded before the start and after the stop is kept, see
 * SP_LOGGER_KEEPS. Link libsilverpoint_c and libsilverpoint. */
#ifndef SILVERPOINT_START_H
#define SILVERPOINT_START_H

#include "crash.h"
#include "logger.h"
#include "platform/only_linux.h"

#ifndef __cplusplus

/* What the program records before its logger starts, and after it has stopped: directives
 * (spec/directives.md); "" for nothing. The newest records are kept in shared memory, and the next start
 * delivers them. The end of the program delivers them too if a logger was ever started in it; otherwise they
 * are discarded. Use the same value in all files of a program that include this one. The variable
 * SILVERPOINT_FILTER of the environment takes precedence. */
#    ifndef SP_LOGGER_KEEPS
#        define SP_LOGGER_KEEPS "info"
#    endif
/* One for each shared object, no matter which files include this: hidden, and weak. */
__attribute__((weak, visibility("hidden"), used)) const char* silverpoint_kept_for_logger(void);
const char* silverpoint_kept_for_logger(void) { return SP_LOGGER_KEEPS; }

/* From now on the process has a session, which a logger is about to collect. False, with a text as for
 * silverpoint_start, if it can have none. */
_Bool sp_c_expect_logger(char* error, size_t error_size) SP_C_OWN;

static inline int sp_c_start_logger(int (*start)(const char*, char*, size_t), const char* config, char* error,
                                    size_t error_size) {
    if (!sp_c_expect_logger(error, error_size)) return SILVERPOINT_FAILED;
    const int result = start(config, error, error_size);
    /* -1: the configuration says crash = false. */
    const int64_t wait_ms = silverpoint_crash_wait();
    if (result == SILVERPOINT_DONE && wait_ms >= 0) {
        sp_crash_options options = SP_CRASH_OPTIONS;
        options.wait_ms = wait_ms < 86400000 ? (uint32_t)wait_ms : 86400000;
        options.drain = silverpoint_drain_after_crash;
        (void)sp_install_crash_handler(&options);
    }
    return result;
}

void sp_c_join_handing(void (*take)(const struct silverpoint_made*), const uint32_t* functions) SP_C_OWN;

/* As silverpoint_add_synchronous_handler, for the records of this shared object or program. Each shared
 * object with tracepoints of its own calls this, or sp_hand_records_over once.
 * Thread-safe: any thread. Cost: some allocations; while it exists, each record takes the slow path. */
static inline struct silverpoint_synchronous* sp_add_synchronous_handler(const char* category,
                                                                         const char* record,
                                                                         silverpoint_handler handler,
                                                                         void* data) {
    struct silverpoint_synchronous* added =
        silverpoint_add_synchronous_handler(category, record, handler, data);
    if (added != (struct silverpoint_synchronous*)0)
        sp_c_join_handing(silverpoint_hand_over, silverpoint_synchronous_handlers());
    return added;
}
/* The handlers of others, present or future, receive what this shared object records.
 * Thread-safe: any thread. Cost: a look at each thread that has recorded. */
static inline void sp_hand_records_over(void) {
    sp_c_join_handing(silverpoint_hand_over, silverpoint_synchronous_handlers());
}

/* As silverpoint_start.
 * Thread-safe: any thread. Cost: opens the sinks, and starts a thread for the collector and one for each
 * sink. Installs the handler of crashes. */
static inline int sp_start_logger(const char* config, char* error, size_t error_size) {
    return sp_c_start_logger(silverpoint_start, config, error, error_size);
}
/* As silverpoint_start_with_environment.
 * Thread-safe: any thread. Cost: opens the sinks, and starts a thread for the collector and one for each
 * sink. Installs the handler of crashes. */
static inline int sp_start_logger_with_environment(const char* config, char* error, size_t error_size) {
    return sp_c_start_logger(silverpoint_start_with_environment, config, error, error_size);
}
/* As silverpoint_start_file.
 * Thread-safe: any thread. Cost: opens the sinks, and starts a thread for the collector and one for each
 * sink. Installs the handler of crashes. */
static inline int sp_start_logger_file(const char* path, char* error, size_t error_size) {
    return sp_c_start_logger(silverpoint_start_file, path, error, error_size);
}

#endif
#endif
