// Libraries that are loaded while the program runs, and threads for work of ours.
#pragma once

#if defined(__linux__)
#    include "linux/library.hpp"
#elif defined(_WIN64)
#    include "windows/library.hpp"
#else
#    include "none.hpp"
#endif
