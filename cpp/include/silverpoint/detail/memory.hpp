// How much memory the rings of a session take (spec/wire.md section 3.4, spec/vectors/memory.json).
#pragma once

#include "config.hpp"

SP_DETAIL_BEGIN

// Bytes of rings on any machine, unless memory is short; and on a machine with plenty of memory.
inline constexpr std::uint64_t kSmallMemory = 32u << 20, kLargeMemory = 256u << 20;

// What the machine and the process have, in bytes.
struct MemoryLimits {
    std::uint64_t memory;  // of the machine, or of the control group if that has less
    std::uint64_t room;    // free in the file system of the sessions
    bool has_addresses;    // more than kSmallMemory may be reserved
};

constexpr std::uint64_t least(std::uint64_t a, std::uint64_t b) { return a < b ? a : b; }

// Bytes that a session takes when the user has not set any.
constexpr std::uint64_t default_memory(const MemoryLimits& limits) {
    const std::uint64_t small = least(least(kSmallMemory, limits.memory / 16), limits.room / 4);
    const std::uint64_t large = least(least(kLargeMemory, limits.memory / 64), limits.room / 16);
    return large > small && limits.has_addresses ? large : small;
}

// Bytes of a session for which so many are wanted, where files may have at most `file_size`.
constexpr std::uint64_t session_memory(std::uint64_t wanted, std::uint64_t file_size) {
    constexpr std::uint64_t kSmallest = 64u << 10, kLargest = std::uint64_t{64} << 30;
    const std::uint64_t most = least(least(wanted, kLargest), file_size);
    return most < kSmallest ? kSmallest : most;
}

// Bytes of a slab: an eighth of the rings at most, so that a ring that is full finds a further one.
constexpr std::uint32_t slab_bytes_of(std::uint64_t rings) {
    std::uint32_t slab = 1u << 20;
    while (slab > (64u << 10) && rings / slab < 8) slab >>= 1;
    return slab;
}

SP_DETAIL_END
