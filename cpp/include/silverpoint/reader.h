/* Reads records (libsilverpoint), for C and C++: from trace files, compressed and rotated ones too, and from
 * running programs. C++ programs may prefer silverpoint/reader.hpp. Link silverpoint::logger (CMake) or
 * -lsilverpoint.
 *
 * Records have numbers from 0, in order of time. silverpoint_reader_grow assigns them, and goes on as files
 * grow. Any record is then found by its number in the time that reading a few thousand records takes. The
 * memory needed is that of an index, not of records.
 *
 *     silverpoint_reader* reader;
 *     silverpoint_reader_open(&path, 1, 0, &reader, error, sizeof error);
 *     silverpoint_records* records = silverpoint_records_new();
 *     uint64_t count;
 *     while (silverpoint_reader_grow(reader, 100, &count, error, sizeof error) == SILVERPOINT_MORE) {}
 *     silverpoint_reader_read(reader, count / 2, 100, records, error, sizeof error);
 *
 * Functions of one reader may be called from several threads: they wait for one another. File contents are
 * never trusted: everything is checked, and what is damaged is left out and reported
 * (silverpoint_reader_message). error: receives a text of at most error_size bytes, including its zero, when
 * a function fails (what, where); may be null.
 */
#ifndef SILVERPOINT_READER_H
#define SILVERPOINT_READER_H

#include <stddef.h>
#include <stdint.h>

#include "silverpoint/logger.h" /* silverpoint_text, SILVERPOINT_DONE, _FAILED, _INVALID */

#ifdef __cplusplus
extern "C" {
#endif

typedef struct silverpoint_reader silverpoint_reader;
typedef struct silverpoint_records silverpoint_records;

/* Results besides those of logger.h. */
enum {
    SILVERPOINT_NO_SESSION = -5, /* no such process, or it does not use Silverpoint */
    SILVERPOINT_FINISHED = 0,    /* all records have numbers, and no more will come */
    SILVERPOINT_MORE = 1,        /* there are more to be numbered at once */
    SILVERPOINT_WAITING = 2      /* more may come */
};

/* How something is opened; added up. */
enum {
    SILVERPOINT_ONLY = 1,   /* exactly the files named, not the other parts of a rotated trace */
    SILVERPOINT_FOLLOW = 2, /* files grow, and are rotated, while they are read */
    SILVERPOINT_UTC = 4     /* times of day in filters are UTC, not local */
};

/* What a value is. */
enum {
    SILVERPOINT_NULL = 0,         /* nothing; "<damaged>" where bytes contradict their type */
    SILVERPOINT_BOOL = 1,         /* number.u is 0 or 1 */
    SILVERPOINT_INT = 2,          /* number.i */
    SILVERPOINT_UINT = 3,         /* number.u */
    SILVERPOINT_BIG = 4,          /* an integer beyond 64 bits: text alone */
    SILVERPOINT_FLOAT = 5,        /* number.f */
    SILVERPOINT_CHAR = 6,         /* number.u, a code point */
    SILVERPOINT_POINTER = 7,      /* number.u */
    SILVERPOINT_TEXT = 8,         /* text */
    SILVERPOINT_BYTES = 9,        /* bytes */
    SILVERPOINT_UUID = 10,        /* 16 bytes */
    SILVERPOINT_TIME = 11,        /* number.i, nanoseconds since 1970-01-01T00:00Z */
    SILVERPOINT_DURATION = 12,    /* number.i, nanoseconds */
    SILVERPOINT_ENUMERATION = 13, /* number.i; text is its name */
    SILVERPOINT_LIST = 14,        /* and from here on values with values in them */
    SILVERPOINT_SET = 15,
    SILVERPOINT_TUPLE = 16,
    SILVERPOINT_MAP = 17, /* the names of the values are the keys, as text */
    SILVERPOINT_STRUCT = 18
};

/* What a record is, beyond what a tracepoint can be (0 to 12, spec/wire.md section 7). */
enum {
    SILVERPOINT_SPAN_END = 32,
    SILVERPOINT_LOSS = 33,   /* records were not recorded; its arguments say how many, and why */
    SILVERPOINT_STALL = 34,  /* the thread waited for room */
    SILVERPOINT_UNKNOWN = 35 /* of a tracepoint that nothing describes */
};

/* One value. The values within it follow it: the first at once, each next one `size` values behind. Texts are
 * UTF-8, without a terminating zero byte, and empty if there is nothing to show. */
typedef struct silverpoint_value {
    silverpoint_text name;  /* of an argument, a field or a map's entry */
    silverpoint_text text;  /* as people read it; of a text the text itself */
    silverpoint_text bytes; /* of bytes and UUIDs */
    silverpoint_text type;  /* the name of a structure or an enumeration */
    silverpoint_text unit;
    union {
        int64_t i;
        uint64_t u;
        double f;
    } number;
    int kind;          /* SILVERPOINT_NULL … */
    uint32_t children; /* values within it, without those within these */
    uint32_t size;     /* values up to the next that is not within it, itself included */
    uint32_t missing;  /* elements, or bytes of a text, that were cut */
} silverpoint_value;

/* One record. */
typedef struct silverpoint_record {
    uint64_t number;
    int64_t wall_ns;     /* since 1970-01-01T00:00Z */
    int64_t duration_ns; /* of the end of a span and of a wait; else -1 */
    int level;           /* 0 trace, 1 debug, 2 info, 3 warn, 4 error, 5 fatal */
    int kind;            /* spec/wire.md section 7, or SILVERPOINT_SPAN_END … */
    uint32_t pid;
    uint32_t tid; /* the kernel's number of the thread */
    uint32_t line;
    int is_truncated; /* the program had to cut something */
    int is_backtrace; /* it was kept back until something happened that it helps to explain */
    silverpoint_text process;
    silverpoint_text thread;
    silverpoint_text category;
    silverpoint_text file;
    silverpoint_text function;
    silverpoint_text text;              /* the template (spec/templates.md), or an event's name */
    silverpoint_text message;           /* what it says, on one line */
    const silverpoint_value* arguments; /* the first; the next stands `size` values behind */
    const silverpoint_value* fields;    /* of the scopes that the thread was in, likewise */
    uint32_t argument_count;
    uint32_t field_count;
} silverpoint_record;

/* Opens trace files; the parts of a rotated one are found from any of them. options: SILVERPOINT_ONLY,
 * _FOLLOW and _UTC, added up.
 *
 * Returns SILVERPOINT_DONE, _FAILED (a file cannot be read, or is no trace file) or _INVALID (no file is
 * named); `*reader` is null then.
 * Thread-safe: any thread. Cost: reads where the blocks of each file are. */
int silverpoint_reader_open(const char* const* paths, size_t count, unsigned options,
                            silverpoint_reader** reader, char* error, size_t error_size);

/* Observes running programs: each target is a process id or a pattern of processes' names; none: all that
 * record. A session that is collected is read from its collector's file. If a session is not collected, its
 * rings are copied, without being emptied, into a temporary directory, which goes with the reader. This needs
 * room for everything that is recorded meanwhile. Returns SILVERPOINT_DONE, _NO_SESSION, _FAILED (sessions
 * cannot be observed, or copied) or _INVALID (a target is a file); `*reader` is null then.
 * Thread-safe: any thread. Cost: opens each of these sessions. */
int silverpoint_reader_live(const char* const* targets, size_t count, unsigned options,
                            silverpoint_reader** reader, char* error, size_t error_size);

/* No function of the reader may be called any more. Null: nothing happens.
 * Thread-safe: one thread at a time. Cost: frees the memory, and removes the temporary directory. */
void silverpoint_reader_close(silverpoint_reader* reader);

/* Numbers the selection of a filter again, from 0. The filter is the options of `silverpoint cat` ("-l warn
 * -c net"), or an expression ("id=7 and px>3.5"); empty: everything. Relative times are evaluated now.
 * Returns SILVERPOINT_DONE, or _INVALID: the text says where, and everything is as before.
 * Thread-safe: any thread; waits for calls of others. Cost: parses the filter; numbers begin again from 0. */
int silverpoint_reader_filter(silverpoint_reader* reader, const char* filter, char* error, size_t error_size);

/* Whether a text is a valid filter; does not wait for a reader. Returns SILVERPOINT_DONE or _INVALID.
 * Thread-safe: any thread. Cost: parses the filter. */
int silverpoint_filter_check(const char* filter, char* error, size_t error_size);

/* Numbers the next records, for about so many milliseconds (0: a few records), and returns how many have
 * numbers now. Returns SILVERPOINT_MORE, _WAITING or _FINISHED, or _FAILED: a file cannot be read any more;
 * records with numbers keep them. Only this function checks running programs and growing files: if it is not
 * called for long, a copied session's oldest records are lost.
 * Thread-safe: any thread; waits for calls of others. Cost: about most_ms. */
int silverpoint_reader_grow(silverpoint_reader* reader, uint64_t most_ms, uint64_t* count, char* error,
                            size_t error_size);

/* Records that have numbers.
 * Thread-safe: any thread; waits for calls of others. Cost: no more than that wait. */
uint64_t silverpoint_reader_count(silverpoint_reader* reader);

/* Reports of missing or damaged data, and other notes for people, one after the other. Writes the next text,
 * cut to `size` bytes including its zero. Returns 1, or 0 if there is none.
 * Thread-safe: any thread; waits for calls of others. Cost: copies the text. */
int silverpoint_reader_message(silverpoint_reader* reader, char* text, size_t size);

/* Room for records. It may be used repeatedly, by one thread at a time.
 * Thread-safe: any thread. Cost: an allocation. */
silverpoint_records* silverpoint_records_new(void);
/* Null: nothing happens.
 * Thread-safe: one thread at a time. Cost: frees the memory. */
void silverpoint_records_free(silverpoint_records* records);

/* Puts records into `records`, replacing its content: at most `most` records from the number `from` on. Large
 * records come in smaller portions, but at least one if there is one. Continuing where the last call ended is
 * fastest. Returns SILVERPOINT_DONE, or _FAILED: a file has lost what it had.
 * Thread-safe: any thread; waits for calls of others; `records` is the call's alone. Cost: reads some
 * thousand records at most before the first, then each. */
int silverpoint_reader_read(silverpoint_reader* reader, uint64_t from, size_t most,
                            silverpoint_records* records, char* error, size_t error_size);

/* The number of records.
 * Thread-safe: any thread, while none reads into them. Cost: a load. */
size_t silverpoint_records_count(const silverpoint_records* records);
/* The record at this index; null beyond the last. What it refers to stays valid until the records are read
 * into again, or freed.
 * Thread-safe: any thread, while none reads into them. Cost: a load. */
const silverpoint_record* silverpoint_records_at(const silverpoint_records* records, size_t index);

#ifdef __cplusplus
}
#endif

#endif
