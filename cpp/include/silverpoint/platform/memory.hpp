// Memory of this process alone.
#pragma once

#if defined(__linux__)
#    include "linux/memory.hpp"
#else
#    include "none.hpp"
#endif
