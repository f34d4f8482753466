// A library that logs while it is being loaded: the loader's lock is held then, which a new thread needs. WAY
// is how it logs.
#include <cstdio>
#include <cstdlib>
#if defined(WAY_SPDLOG)
#    include <silverpoint/spdlog.hpp>
#elif defined(WAY_GLOG)
#    include <silverpoint/glog.hpp>
#else
#    include <silverpoint/logger.hpp>
#    include <silverpoint/silverpoint.hpp>
#endif

namespace {

struct Starter {
    Starter() {
        const char* log = std::getenv("LOADING_LOG");
#if defined(WAY_SPDLOG)
        spdlog::set_default_logger(spdlog::basic_logger_mt("plugin", log));
        spdlog::info("in the constructor");
        if (!spdlog::default_logger()->flush()) std::fputs("the flush has failed\n", stderr);
#elif defined(WAY_GLOG)
        FLAGS_logtostderr = false;
        google::SetLogDestination(google::GLOG_INFO, log);
        google::InitGoogleLogging("plugin");
        LOG(INFO) << "in the constructor";
        google::FlushLogFiles(google::GLOG_INFO);
#else
        silverpoint::start(silverpoint::logger_config("info").to(silverpoint::sink::file(log)));
        SP_INFO("in the constructor");
        if (!silverpoint::flush()) std::fputs("the flush has failed\n", stderr);
#endif
    }
    ~Starter() {
#if defined(WAY_SPDLOG)
        spdlog::info("in the destructor");
        spdlog::shutdown();
#elif defined(WAY_GLOG)
        LOG(INFO) << "in the destructor";
        google::ShutdownGoogleLogging();
#else
        SP_INFO("in the destructor");
        if (!silverpoint::stop()) std::fputs("the stop has failed\n", stderr);
#endif
    }
};
Starter starter;

}  // namespace

extern "C" void work() {
#if defined(WAY_SPDLOG)
    spdlog::info("at work");
#elif defined(WAY_GLOG)
    LOG(INFO) << "at work";
#else
    SP_INFO("at work");
#endif
}
