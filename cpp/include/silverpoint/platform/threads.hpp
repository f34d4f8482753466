// Threads of this process.
#pragma once

#if defined(__linux__)
#    include "linux/threads.hpp"
#elif defined(_WIN64)
#    include "windows/threads.hpp"
#else
#    include "none.hpp"
#endif
