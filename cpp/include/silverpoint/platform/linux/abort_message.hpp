// The text that glibc prints before it aborts the program: a failed assert, a broken heap, an overrun buffer.
// glibc keeps it for debuggers, in a variable that is no public symbol. So the variable may be missing, as in
// other C libraries, and what it points to is copied as memory that may not exist.
#pragma once

#include "crash_stack.hpp"

SP_DETAIL_BEGIN

// The headers link nothing: null where the program has no dlvsym.
[[gnu::weakref("dlvsym"), gnu::unused]] static void* weak_dlvsym(void*, const char*, const char*);

struct AbortMessage {
    // Address of the variable; 0: there is none.
    std::atomic<std::uint64_t> variable{0};
    // The message that was recorded last. A program that survives its abort may abort again without one.
    std::atomic<std::uint64_t> recorded{0};
};
inline constinit AbortMessage abort_message;

SP_DETAIL_COLD void find_abort_message() {
    if (&weak_dlvsym == nullptr) return;
    void* const found = weak_dlvsym(RTLD_DEFAULT, "__abort_msg", "GLIBC_PRIVATE");
    abort_message.variable.store(reinterpret_cast<std::uint64_t>(found), std::memory_order_release);
}

// Adds the message behind `before`; false: there is none, and nothing is added. Async-signal-safe. Of a long
// message the middle is left out: an assert has its condition at the end.
template <std::size_t Length>
SP_DETAIL_COLD bool add_abort_message(Text<Length>& text, std::string_view before) {
    const std::uint64_t variable = abort_message.variable.load(std::memory_order_acquire);
    std::uint64_t at = 0;
    // As in glibc: all bytes, of this length too. Then the text, which ends with zero.
    std::uint32_t total = 0;
    if (variable == 0 || !peek_memory(variable, &at, sizeof at) || at == 0 ||
        abort_message.recorded.exchange(at, std::memory_order_relaxed) == at ||
        !peek_memory(at, &total, sizeof total) || total <= sizeof total)
        return false;
    char copy[4096];
    const std::size_t most = total - sizeof total;
    std::size_t size = peek_some_memory(at + sizeof total, copy, most < sizeof copy ? most : sizeof copy);
    size = strnlen(copy, size);
    while (size > 0 && copy[size - 1] == '\n') --size;
    if (size == 0) return false;
    text.add(before.data(), before.size());
    constexpr std::string_view gap = " … ";
    const std::size_t room = Length - text.size();
    if (size <= room || room < gap.size()) {
        text.add(copy, size);
    } else {
        const std::size_t half = (room - gap.size()) / 2;
        text.add(copy, half).add(gap.data(), gap.size()).add(copy + size - half, half);
    }
    return true;
}

SP_DETAIL_END
