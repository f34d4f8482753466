/* What compilers write in their own ways. First GNU's: g++, clang and clang-cl. Then Microsoft's compiler,
 * which knows none of it, for 64-bit x86 and C++ alone. */
#ifndef SILVERPOINT_PLATFORM_COMPILER_H
#define SILVERPOINT_PLATFORM_COMPILER_H

#if !defined(_MSC_VER) || defined(__clang__)

#    define SP_DETAIL_IS_GNU 1

/* Before a declaration. */
#    define SP_DETAIL_NOINLINE [[gnu::noinline]]
#    define SP_DETAIL_NOINLINE_COLD [[gnu::noinline, gnu::cold]]
#    define SP_DETAIL_INLINE [[gnu::always_inline]] inline
#    define SP_DETAIL_WEAK [[gnu::weak]]
#    define SP_C_HOT static inline __attribute__((always_inline, unused))
/* Before the name of a structure. (Microsoft's compiler draws no conclusion from types.) */
#    define SP_C_MAY_ALIAS __attribute__((may_alias))
/* Behind the parameters of a lambda expression. */
#    define SP_DETAIL_INLINE_LAMBDA __attribute__((always_inline))
/* Before the name of a class. */
#    define SP_DETAIL_NODISCARD_VISIBLE [[nodiscard, gnu::visibility("default")]]

#    define SP_DETAIL_FUNCTION __PRETTY_FUNCTION__
/* Has integers of 128 bits. */
#    define SP_DETAIL_HAS_INT128 1
/* A text of the program, if it is known at compile time; else an empty one (not `""`, which g++ would call an
 * identical branch). */
#    define SP_DETAIL_KNOWN(text) (__builtin_constant_p(text) ? static_cast<const char*>(text) : &"?"[1])
#    define SP_DETAIL_RETURN_ADDRESS() __builtin_return_address(0)
#    define SP_DETAIL_FRAME_ADDRESS() __builtin_frame_address(0)

#    define SP_DETAIL_MEMCPY __builtin_memcpy
#    define SP_DETAIL_MEMMOVE __builtin_memmove
#    define SP_DETAIL_MEMSET __builtin_memset
#    define SP_DETAIL_STRLEN __builtin_strlen
/* How many of the lowest bits are 0, of a number that is not. */
#    define SP_DETAIL_TRAILING_ZEROS(number) __builtin_ctz(number)
#    define SP_DETAIL_TRAP() __builtin_trap()
/* Windows ends the process, with this reason. */
#    define SP_DETAIL_FAST_FAIL(reason) asm volatile("int {$}0x29" : : "c"(reason) : "memory")
/* The compiler forgets what it knows of a variable. */
#    define SP_DETAIL_FORGET(variable) asm("" : "+r"(variable))
/* Of a variable that is no atomic one. */
#    define SP_DETAIL_LOAD_RELAXED(at) __atomic_load_n(at, __ATOMIC_RELAXED)
#    define SP_DETAIL_LOAD_ACQUIRE(at) __atomic_load_n(at, __ATOMIC_ACQUIRE)
#    define SP_DETAIL_STORE_RELAXED(at, value) __atomic_store_n(at, value, __ATOMIC_RELAXED)
#    define SP_DETAIL_FULL_FENCE() __atomic_thread_fence(__ATOMIC_SEQ_CST)

#    if defined(__x86_64__)
#        define SP_DETAIL_IS_X64 1
#        define SP_DETAIL_RDTSC() __builtin_ia32_rdtsc()
#        define SP_DETAIL_CPUID(leaf, a, b, c, d) __get_cpuid(leaf, a, b, c, d)
#        define SP_DETAIL_PAUSE() __builtin_ia32_pause()
#        define SP_DETAIL_PREFETCH_TO_WRITE(at) asm volatile("prefetchw %0" : : "m"(*at))
#    else
#        define SP_DETAIL_IS_X64 0
#        if defined(__aarch64__)
#            define SP_DETAIL_PAUSE() asm volatile("yield")
#        else
#            define SP_DETAIL_PAUSE() static_cast<void>(0)
#        endif
#        define SP_DETAIL_PREFETCH_TO_WRITE(at) __builtin_prefetch(at, 1, 3)
#    endif

#else

/* A file that is missing ends the compilation. Without that, many errors would follow. */
#    ifndef __cplusplus
#        error "Silverpoint's macros for C need extensions of GNU's: compile C with clang-cl"
#        include "clang-cl is needed"
#    elif !defined(_M_X64)
#        error "Silverpoint records with Microsoft's compiler on 64-bit x86 only"
#        include "64-bit x86 is needed"
#    elif defined(_MSVC_TRADITIONAL) && _MSVC_TRADITIONAL
#        error "Silverpoint's macros need the conforming preprocessor: compile with /Zc:preprocessor"
#        include "/Zc:preprocessor is needed"
#    endif

#    include <intrin.h>
#    include <string.h>

#    define SP_DETAIL_IS_GNU 0

#    define SP_DETAIL_NOINLINE __declspec(noinline)
#    define SP_DETAIL_NOINLINE_COLD __declspec(noinline)
#    define SP_DETAIL_INLINE __forceinline
#    define SP_DETAIL_WEAK
#    define SP_C_HOT static __forceinline
#    define SP_C_MAY_ALIAS
#    define SP_DETAIL_INLINE_LAMBDA
#    define SP_DETAIL_NODISCARD_VISIBLE [[nodiscard]]

#    define SP_DETAIL_FUNCTION __FUNCTION__
#    define SP_DETAIL_HAS_INT128 0
#    define SP_DETAIL_KNOWN(text) ""
#    define SP_DETAIL_RETURN_ADDRESS() _ReturnAddress()
#    define SP_DETAIL_FRAME_ADDRESS() _AddressOfReturnAddress()

#    define SP_DETAIL_MEMCPY memcpy
#    define SP_DETAIL_MEMMOVE memmove
#    define SP_DETAIL_MEMSET memset
#    define SP_DETAIL_STRLEN strlen
#    define SP_DETAIL_TRAILING_ZEROS(number) ::std::countr_zero(number)
/* FAST_FAIL_FATAL_APP_EXIT. */
#    define SP_DETAIL_TRAP() __fastfail(7)
#    define SP_DETAIL_FAST_FAIL(reason) __fastfail(reason)
#    define SP_DETAIL_FORGET(variable) static_cast<void>(0)
#    define SP_DETAIL_LOAD_RELAXED(at) ::silverpoint::detail::load_whole(at)
#    define SP_DETAIL_LOAD_ACQUIRE(at) ::silverpoint::detail::load_whole(at)
#    define SP_DETAIL_STORE_RELAXED(at, value) ::silverpoint::detail::store_whole(at, value)
#    define SP_DETAIL_FULL_FENCE() ::std::atomic_thread_fence(::std::memory_order_seq_cst)

#    define SP_DETAIL_IS_X64 1
#    define SP_DETAIL_RDTSC() __rdtsc()
#    define SP_DETAIL_CPUID(leaf, a, b, c, d) ::silverpoint::detail::cpuid(leaf, a, b, c, d)
#    define SP_DETAIL_PAUSE() _mm_pause()
#    define SP_DETAIL_PREFETCH_TO_WRITE(at) _m_prefetchw(at)

#    include <atomic>
#    include <bit>

namespace silverpoint {
inline namespace v1 {
namespace detail {

/* Loads and stores of x86 are whole, and loads keep their order: what is left is the compiler's. */
template <class T>
SP_DETAIL_INLINE T load_whole(const T* at) {
    const T value = *static_cast<const volatile T*>(at);
    _ReadWriteBarrier();
    return value;
}
template <class T>
SP_DETAIL_INLINE void store_whole(T* at, T value) {
    *static_cast<volatile T*>(at) = value;
}

/* As GNU's function: 0 if the processor lacks this leaf. */
inline int cpuid(unsigned leaf, unsigned* a, unsigned* b, unsigned* c, unsigned* d) {
    int of[4];
    __cpuid(of, static_cast<int>(leaf & 0x80000000u));
    if (static_cast<unsigned>(of[0]) < leaf) return 0;
    __cpuidex(of, static_cast<int>(leaf), 0);
    *a = static_cast<unsigned>(of[0]), *b = static_cast<unsigned>(of[1]);
    *c = static_cast<unsigned>(of[2]), *d = static_cast<unsigned>(of[3]);
    return 1;
}

}  // namespace detail
}  // namespace v1
}  // namespace silverpoint

#endif
#endif
