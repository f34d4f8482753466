// Statements of glog, in a program without a logger: N rounds.
#include <cstdlib>
#include <silverpoint/glog.hpp>

// Of libsilverpoint, which a program without a logger does not need.
extern "C" int silverpoint_add_handler(const char*, const char*, silverpoint_handler, void*) { return -1; }
extern "C" int silverpoint_flush(std::uint64_t) { return SILVERPOINT_NOT_RUNNING; }
extern "C" int silverpoint_stop(std::uint64_t) { return SILVERPOINT_NOT_RUNNING; }

int main(int, char** argv) {
    FLAGS_logtostdout = true;
    for (int i = 0; i < std::atoi(argv[1]); ++i) {
        LOG(INFO) << "order " << i << " of " << std::string("Ada");
        google::LogMessage(__FILE__, __LINE__, google::GLOG_WARNING).stream() << "object " << i;
        std::string text;
        LOG_TO_STRING(ERROR, &text) << "both " << i;
        VLOG(1) << "off " << i;
    }
}
