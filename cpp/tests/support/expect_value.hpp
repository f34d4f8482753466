// What tests of values need.
#pragma once

#include <silverpoint/silverpoint.hpp>

#include "traced.hpp"

// A value as an argument of a template and as a piece of a stream: its signature, and how values.hpp shows
// it.
#define EXPECT_VALUE(signature_, text_, ...)            \
    do {                                                \
        SP_INFO("{}", __VA_ARGS__);                     \
        const auto seen = ::traced::one();              \
        EXPECT_EQ(seen.site.signature, signature_);     \
        EXPECT_EQ(seen.text, text_);                    \
        EXPECT_EQ(seen.site.text, "{}");                \
        EXPECT_EQ(seen.site.kind, 0);                   \
        SP_INFO << (__VA_ARGS__);                       \
        const auto streamed = ::traced::one();          \
        EXPECT_EQ(streamed.site.signature, signature_); \
        EXPECT_EQ(streamed.text, text_);                \
        EXPECT_EQ(streamed.site.kind, 1);               \
    } while (false)
