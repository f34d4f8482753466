// Stands where spdlog has its header of this name.
#pragma once
#include "../../../spdlog.hpp"
