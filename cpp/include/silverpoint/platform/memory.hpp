// Memory of this process alone.
#pragma once

#if defined(__linux__)
#    include "linux/memory.hpp"
#elif defined(_WIN64)
#    include "windows/memory.hpp"
#else
#    include "none.hpp"
#endif
