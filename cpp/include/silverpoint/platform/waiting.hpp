// Waiting for a word in shared memory to change, and waking who waits.
#pragma once

#if defined(__linux__)
#    include "linux/waiting.hpp"
#elif defined(_WIN64)
#    include "windows/waiting.hpp"
#else
#    include "none.hpp"
#endif
