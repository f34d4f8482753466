// facility: spdlog async
// how: async_factory and its defaults: 8192 entries, one thread, callers wait when it is full
// needs: /usr/include/spdlog/spdlog.h libspdlog-dev
// links: -lspdlog -lfmt
// in: s4 cases paced
#define BENCH_ASYNC
#include "spdlog.hpp"
