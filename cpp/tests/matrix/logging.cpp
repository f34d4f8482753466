// The logger inside the process, and the macros and functions of spdlog's and glog's users, in one file with
// the native ones.
#include <cstdio>
#include <silverpoint/glog.hpp>
#include <silverpoint/logger.hpp>
#include <silverpoint/silverpoint.hpp>
#include <silverpoint/spdlog.hpp>
#include <string>
#include <vector>

// use.cpp
int native();

namespace matrix {

struct Numbers {
    static const int kMost = 42;
};

inline void by_spdlog(int id) {
    volatile int reg = 1;
    spdlog::info("{} {:>8.2f} {}", id, 0.5, true);
    spdlog::warn("{}", std::vector<int>{1, id});
    spdlog::log(spdlog::level::err, "{}", static_cast<int>(reg));
    SPDLOG_INFO("{} {}", id, std::string("text"));
    SPDLOG_LOGGER_WARN(spdlog::default_logger_raw(), "text");
}

inline void by_glog(int id) {
    volatile bool flag = true;
    LOG(INFO) << "id " << id << ' ' << Numbers::kMost << ' ' << 0.5;
    LOG_IF(WARNING, flag) << "conditional";
    LOG_EVERY_N(INFO, 2) << google::COUNTER;
    VLOG(1) << "verbose";
    DLOG(INFO) << "debug";
    CHECK(flag) << "never";
    CHECK_EQ(id, id);
    PLOG_IF(ERROR, !flag) << "never";
}

inline int logging(const std::string& path) {
    spdlog::set_default_logger(spdlog::basic_logger_mt("matrix", path + ".spdlog", true));
    by_spdlog(7);
    google::SetLogDestination(google::GLOG_INFO, (path + ".glog.").c_str());
    for (int severity : {google::GLOG_WARNING, google::GLOG_ERROR, google::GLOG_FATAL})
        google::SetLogDestination(severity, "");
    google::InitGoogleLogging("matrix");
    by_glog(7);
    google::ShutdownGoogleLogging();
    spdlog::shutdown();
    // A logger of the program's own, with what was recorded before it began.
    SP_INFO("before {}", 1);
    if (!silverpoint::start(silverpoint::logger_config("info").to(silverpoint::sink::file(path)))) return 1;
    SP_INFO("after {}", 2);
    return silverpoint::stop() ? 0 : 1;
}

}  // namespace matrix

int main(int, char** arguments) { return native() + matrix::logging(std::string(arguments[0]) + ".log"); }
