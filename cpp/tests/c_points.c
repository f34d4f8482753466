/* Tracepoints of C, as c_test.cpp calls them. */
#include "c_points.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

uint64_t c_test_ticks;

static inline uint64_t ticks_of_test(void) {
#if defined(__x86_64__)
    return c_test_ticks != 0 ? c_test_ticks : __builtin_ia32_rdtsc();
#else
    uint64_t ticks;
    __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(ticks));
    return c_test_ticks != 0 ? c_test_ticks : ticks;
#endif
}
#define SILVERPOINT_TEST_TICKS ticks_of_test()
#include <silverpoint/silverpoint.h>
#include <silverpoint/trace_context.h>

void c_printf(int id, double price) { SP_INFO("order %d at %.2f%%", id, price); }

void c_every_type(void) {
    const bool yes = true;
    const char letter = 'x';
    const signed char small = -1;
    const unsigned char byte = 255;
    const short two = -2;
    const unsigned short positive = 65535;
    SP_INFO("%d %c %hhd %hhu %hd %hu", yes, letter, small, byte, two, positive);
    SP_INFO("%d %u %ld %lu %lld %llu", INT_MIN, UINT_MAX, LONG_MIN, ULONG_MAX, LLONG_MIN, ULLONG_MAX);
    SP_INFO("%f %f %Lf %p %zu %s", (double)0.5f, 2.5, 3.5L, (void*)4096, sizeof(int), "text");
    SP_EVENT("types", 0.5f, yes, "text", two);
}

void c_qualified_types(void) {
    volatile int changing = 5;
    const volatile double both = 1.5;
    char array[8] = "array";
    const int* pointer = NULL;
    enum { kRed, kGreen } color = kGreen;
    SP_INFO("%d %f %s %p %d", changing, both, array, (const void*)pointer, (int)color);
    SP_EVENT("qualified", pointer, array);
}

void c_no_argument(void) { SP_INFO("100%% literal"); }

void c_sixteen(void) {
    SP_INFO("%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
            15, 16);
}

void c_texts(const char* text, const char* null, const char* bytes, size_t size) {
    SP_INFO("%s %s %s", text, null, SP_TEXT_N(bytes, size));
}

void c_bounded(const char* unterminated, int size) {
    SP_INFO("%d %.*s %s", 1, size, unterminated, "whole");
    SP_INFO("%.3s|%-8.2s|%5.1f", unterminated, unterminated, 2.0);
}

void c_special(void) {
    const unsigned char data[] = {1, 2, 255};
    const char* password = "hunter2";
    SP_EVENT("special", SP_BYTES(data, sizeof data), SP_SECRET(password), SP_TEXT_N("abcdef", 3));
    SP_INFO("login %s", SP_SECRET(password));
}

void c_event(int64_t id, double price) { SP_EVENT("order.filled", id, price); }

void c_event_of_expressions(int a, const char* text) {
    SP_EVENT("an, \"odd\" name", a + 1, strlen(text), (a > 1 ? "many" : "few"), text[0] == ',', a < 3);
    SP_EVENT_AT(warn, "bare");
}

void c_counters(int depth, double latency) {
    SP_COUNTER("queue.depth", depth);
    SP_COUNTER("latency", latency * 2, "m/s, <x>");
}

void c_instant(void) { SP_INSTANT("tick"); }

void c_levels(void) {
    SP_TRACE("0");
    SP_DEBUG("1");
    SP_INFO("2");
    SP_WARN("3");
    SP_ERROR("4");
    SP_FATAL("5");
    SP_TRACEF("%d", 0);
    SP_DEBUGF("%d", 1);
    SP_INFOF("%d", 2);
    SP_WARNF("%d", 3);
    SP_ERRORF("%d", 4);
    SP_FATALF("%d", 5);
}

void c_block_category(void) {
    SP_CATEGORY("inner");
    SP_INFO("in a block");
    SP_LOG(error, "own", "of its own %d", 1);
}

SP_CATEGORY("outer");

void c_own_category(void) { SP_INFO("of the file"); }

int c_spans(int depth) {
    SP_SPAN("outer", depth);
    sp_span inner = SP_SPAN_BEGIN_AT(info, "inner");
    SP_SPAN_END(inner);
    for (int i = 0; i < 2; ++i) {
        SP_SPAN("round", i);
        if (i == 1) return depth;
    }
    return 0;
}

bool c_empty_span_is_off(void) {
    const sp_span none = {0, 0};
    SP_SPAN_END(none);
    return none.ticks == 0;
}

void c_scope(void) { SP_SCOPE(); }

void c_async(uint64_t id, const char* url) {
    SP_ASYNC_BEGIN("fetch", id, url);
    SP_ASYNC_INSTANT("fetch", id ? id : 1);
    SP_ASYNC_END("fetch", id);
    SP_FLOW_BEGIN("order", id);
    SP_FLOW_STEP("order", id);
    SP_FLOW_END("order", id);
}

void c_without_levels(void) {
    SP_EVENT("event");
    SP_SPAN("span");
    SP_SCOPE();
    sp_span by_hand = SP_SPAN_BEGIN("by hand");
    SP_SPAN_END(by_hand);
    SP_COUNTER("counter", 1);
    SP_INSTANT("instant");
    SP_ASYNC_BEGIN("async", 1);
    SP_ASYNC_INSTANT("async", 1);
    SP_ASYNC_END("async", 1);
    SP_FLOW_BEGIN("flow", 1);
    SP_FLOW_STEP("flow", 1);
    SP_FLOW_END("flow", 1);
    SP_LINK(1, 2);
}

uint64_t c_new_id(void) { return sp_new_id(); }

void c_limits(int i, int* evaluated) {
    SP_INFO_EVERY_N(3, "every third %d", i + 0 * ++*evaluated);
    SP_WARN_FIRST_N(2, "twice %d", i);
    SP_ERROR_ONCE("once %d", i);
    SP_DEBUG_IF(i == 5, "five %d", i);
    SP_FATAL_EVERY(3600000, "an hour %d", i);
    SP_TRACE_EVERY(-1, "no time %d", i);
    SP_EVENT_EVERY_N(0, "all", i);
    SP_EVENT_FIRST_N(1, "first", i);
    SP_EVENT_ONCE("plain");
    SP_EVENT_EVERY(3600000ull, "hour", i);
    if (i == 6)
        SP_EVENT_IF(true, "six", i);
    else
        SP_EVENT_IF(false, "never", i);
}

void c_count_to_a_hundred(void) { SP_EVENT_FIRST_N(100, "to a hundred"); }
bool c_limit_is_evaluated(void) {
    bool is_evaluated = false;
    SP_CATEGORY("limit.off");
    SP_INFO_IF((is_evaluated = true), "limited");
    return is_evaluated;
}

void c_contexts(unsigned id, const char* user) {
    SP_INFO("outside");
    {
        SP_CONTEXT("request", id);
        SP_INFO("in");
        sp_context inner = SP_CONTEXT_BEGIN("user", user, "user.id", -1L);
        SP_INFO("deeper");
        {
            SP_CONTEXT("request", 8);
            SP_INFO("covered");
        }
        SP_CONTEXT_END(inner);
        SP_INFO("in again");
    }
    for (int i = 0; i < 2; ++i) {
        SP_CONTEXT("i", i);
        if (i == 1) break;
    }
    SP_INFO("outside again");
}

void c_contexts_of_all_types(void) {
    const unsigned char bytes[] = {1, 2};
    SP_CONTEXT("a", (_Bool)1, "b", (char)'x', "c", (signed char)-1, "d", (unsigned char)255, "e", (short)-300,
               "f", 1.5f, "g", -2.5, "h", (void*)4096);
    SP_CONTEXT("i", ~0ull, "j", INT_MIN, "k", SP_BYTES(bytes, 2), "l", SP_TEXT_N("abcdef", 3), "m",
               SP_SECRET(bytes[0]), "n", (sp_c_int128)-1, "o", LONG_MAX);
    SP_INFO("types");
}

unsigned c_contexts_too_deep(void) {
    sp_context open[30];
    unsigned count = 0;
    for (int i = 0; i < 30; ++i) {
        open[i] = SP_CONTEXT_BEGIN("i", i);
        count += open[i].number != 0;
    }
    for (int i = 0; i < 30; ++i) SP_CONTEXT_END(open[i]);
    SP_INFO("none");
    return count;
}

static sp_captured_context taken;
void c_context_take(void) {
    SP_CONTEXT("taken", "along");
    sp_context_capture(&taken);
}
void c_context_enter(void) {
    SP_CONTEXT("own", 1);
    sp_context context = sp_context_enter(&taken);
    SP_INFO("entered");
    SP_CONTEXT_END(context);
    SP_INFO("left");
    sp_captured_context wrong = taken;
    wrong.size = 100000;
    context = sp_context_enter(&wrong);
    SP_INFO("refused %d", context.number == 0);
}

bool c_trace_is_read(const char* traceparent) {
    sp_trace_context trace;
    return sp_trace_parse(&trace, traceparent);
}
void c_trace_written(const char* traceparent, char* header) {
    sp_trace_context trace;
    if (sp_trace_parse(&trace, traceparent)) sp_trace_header(&trace, header);
}
bool c_trace_current(char* header, char* state) {
    sp_trace_context trace;
    if (!sp_trace_current(&trace)) return false;
    sp_trace_header(&trace, header);
    strcpy(state, trace.state);
    return true;
}
const char* c_trace_accepted(const char* traceparent, const char* tracestate, char* header, char* state) {
    sp_trace_context trace, child;
    sp_trace_accept(&trace, traceparent, tracestate);
    sp_context context = sp_trace_enter(&trace);
    SP_INFO("accepted");
    const char* wrong = c_trace_current(header, state) ? NULL : "none is current";
    sp_trace_header(&trace, header);
    sp_trace_child(&child, &trace);
    if (!child.has_parent || memcmp(child.parent_id, trace.span_id, 8) != 0) wrong = "parent";
    if (memcmp(child.trace_id, trace.trace_id, 16) != 0) wrong = "another trace";
    if (memcmp(child.span_id, trace.span_id, 8) == 0) wrong = "the same span";
    if (strcmp(child.state, trace.state) != 0 || child.flags != trace.flags) wrong = "state";
    sp_trace_child(&trace, &trace);
    if (memcmp(child.parent_id, trace.parent_id, 8) != 0) wrong = "a child of itself";
    {
        sp_trace_fresh(&child);
        if (child.has_parent || child.state[0] != 0 || (child.flags & 1) == 0) wrong = "fresh";
        sp_context own = sp_trace_enter(&child);
        SP_INFO("fresh");
        SP_CONTEXT_END(own);
    }
    SP_CONTEXT_END(context);
    SP_INFO("outside");
    if (sp_trace_current(&trace)) wrong = "one is current";
    return wrong;
}

static int evaluate(int* counter) { return ++*counter; }

int c_evaluations(bool on) {
    int counter = 0;
    if (on) {
        SP_INFO("%d %d", evaluate(&counter), evaluate(&counter));
    } else {
        SP_LOG(info, "switched.off", "%d %d", evaluate(&counter), evaluate(&counter));
    }
    return counter;
}

int c_enabled(void) {
    int all = 0;
    all |= SP_ENABLED(info) ? 1 : 0;
    SP_CATEGORY("switched.off");
    all |= SP_ENABLED(info) ? 2 : 0;
    return all;
}

void c_statements(bool yes) {
    if (yes)
        SP_INFO("yes");
    else
        SP_INFO("no %d", 1);
    switch ((int)yes) {
        case 1:
            SP_INFO("case");
            break;
        default:
            SP_EVENT("default");
    }
}

void c_number(uint64_t number) { SP_EVENT("c.number", number, ~number); }
void c_in_signal(uint64_t number) { SP_EVENT("c.signal", number, ~number); }
void c_long_text(const char* text) { SP_INFO("%s %d", text, 7); }
void c_prepare(void) { sp_prepare_thread(); }

static void literal_only(void) { SP_INFO("literal"); }
static void three_numbers(void) { SP_EVENT("", -7, 2.5, ~0ull); }
static void small_numbers(void) { SP_EVENT("", 0.1f, (int8_t)-128, (uint16_t)65535, LONG_MIN); }
static void numbers_of_128_bits(void) {
    SP_EVENT("", (sp_c_int128)((sp_c_uint128)1 << 127), ~(sp_c_uint128)0);
}
static void pointer(void) { SP_EVENT("", (void*)4096); }
static void text_and_numbers(void) {
    SP_INFO("%s %u %hd",
            "Gr\xc3\xbc\xc3\x9f"
            "e",
            4000000000u, (int16_t)-2);
}
static void empty_text(void) { SP_INFO("%s", ""); }
static void event_with_two_fields(void) { SP_EVENT("order", (uint64_t)42, "XETR"); }
static void counter(void) { SP_COUNTER("depth", 17L); }
static void instant(void) { SP_INSTANT("tick"); }
static void async_begin(void) { SP_ASYNC_BEGIN("fetch", 7, "a.txt"); }
static void async_end(void) { SP_ASYNC_END("fetch", 7); }
static void async_instant(void) { SP_ASYNC_INSTANT("fetch", 7, 512); }
static void flow_begin(void) { SP_FLOW_BEGIN("path", 8); }
static void flow_step(void) { SP_FLOW_STEP("path", 8); }
static void flow_end(void) { SP_FLOW_END("path", 8); }
static void link_of_ids(void) { SP_LINK(7, 8); }
static void span(void) { (void)SP_SPAN_BEGIN("load", "a.txt"); }
#define F(n) ((uint8_t)(0xF0 + n))
static void tail_7(void) { SP_EVENT("", F(1)); }
static void tail_6(void) { SP_EVENT("", F(1), F(2)); }
static void tail_5(void) { SP_EVENT("", F(1), F(2), F(3)); }
static void tail_4(void) { SP_EVENT("", F(1), F(2), F(3), F(4)); }
static void tail_3(void) { SP_EVENT("", F(1), F(2), F(3), F(4), F(5)); }
static void tail_2(void) { SP_EVENT("", F(1), F(2), F(3), F(4), F(5), F(6)); }
static void tail_1(void) { SP_EVENT("", F(1), F(2), F(3), F(4), F(5), F(6), F(7)); }
static void tail_0(void) { SP_EVENT("", F(1), F(2), F(3), F(4), F(5), F(6), F(7), F(8)); }

const struct c_vector c_vectors[] = {{"literal only", literal_only},
                                     {"three numbers", three_numbers},
                                     {"float and small numbers", small_numbers},
                                     {"numbers of 128 bits", numbers_of_128_bits},
                                     {"pointer", pointer},
                                     {"text and two numbers", text_and_numbers},
                                     {"empty text", empty_text},
                                     {"event with two fields", event_with_two_fields},
                                     {"counter", counter},
                                     {"instant", instant},
                                     {"async begin", async_begin},
                                     {"async end", async_end},
                                     {"async instant", async_instant},
                                     {"flow begin", flow_begin},
                                     {"flow step", flow_step},
                                     {"flow end", flow_end},
                                     {"link", link_of_ids},
                                     {"span", span},
                                     {"tail 7", tail_7},
                                     {"tail 6", tail_6},
                                     {"tail 5", tail_5},
                                     {"tail 4", tail_4},
                                     {"tail 3", tail_3},
                                     {"tail 2", tail_2},
                                     {"tail 1", tail_1},
                                     {"tail 0", tail_0},
                                     {NULL, NULL}};
