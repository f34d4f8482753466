#include "traced.hpp"

#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace traced {

reader::Session& session() {
    static reader::Session mine(reader::Session::path_of(getpid()));
    return mine;
}

// Everything recorded since the last call, control records left out.
std::vector<Seen> take() {
    std::vector<Seen> all;
    for (const reader::Record& record : session().drain()) {
        if (record.site < 16) continue;
        const reader::Site site = session().site(record.site);
        if (site.stage != 3) reader::fail("a record of an incomplete site");
        all.push_back({site, record, reader::text_of(record, site)});
    }
    return all;
}

Seen one() {
    auto all = take();
    if (all.size() != 1) reader::fail(std::to_string(all.size()) + " records instead of one");
    return all[0];
}

// Records that were lost until now. It takes what was not taken yet.
std::uint64_t lost() {
    take();
    std::uint64_t sum = 0;
    for (unsigned cause = 0; cause < 8; ++cause)
        sum += session().ring_losses_ever(cause) + session().session_losses(cause);
    return sum;
}

void expect_one(const char* file, int line, std::string_view signature, std::string_view text, int kind,
                std::string_view site_text) {
    const testing::ScopedTrace here(file, line, "the record of this line");
    const Seen seen = one();
    EXPECT_EQ(seen.site.signature, signature);
    EXPECT_EQ(seen.text, text);
    EXPECT_EQ(seen.site.text, site_text);
    EXPECT_EQ(seen.site.kind, kind);
}

}  // namespace traced
