// Ids of activities, which spans are: a new one each time that a span begins. A begin names its parent, too,
// and events in between name the activity.
#pragma once

#include <atomic>
#include <cstdint>
#include <silverpoint/detail/sys.hpp>
#include <utility>

#include "activity_table.hpp"
#include "json.hpp"
#include "plan.hpp"

namespace silverpoint::probes {

// Spans of this thread whose begin was written. Their ends come here, even if the tracepoint is off by then.
//
// A signal handler only adds some, and takes them away.
class OpenActivities {
  public:
    // A span begins; `begun` follows.
    ActivityId begin(int* span) {
        drop_ended();
        const unsigned at = count_;
        if (at == kMost + kDeep || (at >= kMost && !activity_table.has_room())) {
            ++deeper_;
            deep_ = span;
            return of_site(span);
        }
        all_[at].span = nullptr;
        std::atomic_signal_fence(std::memory_order_seq_cst);
        count_ = at + 1;
        std::atomic_signal_fence(std::memory_order_seq_cst);
        all_[at].id = {detail::process_id(), detail::thread_id(), ActivityTable::new_stamp()};
        all_[at].place = kNew;
        std::atomic_signal_fence(std::memory_order_seq_cst);
        all_[at].span = span;
        return all_[at].id;
    }
    // It began at these ticks, by which its end knows it.
    void begun(int* span, std::uint64_t began) {
        for (unsigned at = count_; at > 0; --at) {
            Open& open = all_[at - 1];
            if (open.span != span || open.place != kNew) continue;
            open.place = activity_table.add(span, began, open.id, open.id.number);
            if (at <= kMost) return;
            // It is in the table alone.
            if (open.place == ActivityTable::kNowhere) __atomic_fetch_sub(span, 1, __ATOMIC_RELAXED);
            drop([&open](const Open& of) { return &of == &open; });
            return;
        }
        if (std::exchange(deep_, nullptr) == span &&
            activity_table.add(span, began, of_site(span), ActivityTable::new_stamp()) !=
                ActivityTable::kNowhere)
            --deeper_;
    }
    // False: its begin was not written.
    bool end(const int* span, std::uint64_t began, ActivityId& id) {
        if (activity_table.take(span, began, id)) {
            drop([&id](const Open& open) { return open.id.number == id.number; });
            return true;
        }
        if (drop([span, &id](const Open& open) {
                if (open.span != span || open.place != ActivityTable::kNowhere) return false;
                id = open.id;
                return true;
            }))
            return true;
        if (deeper_ == 0) return false;
        --deeper_;
        id = of_site(span);
        return true;
    }
    // Of the innermost span; null: none is open.
    const ActivityId* innermost() const {
        unsigned at = count_ < kMost ? count_ : kMost;
        while (at > 0 && (all_[at - 1].span == nullptr || all_[at - 1].has_ended())) --at;
        return at > 0 ? &all_[at - 1].id : nullptr;
    }

  private:
    // Deeper ones are in the table alone, once they are known there: threads have little memory of this sort.
    // Where that has no room they have the same id each time.
    static constexpr unsigned kMost = 8, kDeep = 2;
    static constexpr std::uint32_t kNew = ActivityTable::kNowhere - 1;  // `begun` was not called yet
    struct Open {
        const int* span = nullptr;  // null: it is being added
        ActivityId id;
        std::uint32_t place = kNew;

        bool is_in_table() const { return place < kNew; }
        // In another thread.
        bool has_ended() const { return is_in_table() && !activity_table.has(place, id.number); }
    };

    static ActivityId of_site(const int* span) {
        return {detail::process_id(), detail::thread_id(), reinterpret_cast<std::uintptr_t>(span)};
    }
    // The innermost for which `is_it` is true. False: there is none.
    template <class IsIt>
    bool drop(const IsIt& is_it) {
        unsigned at = count_;
        while (at > 0 && (all_[at - 1].span == nullptr || !is_it(all_[at - 1]))) --at;
        if (at == 0) return false;
        const bool was_moving = std::exchange(is_moving_, true);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        for (; at < count_; ++at) all_[at - 1] = all_[at];
        --count_;
        std::atomic_signal_fence(std::memory_order_seq_cst);
        is_moving_ = was_moving;
        return true;
    }
    // Those that other threads have ended. Not in a signal handler that comes while they are moved.
    void drop_ended() {
        if (is_moving_) return;
        while (drop([](const Open& open) { return open.has_ended(); })) {
        }
    }

    Open all_[kMost + kDeep] = {};
    unsigned count_ = 0, deeper_ = 0;
    const int* deep_ = nullptr;  // the last of these, until `begun`
    bool is_moving_ = false;
};
inline thread_local constinit OpenActivities open_activities SP_DETAIL_THREAD_MODEL;

// The activity that an event is of, and for a begin the activity around it.
struct EventActivity {
    ActivityId id, parent;
    bool is_there = false, has_parent = false;

    // `span`: the begin's event, of a span. `ended`: of its end, what `open_activities.end` gave.
    EventActivity(Activities kind, Opcode opcode, int* span, const ActivityId& ended,
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
