// facility: silverpoint spdlog.hpp
// how: spdlog's program, below, with `#include <silverpoint/spdlog.hpp>`
// links: ours
// in: s4
#include <silverpoint/spdlog.hpp>

#include "spdlog_program.hpp"
