// Stands where spdlog has its header of this name.
#pragma once
#include "../../../spdlog.hpp"
#include "../../../spdlog/network.hpp"

namespace spdlog {
template <class Factory = synchronous_factory>
std::shared_ptr<logger> udp_logger_mt(const std::string& name, const sinks::udp_sink_config& config) {
    return create<sinks::udp_sink_mt>(name, config);
}
}  // namespace spdlog
