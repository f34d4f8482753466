/* Before each file that is compiled as Microsoft's compilers do it, where there are no headers of
 * Microsoft's: mingw's of the C library, and those of libc++. mingw's want a GNU compiler, so they come
 * first, and what follows sees that of Microsoft alone. */
#pragma clang system_header

#pragma push_macro("_MSC_VER")
#pragma push_macro("__clang__")
#undef _MSC_VER
#define __GNUC__ 12
#define __GNUC_MINOR__ 2
#ifndef __clang__
#    define __clang__ 1
#endif
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
#endif
#pragma pop_macro("__clang__")

/* Microsoft's <windows.h> has these in C++, too, unless NOMINMAX is defined. */
#define min(a, b) (((a) < (b)) ? (a) : (b))
#define max(a, b) (((a) > (b)) ? (a) : (b))
