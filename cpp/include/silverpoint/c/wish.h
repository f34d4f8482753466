/* A tracer's wish of an event, for C and C++ (spec/wire.md, section 3.7). */
#ifndef SILVERPOINT_C_WISH_H
#define SILVERPOINT_C_WISH_H

#include <stdbool.h>
#include <stdint.h>

#include "../platform/compiler.h"

/* A tracer's event of a site: what is needed of it here. (C++ knows the whole of it as ProbeEvent.) */
struct SP_C_MAY_ALIAS sp_c_event {
    uint64_t magic;
    const int* state;
    void (*write)(const struct sp_c_event* event, const void* record);
    const struct sp_c_event* end;
};

/* Whether a tracer does not want the event. Its word is read at each call: one instruction on x86-64, which
 * compilers do not make of an atomic load. */
SP_C_HOT bool sp_c_is_unwanted(const int* word) {
#if defined(__x86_64__)
    bool is_so;
    __asm__ __volatile__("cmpl $0, %[word]" : "=@cce"(is_so) : [word] "m"(*word));
    return is_so;
#else
    return SP_DETAIL_LOAD_RELAXED(word) == 0;
#endif
}

/* Whether the ring wants the record, and the one tracer that is asked for does not want the event now. Of a
 * state byte other than 0 and 1. `probed` and `quiet_of` are members of the site (Site says what they mean).
 * The head is that of a complete site then. A tracer stores its wish in the memory of the process, and tells
 * nobody: so each execution reads it. A span that begins so has no events: so neither that of its begin nor
 * that of its end is wanted. */
SP_C_HOT bool sp_c_is_site_quiet(const unsigned char* probed, const void* const* quiet_of,
                                 unsigned char state, bool is_span) {
#if defined(__x86_64__)
    /* By the comparison itself, which compilers do not make of an atomic load. */
    bool is_so;
    __asm__ __volatile__("cmpb %[now], %[state]"
                         : "=@cce"(is_so)
                         : [state] "q"(state), [now] "m"(*probed)
                         : "memory");
    if (!is_so) return false;
#else
    if (state != SP_DETAIL_LOAD_ACQUIRE(probed)) return false;
#endif
    /* (Not by a cast: each of the two languages warns of the other's.) */
    const union {
        const void* address;
        const int* word;
        const struct sp_c_event* event;
    } found = {SP_DETAIL_LOAD_RELAXED(quiet_of)};
    if (!is_span) return sp_c_is_unwanted(found.word);
    return sp_c_is_unwanted(found.event->state) &&
           sp_c_is_unwanted(SP_DETAIL_LOAD_RELAXED(&found.event->end)->state);
}

#endif
