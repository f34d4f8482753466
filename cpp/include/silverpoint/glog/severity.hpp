// Severities, as programs written for glog name them.
#pragma once

namespace google {

using LogSeverity = int;

// With internal linkage, as those programs know them.
const int GLOG_INFO = 0, GLOG_WARNING = 1, GLOG_ERROR = 2, GLOG_FATAL = 3, NUM_SEVERITIES = 4;

#ifndef GLOG_NO_ABBREVIATED_SEVERITIES
#    ifdef ERROR
#        error "ERROR is a macro: define GLOG_NO_ABBREVIATED_SEVERITIES before silverpoint/glog.hpp"
#    endif
const int INFO = GLOG_INFO, WARNING = GLOG_WARNING, ERROR = GLOG_ERROR, FATAL = GLOG_FATAL;
#else
// No matter what a macro ERROR made of it: LOG(0).
const LogSeverity GLOG_0 = GLOG_ERROR;
#endif

inline const char* const LogSeverityNames[NUM_SEVERITIES] = {"INFO", "WARNING", "ERROR", "FATAL"};

// Thread-safe: any thread. Cost: a load.
inline const char* GetLogSeverityName(LogSeverity severity) { return LogSeverityNames[severity]; }

// Whether this translation unit is a debug build.
#ifdef NDEBUG
#    define DFATAL_LEVEL ERROR
enum { DEBUG_MODE = 0 };
#    define IF_DEBUG_MODE(x)
#else
#    define DFATAL_LEVEL FATAL
enum { DEBUG_MODE = 1 };
#    define IF_DEBUG_MODE(x) x
#endif

}  // namespace google
