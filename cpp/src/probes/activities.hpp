// Ids of activities, which spans are: a new one each time that a span begins. A begin names its parent, too,
// and events in between name the activity.
#pragma once

#include <atomic>
#include <cstdint>
#include <silverpoint/detail/sys.hpp>

#include "json.hpp"
#include "plan.hpp"

namespace silverpoint::probes {

// (Aligned as a GUID.)
struct [[gnu::packed, gnu::aligned(4)]] ActivityId {
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
        all_[at].id = {detail::process_id(), detail::thread_id(),
                       last.fetch_add(1, std::memory_order_relaxed) + 1};
        std::atomic_signal_fence(std::memory_order_seq_cst);
        all_[at].span = span;
        return all_[at].id;
    }
    // False: its begin did not come here.
    bool end(const void* span, ActivityId& id) {
        if (deeper_ > 0) {
            --deeper_;
            id = of_site(span);
            return true;
        }
        unsigned at = count_;
        while (at > 0 && all_[at - 1].span != span) --at;
        if (at == 0) return false;
        id = all_[at - 1].id;
        for (; at < count_; ++at) all_[at - 1] = all_[at];
        --count_;
        return true;
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
        return {detail::process_id(), detail::thread_id(), reinterpret_cast<std::uintptr_t>(span)};
    }

    Open all_[kMost] = {};
    unsigned count_ = 0, deeper_ = 0;
};
inline thread_local constinit OpenActivities open_activities SP_DETAIL_THREAD_MODEL;

// The activity that an event is of, and for a begin the activity around it.
struct EventActivity {
    ActivityId id, parent;
    bool is_there = false, has_parent = false;

    // `span`: the begin's event, of a span. `ended`: of its end, what `open_activities.end` gave.
    EventActivity(Activities kind, Opcode opcode, const void* span, const ActivityId& ended,
                  const ProbeRecord& record)
        : is_there(kind != Activities::kNone) {
        const ActivityId* const around = open_activities.innermost();
        if (kind == Activities::kEnd) {
            id = ended;
        } else if (kind == Activities::kAsync) {
            id = {detail::process_id(), 0, Input(record.bytes, record.size).get<std::uint64_t>()};
            if (around != nullptr && opcode == kActivityStart) set_parent(*around);
        } else if (kind == Activities::kBegin) {
            if (around != nullptr) set_parent(*around);
            id = open_activities.begin(span);
        } else if (around != nullptr) {
            is_there = true;
            id = *around;
        }
    }

  private:
    void set_parent(const ActivityId& of) {
        parent = of;
        has_parent = true;
    }
};

}  // namespace silverpoint::probes
