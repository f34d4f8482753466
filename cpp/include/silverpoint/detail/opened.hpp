// The mapping of the ring file: its addresses are reserved, and accessible as far as slabs are used.
//
// What is not accessible costs addresses only. `mlockall` makes no pages of it, whenever the program calls
// that, and a core dump does not have it.
#pragma once

#include "memory.hpp"
#include "session.hpp"

SP_DETAIL_BEGIN

// Makes the rings accessible up to `end`, in steps of kSmallMemory. False: the system refuses.
SP_DETAIL_COLD bool open_rings(std::size_t end) {
    end = (end + kSmallMemory - 1) / kSmallMemory * kSmallMemory;
    if (end > session.rings_bytes()) end = session.rings_bytes();
    if (!allow_access(session.rings, end)) return false;
    std::size_t before = session.rings_opened.load(std::memory_order_relaxed);
    while (before < end &&
           !session.rings_opened.compare_exchange_weak(before, end, std::memory_order_acq_rel)) {
    }
    return true;
}

// As many of the first `slabs` as this process has access to: all, unless the system refuses.
inline std::uint32_t accessible_slabs(std::uint32_t slabs) {
    const std::size_t end = std::size_t{slabs} * session.slab_bytes;
    const std::size_t opened = session.rings_opened.load(std::memory_order_acquire);
    if (end <= opened || open_rings(end)) return slabs;
    return static_cast<std::uint32_t>(opened / session.slab_bytes);
}

inline std::uint32_t slabs_in_use() {
    const std::uint32_t next = session.header().slabs_next.load(std::memory_order_acquire);
    return accessible_slabs(next < session.slab_count ? next : session.slab_count);
}

// Slabs that may be used now. While nobody collects, a history of threads that have ended is kept as long as
// there are unused slabs. By default that takes no more than a session may on any machine.
inline std::uint32_t usable_slabs() {
    return session.is_collected() ? session.slab_count : session.uncollected_slabs;
}

SP_DETAIL_END
