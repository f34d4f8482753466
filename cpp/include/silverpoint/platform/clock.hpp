// The system's clocks.
#pragma once

#if defined(__linux__)
#    include "linux/clock.hpp"
#elif defined(_WIN64)
#    include "windows/clock.hpp"
#else
#    include "none.hpp"
#endif
