// A program as spdlog's users write them: loggers of several sinks, patterns, macros, own types, an own sink,
// a thread pool.
#define SPDLOG_ACTIVE_LEVEL SPDLOG_LEVEL_TRACE
#include <spdlog/async.h>
#include <spdlog/cfg/env.h>
#include <spdlog/fmt/bin_to_hex.h>
#include <spdlog/fmt/ostr.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/daily_file_sink.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <spdlog/stopwatch.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <ostream>
#include <string>
#include <vector>

namespace {

struct Point {
    int x, y;
    friend std::ostream& operator<<(std::ostream& out, const Point& p) {
        return out << "[x=" << p.x << ", y=" << p.y << "]";
    }
};

template <class Mutex>
class CountingSink : public spdlog::sinks::base_sink<Mutex> {
  public:
    int lines = 0;

  protected:
    void sink_it_(const spdlog::details::log_msg& message) override {
        spdlog::memory_buf_t formatted;
        spdlog::sinks::base_sink<Mutex>::formatter_->format(message, formatted);
        ++lines;
    }
    void flush_() override {}
};

void combined(const std::string& path) {
    auto console = std::make_shared<spdlog::sinks::stdout_color_sink_mt>();
    console->set_level(spdlog::level::warn);
    console->set_pattern("[%^%l%$] %v");
    auto file = std::make_shared<spdlog::sinks::rotating_file_sink_mt>(path, 1024 * 1024, 3);
    file->set_level(spdlog::level::trace);
    const std::vector<spdlog::sink_ptr> sinks{console, file};
    auto logger = std::make_shared<spdlog::logger>("shop", sinks.begin(), sinks.end());
    logger->set_level(spdlog::level::debug);
    logger->set_error_handler([](const std::string& what) { std::fprintf(stderr, "%s\n", what.c_str()); });
    logger->flush_on(spdlog::level::err);
    spdlog::register_logger(logger);
    spdlog::set_default_logger(logger);
}

}  // namespace

int main() try {
    const std::string path = std::getenv("ADOPT_LOG");
    spdlog::cfg::load_env_levels();
    combined(path);
    spdlog::set_pattern("[%Y-%m-%d %H:%M:%S.%e] [%n] [%^%l%$] [thread %t] %v");
    spdlog::info("the answer {} and {:08.3f}", 42, 3.14159);
    spdlog::warn("positions {1} {0}", "a", "b");
    spdlog::error("{:<10}|{:>6}|{:#x}", "left", 7, 255);
    spdlog::debug("a point: {}", fmt::streamed(Point{1, 2}));
    const std::array<unsigned char, 4> bytes{1, 2, 254, 255};
    spdlog::info("bytes: {}", spdlog::to_hex(bytes));
    const spdlog::stopwatch watch;
    spdlog::debug("elapsed {:.3}", watch);
    SPDLOG_TRACE("left out by the logger's level {}", 1);
    SPDLOG_LOGGER_WARN(spdlog::get("shop"), "low {}", "apple");
    spdlog::log(spdlog::level::critical, "by level {}", true);

    auto counting = std::make_shared<CountingSink<std::mutex>>();
    spdlog::logger own("own", counting);
    own.info("counted {}", 1);
    own.warn(std::string("counted"));

    spdlog::init_thread_pool(8192, 1);
    auto async = spdlog::basic_logger_mt<spdlog::async_factory>("async", path + ".async", true);
    for (int i = 0; i < 100; ++i) async->info("message #{}", i);
    auto daily = spdlog::daily_logger_mt("daily", path + ".daily", 2, 30);
    daily->info("of this day");
    spdlog::flush_every(std::chrono::seconds(3));
    spdlog::apply_all(
        [](const std::shared_ptr<spdlog::logger>& each) { each->info("end of {}", each->name()); });
    spdlog::shutdown();
    return counting->lines == 2 ? 0 : 1;
} catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
}
