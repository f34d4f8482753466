/* The logger inside the process (libsilverpoint), for C and C++. C++ programs may prefer
 * silverpoint/logger.hpp.
 *
 * What a program records while no logger runs: see SP_LOGGER_KEEPS in silverpoint/logger.hpp and start.h.
 *
 * Tracepoints need no library; this one collects what they record, in a thread of the process, and writes it
 * to the console and to files. Link silverpoint::logger (CMake) or -lsilverpoint.
 *
 * All functions may be called from any thread, but for silverpoint_reopen and the last one not from signal
 * handlers.
 *
 * The logger belongs to the process that started it. In a forked child none runs: nothing of the parent's is
 * waited for, ended or delivered there, also not at the child's end; the child may start its own.
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

/* Starts the process's logger: from the return on, tracepoints record what it wants. At the end of the
 * process (return from main, exit) it delivers what there is, for at most five seconds.
 *
 * config: a configuration in TOML (docs/guide/configuration.md); null: level info and above on standard
 * error, or what the environment says instead (see below). error: where a text of at most
 * error_size bytes, its zero included, is written when it fails; may be null. Returns SILVERPOINT_DONE,
 * _RUNNING (nothing is changed), _INVALID (a mistake in config, or in what the variable SILVERPOINT says, or
 * in the file that it names, which may be missing) or _FAILED. */
int silverpoint_start(const char* config, char* error, size_t error_size);

/* As silverpoint_start, and what the environment says instead: SILVERPOINT a file (which is followed, and can
 * be reloaded) instead of all of config, or what is recorded, with config's sinks; SILVERPOINT_POLICY and
 * SILVERPOINT_BLOCK_MAX what a thread does that finds its ring full. A mistake in config is one in any case.
 */
int silverpoint_start_with_environment(const char* config, char* error, size_t error_size);

/* As silverpoint_start, with the configuration in a file (docs/guide/configuration.md), and what the
 * environment says instead. While the logger runs, what the file says is done within about
 * a second after it was changed. */
int silverpoint_start_file(const char* path, char* error, size_t error_size);

/* Reads the configuration file again, at once, and does what it says from then on; no record is lost or
 * repeated by that. Returns SILVERPOINT_DONE, _NOT_RUNNING, _INVALID (a mistake in the file, or the logger
 * was not configured by one) or _FAILED; then everything is as before, and error has a text as of
 * silverpoint_start. */
int silverpoint_reload(char* error, size_t error_size);

/* Log files that somebody has moved away are made and opened anew within a tenth of a second, not only with
 * the next line. A signal handler may call it (of SIGHUP, for logrotate). */
void silverpoint_reopen(void);

/* Waits until everything that was recorded before the call has come out, at most timeout_ms. Returns
 * SILVERPOINT_DONE, or how many sinks have not got everything (they go on), or SILVERPOINT_NOT_RUNNING. */
int silverpoint_flush(uint64_t timeout_ms);

/* As silverpoint_flush, and sinks with a backtrace write what they keep back. */
int silverpoint_dump_backtrace(uint64_t timeout_ms);

/* As silverpoint_flush, and ends the logger: tracepoints are then what they were before it started. What was
 * not delivered in time is kept for the next logger with the same files. */
int silverpoint_stop(uint64_t timeout_ms);

/* --- Records for a function of the program's, unformatted. */

typedef struct silverpoint_text {
    const char* data; /* not ended by a zero byte */
    size_t size;
} silverpoint_text;

/* One record. What it refers to lives until the function returns. Later versions append members: `size` tells
 * how many bytes there are. */
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

/* Called with each record, in order of time, and with null when no more wait for the moment; by one thread of
 * the logger's at a time, never within a tracepoint. What it records itself is given to it later. */
typedef void (*silverpoint_handler)(const silverpoint_event* event, void* data);

/* Every logger that is started from now on gives the handler the records of a category (as a sink's
 * `category`; empty: of all) and records, besides what its configuration says, what the directives `record`
 * say ("net=debug"; may be empty). A record is given at most once: what a killed process had left is not.
 * There is no way to take a handler away. Returns SILVERPOINT_DONE or _INVALID (a null pointer, text that is
 * not UTF-8, or a category with no level behind its `=`). */
int silverpoint_add_handler(const char* category, const char* record, silverpoint_handler handler,
                            void* data);

/* A function that is given records by the thread that makes them, before the tracepoint returns. */
struct silverpoint_synchronous;

/* C++ programs use silverpoint::synchronous_handler (silverpoint/logger.hpp), C programs
 * sp_add_synchronous_handler (silverpoint/start.h), which also say it to their tracepoints; by this alone
 * only tracepoints of Rust within libsilverpoint's own shared object learn of it.
 *
 * Adds a handler behind those that there are: each record of a category (as of silverpoint_add_handler) that
 * a thread begins to make from then on is given to it by that thread, when it is recorded: sites that are off
 * are not, nor records that are lost, nor ends of spans. It needs no logger where somebody else collects;
 * loggers that are started from now on record what the directives `record` say besides.
 *
 * The handler is called by any thread, by several at once, and holds up its caller. wall_ns is the time of
 * the call. What it records itself is recorded, and given to no such handler. It must return: no exception,
 * no longjmp. It does not belong into a signal handler: as long as it is there, the program's signal handlers
 * record nothing. It is never called with null. Returns null for what silverpoint_add_handler calls invalid.
 */
struct silverpoint_synchronous* silverpoint_add_synchronous_handler(const char* category, const char* record,
                                                                    silverpoint_handler handler, void* data);

/* Takes it away, once. When this returns, no thread is in it, nor will be: so it must not be called with a
 * lock held that the handler takes. Only within such a handler, and in a forked child of the process that has
 * added it, nobody is waited for. */
void silverpoint_remove_synchronous_handler(struct silverpoint_synchronous* added);

/* The line that a sink with this `pattern` writes of a record ("{text}{fields}", "spdlog:[%l] %v"), without
 * its end. Only of an event that the calling handler was given, and in its thread. Returns the bytes that the
 * line has, of which at most `size` are written, without a zero byte behind them; (size_t)-1 when it is no
 * pattern. */
size_t silverpoint_event_line(const silverpoint_event* event, const char* pattern, char* line, size_t size);

/* The text of a template (spec/templates.md) with arguments that are packed as in a record, though they are
 * none: types by their signature (spec/wire.md section 10). Control characters are escaped. Returns the bytes
 * that the text has, of which at most `size` are written, without a zero byte behind them. */
size_t silverpoint_format(silverpoint_text template_, silverpoint_text signature, const unsigned char* args,
                          size_t args_size, char* text, size_t size);

/* For handlers of crashes (silverpoint/crash.hpp, which C++ programs get by silverpoint::start()): how many
 * milliseconds the configuration of the last logger that was started gives the sinks (crash-wait), or -1
 * when it wants no handler (crash = false) or none was started. */
int64_t silverpoint_crash_wait(void);

/* Waits until everything that was recorded before the call has come out, at most timeout_ms; at once in a
 * thread of the logger's own. Returns SILVERPOINT_DONE, also where no logger runs, or 1 when the time was
 * over first. Async-signal-safe, as silverpoint_reopen is. */
int silverpoint_drain_after_crash(uint64_t timeout_ms);

#ifdef __cplusplus
}
#endif

#endif
