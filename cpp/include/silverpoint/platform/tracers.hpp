// The system tracers that tracepoints can feed, a library for each; and what the headers report to it.
#pragma once

#if defined(__linux__)
#    include "linux/tracers.hpp"
#elif defined(_WIN64)
#    include "windows/tracers.hpp"
#else
#    include "none.hpp"
#endif
