// Ids of async spans and flows: unique within a session, in every thread, copy and language (spec/wire.md,
// section 3.1, ids_next).
//
// A thread takes 1,023 at a time, so that an id costs a few nanoseconds. `next` is taken out while it is
// used: a signal handler in between finds none and takes a block of its own.
#pragma once

#include "process.hpp"

SP_DETAIL_BEGIN

inline constexpr std::uint64_t kIdsInBlock = 1024;

// The next id of this thread, 0: none; and its session.
inline thread_local constinit std::atomic<std::uint64_t> tls_next_id SP_DETAIL_THREAD_MODEL{0};
inline thread_local constinit std::uint64_t tls_ids_of SP_DETAIL_THREAD_MODEL = 0;

// First half of the session's random name.
inline std::uint64_t session_name() { return session.header().session_id[0]; }

// The first of a block of ids that no other thread has.
SP_DETAIL_COLD std::uint64_t claim_ids() {
    if (!session.is_ready() && !ensure_session()) {
        // Without a session nothing is recorded; ids are still unique within this copy.
        static constinit Long others{1};
        return others.fetch_add(1, std::memory_order_relaxed) * kIdsInBlock - 1;
    }
    tls_ids_of = session_name();
    const std::uint64_t block = session.header().ids_next.fetch_add(1, std::memory_order_relaxed);
    return block * kIdsInBlock + 1;
}

SP_DETAIL_END

namespace silverpoint {
inline namespace v1 SP_DETAIL_HIDDEN {

// A number that no other call in this session gives, for async spans and flows; never 0. A forked child has a
// session, and numbers, of its own. May stand in a signal handler.
inline std::uint64_t new_id() {
    using namespace detail;
    std::uint64_t id = tls_next_id.exchange(0, std::memory_order_relaxed);
    if (id == 0 || !session.is_ready() || tls_ids_of != session_name()) [[unlikely]]
        id = claim_ids();
    if ((id + 1) % kIdsInBlock != 0) tls_next_id.store(id + 1, std::memory_order_relaxed);
    return id;
}

}  // namespace SP_DETAIL_HIDDEN
}  // namespace silverpoint
