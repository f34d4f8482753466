// Statements of glog and of spdlog's interface, in a program without a logger: N rounds.
#include <cstdlib>
#include <silverpoint/glog.hpp>
#include <silverpoint/spdlog.hpp>
#include <string>

// Of libsilverpoint, which a program without a logger does not need.
extern "C" {
int silverpoint_add_handler(const char*, const char*, silverpoint_handler, void*) { return -1; }
int silverpoint_start(const char*, char*, std::size_t) { return SILVERPOINT_FAILED; }
int silverpoint_flush(std::uint64_t) { return SILVERPOINT_NOT_RUNNING; }
int silverpoint_stop(std::uint64_t) { return SILVERPOINT_NOT_RUNNING; }
std::int64_t silverpoint_crash_wait() { return 0; }
int silverpoint_drain_after_crash(std::uint64_t) { return SILVERPOINT_DONE; }
std::size_t silverpoint_event_line(const silverpoint_event*, const char*, char*, std::size_t) { return 0; }
}

int main(int, char** argv) {
    FLAGS_logtostdout = true;
    const auto net = spdlog::default_logger()->clone("net");
    for (int i = 0; i < std::atoi(argv[1]); ++i) {
        LOG(INFO) << "order " << i << " of " << std::string("Ada");
        google::LogMessage(__FILE__, __LINE__, google::GLOG_WARNING).stream() << "object " << i;
        std::string text;
        LOG_TO_STRING(ERROR, &text) << "both " << i;
        VLOG(1) << "off " << i;
        net->warn("order {} at {:.2f}", i, i / 4.0);
        net->error("a literal: {}");
        net->critical("object " + std::to_string(i));
        net->debug("off {}", i);
    }
}
