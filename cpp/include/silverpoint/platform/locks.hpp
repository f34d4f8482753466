// Locks of a session's files.
#pragma once

#if defined(__linux__)
#    include "linux/locks.hpp"
#elif defined(_WIN64)
#    include "windows/locks.hpp"
#else
#    include "none.hpp"
#endif
