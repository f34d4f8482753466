// Failures in programs that are compiled without exceptions (-fno-exceptions). The error is printed on
// standard error, and the program ends if a function has no other way to report it.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "config.hpp"

SP_DETAIL_BEGIN

SP_DETAIL_COLD void say_failure(const char* what) { std::fprintf(stderr, "silverpoint: %s\n", what); }

[[noreturn]] SP_DETAIL_COLD void fail(const char* what) {
    say_failure(what);
    std::abort();
}

SP_DETAIL_END

// Throws an exception, which has what(); without exceptions the program ends.
#if defined(__cpp_exceptions)
#    define SP_DETAIL_THROW(...) throw __VA_ARGS__
#else
#    define SP_DETAIL_THROW(...) ::silverpoint::detail::fail((__VA_ARGS__).what())
#endif
