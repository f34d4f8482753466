// facility: silverpoint
// how: silverpoint::start, one text file, defaults
// links: ours
// in: s4 cases paced
#include <chrono>
#include <silverpoint/logger.hpp>
#include <silverpoint/silverpoint.hpp>
#include <utility>

#include "facility.hpp"

static void begin(const Run& run) {
    auto sink = silverpoint::sink::file(run.file);
#ifdef BENCH_JSON
    sink.json();
#endif
    silverpoint::start(silverpoint::logger_config("info").to(std::move(sink)));
}
static void flush() {
    if (!silverpoint::flush(std::chrono::minutes(5))) std::abort();
}
static void end() {
    if (!silverpoint::stop(std::chrono::minutes(5))) std::abort();
}
// The thread that formats and writes the file.
#define SINK_THREAD "sp-sink"
#ifdef BENCH_NUMBERS
#    define STATEMENT(title, count, pointer, string, real) \
        SP_INFO("x iteration #{} of {}: {:.2f}", count, took.size(), real)
#else
#    define STATEMENT(title, count, pointer, string, real) \
        SP_INFO("{} iteration #{} {}{} and a float: {:.6g}", title, count, pointer, string, real)
#endif
#define LITERAL() SP_INFO("bench literal")
#define THREE(id, index, fraction) SP_INFO("bench three {} {} {}", id, index, fraction)
#define TEXT(id, fraction, path) SP_INFO("bench text {} {} {}", id, fraction, path)
#define OFF(id, path) SP_TRACE("bench off {} {}", id, path)
