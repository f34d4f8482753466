/* The tracepoints of c_points.c, for c_test.cpp. */
#ifndef C_POINTS_H
#define C_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The ticks of all records of these files, as of the vectors; 0: the clock's. */
extern uint64_t c_test_ticks;

void c_printf(int id, double price);
void c_every_type(void);
void c_qualified_types(void);
void c_no_argument(void);
void c_sixteen(void);
void c_texts(const char* text, const char* null, const char* bytes, size_t size);
void c_bounded(const char* unterminated, int size);
void c_special(void);
void c_event(int64_t id, double price);
void c_event_of_expressions(int a, const char* text);
void c_counters(int depth, double latency);
void c_instant(void);
void c_levels(void);
void c_own_category(void);
void c_block_category(void);
int c_spans(int depth);
bool c_empty_span_is_off(void);
void c_scope(void);
void c_async(uint64_t id, const char* url);
/* An event, then every tracepoint that has a level and states none. */
void c_without_levels(void);
uint64_t c_new_id(void);
/* Whether arguments of a tracepoint were evaluated. */
int c_evaluations(bool on);
int c_enabled(void);
/* Each limit; to be called with 0 to 9. */
void c_limits(int i, int* evaluated);
void c_count_to_a_hundred(void);
bool c_limit_is_evaluated(void);
void c_contexts(unsigned id, const char* user);
void c_contexts_of_all_types(void);
/* How many of 30 scopes have found room. */
unsigned c_contexts_too_deep(void);
void c_context_take(void);
void c_context_enter(void);
/* Trace contexts: of 56 bytes, of 513. */
bool c_trace_is_read(const char* traceparent);
void c_trace_written(const char* traceparent, char* header);
bool c_trace_current(char* header, char* state);
/* What is wrong, or null. */
const char* c_trace_accepted(const char* traceparent, const char* tracestate, char* header, char* state);
void c_statements(bool yes);
void c_number(uint64_t number);
void c_in_signal(uint64_t number);
void c_long_text(const char* text);
void c_prepare(void);
/* One vector of spec/vectors each; null behind the last. */
struct c_vector {
    const char* name;
    void (*record)(void);
};
extern const struct c_vector c_vectors[];

#ifdef __cplusplus
}
#endif

#endif
