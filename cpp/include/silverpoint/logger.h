/* The logger inside the process (libsilverpoint), for C and C++. C++ programs may prefer
 * silverpoint/logger.hpp.
 *
 * What a program records while no logger runs: see SP_LOGGER_KEEPS in silverpoint/logger.hpp and start.h.
 *
 * Tracepoints need no library; this one collects what they record, in a thread of the process, and writes it
 * to the console and to files. Link silverpoint::logger (CMake) or -lsilverpoint.
 *
 * All functions may be called from any thread, but not from signal handlers, except silverpoint_reopen and
 * the last one.
 *
 * The logger belongs to the process that started it. A forked child has no logger. The child never waits for
 * the parent's logger, ends it or delivers its records, not even at the child's end. The child may start its
 * own.
 */
#ifndef SILVERPOINT_LOGGER_H
#define SILVERPOINT_LOGGER_H

#include <stddef.h>
#include <stdint.h>

#include "c/made.h"

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

/* Starts the process's logger: when this returns, tracepoints record what it wants. At the end of the process
 * (return from main, exit) it delivers pending records, for at most five seconds.
 *
 * config: a configuration in TOML (docs/guide/configuration.md); null: level info and above on standard
 * error, or what the environment says instead (see below). error: receives a text of at most error_size
 * bytes, including its zero, on failure; may be null. Returns SILVERPOINT_DONE, _RUNNING (nothing is
 * changed), _INVALID or _FAILED. Invalid is a mistake in config, in the variable SILVERPOINT, or in the file
 * that it names; a missing file, too.
 * Thread-safe: any thread. Cost: opens the sinks, and starts a thread for the collector and one for each
 * sink. */
int silverpoint_start(const char* config, char* error, size_t error_size);

/* As silverpoint_start, but the environment takes precedence. SILVERPOINT names a file instead of all of
 * config (it is followed, and can be reloaded), or states what is recorded, with config's sinks.
 * SILVERPOINT_POLICY and SILVERPOINT_BLOCK_MAX state what a thread does that finds its ring full. A mistake
 * in config is an error in any case.
 * Thread-safe: any thread. Cost: opens the sinks, and starts a thread for the collector and one for each
 * sink. */
int silverpoint_start_with_environment(const char* config, char* error, size_t error_size);

/* As silverpoint_start, with the configuration in a file (docs/guide/configuration.md); the environment takes
 * precedence. While the logger runs, a changed file takes effect within about a second.
 * Thread-safe: any thread. Cost: opens the sinks, and starts a thread for the collector and one for each
 * sink. */
int silverpoint_start_file(const char* path, char* error, size_t error_size);

/* Reads the configuration file again and applies it at once; no record is lost or repeated. Returns
 * SILVERPOINT_DONE, _NOT_RUNNING, _INVALID (a mistake in the file, or the logger was not configured by a
 * file) or _FAILED. On failure everything is as before, and error has a text as for silverpoint_start.
 * Thread-safe: any thread. Cost: reads the file, and changes what differs. */
int silverpoint_reload(char* error, size_t error_size);

/* Log files that were moved away are made and opened again within a tenth of a second, not only with the next
 * line. A signal handler may call it (of SIGHUP, for logrotate).
 * Thread-safe: any thread, signal handlers too. Cost: an atomic addition. */
void silverpoint_reopen(void);

/* Waits until everything that was recorded before the call is delivered, at most timeout_ms. Returns
 * SILVERPOINT_DONE, the number of sinks that have not got everything (they go on), or
 * SILVERPOINT_NOT_RUNNING.
 * Thread-safe: any thread. Cost: the wait. */
int silverpoint_flush(uint64_t timeout_ms);

/* As silverpoint_flush; sinks with a backtrace also write what they keep back.
 * Thread-safe: any thread. Cost: the wait. */
int silverpoint_dump_backtrace(uint64_t timeout_ms);

/* As silverpoint_flush, and ends the logger: tracepoints then behave as before it started. What was not
 * delivered in time is kept for the next logger with the same files.
 * Thread-safe: any thread. Cost: the wait. */
int silverpoint_stop(uint64_t timeout_ms);

/* --- Records for a function of the program, unformatted. */

typedef struct silverpoint_text {
    const char* data; /* not ended by a zero byte */
    size_t size;
} silverpoint_text;

/* One record. What it refers to lives until the function returns. Later versions append members: `size` is
 * the number of bytes there are. */
typedef struct silverpoint_event {
    size_t size;
    int64_t wall_ns; /* since 1970-01-01T00:00Z */
    uint32_t tid;    /* the kernel's number of the thread */
    uint32_t line;
    int level; /* 0 trace, 1 debug, 2 info, 3 warn, 4 error, 5 fatal */
    int kind;  /* spec/wire.md section 7 */
    silverpoint_text category;
    silverpoint_text file;
    silverpoint_text function;
    silverpoint_text thread;    /* its name; may be empty */
    silverpoint_text text;      /* the template (spec/templates.md), or an event's name */
    silverpoint_text names;     /* of the arguments, each ended by a line end; may be empty */
    silverpoint_text signature; /* types of the arguments (spec/wire.md section 10) */
    const unsigned char* args;  /* packed; zero bytes follow up to a multiple of 8 */
    size_t args_size;
    silverpoint_text context; /* fields of the scopes that the thread was in, a JSON object; may be empty */
    const void* own;          /* the library's */
} silverpoint_event;

/* Called with each record, in order of time, and with null when no more wait for the moment. One thread of
 * the logger calls it at a time, never within a tracepoint. It gets its own records later. */
typedef void (*silverpoint_handler)(const silverpoint_event* event, void* data);

/* Every logger that starts from now on gives the handler the records of a category (as a sink's `category`;
 * empty: of all). Besides its configuration the logger also records what the directives `record` say
 * ("net=debug"; may be empty). A record is given at most once: what a killed process left behind is not
 * given. A handler cannot be removed. Returns SILVERPOINT_DONE or _INVALID (a null pointer, text that is not
 * UTF-8, or an invalid level behind the category's `=`).
 * Thread-safe: any thread. Cost: an allocation. */
int silverpoint_add_handler(const char* category, const char* record, silverpoint_handler handler,
                            void* data);

/* A function that receives records in the thread that makes them, before the tracepoint returns. */
struct silverpoint_synchronous;

/* C++ programs use silverpoint::synchronous_handler (silverpoint/logger.hpp), C programs
 * sp_add_synchronous_handler (silverpoint/start.h). These also announce the handler to their own tracepoints.
 * This function alone reaches only tracepoints of Rust within libsilverpoint's own shared object.
 *
 * Adds a handler behind the existing ones. From then on the handler gets each record of a category
 * (silverpoint_add_handler says which), in the recording thread, at once. It does not get sites that are
 * off, lost records, or ends of spans. It needs no logger if another process collects. Loggers that start
 * from now on also record what the directives `record` say.
 *
 * The handler is called by any thread, by several at once, and holds up its caller. wall_ns is the time of
 * the call. Its own records are recorded, and given to no such handler. It must return: no exception, no
 * longjmp. Do not use it in signal handlers: while it exists, the program's signal handlers record nothing.
 * It is never called with null. Returns null for what silverpoint_add_handler calls invalid.
 * Thread-safe: any thread. Cost: some allocations; while it exists, each record takes the slow path. */
struct silverpoint_synchronous* silverpoint_add_synchronous_handler(const char* category, const char* record,
                                                                    silverpoint_handler handler, void* data);

/* Removes it, once. When this returns, no thread is in it or will be: so do not call this with a lock held
 * that the handler takes. There is no waiting within such a handler, and in a forked child of the process
 * that added it.
 * Thread-safe: any thread. Cost: waits until no thread is in it. */
void silverpoint_remove_synchronous_handler(struct silverpoint_synchronous* added);

/* Renders a record as a sink with this `pattern` writes it ("{text}{fields}", "spdlog:[%l] %v"), without the
 * line's end. Only for an event that the calling handler was given, and in its thread. Returns the length of
 * the line in bytes. At most `size` of them are written, without a zero byte behind them. (size_t)-1: the
 * pattern is invalid.
 * Thread-safe: the thread of the handler. Cost: formats a line, and allocates. */
size_t silverpoint_event_line(const silverpoint_event* event, const char* pattern, char* line, size_t size);

/* Renders a template (spec/templates.md). Its arguments are packed as in a record, and the signature has
 * their types (spec/wire.md section 10). Control characters are escaped. Returns the length of the text in
 * bytes. At most `size` of them are written, without a zero byte behind them.
 * Thread-safe: any thread. Cost: formats a text, and allocates. */
size_t silverpoint_format(silverpoint_text template_, silverpoint_text signature, const unsigned char* args,
                          size_t args_size, char* text, size_t size);

/* For handlers of crashes (silverpoint/crash.hpp; silverpoint::start() installs it in C++ programs). Returns
 * how many milliseconds the sinks get, from the configuration of the last logger that was started
 * (crash-wait). -1: it wants no handler (crash = false), or none was started.
 * Thread-safe: any thread. Cost: an atomic load. */
int64_t silverpoint_crash_wait(void);

/* Waits until everything that was recorded before the call is delivered, at most timeout_ms; in a thread of
 * the logger it returns at once. Returns SILVERPOINT_DONE, also if no logger runs, or 1 if the time was over
 * first. Async-signal-safe, like silverpoint_reopen.
 * Thread-safe: any thread, signal handlers too. Cost: the wait. */
int silverpoint_drain_after_crash(uint64_t timeout_ms);

#ifdef __cplusplus
}
#endif

#endif
