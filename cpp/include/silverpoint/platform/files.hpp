// Files of sessions: made, opened, mapped, read and removed.
#pragma once

#if defined(__linux__)
#    include "linux/files.hpp"
#else
#    include "none.hpp"
#endif
