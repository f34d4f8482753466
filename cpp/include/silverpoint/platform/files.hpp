// Files of sessions: made, opened, mapped, read and removed.
#pragma once

#if defined(__linux__)
#    include "linux/files.hpp"
#elif defined(_WIN64)
#    include "windows/files.hpp"
#else
#    include "none.hpp"
#endif
