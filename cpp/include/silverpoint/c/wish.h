/* A tracer's wish of an event, for C and C++ (spec/wire.md, section 3.7). */
#ifndef SILVERPOINT_C_WISH_H
#define SILVERPOINT_C_WISH_H

#include <stdbool.h>

/* Whether a tracer does not want the event. Its word is read at each call: one instruction on x86-64, which
 * compilers do not make of an atomic load. */
static inline __attribute__((always_inline, unused)) bool sp_c_is_unwanted(const int* word) {
#if defined(__x86_64__)
    bool is_so;
    __asm__ __volatile__("cmpl $0, %[word]" : "=@cce"(is_so) : [word] "m"(*word));
    return is_so;
#else
    return __atomic_load_n(word, __ATOMIC_RELAXED) == 0;
#endif
}

#endif
