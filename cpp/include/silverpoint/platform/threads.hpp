// Threads of this process.
#pragma once

#if defined(__linux__)
#    include "linux/threads.hpp"
#else
#    include "none.hpp"
#endif
