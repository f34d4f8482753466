// Begins of a thread that have not ended. Spans that are not in the ring are included, so that their ends end
// nothing else.
//
//   all:  nothing │ begin │ begin │ (free) …      │ deeper
//                                 ▲               ▲
//                  tls_atrace_next               limit: those beyond lie in a mapping of their own
//
// Every end checks the entry below the next one, so both borders are entries without an id. The table has
// memory of its own. A shared object with so much memory for each thread cannot be loaded while a program
// runs, because threads have little room left for that.
#pragma once

#include <atomic>
#include <new>

#include "lane.hpp"
#include "site.hpp"

SP_DETAIL_BEGIN

struct AtraceBegun {
    // In an id: the end needs more than a record. The begin was written to the kernel, so the end is written,
    // too. Or a system tracer may want its event: then `ticks` is as Span has it.
    static constexpr std::uint32_t kUnusual = std::uint32_t{1} << 31, kTold = kUnusual | 1u << 30,
                                   kTraced = kUnusual | 1u << 29, kMarks = kTold | kTraced;

    Site* site = nullptr;
    std::uint32_t id = 0;
    std::uint64_t ticks = 0;
};

struct AtraceOpen {
    static constexpr std::size_t kMost = 64;
    // The number of deeper ones that are known. The ends of further ones are lost, and counted.
    static constexpr std::size_t kMostDeep = 10'000 - kMost;

    AtraceBegun all[1 + kMost + 1] = {};
    std::size_t deeper = 0;
    AtraceBegun* deep = nullptr;  // made when the first is deeper; kept
    // Its owner; those of dead threads are used again.
    Word thread{0};
    std::uint32_t process = 0;
    AtraceOpen* another = nullptr;

    AtraceBegun* bottom() { return all + 1; }
    AtraceBegun* limit() { return all + 1 + kMost; }
    // Where a deeper one lies; null: it is not known.
    AtraceBegun* deep_place(std::size_t at) {
        if (at >= kMostDeep) return nullptr;
        if (deep == nullptr) {
            const SystemGuard guard;
            deep = static_cast<AtraceBegun*>(map_private(kMostDeep * sizeof(AtraceBegun)));
            if (deep == nullptr) return nullptr;
        }
        return deep + at;
    }
};

// A thread that has begun nothing yet: no room, and nothing below.
inline constinit AtraceOpen no_atrace_open;
inline thread_local constinit AtraceOpen* tls_atrace_open SP_DETAIL_THREAD_MODEL = &no_atrace_open;
inline thread_local constinit AtraceBegun* tls_atrace_next SP_DETAIL_THREAD_MODEL = no_atrace_open.all + 1;
inline thread_local constinit AtraceBegun* tls_atrace_limit SP_DETAIL_THREAD_MODEL = no_atrace_open.all + 1;

// All that were made; never freed, like the lanes of threads.
inline constinit std::atomic<AtraceOpen*> atrace_opens{nullptr};

// Memory for the calling thread: a page, or the memory of a dead thread of this process. (Not of a parent's
// threads: one of them may be this one.) Null: there is none.
SP_DETAIL_COLD AtraceOpen* claim_atrace_open() {
    static constinit std::atomic<AtraceOpen*> from{nullptr};
    const SystemGuard guard;
    const std::uint32_t self = thread_id();
    const std::uint32_t process = process_id();
    AtraceOpen* open = from.load(std::memory_order_acquire);
    for (int i = 0; i < 4; ++i) {
        if (open == nullptr) open = atrace_opens.load(std::memory_order_acquire);
        if (open == nullptr) break;
        std::uint32_t owner = open->thread.load(std::memory_order_relaxed);
        if (open->process == process && owner != self && is_thread_dead(owner) &&
            open->thread.compare_exchange_strong(owner, self, std::memory_order_acq_rel)) {
            open->deeper = 0;
            return open;
        }
        open = open->another;
        from.store(open, std::memory_order_release);
    }
    void* made = map_private(sizeof(AtraceOpen));
    if (made == nullptr) return nullptr;
    open = ::new (made) AtraceOpen;
    open->thread.store(self, std::memory_order_relaxed);
    open->process = process;
    open->another = atrace_opens.load(std::memory_order_relaxed);
    while (!atrace_opens.compare_exchange_weak(open->another, open, std::memory_order_acq_rel)) {
    }
    return open;
}

SP_DETAIL_HOT bool has_room_atrace() { return tls_atrace_next < tls_atrace_limit; }
// Whether there is room although it looks full.
SP_DETAIL_COLD bool make_room_atrace() {
    if (tls_atrace_open != &no_atrace_open) return false;
    AtraceOpen* const open = claim_atrace_open();
    if (open == nullptr) return false;
    tls_atrace_open = open;
    tls_atrace_next = open->bottom();
    tls_atrace_limit = open->limit();
    return true;
}

SP_DETAIL_COLD void open_atrace_deep(AtraceBegun begun) {
    AtraceOpen& open = *tls_atrace_open;
    const bool in_ring = (begun.id & ~AtraceBegun::kMarks) != 0;
    // Its end will belong to nothing known.
    const auto lose_end = [&](Cause cause) {
        if (in_ring) count_session_loss(cause);
    };
    if (&open == &no_atrace_open) return lose_end(Cause::kNoMemory);
    const std::size_t at = open.deeper++;
    tls_atrace_next = open.limit() + 1;
    if (AtraceBegun* const place = open.deep_place(at))
        *place = begun;
    else
        lose_end(at < AtraceOpen::kMostDeep ? Cause::kNoMemory : Cause::kOther);
}
SP_DETAIL_HOT void open_atrace(AtraceBegun begun) {
    AtraceBegun* const next = tls_atrace_next;
    if (next < tls_atrace_limit) [[likely]] {
        *next = begun;
        tls_atrace_next = next + 1;
    } else {
        open_atrace_deep(begun);
    }
}

// The last begin, of the deeper ones, closed. False: nothing is known of it.
SP_DETAIL_COLD bool close_atrace_deep(AtraceBegun& begun) {
    AtraceOpen& open = *tls_atrace_open;
    if (open.deeper == 0) return false;
    if (--open.deeper == 0) tls_atrace_next = open.limit();
    if (open.deeper >= AtraceOpen::kMostDeep || open.deep == nullptr) return false;
    begun = open.deep[open.deeper];
    return true;
}

SP_DETAIL_END
