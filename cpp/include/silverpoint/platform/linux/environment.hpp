// Variables of the environment, and standard error, on Linux.
#pragma once

#include <sys/auxv.h>
#include <unistd.h>

#include <cstdlib>

#include "../../detail/config.hpp"

SP_DETAIL_BEGIN

inline const char* environment(const char* name) { return secure_getenv(name); }

// Whether the program has more rights than its caller (setuid): then it does nothing that the caller's
// environment asks for.
inline bool is_privileged() { return getauxval(AT_SECURE) != 0; }

inline void write_error_output(const char* text, std::size_t size) {
    [[maybe_unused]] const auto written = write(2, text, size);
}

SP_DETAIL_END
