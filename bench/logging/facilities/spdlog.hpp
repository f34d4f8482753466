// facility: spdlog
// how: basic_logger_mt, the compiled library
// needs: /usr/include/spdlog/spdlog.h libspdlog-dev
// links: -lspdlog -lfmt
// in: s4 cases paced
#define SPDLOG_COMPILED_LIB
#define SPDLOG_FMT_EXTERNAL
#include <spdlog/async.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>

#include "spdlog_program.hpp"
