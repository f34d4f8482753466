// facility: Boost.Log async
// how: the same with an asynchronous sink: 8192 records, callers wait when it is full
// needs: /usr/include/boost/log/core.hpp libboost-log-dev
// links: -DBOOST_LOG_DYN_LINK -DBOOST_ALL_DYN_LINK -lboost_log -lboost_thread -lboost_filesystem
// in: s4 cases paced
#define BENCH_ASYNC
#include "boost.hpp"
