// A program written for spdlog, with any header of that name.
#include <memory>
#include <thread>

#include "facility.hpp"

static std::shared_ptr<spdlog::logger> the_logger;
static void begin(const Run& run) {
#ifdef BENCH_ASYNC
    the_logger = spdlog::basic_logger_mt<spdlog::async_factory>("driver", run.file);
#else
    the_logger = spdlog::basic_logger_mt("driver", run.file);
#endif
}
static void flush() {
    the_logger->flush();
#ifdef BENCH_ASYNC
    while (spdlog::thread_pool()->queue_size() > 0) std::this_thread::yield();
#endif
}
static void end() {
    the_logger->flush();
    the_logger.reset();
    spdlog::shutdown();
}
#define STATEMENT(title, count, pointer, string, real) \
    the_logger->info("{} iteration #{} {}{} and a float: {:.6g}", title, count, pointer, string, real)
#define LITERAL() the_logger->info("bench literal")
#define THREE(id, index, fraction) the_logger->info("bench three {} {} {}", id, index, fraction)
#define TEXT(id, fraction, path) the_logger->info("bench text {} {} {}", id, fraction, path)
#define OFF(id, path) the_logger->debug("bench off {} {}", id, path)
