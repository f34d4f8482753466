// Of libsilverpoint, which a program without a logger does not need: what the headers of glog and spdlog
// refer to.
#pragma once

#include <silverpoint/logger.hpp>

extern "C" {
int silverpoint_add_handler(const char*, const char*, silverpoint_handler, void*) { return -1; }
int silverpoint_start(const char*, char*, std::size_t) { return SILVERPOINT_FAILED; }
int silverpoint_flush(std::uint64_t) { return SILVERPOINT_NOT_RUNNING; }
int silverpoint_stop(std::uint64_t) { return SILVERPOINT_NOT_RUNNING; }
std::int64_t silverpoint_crash_wait() { return 0; }
int silverpoint_drain_after_crash(std::uint64_t) { return SILVERPOINT_DONE; }
std::size_t silverpoint_event_line(const silverpoint_event*, const char*, char*, std::size_t) { return 0; }
}
