// Ids of activities, which spans are: a new one each time that a span begins. A begin names its parent, too,
// and events in between name the activity.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <silverpoint/detail/sys.hpp>

namespace silverpoint::user_events {

struct [[gnu::packed]] ActivityId {
    std::uint32_t process = 0;
    std::uint32_t thread = 0;  // 0: of an async span
    std::uint64_t number = 0;  // of an async span its id
};
static_assert(sizeof(ActivityId) == 16);

// Spans of this thread whose begin was written. Their ends come here, even if the tracepoint is off by then.
//
// A signal handler only adds some, and takes them away.
class OpenActivities {
  public:
    // A span begins.
    ActivityId begin(const void* span) {
        static constinit std::atomic<std::uint64_t> last{0};
        if (count_ == kMost) {
            ++deeper_;
            return of_site(span);
        }
        const unsigned at = count_;
        all_[at].span = nullptr;
        std::atomic_signal_fence(std::memory_order_seq_cst);
        count_ = at + 1;
        std::atomic_signal_fence(std::memory_order_seq_cst);
        all_[at].id = {static_cast<std::uint32_t>(getpid()), detail::thread_id(),
                       last.fetch_add(1, std::memory_order_relaxed) + 1};
        std::atomic_signal_fence(std::memory_order_seq_cst);
        all_[at].span = span;
        return all_[at].id;
    }
    ActivityId end(const void* span) {
        if (deeper_ > 0) {
            --deeper_;
            return of_site(span);
        }
        unsigned at = count_;
        while (at > 0 && all_[at - 1].span != span) --at;
        // (It has begun in another thread.)
        if (at == 0) return of_site(span);
        const ActivityId id = all_[at - 1].id;
        for (; at < count_; ++at) all_[at - 1] = all_[at];
        --count_;
        return id;
    }
    // Of the innermost span; null: none is open.
    const ActivityId* innermost() const {
        unsigned at = count_;
        while (at > 0 && all_[at - 1].span == nullptr) --at;
        return at > 0 ? &all_[at - 1].id : nullptr;
    }

  private:
    // Deeper ones have the same id each time: threads have little memory of this sort.
    static constexpr unsigned kMost = 8;
    struct Open {
        const void* span = nullptr;  // null: it is being added
        ActivityId id;
    };

    static ActivityId of_site(const void* span) {
        return {static_cast<std::uint32_t>(getpid()), detail::thread_id(),
                reinterpret_cast<std::uintptr_t>(span)};
    }

    Open all_[kMost] = {};
    unsigned count_ = 0, deeper_ = 0;
};
[[gnu::tls_model("initial-exec")]] inline constinit thread_local OpenActivities open_activities;

}  // namespace silverpoint::user_events
