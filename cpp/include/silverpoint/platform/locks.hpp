// Locks of a session's files.
#pragma once

#if defined(__linux__)
#    include "linux/locks.hpp"
#else
#    include "none.hpp"
#endif
