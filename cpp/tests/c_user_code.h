/* Tracepoints of C whose arguments may leave, for c_user_code_test.cpp. */
#pragma once
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One for each kind of tracepoint: one of its arguments is what `leave` gives, if it comes back. */
struct c_leaving {
    const char* name;
    void (*record)(int (*leave)(void));
};
extern const struct c_leaving c_leaving_all[];

void c_next(int number);
void c_child(void);
/* Records that are whole if the one number is the other one's complement. */
void c_pair(uint64_t number);
void c_pair_of_texts(uint64_t number, const char* text);

#ifdef __cplusplus
}
#endif
