/* Fields of all records that a thread makes within a scope, as in C++ (silverpoint/context.hpp).
 *
 *   SP_CONTEXT("request", id, "user", name);                until the end of the scope, not by longjmp
 *   sp_context context = SP_CONTEXT_BEGIN("request", id);   until SP_CONTEXT_END(context), in the same thread
 *
 *   sp_captured_context taken;
 *   sp_context_capture(&taken);                             what is open here, to pass to another thread
 *   ... in another thread: sp_context context = sp_context_enter(&taken); ... SP_CONTEXT_END(context);
 * A name is a text, a value anything that a tracepoint takes; up to 8 pairs at once. A field of an inner
 * scope hides a field of the same name of an outer one. Scopes may end in any order. Entering costs some tens
 * of nanoseconds. A tracepoint inside costs what it costs outside, except the first, which states the fields.
 * A thread has 1,424 bytes for all open scopes, and at most 24 of them: what has no room is cut, then left
 * out. Nothing is allocated. In a process without a session, or too deep, `number` is 0 and nothing is
 * attached. */
#ifndef SILVERPOINT_C_CONTEXT_H
#define SILVERPOINT_C_CONTEXT_H

#include "lists.h"
#include "record.h"

/* An open scope; number is 0 when it attaches nothing. */
typedef struct sp_context {
    uint64_t number;
} sp_context;

/* The fields that were open in a thread: a value, which may be copied. */
typedef struct sp_captured_context {
    uint32_t size; /* bytes of `pairs`; 0: no fields */
    bool is_cut;
    char pairs[1424];
} sp_captured_context;

/* Takes what is open in the calling thread now.
 * Thread-safe: any thread. Cost: a copy of at most 1,424 bytes. */
void sp_context_capture(sp_captured_context* taken) SP_C_OWN;
/* Gives it to the records of the calling thread, on top of what is open, until SP_CONTEXT_END.
 * Thread-safe: any thread. Cost: some tens of nanoseconds; the next record states the fields. */
sp_context sp_context_enter(const sp_captured_context* taken) SP_C_OWN;
/* Ends a scope: SP_CONTEXT_END, which takes the scope itself.
 * Thread-safe: the thread that entered it. Cost: some tens of nanoseconds; the next record states the
 * fields. */
void sp_context_leave(const sp_context* context) SP_C_OWN;

/* `count` names and values in turn, and the code of each. */
sp_context sp_c_context_enter(const char* codes, const struct sp_c_argument* items, unsigned count) SP_C_OWN;

#define SP_C_IS_NAME(n, item)                                \
    _Static_assert((n) % 2 == 1 || (SP_C_CODE(item)) == 's', \
                   "silverpoint: a context has names and values in turn, and a name is a text");
#define SP_C_ITEM(n, item) SP_C_CAPTURE(item),

/* An expression: a scope that is open until SP_CONTEXT_END. */
#define SP_CONTEXT_BEGIN(...)                                                                        \
    __extension__({                                                                                  \
        _Static_assert(SP_C_COUNT(0, __VA_ARGS__) % 2 == 0,                                          \
                       "silverpoint: a context has names and values in turn");                       \
        SP_C_EACH(SP_C_IS_NAME, 0, __VA_ARGS__)                                                      \
        const char sp_codes_[] = {SP_C_EACH(SP_C_ADD_CODE, 0, __VA_ARGS__) 0};                       \
        const struct sp_c_argument sp_items_[] = {SP_C_EACH(SP_C_ITEM, 0, __VA_ARGS__){0, 0, 0, 0}}; \
        sp_c_context_enter(sp_codes_, sp_items_, SP_C_COUNT(0, __VA_ARGS__));                        \
    })
#define SP_CONTEXT_END(context) sp_context_leave(&(context))
#define SP_CONTEXT(...)                                                            \
    __attribute__((cleanup(sp_context_leave), unused)) const sp_context SP_C_JOIN( \
        sp_context_, __COUNTER__) = SP_CONTEXT_BEGIN(__VA_ARGS__)

#endif
