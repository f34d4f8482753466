/* Tracepoints of C whose arguments may leave; see c_user_code.h. */
#include "c_user_code.h"

#include <silverpoint/silverpoint.h>
#include <stddef.h>

static const char* text_of(int (*leave)(void)) { return leave() == 7 ? "seven" : "other"; }

static void in_printf(int (*leave)(void)) { SP_INFO("%d %d", leave(), 1); }
static void in_text(int (*leave)(void)) { SP_INFO("%s %.3s", "text", text_of(leave)); }
static void in_rewritten(int (*leave)(void)) { SP_INFO("%m %d", leave()); }
static void in_event(int (*leave)(void)) { SP_EVENT("event", 1, leave()); }
static void in_counter(int (*leave)(void)) { SP_COUNTER("counter", leave()); }
static void in_instant(int (*leave)(void)) { SP_INSTANT("instant", leave()); }
static void in_async(int (*leave)(void)) { SP_ASYNC_BEGIN("async", leave()); }
static void in_log(int (*leave)(void)) { SP_LOG(warn, "net", "%d", leave()); }
static void in_limit(int (*leave)(void)) { SP_INFO_EVERY_N(1, "%d", leave()); }
static void in_condition(int (*leave)(void)) { SP_INFO_IF(leave() == 7, "is seven"); }
static void in_bytes(int (*leave)(void)) {
    const char bytes[] = {1, 2};
    SP_EVENT("bytes", SP_BYTES(bytes, leave() == 7 ? sizeof bytes : 0));
}

const struct c_leaving c_leaving_all[] = {
    {"printf", in_printf},   {"text", in_text},           {"rewritten", in_rewritten}, {"event", in_event},
    {"counter", in_counter}, {"instant", in_instant},     {"async", in_async},         {"log", in_log},
    {"limit", in_limit},     {"condition", in_condition}, {"bytes", in_bytes},         {NULL, NULL}};

void c_next(int number) { SP_INFO("next %d", number); }
void c_child(void) { SP_INFO("child"); }
void c_pair(uint64_t number) { SP_EVENT("pair", number, ~number); }
void c_pair_of_texts(uint64_t number, const char* text) {
    SP_SPAN("around", number);
    SP_EVENT("pair", number, ~number, text);
}
