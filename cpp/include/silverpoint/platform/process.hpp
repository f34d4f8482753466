// What identifies this process and describes it; and its objects in memory.
#pragma once

#if defined(__linux__)
#    include "linux/process.hpp"
#elif defined(_WIN64)
#    include "windows/process.hpp"
#else
#    include "none.hpp"
#endif
