/* Lists of macro arguments: how many there are, and something for each. */
#ifndef SILVERPOINT_C_LISTS_H
#define SILVERPOINT_C_LISTS_H

#define SP_C_JOIN2(a, b) a##b
#define SP_C_JOIN(a, b) SP_C_JOIN2(a, b)

/* The arguments behind the first, 0 to 16; more are an error that names this macro. */
/* clang-format off */
#define SP_C_COUNT(...) \
    SP_C_COUNT2(__VA_ARGS__, more_than_16_arguments, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0)
#define SP_C_COUNT2(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, count, ...) count

/* each(number, argument) for all arguments behind the first, in their order; numbers go down to 1. */
#define SP_C_EACH(each, ...) SP_C_JOIN(SP_C_EACH_, SP_C_COUNT(__VA_ARGS__))(each, __VA_ARGS__)
#define SP_C_EACH_0(each, first)
#define SP_C_EACH_1(each, first, ...) SP_C_ALL_1(each, __VA_ARGS__)
#define SP_C_EACH_2(each, first, ...) SP_C_ALL_2(each, __VA_ARGS__)
#define SP_C_EACH_3(each, first, ...) SP_C_ALL_3(each, __VA_ARGS__)
#define SP_C_EACH_4(each, first, ...) SP_C_ALL_4(each, __VA_ARGS__)
#define SP_C_EACH_5(each, first, ...) SP_C_ALL_5(each, __VA_ARGS__)
#define SP_C_EACH_6(each, first, ...) SP_C_ALL_6(each, __VA_ARGS__)
#define SP_C_EACH_7(each, first, ...) SP_C_ALL_7(each, __VA_ARGS__)
#define SP_C_EACH_8(each, first, ...) SP_C_ALL_8(each, __VA_ARGS__)
#define SP_C_EACH_9(each, first, ...) SP_C_ALL_9(each, __VA_ARGS__)
#define SP_C_EACH_10(each, first, ...) SP_C_ALL_10(each, __VA_ARGS__)
#define SP_C_EACH_11(each, first, ...) SP_C_ALL_11(each, __VA_ARGS__)
#define SP_C_EACH_12(each, first, ...) SP_C_ALL_12(each, __VA_ARGS__)
#define SP_C_EACH_13(each, first, ...) SP_C_ALL_13(each, __VA_ARGS__)
#define SP_C_EACH_14(each, first, ...) SP_C_ALL_14(each, __VA_ARGS__)
#define SP_C_EACH_15(each, first, ...) SP_C_ALL_15(each, __VA_ARGS__)
#define SP_C_EACH_16(each, first, ...) SP_C_ALL_16(each, __VA_ARGS__)
#define SP_C_ALL_1(each, a) each(1, a)
#define SP_C_ALL_2(each, a, ...) each(2, a) SP_C_ALL_1(each, __VA_ARGS__)
#define SP_C_ALL_3(each, a, ...) each(3, a) SP_C_ALL_2(each, __VA_ARGS__)
#define SP_C_ALL_4(each, a, ...) each(4, a) SP_C_ALL_3(each, __VA_ARGS__)
#define SP_C_ALL_5(each, a, ...) each(5, a) SP_C_ALL_4(each, __VA_ARGS__)
#define SP_C_ALL_6(each, a, ...) each(6, a) SP_C_ALL_5(each, __VA_ARGS__)
#define SP_C_ALL_7(each, a, ...) each(7, a) SP_C_ALL_6(each, __VA_ARGS__)
#define SP_C_ALL_8(each, a, ...) each(8, a) SP_C_ALL_7(each, __VA_ARGS__)
#define SP_C_ALL_9(each, a, ...) each(9, a) SP_C_ALL_8(each, __VA_ARGS__)
#define SP_C_ALL_10(each, a, ...) each(10, a) SP_C_ALL_9(each, __VA_ARGS__)
#define SP_C_ALL_11(each, a, ...) each(11, a) SP_C_ALL_10(each, __VA_ARGS__)
#define SP_C_ALL_12(each, a, ...) each(12, a) SP_C_ALL_11(each, __VA_ARGS__)
#define SP_C_ALL_13(each, a, ...) each(13, a) SP_C_ALL_12(each, __VA_ARGS__)
#define SP_C_ALL_14(each, a, ...) each(14, a) SP_C_ALL_13(each, __VA_ARGS__)
#define SP_C_ALL_15(each, a, ...) each(15, a) SP_C_ALL_14(each, __VA_ARGS__)
#define SP_C_ALL_16(each, a, ...) each(16, a) SP_C_ALL_15(each, __VA_ARGS__)

#define SP_C_FIRST(...) SP_C_FIRST2(__VA_ARGS__, 0)
#define SP_C_FIRST2(first, ...) first
/* An id as a number of 64 bits, and what follows it. */
#define SP_C_ID(...) SP_C_JOIN(SP_C_ID_, SP_C_COUNT(0, __VA_ARGS__))(__VA_ARGS__)
#define SP_C_ID_1(id) ((uint64_t)(id))
#define SP_C_ID_2(id, ...) ((uint64_t)(id)), __VA_ARGS__
#define SP_C_ID_3(id, ...) ((uint64_t)(id)), __VA_ARGS__
#define SP_C_ID_4(id, ...) ((uint64_t)(id)), __VA_ARGS__
#define SP_C_ID_5(id, ...) ((uint64_t)(id)), __VA_ARGS__
#define SP_C_ID_6(id, ...) ((uint64_t)(id)), __VA_ARGS__
#define SP_C_ID_7(id, ...) ((uint64_t)(id)), __VA_ARGS__
#define SP_C_ID_8(id, ...) ((uint64_t)(id)), __VA_ARGS__
#define SP_C_ID_9(id, ...) ((uint64_t)(id)), __VA_ARGS__
#define SP_C_ID_10(id, ...) ((uint64_t)(id)), __VA_ARGS__
#define SP_C_ID_11(id, ...) ((uint64_t)(id)), __VA_ARGS__
#define SP_C_ID_12(id, ...) ((uint64_t)(id)), __VA_ARGS__
#define SP_C_ID_13(id, ...) ((uint64_t)(id)), __VA_ARGS__
#define SP_C_ID_14(id, ...) ((uint64_t)(id)), __VA_ARGS__
#define SP_C_ID_15(id, ...) ((uint64_t)(id)), __VA_ARGS__
#define SP_C_ID_16(id, ...) ((uint64_t)(id)), __VA_ARGS__
/* clang-format on */

#endif
