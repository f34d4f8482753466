// What makes a crash record, apart from checks and std::terminate; and what follows it.
#pragma once

#include "linux_or_windows.h"

#if defined(__linux__)
#    include "linux/crash_signals.hpp"
#elif defined(_WIN64)
#    include "windows/crash_events.hpp"
#endif
