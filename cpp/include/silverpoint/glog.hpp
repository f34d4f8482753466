// For programs written for Google's glog, with one line changed: #include <silverpoint/glog.hpp> instead of
// <glog/logging.h> (and of glog's other headers). Link silverpoint::logger; C++20.
//
//   google::InitGoogleLogging(argv[0]);
//   LOG(INFO) << "x " << 42;                a record with the template "x {}" and an int, not formatted;
//                                           no file is waited for; the logger's thread writes the line
//   LOG(ERROR) << error;                    to stderr too, at once, as ever
//
// Files, their names and lines, stderr, flags and exit statuses are glog's. docs/guide/from-glog.md lists
// every macro and flag, what it does here, and the few differences. Messages are also recorded like those of
// any other tracepoint, in the category "glog". Their levels are info, warn, error and fatal; VLOG is at
// debug with its number as the field `verbosity`. All sinks of silverpoint/logger.hpp and `silverpoint run`
// can have them.
#pragma once

#include "glog/every.hpp"
#include "glog/failure.hpp"
#include "glog/init.hpp"
#include "glog/vlog.hpp"
#include "platform/only_linux.h"

// --- Where a message begins, by severity. Each has a member stream().

#ifndef GOOGLE_STRIP_LOG
#    define GOOGLE_STRIP_LOG 0
#endif

#define SP_GLOG_LINE(level, severity, ...)                                                                 \
    ::google::glog_internal_namespace_::Line(                                                              \
        [] {                                                                                               \
            static constinit ::google::glog_internal_namespace_::Place sp_place(                           \
                ::silverpoint::detail::level_names::level, __FILE__, __LINE__ __VA_OPT__(, ) __VA_ARGS__); \
            return &sp_place;                                                                              \
        }(),                                                                                               \
        ::google::severity, __PRETTY_FUNCTION__)

#if GOOGLE_STRIP_LOG == 0
#    define COMPACT_GOOGLE_LOG_INFO SP_GLOG_LINE(info, GLOG_INFO)
#    define LOG_TO_STRING_INFO(message) google::LogMessage(__FILE__, __LINE__, google::GLOG_INFO, message)
#else
#    define COMPACT_GOOGLE_LOG_INFO google::NullStream()
#    define LOG_TO_STRING_INFO(message) google::NullStream()
#endif
#if GOOGLE_STRIP_LOG <= 1
#    define COMPACT_GOOGLE_LOG_WARNING SP_GLOG_LINE(warn, GLOG_WARNING)
#    define LOG_TO_STRING_WARNING(message) \
        google::LogMessage(__FILE__, __LINE__, google::GLOG_WARNING, message)
#else
#    define COMPACT_GOOGLE_LOG_WARNING google::NullStream()
#    define LOG_TO_STRING_WARNING(message) google::NullStream()
#endif
#if GOOGLE_STRIP_LOG <= 2
#    define COMPACT_GOOGLE_LOG_ERROR SP_GLOG_LINE(error, GLOG_ERROR)
#    define LOG_TO_STRING_ERROR(message) google::LogMessage(__FILE__, __LINE__, google::GLOG_ERROR, message)
#else
#    define COMPACT_GOOGLE_LOG_ERROR google::NullStream()
#    define LOG_TO_STRING_ERROR(message) google::NullStream()
#endif
#if GOOGLE_STRIP_LOG <= 3
#    define COMPACT_GOOGLE_LOG_FATAL google::LogMessageFatal(__FILE__, __LINE__)
#    define LOG_TO_STRING_FATAL(message) google::LogMessage(__FILE__, __LINE__, google::GLOG_FATAL, message)
#else
#    define COMPACT_GOOGLE_LOG_FATAL google::NullStreamFatal()
#    define LOG_TO_STRING_FATAL(message) google::NullStreamFatal()
#endif

#if defined(NDEBUG) && !defined(DCHECK_ALWAYS_ON)
#    define DCHECK_IS_ON() 0
#else
#    define DCHECK_IS_ON() 1
#endif
#if !DCHECK_IS_ON()
#    define COMPACT_GOOGLE_LOG_DFATAL COMPACT_GOOGLE_LOG_ERROR
#elif GOOGLE_STRIP_LOG <= 3
#    define COMPACT_GOOGLE_LOG_DFATAL google::LogMessage(__FILE__, __LINE__, google::GLOG_FATAL)
#else
#    define COMPACT_GOOGLE_LOG_DFATAL google::NullStreamFatal()
#endif

// For systems whose headers define ERROR as 0.
#ifdef GLOG_NO_ABBREVIATED_SEVERITIES
#    define COMPACT_GOOGLE_LOG_0 COMPACT_GOOGLE_LOG_ERROR
#    define SYSLOG_0 SYSLOG_ERROR
#    define LOG_TO_STRING_0 LOG_TO_STRING_ERROR
#else
#    define GLOG_ERROR_MSG ERROR_is_a_macro_define_GLOG_NO_ABBREVIATED_SEVERITIES_before_the_include
#    define COMPACT_GOOGLE_LOG_0 GLOG_ERROR_MSG
#    define SYSLOG_0 GLOG_ERROR_MSG
#    define LOG_TO_STRING_0 GLOG_ERROR_MSG
#    define GLOG_0 GLOG_ERROR_MSG
#endif

#define SP_GLOG_MESSAGE(severity, counter, method) \
    google::LogMessage(__FILE__, __LINE__, google::severity, counter, &google::LogMessage::method)
#define GOOGLE_LOG_INFO(counter) SP_GLOG_MESSAGE(GLOG_INFO, counter, SendToLog)
#define GOOGLE_LOG_WARNING(counter) SP_GLOG_MESSAGE(GLOG_WARNING, counter, SendToLog)
#define GOOGLE_LOG_ERROR(counter) SP_GLOG_MESSAGE(GLOG_ERROR, counter, SendToLog)
#define GOOGLE_LOG_FATAL(counter) SP_GLOG_MESSAGE(GLOG_FATAL, counter, SendToLog)
#define GOOGLE_LOG_DFATAL(counter) SP_GLOG_MESSAGE(DFATAL_LEVEL, counter, SendToLog)
#define SYSLOG_INFO(counter) SP_GLOG_MESSAGE(GLOG_INFO, counter, SendToSyslogAndLog)
#define SYSLOG_WARNING(counter) SP_GLOG_MESSAGE(GLOG_WARNING, counter, SendToSyslogAndLog)
#define SYSLOG_ERROR(counter) SP_GLOG_MESSAGE(GLOG_ERROR, counter, SendToSyslogAndLog)
#define SYSLOG_FATAL(counter) SP_GLOG_MESSAGE(GLOG_FATAL, counter, SendToSyslogAndLog)
#define SYSLOG_DFATAL(counter) SP_GLOG_MESSAGE(DFATAL_LEVEL, counter, SendToSyslogAndLog)

// --- Messages.

// Thread-safe: any thread. Cost: a record in the ring, unformatted. Where stderr, a sink or a flag needs
// text, it is formatted and written here.
#define LOG(severity) COMPACT_GOOGLE_LOG_##severity.stream()
#define SYSLOG(severity) SYSLOG_##severity(0).stream()
#define LOG_AT_LEVEL(severity) google::LogMessage(__FILE__, __LINE__, severity).stream()
#define LOG_TO_SINK(sink, severity)                                                                      \
    google::LogMessage(__FILE__, __LINE__, google::GLOG_##severity, static_cast<google::LogSink*>(sink), \
                       true)                                                                             \
        .stream()
#define LOG_TO_SINK_BUT_NOT_TO_LOGFILE(sink, severity)                                                   \
    google::LogMessage(__FILE__, __LINE__, google::GLOG_##severity, static_cast<google::LogSink*>(sink), \
                       false)                                                                            \
        .stream()
#define LOG_TO_STRING(severity, message) LOG_TO_STRING_##severity(static_cast<std::string*>(message)).stream()
#define LOG_STRING(severity, outvec) \
    LOG_TO_STRING_##severity(static_cast<std::vector<std::string>*>(outvec)).stream()
#define GOOGLE_PLOG(severity, counter)                                            \
    google::ErrnoLogMessage(__FILE__, __LINE__, google::GLOG_##severity, counter, \
                            &google::LogMessage::SendToLog)
#define PLOG(severity) GOOGLE_PLOG(severity, 0).stream()

// Both branches are void, so that the whole is an expression and leaves no else open.
#define SP_GLOG_IF(condition, message) \
    static_cast<void>(0), !(condition) ? (void)0 : google::LogMessageVoidify() & message
#define LOG_IF(severity, condition) SP_GLOG_IF(condition, LOG(severity))
#define SYSLOG_IF(severity, condition) SP_GLOG_IF(condition, SYSLOG(severity))
#define PLOG_IF(severity, condition) SP_GLOG_IF(condition, PLOG(severity))

// --- Limits: a loop that runs once or not at all takes exactly one statement.
// Thread-safe: any thread. Cost: where it logs nothing, an atomic addition or two; LOG_EVERY_T reads the
// clock.

#define SP_GLOG_PASSES(limit, ...)                                           \
    [] {                                                                     \
        static constinit ::google::glog_internal_namespace_::limit sp_limit; \
        return &sp_limit;                                                    \
    }()                                                                      \
        ->passes(__VA_ARGS__)
#define SP_GLOG_LIMITED(message, limit, ...) \
    for (int sp_count_ = SP_GLOG_PASSES(limit, __VA_ARGS__); sp_count_ != 0; sp_count_ = 0) message
#define SP_GLOG_COUNTED(severity) SP_GLOG_COUNTED_##severity
#define SP_GLOG_COUNTED_INFO SP_GLOG_COUNTED_LINE(COMPACT_GOOGLE_LOG_INFO)
#define SP_GLOG_COUNTED_WARNING SP_GLOG_COUNTED_LINE(COMPACT_GOOGLE_LOG_WARNING)
#define SP_GLOG_COUNTED_ERROR SP_GLOG_COUNTED_LINE(COMPACT_GOOGLE_LOG_ERROR)
#define SP_GLOG_COUNTED_FATAL SP_GLOG_MESSAGE(GLOG_FATAL, sp_count_, SendToLog).stream()
#define SP_GLOG_COUNTED_LINE(begin) ::google::glog_internal_namespace_::counted(begin, sp_count_)

#define LOG_EVERY_N(severity, n) SP_GLOG_LIMITED(SP_GLOG_COUNTED(severity), EveryN, n)
#define LOG_IF_EVERY_N(severity, condition, n) \
    SP_GLOG_LIMITED(SP_GLOG_COUNTED(severity), IfEveryN, (condition), n)
#define LOG_FIRST_N(severity, n) SP_GLOG_LIMITED(SP_GLOG_COUNTED(severity), FirstN, n)
#define LOG_EVERY_T(severity, seconds) SP_GLOG_LIMITED(SP_GLOG_COUNTED(severity), EveryT, seconds)
#define SYSLOG_EVERY_N(severity, n) SP_GLOG_LIMITED(SYSLOG_##severity(sp_count_).stream(), EveryN, n)
#define PLOG_EVERY_N(severity, n) SP_GLOG_LIMITED(GOOGLE_PLOG(severity, sp_count_).stream(), EveryN, n)

// --- Verbose messages.
// Thread-safe: any thread. Cost: while the number is off, some loads and two comparisons; else that of LOG.

#define VLOG_IS_ON(verboselevel)                                                      \
    [] {                                                                              \
        static constinit ::google::glog_internal_namespace_::VerbosePlace sp_verbose; \
        return &sp_verbose;                                                           \
    }()                                                                               \
        ->is_on((verboselevel), __FILE__)
#if GOOGLE_STRIP_LOG == 0
#    define SP_GLOG_VERBOSE(verboselevel) SP_GLOG_LINE(debug, GLOG_INFO, true).verbose(verboselevel)
#    define SP_GLOG_VERBOSE_COUNTED(verboselevel) SP_GLOG_VERBOSE(verboselevel).counted(sp_count_)
#else
#    define SP_GLOG_VERBOSE(verboselevel) google::NullStream().stream()
#    define SP_GLOG_VERBOSE_COUNTED(verboselevel) google::NullStream().stream()
#endif
#define VLOG(verboselevel) SP_GLOG_IF(VLOG_IS_ON(verboselevel), SP_GLOG_VERBOSE(verboselevel))
#define VLOG_IF(verboselevel, condition) \
    SP_GLOG_IF((condition) && VLOG_IS_ON(verboselevel), SP_GLOG_VERBOSE(verboselevel))
#define VLOG_EVERY_N(verboselevel, n) \
    SP_GLOG_LIMITED(SP_GLOG_VERBOSE_COUNTED(verboselevel), IfEveryN, VLOG_IS_ON(verboselevel), n)
#define VLOG_IF_EVERY_N(verboselevel, condition, n)                  \
    SP_GLOG_LIMITED(SP_GLOG_VERBOSE_COUNTED(verboselevel), IfEveryN, \
                    (condition) && VLOG_IS_ON(verboselevel), n)

// --- Checks: in every build; a failed one ends the program.
// Thread-safe: any thread. Cost: while the condition holds, its evaluation and a branch.

#define GOOGLE_PREDICT_BRANCH_NOT_TAKEN(x) (__builtin_expect(x, 0))
#define GOOGLE_PREDICT_FALSE(x) (__builtin_expect(x, 0))
#define GOOGLE_PREDICT_TRUE(x) (__builtin_expect(!!(x), 1))

#define LOG_ASSERT(condition) LOG_IF(FATAL, !(condition)) << "Assert failed: " #condition
#define SYSLOG_ASSERT(condition) SYSLOG_IF(FATAL, !(condition)) << "Assert failed: " #condition
#define CHECK(condition) \
    LOG_IF(FATAL, GOOGLE_PREDICT_BRANCH_NOT_TAKEN(!(condition))) << "Check failed: " #condition " "
#define PCHECK(condition) \
    PLOG_IF(FATAL, GOOGLE_PREDICT_BRANCH_NOT_TAKEN(!(condition))) << "Check failed: " #condition " "
#define CHECK_ERR(invocation) \
    PLOG_IF(FATAL, GOOGLE_PREDICT_BRANCH_NOT_TAKEN((invocation) == -1)) << #invocation

#define CHECK_OP_LOG(name, op, val1, val2, log)                                                         \
    while (google::CheckOpString _result =                                                              \
               google::Check##name##Impl(google::GetReferenceableValue(val1),                           \
                                         google::GetReferenceableValue(val2), #val1 " " #op " " #val2)) \
    log(__FILE__, __LINE__, _result).stream()
#if GOOGLE_STRIP_LOG <= 3
#    define CHECK_OP(name, op, val1, val2) CHECK_OP_LOG(name, op, val1, val2, google::LogMessageFatal)
#else
#    define CHECK_OP(name, op, val1, val2) CHECK_OP_LOG(name, op, val1, val2, google::NullStreamFatal)
#endif
#define CHECK_EQ(val1, val2) CHECK_OP(_EQ, ==, val1, val2)
#define CHECK_NE(val1, val2) CHECK_OP(_NE, !=, val1, val2)
#define CHECK_LE(val1, val2) CHECK_OP(_LE, <=, val1, val2)
#define CHECK_LT(val1, val2) CHECK_OP(_LT, <, val1, val2)
#define CHECK_GE(val1, val2) CHECK_OP(_GE, >=, val1, val2)
#define CHECK_GT(val1, val2) CHECK_OP(_GT, >, val1, val2)

#define CHECK_NOTNULL(val) google::CheckNotNull(__FILE__, __LINE__, "'" #val "' Must be non NULL", (val))

#define CHECK_STROP(func, op, expected, s1, s2)                                      \
    while (google::CheckOpString _result =                                           \
               google::Check##func##expected##Impl((s1), (s2), #s1 " " #op " " #s2)) \
    LOG(FATAL) << *_result.str_
#define CHECK_STREQ(s1, s2) CHECK_STROP(strcmp, ==, true, s1, s2)
#define CHECK_STRNE(s1, s2) CHECK_STROP(strcmp, !=, false, s1, s2)
#define CHECK_STRCASEEQ(s1, s2) CHECK_STROP(strcasecmp, ==, true, s1, s2)
#define CHECK_STRCASENE(s1, s2) CHECK_STROP(strcasecmp, !=, false, s1, s2)

// The messages have the conditions as they are written here.
// clang-format off
#define CHECK_INDEX(Index, Left) CHECK(Index < (sizeof(Left)/sizeof(Left[0])))
#define CHECK_BOUND(Right, Left) CHECK(Right <= (sizeof(Left)/sizeof(Left[0])))
#define CHECK_DOUBLE_EQ(val1, val2)                  \
    do {                                             \
        CHECK_LE((val1), (val2)+0.000000000000001L); \
        CHECK_GE((val1), (val2)-0.000000000000001L); \
    } while (0)
#define CHECK_NEAR(val1, val2, margin)     \
    do {                                   \
        CHECK_LE((val1), (val2)+(margin)); \
        CHECK_GE((val1), (val2)-(margin)); \
    } while (0)
// clang-format on

// --- The same for debug builds; in others they are compiled, and never evaluated.

#if DCHECK_IS_ON()
#    define DLOG(severity) LOG(severity)
#    define DVLOG(verboselevel) VLOG(verboselevel)
#    define DLOG_IF(severity, condition) LOG_IF(severity, condition)
#    define DLOG_EVERY_N(severity, n) LOG_EVERY_N(severity, n)
#    define DLOG_IF_EVERY_N(severity, condition, n) LOG_IF_EVERY_N(severity, condition, n)
#    define SP_GLOG_IN_DEBUG
#    define DCHECK_NOTNULL(val) CHECK_NOTNULL(val)
#else
#    define DLOG(severity) SP_GLOG_IF(false, LOG(severity))
#    define DVLOG(verboselevel) SP_GLOG_IF(false && VLOG_IS_ON(verboselevel), LOG(INFO))
#    define DLOG_IF(severity, condition) SP_GLOG_IF(false && (condition), LOG(severity))
#    define DLOG_EVERY_N(severity, n) SP_GLOG_IF(false, LOG(severity))
#    define DLOG_IF_EVERY_N(severity, condition, n) SP_GLOG_IF(false && (condition), LOG(severity))
#    define SP_GLOG_IN_DEBUG while (false)
#    define DCHECK_NOTNULL(val) (val)
#endif
// In every build, as glog 0.6 has it.
#define DLOG_ASSERT(condition) LOG_ASSERT(condition)
#define DCHECK(condition) SP_GLOG_IN_DEBUG CHECK(condition)
#define DCHECK_EQ(val1, val2) SP_GLOG_IN_DEBUG CHECK_EQ(val1, val2)
#define DCHECK_NE(val1, val2) SP_GLOG_IN_DEBUG CHECK_NE(val1, val2)
#define DCHECK_LE(val1, val2) SP_GLOG_IN_DEBUG CHECK_LE(val1, val2)
#define DCHECK_LT(val1, val2) SP_GLOG_IN_DEBUG CHECK_LT(val1, val2)
#define DCHECK_GE(val1, val2) SP_GLOG_IN_DEBUG CHECK_GE(val1, val2)
#define DCHECK_GT(val1, val2) SP_GLOG_IN_DEBUG CHECK_GT(val1, val2)
#define DCHECK_STREQ(str1, str2) SP_GLOG_IN_DEBUG CHECK_STREQ(str1, str2)
#define DCHECK_STRCASEEQ(str1, str2) SP_GLOG_IN_DEBUG CHECK_STRCASEEQ(str1, str2)
#define DCHECK_STRNE(str1, str2) SP_GLOG_IN_DEBUG CHECK_STRNE(str1, str2)
#define DCHECK_STRCASENE(str1, str2) SP_GLOG_IN_DEBUG CHECK_STRCASENE(str1, str2)

// --- To stderr alone, without memory or locks: glog/raw_logging.h.

#if !defined(STRIP_LOG)
#    define SP_GLOG_STRIP_RAW 0
#else
#    define SP_GLOG_STRIP_RAW STRIP_LOG
#endif
#define SP_GLOG_RAW(severity, ...) google::RawLog__(google::severity, __FILE__, __LINE__, __VA_ARGS__)
#if SP_GLOG_STRIP_RAW == 0
#    define RAW_LOG_INFO(...) SP_GLOG_RAW(GLOG_INFO, __VA_ARGS__)
#    define RAW_VLOG(verboselevel, ...)                              \
        do {                                                         \
            if (VLOG_IS_ON(verboselevel)) RAW_LOG_INFO(__VA_ARGS__); \
        } while (0)
#else
#    define RAW_LOG_INFO(...) google::RawLogStub__(0, __VA_ARGS__)
#    define RAW_VLOG(verboselevel, ...) google::RawLogStub__(0, __VA_ARGS__)
#endif
#if SP_GLOG_STRIP_RAW <= 1
#    define RAW_LOG_WARNING(...) SP_GLOG_RAW(GLOG_WARNING, __VA_ARGS__)
#else
#    define RAW_LOG_WARNING(...) google::RawLogStub__(0, __VA_ARGS__)
#endif
#if SP_GLOG_STRIP_RAW <= 2
#    define RAW_LOG_ERROR(...) SP_GLOG_RAW(GLOG_ERROR, __VA_ARGS__)
#else
#    define RAW_LOG_ERROR(...) google::RawLogStub__(0, __VA_ARGS__)
#endif
#if SP_GLOG_STRIP_RAW <= 3
#    define RAW_LOG_FATAL(...) SP_GLOG_RAW(GLOG_FATAL, __VA_ARGS__)
#else
#    define RAW_LOG_FATAL(...)                    \
        do {                                      \
            google::RawLogStub__(0, __VA_ARGS__); \
            std::exit(EXIT_FAILURE);              \
        } while (0)
#endif
#define RAW_LOG(severity, ...)           \
    do {                                 \
        RAW_LOG_##severity(__VA_ARGS__); \
    } while (0)
#define RAW_CHECK(condition, message)                                                 \
    do {                                                                              \
        if (!(condition)) RAW_LOG(FATAL, "Check %s failed: %s", #condition, message); \
    } while (0)
#ifndef NDEBUG
#    define RAW_DLOG(severity, ...) RAW_LOG(severity, __VA_ARGS__)
#    define RAW_DCHECK(condition, message) RAW_CHECK(condition, message)
#else
#    define RAW_DLOG(severity, ...) \
        while (false) RAW_LOG(severity, __VA_ARGS__)
#    define RAW_DCHECK(condition, message) \
        while (false) RAW_CHECK(condition, message)
#endif
