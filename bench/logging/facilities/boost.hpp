// facility: Boost.Log
// how: a synchronous sink of text files, auto_flush off, a logger without a lock in each thread, as its
// documentation advises for speed
// needs: /usr/include/boost/log/core.hpp libboost-log-dev
// links: -DBOOST_LOG_DYN_LINK -DBOOST_ALL_DYN_LINK -lboost_log -lboost_thread -lboost_filesystem
// in: s4 cases
#include <boost/log/core.hpp>
#include <boost/log/expressions.hpp>
#include <boost/log/sinks/async_frontend.hpp>
#include <boost/log/sinks/block_on_overflow.hpp>
#include <boost/log/sinks/bounded_fifo_queue.hpp>
#include <boost/log/sinks/sync_frontend.hpp>
#include <boost/log/sinks/text_file_backend.hpp>
#include <boost/log/sources/record_ostream.hpp>
#include <boost/log/sources/severity_logger.hpp>
#include <boost/log/support/date_time.hpp>
#include <boost/log/utility/setup/common_attributes.hpp>
#include <boost/make_shared.hpp>
#include <boost/thread/thread.hpp>
#include <iomanip>

#include "facility.hpp"

namespace bench_boost {
namespace sinks = boost::log::sinks;
namespace expr = boost::log::expressions;
#ifdef BENCH_ASYNC
using Sink = sinks::asynchronous_sink<sinks::text_file_backend,
                                      sinks::bounded_fifo_queue<8192, sinks::block_on_overflow>>;
#else
using Sink = sinks::synchronous_sink<sinks::text_file_backend>;
#endif
static boost::shared_ptr<Sink> sink;
static thread_local boost::log::sources::severity_logger<int> logger;
}  // namespace bench_boost

static void begin(const Run& run) {
    using namespace bench_boost;
    auto backend = boost::make_shared<sinks::text_file_backend>();
    backend->set_file_name_pattern(run.file);
    backend->auto_flush(false);
    sink = boost::make_shared<Sink>(backend);
    sink->set_formatter(
        expr::stream << expr::format_date_time<boost::posix_time::ptime>("TimeStamp", "%H:%M:%S.%f") << ' '
                     << expr::attr<boost::log::attributes::current_thread_id::value_type>("ThreadID") << ' '
                     << expr::smessage);
    boost::log::add_common_attributes();
    boost::log::core::get()->add_sink(sink);
    boost::log::core::get()->set_filter(expr::attr<int>("Severity") >= 2);
}
static void flush() { bench_boost::sink->flush(); }
static void end() {
    using namespace bench_boost;
    boost::log::core::get()->remove_sink(sink);
#ifdef BENCH_ASYNC
    sink->stop();
#endif
    sink->flush();
    sink.reset();
}
#define AT(level) BOOST_LOG_SEV(bench_boost::logger, level)
#define STATEMENT(title, count, pointer, string, real)                            \
    AT(2) << (title) << " iteration #" << (count) << " " << (pointer) << (string) \
          << " and a float: " << std::setprecision(6) << (real)
#define LITERAL() AT(2) << "bench literal"
#define THREE(id, index, fraction) AT(2) << "bench three " << (id) << ' ' << (index) << ' ' << (fraction)
#define TEXT(id, fraction, path) AT(2) << "bench text " << (id) << ' ' << (fraction) << ' ' << (path)
#define OFF(id, path) AT(1) << "bench off " << (id) << ' ' << (path)
