// Variables of the environment, and standard error.
#pragma once

#if defined(__linux__)
#    include "linux/environment.hpp"
#elif defined(_WIN64)
#    include "windows/environment.hpp"
#else
#    include "none.hpp"
#endif
