// What most tests need: one tracepoint's record as text.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "values.hpp"

namespace traced {

struct Seen {
    reader::Site site;
    reader::Record record;
    std::string text;  // the arguments; see values.hpp
};

reader::Session& session();

// Everything recorded since the last call, control records left out.
std::vector<Seen> take();

Seen one();

// Records that were lost until now. It takes what was not taken yet.
std::uint64_t lost();

// That one record was made since the last call, by a site of this kind and text, with one argument: its
// signature and its text.
void expect_one(const char* file, int line, std::string_view signature, std::string_view text, int kind,
                std::string_view site_text);

}  // namespace traced
