// The system's clocks.
#pragma once

#if defined(__linux__)
#    include "linux/clock.hpp"
#else
#    include "none.hpp"
#endif
