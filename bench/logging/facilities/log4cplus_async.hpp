// facility: log4cplus async
// how: the same behind an AsyncAppender of 8192 entries, which blocks when it is full
// needs: /usr/include/log4cplus/logger.h liblog4cplus-dev
// links: -llog4cplus
// in: s4
#define BENCH_ASYNC
#include "log4cplus.hpp"
