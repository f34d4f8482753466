/* Before each file that is compiled as Microsoft's compilers do it, without headers of Microsoft's. The C
 * library's are mingw's, those of C++ are libc++'s. mingw's want a GNU compiler, so they come first. What
 * follows sees Microsoft's alone. */
#pragma clang system_header

#pragma push_macro("_MSC_VER")
#undef _MSC_VER
#define __GNUC__ 12
#define __GNUC_MINOR__ 2
/* The newer C library, which is all that Microsoft's compiler has. */
#define _UCRT
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fenv.h>
#include <inttypes.h>
#include <limits.h>
#include <locale.h>
#include <malloc.h>
#include <math.h>
#include <process.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <wchar.h>
#include <wctype.h>
/* With NOGDI it has no macro SP_ERROR. */
#define NOGDI
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
/* The library, which is built without it, uses this name. */
#undef near
#undef _UCRT
#undef __GNUC__
#undef __GNUC_MINOR__
#pragma pop_macro("_MSC_VER")

#ifdef __cplusplus
#    include <charconv>
#    include <chrono>
#    include <filesystem>
#    include <format>
#    include <functional>
#    include <map>
#    include <memory_resource>
#    include <optional>
#    include <ostream>
#    include <set>
#    include <source_location>
#    include <sstream>
#    include <string>
#    include <thread>
#    include <unordered_map>
#    include <variant>
#    include <vector>

/* libc++ 16 lacks these. */
namespace std {
from_chars_result from_chars(const char*, const char*, float&, chars_format = chars_format::general);
from_chars_result from_chars(const char*, const char*, double&, chars_format = chars_format::general);
}  // namespace std

/* Functions of Microsoft's <intrin.h> that clang does not know by itself. In place of clang's own header,
 * which does not go with mingw's. */
#    define __INTRIN_H
extern "C" {
void _m_prefetchw(volatile const void*);
void __cpuid(int*, int);
void __cpuidex(int*, int, int);
void* _AddressOfReturnAddress(void);
}
#endif

/* Microsoft's <windows.h> has these in C++, too, unless NOMINMAX is defined. */
#define min(a, b) (((a) < (b)) ? (a) : (b))
#define max(a, b) (((a) > (b)) ? (a) : (b))

/* Microsoft's own compiler, so far as clang can stand for it. */
#ifdef SILVERPOINT_TEST_AS_MICROSOFT
/* What mingw's headers say in GNU's words. */
#    undef __forceinline
#    undef _ReadWriteBarrier
#    ifdef __cplusplus
extern "C" void _ReadWriteBarrier(void);
#    endif
#    undef __clang__
#    undef __x86_64__
#    undef __amd64__
#    undef __SSE2__
#    undef __OPTIMIZE__
#    undef __SIZEOF_INT128__
#    ifndef _MSVC_TRADITIONAL
#        define _MSVC_TRADITIONAL 0
#    endif
#endif
