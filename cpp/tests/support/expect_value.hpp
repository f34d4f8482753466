// What tests of values need.
#pragma once

#include <silverpoint/silverpoint.hpp>

#include "traced.hpp"

// A value as an argument of a template and as a piece of a stream: its signature, and how values.hpp shows
// it.
#define EXPECT_VALUE(signature_, text_, ...)                                  \
    do {                                                                      \
        SP_INFO("{}", __VA_ARGS__);                                           \
        ::traced::expect_one(__FILE__, __LINE__, signature_, text_, 0, "{}"); \
        SP_INFO << (__VA_ARGS__);                                             \
        ::traced::expect_one(__FILE__, __LINE__, signature_, text_, 1, "{}"); \
    } while (false)
