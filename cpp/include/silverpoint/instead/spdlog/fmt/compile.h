// Stands where spdlog has its header of this name.
#pragma once
#include "../../../spdlog.hpp"
#if __has_include(<fmt/compile.h>)
#    include <fmt/compile.h>
#endif
