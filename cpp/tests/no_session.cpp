// A program that cannot have a session gets an error: none of its records may look delivered and be lost. WAY
// is how it logs.
#include <cstdio>
#include <cstring>
#include <exception>
#if defined(WAY_SPDLOG)
#    include <silverpoint/spdlog.hpp>
#elif defined(WAY_GLOG)
#    include <silverpoint/glog.hpp>
#else
#    include <silverpoint/logger.hpp>
#    include <silverpoint/silverpoint.hpp>
#endif

// 0: it got the error, or its line came out otherwise (glog writes it itself).
int main([[maybe_unused]] int argc, [[maybe_unused]] char** argv) {
#if defined(WAY_SPDLOG)
    spdlog::error("the disk is on fire");
    // Standard error says that no logger could be started.
    return spdlog::default_logger()->flush() ? 1 : 0;
#elif defined(WAY_GLOG)
    FLAGS_logtostderr = true;
    google::InitGoogleLogging(argv[0]);
    LOG(ERROR) << "the disk is on fire";
    return 0;
#else
    try {
        silverpoint::start();
        std::fputs("the start succeeded\n", stderr);
        return 1;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
    }
    SP_ERROR("the disk is on fire");
    return silverpoint::flush() || silverpoint::stop() ? 1 : 0;
#endif
}
