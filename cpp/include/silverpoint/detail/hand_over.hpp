// Passes records to functions of the program that are called before the tracepoint returns.
//
//   join_handing ─▶ fence ─▶ every lane's limit null ─▶ each next record takes the cold path (refill.hpp)
//
// The cold path leaves the limit null as long as there is a function. It has a fence of its own, so that one
// of the two sides sees the other.
//
//   record_slowly ─▶ published ─▶ hand_over, the lane busy still ─▶ ready
//
// Only what is made in a thread's own lane is passed on. Other lanes have what is recorded within such a
// function, or by a signal handler that interrupts a record. The bytes stay unchanged meanwhile: only the
// owner writes into a lane that is busy.
#pragma once

#include "site.hpp"

SP_DETAIL_BEGIN

// Brings the next record of every lane of all threads to the cold path.
SP_DETAIL_COLD void ask_all_lanes() {
    full_fence();
    const std::uint32_t threads = session.threads_next.load(std::memory_order_seq_cst);
    for (std::uint32_t number = 0; number < threads && number < kChunks * kThreadsInChunk; ++number) {
        Thread* chunk = chunks[number / kThreadsInChunk].load(std::memory_order_acquire);
        if (chunk == nullptr) continue;
        for (Lane& lane : chunk[number % kThreadsInChunk].lanes) set_limit(lane, nullptr);
    }
}

// From now on this copy of the headers passes its records on, while there are functions. Called again after
// each that is added.
SP_DETAIL_COLD void join_handing(void (*take)(const silverpoint_made*), const std::uint32_t* functions) {
    handing.take.store(take, std::memory_order_release);
    handing.functions.store(functions, std::memory_order_release);
    ask_all_lanes();
}

SP_DETAIL_COLD void hand_over(const Lane& lane, const char* at, std::size_t size) {
    if (&lane != tls_lane) return;
    auto* const take = handing.take.load(std::memory_order_acquire);
    std::uint32_t id;
    std::memcpy(&id, at + 4, sizeof id);
    if (take == nullptr || id < kFirstSite) return;
    const ErrnoGuard guard;
    const char* const site =
        session.control + session.descs_at +
        std::size_t{session.site(id - kFirstSite).body_at.load(std::memory_order_acquire)} * 8;
    std::uint32_t site_size;
    std::memcpy(&site_size, site, sizeof site_size);
    // A copy: the function may enter and leave scopes.
    char pairs[kContextBytes];
    Thread& thread = *thread_of(tls_lane);
    std::size_t pairs_size = 0;
    if (thread.contexts.state() != 0)
        thread.contexts.alone([&] {
            pairs_size = thread.contexts.size();
            std::memcpy(pairs, thread.contexts.pairs(), pairs_size);
        });
    const auto bytes = [](const char* data) { return reinterpret_cast<const unsigned char*>(data); };
    const silverpoint_made made{
        bytes(at),    size,       bytes(site), site_size,
        bytes(pairs), pairs_size, id,          thread.tid.load(std::memory_order_relaxed)};
    take(&made);
}

// As commit (record.hpp), of a record that has taken the cold path.
SP_DETAIL_COLD void commit_slowly(Lane* lane, char* at, std::size_t size) {
    publish(lane, at, size);
    if (handing.is_wanted()) {
        const std::uint32_t mark = lane->ready.load(std::memory_order_relaxed);
        lane->phase = Phase::kGiven;
        std::atomic_signal_fence(std::memory_order_seq_cst);
        hand_over(*lane, at, size);
        // In a child that was forked meanwhile the lane was wiped, and has no owner. If functions change
        // stacks, another one may have reclaimed it.
        if (thread_of(tls_lane)->magic != kThreadMagic) return;
        if (lane->ready.load(std::memory_order_relaxed) != mark) return;
        lane->phase = Phase::kPacking;
    }
    make_ready(lane);
}

SP_DETAIL_END
