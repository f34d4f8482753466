/* The logger inside the process (libsilverpoint), for C and C++. C++ programs may prefer
 * silverpoint/logger.hpp.
 *
 * Tracepoints need no library; this one collects what they record, in a thread of the process, and writes it
 * to the console and to files. Link silverpoint::logger (CMake) or -lsilverpoint.
 *
 * All functions may be called from any thread, not from signal handlers.
 *
 * The logger belongs to the process that started it. In a forked child none runs: nothing of the parent's is
 * waited for, ended or delivered there, also not at the child's end; the child may start its own.
 */
#ifndef SILVERPOINT_LOGGER_H
#define SILVERPOINT_LOGGER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SILVERPOINT_DONE = 0,
    SILVERPOINT_FAILED = -1,      /* the system refuses something; the error text says what, and where */
    SILVERPOINT_RUNNING = -2,     /* a logger runs already */
    SILVERPOINT_NOT_RUNNING = -3, /* no logger runs */
    SILVERPOINT_INVALID = -4      /* a mistake in the configuration; the error text says what, and where */
};

/* Starts the process's logger: from the return on, tracepoints record what it wants. At the end of the
 * process (return from main, exit) it delivers what there is, for at most five seconds.
 *
 * config: a configuration in TOML (docs/guide/logger-rust.md); null: level info and above on standard error,
 * or what the variable SILVERPOINT of the environment says instead. error: where a text of at most error_size
 * bytes, its zero included, is written when it fails; may be null. Returns SILVERPOINT_DONE, _RUNNING
 * (nothing is changed), _INVALID (a mistake in config, or in what the variable SILVERPOINT says, or in the
 * file that it names, which may be missing) or _FAILED. */
int silverpoint_start(const char* config, char* error, size_t error_size);

/* Waits until everything that was recorded before the call has come out, at most timeout_ms. Returns
 * SILVERPOINT_DONE, or how many sinks have not got everything (they go on), or SILVERPOINT_NOT_RUNNING. */
int silverpoint_flush(uint64_t timeout_ms);

/* As silverpoint_flush, and ends the logger: tracepoints are then what they were before it started. What was
 * not delivered in time is kept for the next logger with the same files. */
int silverpoint_stop(uint64_t timeout_ms);

#ifdef __cplusplus
}
#endif

#endif
