// The cold path of a record. A thread without a ring takes it, and a forked child. So does a signal handler,
// a record at an eighth of the ring or at its end, and one for which the ring is full.
//
//   reserve ─┬─ first record of the thread, or of a forked child: claim
//            ├─ the lane is busy: a signal handler interrupted a record; the next lane
//            └─ room_for ─┬─ too large: grow, else cut
//                         ├─ room: wrap with a pad, marks, doorbell, growth under pressure, a new limit
//                         └─ full: grow, or continue in a further slice of the largest size; else drop,
//                            wait (then degrade), or overwrite
//
// How often: at each quarter of the ring, as long as nothing is overwritten. Reading the collector's words
// costs as much as ten records. A record of three numbers has 16 + 4 + 8 + 8 bytes, with its tail 40:
//
//   slice      (bytes - 256) / 4   records in it   what ten records add
//     2 KiB                  448              11   91 %
//    16 KiB                4,032             100   10 %
//   128 KiB               32,704             817   1.2 %
//     1 MiB              262,080           6,552   0.15 %
//
// So a small ring that fills quickly grows (is_too_small). Beyond 128 KiB little is left to save. Where
// records are overwritten it is an eighth: that costs twice as much, and cuts the history by an eighth only.
//
// Who may do what: the owner of the lane, or its signal handler, does all of this. Another thread may only
// make the limit null. The collector's words lie on a line of their own, which this reads (layout.hpp).
#pragma once

#include "lane.hpp"
#include "paged.hpp"

SP_DETAIL_BEGIN

// How a record comes to the cold path. `lane` is the thread's own if the hot path has made it busy, else
// null. `frame` is the mark of the function that the tracepoint has called (stack_mark).
struct Entry {
    Lane* lane;
    std::uint32_t frame;
};

// Room for one record in a lane that is busy until the caller releases it. Without room `at` is null and the
// lane is ready again. The record is lost and counted, or (if `lane` is set) larger than any ring accepts.
struct Reservation {
    Lane* lane;
    char* at;
};

SP_DETAIL_COLD void count_loss(Lane& lane, Cause cause) {
    const auto number = static_cast<unsigned>(cause);
    if (!lane.ring) return count_session_loss(cause);
    lane.ring.header().losses[number].fetch_add(1, std::memory_order_relaxed);
    const std::uint64_t now = session.now();
    if (lane.lost[number]++ == 0) lane.lost_first[number] = now;
    lane.lost_last[number] = now;
    lane.untold = true;
}

SP_DETAIL_INLINE Policy policy_of(Level level) {
    if (!session.is_collected()) return Policy::kOverwrite;
    return session.header().policy[static_cast<std::size_t>(level)].load(std::memory_order_relaxed);
}

SP_DETAIL_COLD bool attach(Lane& lane, unsigned number, unsigned size, bool may_begin_slab = true) {
    const Ring ring = claim_ring(size, number, thread_id(), lane.stream, may_begin_slab);
    if (!ring) return false;
    if (lane.ring) set_ring_state(lane.ring, kRingRetired);
    lane.ring = ring;
    lane.size = size;
    lane.stream = ring.header().stream.load(std::memory_order_relaxed);
    lane.capacity = ring.header().capacity.load(std::memory_order_relaxed);
    lane.eighth = lane.capacity / kSubBuffers;
    lane.data = ring.base + kRingHeader;
    lane.end = lane.data + lane.capacity;
    const std::uint64_t base = ring.header().base.load(std::memory_order_relaxed);
    lane.cur = lane.data + base % lane.capacity;
    lane.delta = base - reinterpret_cast<std::uint64_t>(lane.cur);
    lane.committed = &ring.committed();
    lane.base = base;
    lane.entered = is_prepared(ring) ? base : kAllThere;
    lane.there = kAllThere;
    lane.last = lane.end;
    if (!is_there(ring)) begin_memory(lane);
    lane.claimed_ns = monotonic_now_coarse();
    for (auto& mark : lane.marks) mark = 0;
    lane.stated = lane.stated_eighth = 0;
    return true;
}

// The first ring: the smallest that can hold the record, else the largest smaller one.
SP_DETAIL_COLD bool attach_first(Lane& lane, unsigned number, std::size_t size) {
    unsigned fitting = 0;
    while (fitting + 1 < kSizes && capacity_of(fitting) / 4 < size) ++fitting;
    for (unsigned at = fitting + 1; at-- > 0;)
        if (attach(lane, number, at)) return true;
    if (session.warned.exchange(1) == 0)
        warn("no memory for another ring; records of threads without one are lost and counted");
    return false;
}

SP_DETAIL_COLD bool grow(Lane& lane, unsigned number, std::size_t size, bool may_begin_slab = true) {
    unsigned goal = lane.size + 1;
    while (goal < kSizes && capacity_of(goal) != 0 && capacity_of(goal) / 4 < size) ++goal;
    return goal < kSizes && capacity_of(goal) > lane.capacity && attach(lane, number, goal, may_begin_slab);
}

// Whether a larger ring is worth its memory. It is if more than half of this one waits for the collector.
// Below 128 KiB it also is if this one was filled twice within half a second. Larger rings leave the
// processor's inner caches, so they are used only if needed.
SP_DETAIL_COLD bool is_too_small(const Lane& lane, std::uint64_t used) {
    if (used > lane.capacity / 2) return true;
    return lane.size < 2 && lane.position() - lane.base > 2ull * lane.capacity &&
           monotonic_now_coarse() - lane.claimed_ns < 500'000'000u;
}

// Growth leaves slabs to others, unless a record needs it. It leaves an eighth of all when the ring becomes
// 16 KiB, a quarter at 128 KiB, three eighths beyond. Otherwise the first threads would have the largest
// rings, and later ones would wait every few records. Free slices of slabs in use are available in any case.
inline bool is_plenty(unsigned size) {
    const unsigned shift = shift_of(size);
    const std::uint64_t eighths = shift <= 14 ? 1 : shift <= 17 ? 2 : 3;
    const std::uint64_t usable = usable_slabs();
    std::uint64_t left = usable * eighths / 8;
    if (left == 0 && usable >= 4) left = 1;
    return shift != 0 && slabs_in_use() + left < usable;
}

// Whether the session has no larger rings.
inline bool is_largest(const Lane& lane) { return capacity_of(lane.size + 1) <= lane.capacity; }

// Continues in a further slice of the largest size, in place of a wait or a loss. An emptied slice comes
// first, then a new one as long as there is plenty for others. `may_pause`: not at each record.
SP_DETAIL_COLD bool go_on(Lane& lane, unsigned number, bool may_pause) {
    if (!is_largest(lane)) return false;
    const std::uint64_t now = monotonic_now_coarse();
    if (may_pause && now < lane.continue_after_ns) return false;
    if (attach(lane, number, lane.size, is_plenty(lane.size))) return true;
    lane.continue_after_ns = now + 1'000'000u;
    return false;
}

// Bytes that a record of this size takes from here on: with a pad if it does not fit into this lap.
inline std::uint64_t need_of(const Lane& lane, std::size_t size) {
    return does_wrap(lane, size) ? size + static_cast<std::size_t>(lane.end - lane.cur) : size;
}

// Steps over the end of the data, where a record does not fit before it. There is room for both.
SP_DETAIL_COLD void wrap(Lane& lane) {
    const auto rest = static_cast<std::size_t>(lane.end - lane.cur);
    if (rest != 0) {
        const std::uint64_t pad = rest;
        std::memcpy(lane.cur, &pad, 8);  // size, and site id 0
    }
    const std::uint64_t position = lane.position() + rest;
    lane.cur = lane.data;
    lane.delta = position - reinterpret_cast<std::uint64_t>(lane.data);
}

// How far the hot path goes before it takes the cold path again. It goes a quarter of the ring, since reading
// the collector's words costs as much as ten records. It goes an eighth if records are overwritten, so that
// the history is not cut shorter than that.
inline std::uint32_t stride_of(const Lane& lane) {
    if (!session.is_collected()) return lane.eighth;
    for (unsigned level = 0; level < kLevels; ++level)
        if (session.header().policy[level].load(std::memory_order_relaxed) == Policy::kOverwrite)
            return lane.eighth;
    // Not further than the largest record: a record that fits before the limit is not compared with it again.
    return lane.eighth * (kSubBuffers / 4);
}

// Bytes that one page fault enters: the kernel's `fault_around_bytes`, aligned to itself.
inline constexpr std::uintptr_t kFaultAround = 65536;

// Enters pages into the page tables, as far as a record that ends at `end` needs them. To enter all up to
// `limit` at once would take long. Returns the limit, between both. The lane has stepped over the end of its
// data if the record needs that.
SP_DETAIL_COLD char* enter_pages(Lane& lane, const char* end, char* limit) {
    const auto position_of = [&](const char* at) { return reinterpret_cast<std::uint64_t>(at) + lane.delta; };
    if (lane.entered < position_of(lane.data)) lane.entered = position_of(lane.data);
    while (lane.entered < position_of(end)) {
        const std::uint64_t address = lane.entered - lane.delta;
        load_page(reinterpret_cast<const char*>(address));
        const std::uint64_t next = lane.entered + kFaultAround - address % kFaultAround;
        lane.entered = next < position_of(lane.end) ? next : position_of(lane.end);
    }
    if (lane.entered >= lane.base + lane.capacity) lane.entered = kAllThere;
    std::uint64_t most = lane.entered;
    if (is_partial(lane)) {
        const std::uint64_t there = end_of_memory(lane);
        if (there < most) most = there;
    }
    return position_of(limit) <= most ? limit : lane.data + (most - position_of(lane.data));
}

// Notes where a record begins: every eighth of the ring knows its first.
SP_DETAIL_COLD void mark(Lane& lane) {
    const auto number = static_cast<std::uint32_t>(lane.cur - lane.data) / lane.eighth;
    std::uint64_t& known = lane.marks[number < kSubBuffers ? number : kSubBuffers - 1];
    const std::uint64_t position = lane.position();
    if (position - known >= lane.eighth || known == 0) known = position;
}

// Gives up the oldest records so that `need` bytes can be written; stops at a record's beginning.
SP_DETAIL_COLD void forget_oldest(Lane& lane, std::uint64_t need) {
    const std::uint64_t position = lane.position();
    const std::uint64_t least = position + need - lane.capacity;
    std::uint64_t oldest = position;
    for (const std::uint64_t known : lane.marks)
        if (known >= least && known < oldest) oldest = known;
    // A record that was given up behind a pad leaves the position ahead of what is published.
    const std::uint64_t committed = lane.committed->load(std::memory_order_relaxed);
    Steps::give_up(lane.ring.oldest(), oldest < committed ? oldest : committed);
}

// Appends a control record if there is room.
SP_DETAIL_COLD bool put_control(Lane& lane, std::uint32_t site, const void* args, std::uint32_t len,
                                bool overwrite) {
    const std::uint32_t size = (16 + len + 7) & ~7u;
    // Where there is no memory laps become shorter, but not that short.
    while (!make_memory(lane, size)) {
    }
    const std::uint64_t need = need_of(lane, size);
    if (lane.position() + need > lane.lower() + lane.capacity) {
        if (!overwrite) return false;
        forget_oldest(lane, need);
    }
    if (does_wrap(lane, size)) wrap(lane);
    mark(lane);
    const std::uint64_t ticks = session.now();
    std::memset(lane.cur, 0, size);
    std::memcpy(lane.cur, &size, 4);
    std::memcpy(lane.cur + 4, &site, 4);
    std::memcpy(lane.cur + 8, &ticks, 8);
    std::memcpy(lane.cur + 16, args, len);
    lane.cur += size;
    Steps::publish(*lane.committed, lane.position());
    return true;
}

// Records losses and waits as soon as there is room.
SP_DETAIL_COLD void tell(Lane& lane, bool overwrite) {
    if (lane.stalled_ns != 0) {
        char args[9];
        args[0] = static_cast<char>(lane.stalled_why);
        std::memcpy(args + 1, &lane.stalled_ns, 8);
        if (put_control(lane, kSiteStall, args, sizeof args, overwrite)) lane.stalled_ns = 0;
    }
    if (!lane.untold) return;
    bool all = true;
    for (unsigned cause = 0; cause < kCauses; ++cause) {
        if (lane.lost[cause] == 0) continue;
        char args[25];
        args[0] = static_cast<char>(cause);
        std::memcpy(args + 1, &lane.lost[cause], 8);
        std::memcpy(args + 9, &lane.lost_first[cause], 8);
        std::memcpy(args + 17, &lane.lost_last[cause], 8);
        if (put_control(lane, kSiteLoss, args, sizeof args, overwrite)) {
            lane.lost[cause] = 0;
        } else {
            all = false;
        }
    }
    lane.untold = !all;
}

SP_DETAIL_COLD void ring_doorbell() {
    if (!Steps::is_asleep(session.header().collector_sleeping)) return;
    session.header().doorbell.fetch_add(1, std::memory_order_release);
    wake_waiters(&session.header().doorbell);
}

// How far ahead of the records their lines are prefetched. The collector has read them in the last lap, and
// getting a line back from another core takes as long as five records. Prefetched in time, it is back when it
// is needed.
inline constexpr std::size_t kAhead = 4096, kLine = 64;

// Prefetches a cache line for writing. (Without the extension the instruction does nothing.)
SP_DETAIL_HOT void take_line([[maybe_unused]] char* at) { SP_DETAIL_PREFETCH_TO_WRITE(at); }

inline void pause_processor() { SP_DETAIL_PAUSE(); }

// A collector whose heartbeat stands still for so long makes no progress: it beats at least five times a
// second.
inline constexpr std::uint64_t kHeartbeatNs = 1'000'000'000;

// Waits until `need` bytes are free, here or in a further slice. It does so as long as the policy allows and
// the collector makes progress; false if the record is lost.
SP_DETAIL_COLD bool wait_for_room(Lane& lane, unsigned number, std::uint64_t need, Level level) {
    const auto has_room = [&] { return lane.position() + need <= lane.lower() + lane.capacity; };
    const std::uint64_t begin = monotonic_now();
    Word& waiting = lane.ring.header().waiting;
    Word& wake = lane.ring.header().wake;
    const Long& heartbeat = session.header().heartbeat;
    std::uint64_t beats = heartbeat.load(std::memory_order_relaxed), beaten = begin;
    bool lost = false;
    ring_doorbell();
    for (int spins = 0; spins < 100 && !has_room(); ++spins) pause_processor();
    const auto has_place = [&] {
        return has_room() || (is_largest(lane) && is_one_adoptable(shift_of(lane.size)));
    };
    while (!has_room() && !go_on(lane, number, false)) {
        if (policy_of(level) != Policy::kBlock) break;
        const std::uint64_t now = monotonic_now();
        if (const std::uint64_t seen = heartbeat.load(std::memory_order_relaxed); seen != beats) {
            beats = seen;
            beaten = now;
        }
        const std::uint32_t most_ms = session.header().block_max_ms.load(std::memory_order_relaxed);
        if (most_ms != kBlockForEver &&
            (now - begin >= std::uint64_t{most_ms} * 1'000'000u || now - beaten >= kHeartbeatNs)) {
            const bool full =
                session.header().collector_state.load(std::memory_order_relaxed) == kStateSinkFull;
            const Cause cause = full ? Cause::kSinkFull : Cause::kCollectorGone;
            lane.degraded = static_cast<std::uint32_t>(cause) + 1;
            count_loss(lane, cause);
            lost = true;
            break;
        }
        Steps::wait(waiting, wake, has_place, [&](std::uint32_t value) {
            ring_doorbell();
            wait_for_change(&wake, value, 20'000'000);
        });
    }
    const std::uint64_t waited = monotonic_now() - begin;
    lane.ring.header().stalls.fetch_add(1, std::memory_order_relaxed);
    lane.ring.header().stall_ns.fetch_add(waited, std::memory_order_relaxed);
    lane.stalled_ns += waited;
    lane.stalled_why = lost ? static_cast<std::uint8_t>(lane.degraded - 1) : 0;
    return !lost;
}

// Anchors are for the session; any thread that takes the cold path makes them.
SP_DETAIL_COLD void add_anchor_each_second() {
    static constinit Long next_ns{0};
    const std::uint64_t now = monotonic_now_coarse();
    std::uint64_t next = next_ns.load(std::memory_order_relaxed);
    if (now < next || !next_ns.compare_exchange_strong(next, now + 1'000'000'000u, std::memory_order_relaxed))
        return;
    if (next != 0) add_anchor();
}

enum class Room { kFound, kLost, kTooLarge };

// Makes room at lane.cur for `size` bytes.
SP_DETAIL_COLD Room room_for(Lane& lane, unsigned number, std::size_t size, Level level) {
    if (!lane.ring && !attach_first(lane, number, size)) {
        count_session_loss(Cause::kNoMemory);
        return Room::kLost;
    }
    for (;;) {
        std::size_t most = (static_cast<std::size_t>(lane.last - lane.data) / 4) & ~std::size_t{7};
        if (most > kRecordMax) most = kRecordMax;
        if (size > most) {
            if (most < kRecordMax && grow(lane, number, size)) continue;
            return Room::kTooLarge;
        }
        const Policy policy = policy_of(level);
        const bool overwrite = policy == Policy::kOverwrite;
        std::uint64_t used = lane.position() - lane.lower();
        if (lane.degraded != 0) {
            if (!overwrite && used > lane.capacity / 2) {
                count_loss(lane, static_cast<Cause>(lane.degraded - 1));
                return Room::kLost;
            }
            lane.degraded = 0;
        }
        if (lane.untold || lane.stalled_ns != 0) {
            tell(lane, overwrite);
            used = lane.position() - lane.lower();
        }
        if (!make_memory(lane, size)) continue;
        const std::uint64_t need = need_of(lane, size);
        if (overwrite) {
            // The flight recorder's history is as long as its ring.
            if (used + need > lane.capacity && grow(lane, number, size, is_plenty(lane.size + 1))) continue;
            if (used + need > lane.capacity) forget_oldest(lane, need);
        } else if (used + need > lane.capacity) {
            if (grow(lane, number, size, is_plenty(lane.size + 1)) ||
                go_on(lane, number, policy == Policy::kDrop))
                continue;
            if (policy == Policy::kDrop) {
                count_loss(lane, Cause::kFull);
                return Room::kLost;
            }
            if (!wait_for_room(lane, number, need, level)) return Room::kLost;
            continue;
        } else if (is_too_small(lane, used) && is_plenty(lane.size + 1) &&
                   !is_being_prepared(shift_of(lane.size + 1)) && grow(lane, number, size)) {
            continue;
        }
        const char* before = lane.cur;
        if (does_wrap(lane, size)) wrap(lane);
        mark(lane);
        const std::uint64_t position = lane.position();
        const auto offset = static_cast<std::uint32_t>(lane.cur - lane.data);
        if (position - lane.lower() >= lane.capacity / 4) ring_doorbell();
        add_anchor_each_second();
        const std::uint32_t stride = stride_of(lane);
        char* limit = lane.data + (offset / stride + 1) * stride;
        if (limit > lane.end) limit = lane.end;
        const std::uint64_t free = lane.lower() + lane.capacity - position;
        if (static_cast<std::uint64_t>(limit - lane.cur) > free) limit = lane.cur + free;
        lane.reach = static_cast<std::uint64_t>(lane.end - lane.cur) > free ? lane.cur + free : lane.end;
        if (limit < lane.cur + size) limit = lane.cur + size;
        // (Most rings are whole, and in the page tables.)
        if (lane.entered != kAllThere || is_partial(lane)) limit = enter_pages(lane, lane.cur + size, limit);
        set_limit(lane, limit);
        // On the cold path records are passed to functions of the program (hand_over.hpp). Behind the fence
        // either this sees that there is a function, or the thread that adds it comes after the limit above.
        // Without a counter that user mode can trust, every record reads the system's clock there, too.
        full_fence();
        if (session.source == kMonotonic || handing.is_wanted()) set_limit(lane, nullptr);
        // At the beginning of a lap its first lines were not prefetched.
        if (lane.cur < before || lane.cur == lane.data)
            for (char* line = lane.cur; line < lane.cur + kAhead && line < lane.reach; line += kLine)
                take_line(line);
        return Room::kFound;
    }
}

// Whether the fields of the next record must be stated before it. They must if they differ from those stated
// last. If there are any, they must also before the first record of an eighth, so that the rest of an
// overwritten history has them.
inline bool is_context_due(const Lane& lane, const Contexts& contexts) {
    // A signal handler that has interrupted a change: the previous statement stays valid.
    if (contexts.is_busy()) return false;
    const std::uint64_t state = contexts.state();
    if (!lane.ring) return state != 0;
    return state != lane.stated || (state != 0 && lane.position() / lane.eighth != lane.stated_eighth);
}

// Writes the record that states the fields of those after it; without fields if no ring accepts all of them.
SP_DETAIL_COLD Room state_context(Lane& lane, unsigned number, Level level, Contexts& contexts) {
    constexpr std::size_t kFrame = 16 + 4 + 2;  // header, length, first and last byte of a map
    Room room = Room::kLost;
    contexts.alone([&] {
        std::size_t pairs = contexts.size();
        bool cut = contexts.is_cut();
        room = room_for(lane, number, (kFrame + pairs + 7) & ~std::size_t{7}, level);
        if (room == Room::kTooLarge) {
            pairs = 0;
            cut = true;
            room = room_for(lane, number, (kFrame + 7) & ~std::size_t{7}, level);
        }
        if (room != Room::kFound) return;
        const std::size_t size = (kFrame + pairs + 7) & ~std::size_t{7};
        lane.stated = contexts.state();
        lane.stated_eighth = lane.position() / lane.eighth;
        const std::uint32_t head[2] = {static_cast<std::uint32_t>(size) | (cut ? kTruncated : 0),
                                       kSiteContext};
        const std::uint64_t ticks = session.now();
        const auto item = static_cast<std::uint32_t>(pairs + 2);
        std::memset(lane.cur + size - 8, 0, 8);
        std::memcpy(lane.cur, head, 8);
        std::memcpy(lane.cur + 8, &ticks, 8);
        std::memcpy(lane.cur + 16, &item, 4);
        lane.cur[20] = static_cast<char>(0xBF);
        std::memcpy(lane.cur + 21, contexts.pairs(), pairs);
        lane.cur[21 + pairs] = static_cast<char>(0xFF);
        lane.cur += size;
        Steps::publish(*lane.committed, lane.position());
    });
    return room;
}

// As room_for, after stating the context if that is due.
SP_DETAIL_COLD Room room_in_context(Lane& lane, unsigned number, std::size_t size, Level level) {
    Lane* own = tls_lane;
    // Again if the record finds itself in another ring, or another eighth of it.
    for (int attempt = 0; own != &empty_lane && attempt < 4; ++attempt) {
        Contexts& contexts = thread_of(own)->contexts;
        if (is_context_due(lane, contexts) && state_context(lane, number, level, contexts) != Room::kFound)
            return Room::kLost;
        const Room room = room_for(lane, number, size, level);
        if (room != Room::kFound || !is_context_due(lane, contexts)) return room;
    }
    return room_for(lane, number, size, level);
}

// Whether the frame with this mark is gone: it lay deeper in the stack than the function that the tracepoint
// has called. A signal handler that interrupts it lies deeper still, at least by what the kernel saves. A
// handler on a stack of its own is not judged.
SP_DETAIL_COLD bool is_left(std::uint32_t mark, std::uint32_t frame) {
    constexpr std::uint32_t kArguments = 256;  // of the call, between both
    if (mark == 0 || static_cast<std::int32_t>(frame + kArguments - mark) < 0) return false;
    return !is_on_handler_stack();
}

// The first record of a thread or of a forked child: gives it lanes.
SP_DETAIL_COLD Lane* begin_thread(std::uint32_t frame) {
    if (tls_claiming != 0 && !is_left(tls_claiming, frame)) {
        count_session_loss(Cause::kNested);
        return nullptr;
    }
    tls_claiming = frame | kReady;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    Lane* lane = tls_lane;
    Thread* thread = lane == &empty_lane ? nullptr : thread_of(lane);
    const bool is_ready = ensure_session();
    const std::uint32_t tid = thread_id();
    if (is_ready && thread == nullptr) thread = claim_thread(tid);
    if (is_ready && thread != nullptr) {
        reset_thread(*thread, tid);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        tls_lane = lane = &thread->lanes[0];
        if (auto* const call = on_first_record.load(std::memory_order_acquire)) call();
    } else {
        count_session_loss(Cause::kNoMemory);
        lane = nullptr;
    }
    tls_claiming = 0;
    return lane;
}

// Reclaims a lane whose record will never be finished, because something has jumped out of it. That is a
// signal handler that interrupted it, or a function that received it (hand_over.hpp). What is published
// stays, the rest is counted. The lane stays busy, for the caller.
SP_DETAIL_COLD bool take_back(Thread& thread, Lane& lane, std::uint32_t frame) {
    if (!is_left(lane.ready.load(std::memory_order_relaxed), frame)) return false;
    // Not at once: a handler on a stack that the kernel does not report looks the same, but ends soon.
    if (lane.phase != Phase::kGiven && ++lane.doubted < 8) return false;
    lane.doubted = 0;
    const Phase phase = lane.phase;
    lane.phase = Phase::kPacking;
    set_limit(lane, nullptr);
    if (phase == Phase::kGiven) return true;
    if (phase == Phase::kCold) {
        // Half-changed state is not used any more.
        thread.contexts.give_up();
        if (lane.ring) set_ring_state(lane.ring, kRingRetired);
        lane.ring = Ring{};
        lane.cur = lane.reach = lane.data = lane.end = lane.last = nullptr;
        lane.capacity = lane.eighth = lane.size = 0;
        lane.delta = 0;
    } else if (lane.ring) {
        Steps::publish(*lane.committed, lane.position());
    }
    count_loss(lane, Cause::kOther);
    return true;
}

// A lane for a record that did not get the thread's own at once; null when the record is lost.
SP_DETAIL_COLD Lane* enter_lane(const Entry& entry, unsigned& number) {
    Lane* lane = tls_lane;
    if (lane == &empty_lane || thread_of(lane)->magic != kThreadMagic) {
        lane = begin_thread(entry.frame);
        if (lane == nullptr) return nullptr;
    }
    Thread& thread = *thread_of(lane);
    for (number = 0; number < kLanes; ++number) {
        Lane& one = thread.lanes[number];
        if (!is_ready(&one) && !take_back(thread, one, entry.frame)) continue;
        one.ready.store(entry.frame, std::memory_order_relaxed);
        return &one;
    }
    // The busy lanes may only be touched by their owners; any thread may change this counter.
    if (thread.lanes[0].ring) {
        thread.lanes[0].ring.header().losses[static_cast<unsigned>(Cause::kNested)].fetch_add(
            1, std::memory_order_relaxed);
    } else {
        count_session_loss(Cause::kNested);
    }
    return nullptr;
}

// Room for a record of `size` bytes (a multiple of 8).
SP_DETAIL_COLD Reservation reserve(const Entry& entry, std::size_t size, Level level) {
    // (Possible points of cancellation handle this themselves: back, ensure_session, warn.)
    const ErrnoGuard guard;
    unsigned number = 0;
    Lane* lane = entry.lane != nullptr ? entry.lane : enter_lane(entry, number);
    if (lane == nullptr) return {};
    lane->doubted = 0;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    const char* const limit = limit_of(lane);
    if (limit != nullptr && size <= static_cast<std::size_t>(limit - lane->cur)) return {lane, lane->cur};
    lane->phase = Phase::kCold;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    const Room room = room_in_context(*lane, number, size, level);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    lane->phase = Phase::kPacking;
    if (room == Room::kFound) return {lane, lane->cur};
    set_limit(*lane, nullptr);
    make_ready(lane);
    return {room == Room::kTooLarge ? lane : nullptr, nullptr};
}

SP_DETAIL_END
