// What most tests need: one tracepoint's record as text.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "values.hpp"

namespace traced {

struct Seen {
    reader::Site site;
    reader::Record record;
    std::string text;  // the arguments; see values.hpp
};

inline reader::Session& session() {
    static reader::Session mine(reader::Session::path_of(getpid()));
    return mine;
}

// Everything recorded since the last call, control records left out.
inline std::vector<Seen> take() {
    std::vector<Seen> all;
    for (const reader::Record& record : session().drain()) {
        if (record.site < 16) continue;
        const reader::Site site = session().site(record.site);
        if (site.stage != 3) reader::fail("a record of an incomplete site");
        all.push_back({site, record, reader::text_of(record, site)});
    }
    return all;
}

inline Seen one() {
    auto all = take();
    if (all.size() != 1) reader::fail(std::to_string(all.size()) + " records instead of one");
    return all[0];
}

// Records that were lost until now. It takes what was not taken yet.
inline std::uint64_t lost() {
    take();
    std::uint64_t sum = 0;
    for (unsigned cause = 0; cause < 8; ++cause)
        sum += session().ring_losses_ever(cause) + session().session_losses(cause);
    return sum;
}

}  // namespace traced
