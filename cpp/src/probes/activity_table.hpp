// Open spans of all threads, so that one may end in another thread than it began in, even if that has ended.
#pragma once

#include <atomic>
#include <cstdint>
#include <silverpoint/detail/sys.hpp>

namespace silverpoint::probes {

// (Aligned as a GUID.)
struct [[gnu::packed, gnu::aligned(4)]] ActivityId {
    std::uint32_t process = 0;
    std::uint32_t thread = 0;  // 0: of an async span
    std::uint64_t number = 0;  // of an async span its id
};
static_assert(sizeof(ActivityId) == 16);

// A span's event is known by its count of spans that have begun. The frontend knows one execution by ticks.
//
// No lock, so that a signal handler may come in between. A span has a few places, by its ticks. Where there
// is no room, another thread's oldest one of these gives way: its end has perhaps been forgotten.
class ActivityTable {
  public:
    static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};

    // Then `add` finds a place, as good as always: half of them are free.
    bool has_room() const { return used_.load(std::memory_order_relaxed) < kPlaces / 2; }
    // Where it is from now on, with this stamp, which nothing else has; kNowhere: there is no place.
    std::uint32_t add(int* span, std::uint64_t began, const ActivityId& id, std::uint64_t stamp) {
        const std::uint32_t first = first_place(span, began);
        for (std::uint32_t i = 0; i < kTries && has_room(); ++i) {
            const std::uint32_t place = (first + i) % kPlaces;
            std::uint64_t free = kFree;
            if (all_[place].stamp.compare_exchange_strong(free, kBusy, std::memory_order_acq_rel)) {
                used_.fetch_add(1, std::memory_order_relaxed);
                all_[place].put(span, began, id, stamp);
                return place;
            }
        }
        return replace_oldest(first, span, began, id, stamp);
    }
    // It ends: false if it is not there. Of several, which began in one moment, this thread's.
    bool take(const int* span, std::uint64_t began, ActivityId& id) {
        const std::uint32_t first = first_place(span, began), own = detail::thread_id();
        for (const bool is_any : {false, true}) {
            for (std::uint32_t i = 0; i < kTries; ++i) {
                Place& place = all_[(first + i) % kPlaces];
                std::uint64_t stamp = place.stamp.load(std::memory_order_acquire);
                if (stamp <= kBusy || place.span.load(std::memory_order_relaxed) != span ||
                    place.began.load(std::memory_order_relaxed) != began)
                    continue;
                const ActivityId found = place.id();
                if ((is_any || found.thread == own) &&
                    place.stamp.compare_exchange_strong(stamp, kFree, std::memory_order_acq_rel)) {
                    used_.fetch_sub(1, std::memory_order_relaxed);
                    id = found;
                    return true;
                }
            }
        }
        return false;
    }
    bool has(std::uint32_t place, std::uint64_t stamp) const {
        return all_[place].stamp.load(std::memory_order_acquire) == stamp;
    }
    static std::uint64_t new_stamp() {
        static constinit std::atomic<std::uint64_t> last{kBusy};
        return last.fetch_add(1, std::memory_order_relaxed) + 1;
    }

  private:
    static constexpr std::uint32_t kPlaces = 8192, kTries = 32;
    static constexpr std::uint64_t kFree = 0, kBusy = 1;  // stamps
    struct Place {
        std::atomic<std::uint64_t> stamp{kFree};
        std::atomic<int*> span{nullptr};
        std::atomic<std::uint64_t> began{0}, number{0}, process_and_thread{0};

        ActivityId id() const {
            const std::uint64_t both = process_and_thread.load(std::memory_order_relaxed);
            return {static_cast<std::uint32_t>(both >> 32), static_cast<std::uint32_t>(both),
                    number.load(std::memory_order_relaxed)};
        }
        // While it is busy.
        void put(int* of, std::uint64_t ticks, const ActivityId& id, std::uint64_t made) {
            span.store(of, std::memory_order_relaxed);
            began.store(ticks, std::memory_order_relaxed);
            number.store(id.number, std::memory_order_relaxed);
            process_and_thread.store(std::uint64_t{id.process} << 32 | id.thread, std::memory_order_relaxed);
            stamp.store(made, std::memory_order_release);
        }
    };

    static std::uint32_t first_place(const int* span, std::uint64_t began) {
        const std::uint64_t mixed = (began ^ reinterpret_cast<std::uintptr_t>(span)) * 0x9E3779B97F4A7C15;
        return static_cast<std::uint32_t>(mixed >> 40) % kPlaces;
    }
    std::uint32_t replace_oldest(std::uint32_t first, int* span, std::uint64_t began, const ActivityId& id,
                                 std::uint64_t stamp) {
        std::uint32_t oldest = kNowhere;
        std::uint64_t least = ~std::uint64_t{0};
        int* gone = nullptr;
        for (std::uint32_t i = 0; i < kTries; ++i) {
            const std::uint32_t place = (first + i) % kPlaces;
            const std::uint64_t found = all_[place].stamp.load(std::memory_order_acquire);
            if (found <= kBusy || found >= least || all_[place].id().thread == id.thread) continue;
            oldest = place;
            least = found;
            gone = all_[place].span.load(std::memory_order_relaxed);
        }
        if (oldest == kNowhere ||
            !all_[oldest].stamp.compare_exchange_strong(least, kBusy, std::memory_order_acq_rel))
            return kNowhere;
        __atomic_fetch_sub(gone, 1, __ATOMIC_RELAXED);
        all_[oldest].put(span, began, id, stamp);
        return oldest;
    }

    std::atomic<std::uint32_t> used_{0};
    Place all_[kPlaces];
};
inline constinit ActivityTable activity_table;

}  // namespace silverpoint::probes
