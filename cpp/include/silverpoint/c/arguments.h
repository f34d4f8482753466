/* What an argument is: its code in the signature (spec/wire.md, section 10), and how it is captured before it
 * is packed. All of this is known at compile time, and nothing of it remains in the program. */
#ifndef SILVERPOINT_C_ARGUMENTS_H
#define SILVERPOINT_C_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../platform/compiler.h"

/* Text that need not end with a zero byte, and bytes: SP_TEXT_N, SP_BYTES. */
struct sp_text {
    const char* data;
    size_t size;
};
struct sp_bytes {
    const void* data;
    size_t size;
};
/* What stands for a secret: nothing. */
struct sp_secret {
    char nothing;
};

__extension__ typedef __int128 sp_c_int128;
__extension__ typedef unsigned __int128 sp_c_uint128;

/* An argument as it is captured: `fixed` bytes of `bits`. If `fixed` is SP_C_MEASURED or above, it is a block
 * of `bits` bytes at `block`, recorded behind its length. */
struct sp_c_argument {
    const char* block;
    uint64_t bits, high;
    uint32_t fixed;
};
/* A block whose size is known; a text that ends with a zero byte. */
#define SP_C_MEASURED 0x100u
#define SP_C_TEXT 0x101u

#define SP_C_CAPTURE_BITS(name, type, bytes)                                   \
    SP_C_HOT struct sp_c_argument sp_c_of_##name(type value) {                 \
        struct sp_c_argument of = {(const char*)0, (uint64_t)value, 0, bytes}; \
        return of;                                                             \
    }
SP_C_CAPTURE_BITS(bool, _Bool, 1)
SP_C_CAPTURE_BITS(char, char, 1)
SP_C_CAPTURE_BITS(schar, signed char, 1)
SP_C_CAPTURE_BITS(uchar, unsigned char, 1)
SP_C_CAPTURE_BITS(short, short, 2)
SP_C_CAPTURE_BITS(ushort, unsigned short, 2)
SP_C_CAPTURE_BITS(int, int, 4)
SP_C_CAPTURE_BITS(uint, unsigned, 4)
SP_C_CAPTURE_BITS(long, long, sizeof(long))
SP_C_CAPTURE_BITS(ulong, unsigned long, sizeof(long))
SP_C_CAPTURE_BITS(llong, long long, 8)
SP_C_CAPTURE_BITS(ullong, unsigned long long, 8)
SP_C_HOT struct sp_c_argument sp_c_of_uint128(sp_c_uint128 value) {
    struct sp_c_argument of = {(const char*)0, (uint64_t)value, (uint64_t)(value >> 64), 16};
    return of;
}
SP_C_HOT struct sp_c_argument sp_c_of_int128(sp_c_int128 value) {
    return sp_c_of_uint128((sp_c_uint128)value);
}
SP_C_HOT struct sp_c_argument sp_c_of_float(float value) {
    uint32_t bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    struct sp_c_argument of = {(const char*)0, bits, 0, 4};
    return of;
}
SP_C_HOT struct sp_c_argument sp_c_of_double(double value) {
    struct sp_c_argument of = {(const char*)0, 0, 0, 8};
    __builtin_memcpy(&of.bits, &value, sizeof value);
    return of;
}
/* long double is kept as double. */
SP_C_HOT struct sp_c_argument sp_c_of_ldouble(long double value) { return sp_c_of_double((double)value); }
SP_C_HOT struct sp_c_argument sp_c_of_pointer(const volatile void* value) {
    struct sp_c_argument of = {(const char*)0, (uint64_t)(uintptr_t)value, 0, 8};
    return of;
}
SP_C_HOT struct sp_c_argument sp_c_of_string(const char* value) {
    struct sp_c_argument of = {value != (const char*)0 ? value : "(null)", 0, 0, SP_C_TEXT};
    return of;
}
SP_C_HOT struct sp_c_argument sp_c_of_text(struct sp_text value) {
    struct sp_c_argument of = {value.data, value.size, 0, SP_C_MEASURED};
    return of;
}
SP_C_HOT struct sp_c_argument sp_c_of_bytes(struct sp_bytes value) {
    struct sp_c_argument of = {(const char*)value.data, value.size, 0, SP_C_MEASURED};
    return of;
}
SP_C_HOT struct sp_c_argument sp_c_of_secret(struct sp_secret value) {
    (void)value;
    struct sp_c_argument of = {(const char*)0, 0, 0, 0};
    return of;
}

/* Structures and unions are none of these: the compiler then says that sp_c_of_pointer does not take them. */
/* clang-format off */
#define SP_C_CAPTURE(argument)                                                                             \
    _Generic((argument), _Bool: sp_c_of_bool, char: sp_c_of_char, signed char: sp_c_of_schar,              \
        unsigned char: sp_c_of_uchar, short: sp_c_of_short, unsigned short: sp_c_of_ushort,                \
        int: sp_c_of_int, unsigned: sp_c_of_uint, long: sp_c_of_long, unsigned long: sp_c_of_ulong,        \
        long long: sp_c_of_llong, unsigned long long: sp_c_of_ullong, sp_c_int128: sp_c_of_int128,         \
        sp_c_uint128: sp_c_of_uint128, float: sp_c_of_float, double: sp_c_of_double,                       \
        long double: sp_c_of_ldouble, char*: sp_c_of_string, const char*: sp_c_of_string,                  \
        struct sp_text: sp_c_of_text, struct sp_bytes: sp_c_of_bytes, struct sp_secret: sp_c_of_secret,    \
        default: sp_c_of_pointer)(argument)

/* '*' is a secret. */
#define SP_C_CODE(argument)                                                                                \
    _Generic((argument), _Bool: 'b', char: 'c', signed char: 'a', unsigned char: 'A', short: 'h',          \
        unsigned short: 'H', int: 'i', unsigned: 'I', long: sizeof(long) == 8 ? 'l' : 'i',                 \
        unsigned long: sizeof(long) == 8 ? 'L' : 'I', long long: 'l', unsigned long long: 'L',             \
        sp_c_int128: 'o', sp_c_uint128: 'O', float: 'f', double: 'd', long double: 'd', char*: 's',        \
        const char*: 's', struct sp_text: 's', struct sp_bytes: 'y', struct sp_secret: '*', default: 'p')

/* What the compiler compares with the conversions of a text: the argument, or a text in its place. */
#define SP_C_CHECKED(argument)                                                                             \
    _Generic((argument), struct sp_text: "", struct sp_bytes: "", struct sp_secret: "", default: (argument))
/* clang-format on */

#endif
