// `%m` and numbered arguments in C: as printf has them.
#include "c_rewritten.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <silverpoint/detail/arena.hpp>
#include <silverpoint/silverpoint.hpp>
#include <utility>

#include "support/traced.hpp"

namespace {

// A text that nothing ends before a page that cannot be read.
const char* unterminated(const std::string& text) {
    const auto page = static_cast<std::size_t>(getpagesize());
    auto* const memory = static_cast<char*>(
        mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_EQ(mprotect(memory + page, page, PROT_NONE), 0);
    return static_cast<char*>(std::memcpy(memory + page - text.size(), text.data(), text.size()));
}

void expect(const std::string& text, const std::string& signature, const std::string& arguments) {
    const auto seen = traced::one();
    EXPECT_EQ(seen.site.text, text);
    EXPECT_EQ(seen.site.signature, signature);
    EXPECT_EQ(seen.text, arguments);
    EXPECT_EQ(seen.site.flags, 2);
}

TEST(Rewritten, ErrnoIsItsText) {
    for (int round = 0; round < 2; ++round) {
        c_error(ENOENT);
        expect("%s", "s", "\"No such file or directory\"");
    }
    c_error(0);
    expect("%s", "s", "\"Success\"");
    c_error(54321);
    expect("%s", "s", "\"Unknown error 54321\"");
    c_error(-1);
    expect("%s", "s", "\"Unknown error -1\"");
}

TEST(Rewritten, ErrnoIsThatBeforeTheArguments) {
    c_error_of_call(EACCES, "/etc/shadow");
    expect("%s: %s (%d)", "ssi", "\"/etc/shadow\" \"Permission denied\" 7");
    int after = 0;
    c_error_kept(EBUSY, &after);
    expect("%s", "s", "\"Device or resource busy\"");
    EXPECT_EQ(after, EBUSY);
}

TEST(Rewritten, ErrnoIsFormattedAsAText) {
    c_error_formatted(EPERM, 30);
    expect(
        "[%-25s|%25s|%.4s|%*s|%%m|%d ms]", "sssisi",
        "\"Operation not permitted\" \"Operation not permitted\" \"Oper\" 30 \"Operation not permitted\" 5");
    // What only looks like it.
    c_letters();
    expect("%d ms, 10m, %%m, 5%%m", "i", "7");
}

TEST(Rewritten, NumberedArgumentsAreInTheOrderOfTheirConversions) {
    for (int round = 0; round < 2; ++round) {
        c_numbered("box", 3);
        expect("%s has %d, and %d again, %.2f%%", "siid", "\"box\" 3 3 2.5");
    }
    c_numbered_amounts(unterminated("abcd"), 7, 4, 1.25);
    expect("%*.*f|%.*s|%.2s|%05d", "iidissi", "7 4 1.25 4 \"abcd\" \"ab\" 7");
    c_numbered_types(reinterpret_cast<void*>(4096));
    expect("%p %hhd %llu %c %s %s", "paLis@secret=;n", "0x1000 -1 9223372036854775808 120 \"text\" null");
    c_numbered_with_error(EAGAIN);
    expect("%d %d: %s", "iis", "2 1 \"Resource temporarily unavailable\"");
    c_numbered_in_turn(1);
    expect("%d after %d", "ii", "2 1");
}

// A place that finds no room for its text tries again at each execution, and keeps nothing.
TEST(Rewritten, WithoutRoomNothingGrows) {
    namespace detail = silverpoint::detail;
    auto& next = detail::session.header().descs_next;
    const std::uint32_t before = next.load(),
                        all = static_cast<std::uint32_t>(detail::session.descs_size / 8);
    // Just as much room as its location needs.
    for (std::uint32_t room = 1; room < 64 && next.load() <= all - room + 1; ++room) {
        next.store(all - room);
        c_without_room(ENOENT, 1);
        if (next.load() != all - room) break;
    }
    ASSERT_EQ(next.load(), all);
    const auto used = [] {
        const detail::ArenaChunk* const chunk = detail::arena_chunk.load();
        return std::pair(chunk, chunk == nullptr ? 0 : chunk->used.load());
    };
    const auto used_before = used();
    const std::uint64_t lost =
        traced::session().session_losses(static_cast<unsigned>(detail::Cause::kNoSite));
    for (int i = 0; i < 1000; ++i) c_without_room(ENOENT, i);
    EXPECT_EQ(used(), used_before);
    EXPECT_EQ(traced::session().session_losses(static_cast<unsigned>(detail::Cause::kNoSite)), lost + 1000);
    next.store(before);
    c_without_room(ENOENT, 7);
    const auto seen = traced::one();
    EXPECT_TRUE(seen.site.text.ends_with("%s after %d")) << seen.site.text;
    EXPECT_EQ(seen.text, "\"No such file or directory\" 7");
}

}  // namespace
