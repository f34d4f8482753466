// Statements of glog and of spdlog's interface, in a program without a logger: N rounds.
#include <cstdlib>
#include <silverpoint/glog.hpp>
#include <silverpoint/spdlog.hpp>
#include <string>

#include "../no_logger.hpp"

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
