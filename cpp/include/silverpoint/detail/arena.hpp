// Memory that is never freed. It comes from the kernel, not from operator new or malloc: these may be what
// the program records. It takes no lock, so that a signal handler may allocate some.
#pragma once

#include <cstddef>
#include <new>

#include "sys.hpp"

SP_DETAIL_BEGIN

struct alignas(std::max_align_t) ArenaChunk {
    std::atomic<std::size_t> used{sizeof(ArenaChunk)};
};
inline constexpr std::size_t kArenaChunk = 65536;
inline constexpr std::size_t kArenaLongest = kArenaChunk - sizeof(ArenaChunk);
inline constinit std::atomic<ArenaChunk*> arena_chunk{nullptr};

// Zeroed, aligned for everything; null: the system has none, or it is longer than kArenaLongest.
SP_DETAIL_COLD void* keep_memory(std::size_t size) {
    if (size > kArenaLongest) return nullptr;
    size = (size + alignof(ArenaChunk) - 1) & ~(alignof(ArenaChunk) - 1);
    ArenaChunk* chunk = arena_chunk.load(std::memory_order_acquire);
    for (;;) {
        if (chunk != nullptr) {
            const std::size_t at = chunk->used.fetch_add(size, std::memory_order_relaxed);
            if (at <= kArenaChunk - size) return reinterpret_cast<char*>(chunk) + at;
        }
        const SystemGuard guard;
        void* const fresh = map_private(kArenaChunk);
        if (fresh == nullptr) return nullptr;
        auto* const made = ::new (fresh) ArenaChunk;
        if (arena_chunk.compare_exchange_strong(chunk, made, std::memory_order_acq_rel)) {
            chunk = made;
        } else {
            unmap(fresh, kArenaChunk);
        }
    }
}

SP_DETAIL_END
