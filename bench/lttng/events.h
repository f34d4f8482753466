// The tracepoint provider: a literal, a payload of CBOR as the source of table S1 had it, and fields declared
// one by one.
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./events.h"

#if !defined(BENCH_LTTNG_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#    define BENCH_LTTNG_EVENTS_H
#    include <lttng/tracepoint.h>
#    include <stddef.h>
#    include <stdint.h>

LTTNG_UST_TRACEPOINT_EVENT(bench, literal, LTTNG_UST_TP_ARGS(void), LTTNG_UST_TP_FIELDS())

LTTNG_UST_TRACEPOINT_EVENT(bench, cbor, LTTNG_UST_TP_ARGS(const char*, bytes, size_t, count),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_sequence(uint8_t, payload, bytes, size_t,
                                                                        count)))

LTTNG_UST_TRACEPOINT_EVENT(bench, three, LTTNG_UST_TP_ARGS(int32_t, index, double, fraction, uint64_t, id),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int32_t, index, index)
                                                   lttng_ust_field_float(double, fraction, fraction)
                                                       lttng_ust_field_integer(uint64_t, id, id)))

LTTNG_UST_TRACEPOINT_EVENT(bench, text, LTTNG_UST_TP_ARGS(uint64_t, id, double, fraction, const char*, path),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, id, id)
                                                   lttng_ust_field_float(double, fraction, fraction)
                                                       lttng_ust_field_string(path, path)))

LTTNG_UST_TRACEPOINT_EVENT(
    bench, floats, LTTNG_UST_TP_ARGS(const float*, values, size_t, count),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_sequence(uint32_t, values, (const uint32_t*)values, size_t, count)))

#endif
#include <lttng/tracepoint-event.h>
