/* Ids that connect what several programs do for one request: the W3C Trace Context, in and out
 * (https://www.w3.org/TR/trace-context/), as in C++ (silverpoint/trace_context.hpp).
 *
 *   sp_trace_context trace;                                 a request comes in: a span of its own in the
 *   sp_trace_accept(&trace, traceparent, tracestate);       caller's trace, or a new trace
 *   sp_context context = sp_trace_enter(&trace);            records have trace_id, span_id and parent_id
 *   ...
 *   char header[SP_TRACE_HEADER_SIZE];                      one goes out: the receiver's parent is the span
 *   if (sp_trace_current(&now)) {                           that is open here
 *       sp_trace_header(&now, header);                      traceparent; now.state is its tracestate
 *   }
 *   SP_CONTEXT_END(context);
 *
 * The ids are fields of the thread's context like any other: sp_context_capture takes them along. Nothing is
 * allocated; a new span costs a system call. */
#ifndef SILVERPOINT_TRACE_CONTEXT_H
#define SILVERPOINT_TRACE_CONTEXT_H

#include "silverpoint.h"

#ifndef __cplusplus

/* A `traceparent` and the zero byte at its end. */
#    define SP_TRACE_HEADER_SIZE 56

/* A trace and a span in it. A value: it may be copied and kept. Ids have their first byte first. */
typedef struct sp_trace_context {
    unsigned char trace_id[16];
    unsigned char span_id[8];
    unsigned char parent_id[8]; /* the span that this one is within, if has_parent */
    bool has_parent;
    unsigned char flags; /* 1: the caller records the trace; 2: the trace's id is random */
    char state[513];     /* `tracestate`; may be empty: then none is sent */
} sp_trace_context;

/* A new trace with its first span, sampled.
 * Thread-safe: any thread. Cost: a system call. */
void sp_trace_fresh(sp_trace_context* trace) SP_C_OWN;
/* Reads a `traceparent`: the caller's span. If it is invalid or null: false, and *trace is unchanged.
 * Versions later than 00 are read as far as 00 goes.
 * Thread-safe: any thread. Cost: reads the text. */
bool sp_trace_parse(sp_trace_context* trace, const char* traceparent) SP_C_OWN;
/* For a request that comes in: a new span in the caller's trace if `traceparent` is valid, else a new trace.
 * A `tracestate` is passed on as it is; one of more than 512 bytes, or that is not printable ASCII, is
 * dropped. Either may be null.
 * Thread-safe: any thread. Cost: a system call. */
void sp_trace_accept(sp_trace_context* trace, const char* traceparent, const char* tracestate) SP_C_OWN;
/* A new span within `parent`, which may be *trace itself.
 * Thread-safe: any thread. Cost: a system call. */
void sp_trace_child(sp_trace_context* trace, const sp_trace_context* parent) SP_C_OWN;
/* The context of the innermost scope of this thread which has one: entered here, or captured in another
 * thread. Without one: false, and *trace is unchanged.
 * Thread-safe: any thread. Cost: reads the fields that are open here. */
bool sp_trace_current(sp_trace_context* trace) SP_C_OWN;
/* Attaches trace_id, span_id and parent_id to all records of this thread until SP_CONTEXT_END. It adds
 * trace_flags and tracestate where there are any.
 * Thread-safe: any thread. Cost: that of a scope of context. */
sp_context sp_trace_enter(const sp_trace_context* trace) SP_C_OWN;
/* The `traceparent` of a request to another program: its parent is this span.
 * Thread-safe: any thread. Cost: writes 55 characters. */
void sp_trace_header(const sp_trace_context* trace, char header[SP_TRACE_HEADER_SIZE]) SP_C_OWN;

#endif
#endif
