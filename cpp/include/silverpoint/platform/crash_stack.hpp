// The stack of a thread that fails, and the stack on which that is handled.
#pragma once

#if defined(__linux__)
#    include "linux/crash_stack.hpp"
#    include "linux/crash_thread.hpp"
#elif defined(_WIN64)
#    include "windows/crash_stack.hpp"
#endif
