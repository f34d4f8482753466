// facility: log4cplus
// how: FileAppender without immediateFlush, a pattern of time, thread, level and message
// needs: /usr/include/log4cplus/logger.h liblog4cplus-dev
// links: -llog4cplus
// in: s4 cases
#include <log4cplus/asyncappender.h>
#include <log4cplus/fileappender.h>
#include <log4cplus/layout.h>
#include <log4cplus/logger.h>
#include <log4cplus/loggingmacros.h>

#include <iomanip>
#include <memory>

#include "facility.hpp"

static log4cplus::Logger the_logger;
static void begin(const Run& run) {
    log4cplus::SharedAppenderPtr appender(
        new log4cplus::FileAppender(run.file, std::ios_base::trunc, /*immediateFlush=*/false));
    appender->setLayout(std::unique_ptr<log4cplus::Layout>(
        new log4cplus::PatternLayout(LOG4CPLUS_TEXT("%D{%H:%M:%S.%q} [%t] %p %m%n"))));
#ifdef BENCH_ASYNC
    appender = log4cplus::SharedAppenderPtr(new log4cplus::AsyncAppender(appender, 8192));
#endif
    the_logger = log4cplus::Logger::getInstance(LOG4CPLUS_TEXT("driver"));
    the_logger.setLogLevel(log4cplus::INFO_LOG_LEVEL);
    the_logger.addAppender(appender);
}
static void flush() {}
// Closing an asynchronous appender waits until its queue is empty.
static void end() { log4cplus::Logger::shutdown(); }
#define STATEMENT(title, count, pointer, string, real)                                              \
    LOG4CPLUS_INFO(the_logger, (title) << " iteration #" << (count) << " " << (pointer) << (string) \
                                       << " and a float: " << std::setprecision(6) << (real))
#define LITERAL() LOG4CPLUS_INFO(the_logger, "bench literal")
#define THREE(id, index, fraction) \
    LOG4CPLUS_INFO(the_logger, "bench three " << (id) << ' ' << (index) << ' ' << (fraction))
#define TEXT(id, fraction, path) \
    LOG4CPLUS_INFO(the_logger, "bench text " << (id) << ' ' << (fraction) << ' ' << (path))
#define OFF(id, path) LOG4CPLUS_DEBUG(the_logger, "bench off " << (id) << ' ' << (path))
