// Rings and slices: claiming room in the ring file (spec/wire.md sections 3.4 and 4).
//
//   free ──┐                 ┌──▶ live ──(owner grows)──▶ retired ──┐
//   unused ┴─(a claimer)─▶ claiming                                  ├─(drained)─▶ claiming
//                                live, owner dead ───────────────────┘
//
// Every transition to claiming is a compare-and-swap by the claimer; the others are stores by the owner.
#pragma once

#include "process.hpp"
#include "producer.hpp"

SP_DETAIL_BEGIN

// A ring's header as a view of the mapped slice.
struct Ring {
    char* base = nullptr;
    // Of a slice that was just claimed: bytes from its start that have memory, unless all have (is_there).
    std::uint32_t there = 0;

    RingHeader& header() const { return *reinterpret_cast<RingHeader*>(base); }
    Long& committed() const { return header().committed; }
    Long& consumed() const { return header().consumed; }
    Long& oldest() const { return header().oldest; }
    explicit operator bool() const { return base != nullptr; }
};

// log2 of the bytes of a slice of this size (0 the smallest); 0 when slabs are too small for it.
inline unsigned shift_of(unsigned size) {
    if (size >= kSizes) return 0;
    const auto largest = static_cast<unsigned>(SP_DETAIL_TRAILING_ZEROS(session.slab_bytes));
    if (kShifts[size] <= largest) return kShifts[size];
    return size > 0 && kShifts[size - 1] < largest ? largest : 0;
}

inline std::uint32_t capacity_of(unsigned size) {
    const unsigned shift = shift_of(size);
    return shift == 0 ? 0 : (1u << shift) - kRingHeader;
}

inline SlabEntry& slab_entry(std::uint32_t slab) {
    return *reinterpret_cast<SlabEntry*>(session.control + session.slabs_at + slab * sizeof(SlabEntry));
}

inline Ring slice_at(std::uint32_t slab, std::uint32_t number, unsigned shift) {
    return Ring{session.rings + static_cast<std::size_t>(slab) * session.slab_bytes +
                (static_cast<std::size_t>(number) << shift)};
}

// Bytes of memory that are made at a time.
inline constexpr std::uint32_t kPage = 4096;

// Whether the memory of new slices of this size comes a page at a time, where records come (paged.hpp).
// Smaller ones have four pages at most, or share one. While nobody collects, a thread has one ring for long:
// then pages at once take less time altogether.
inline bool is_paged(unsigned shift) { return shift >= 16 && session.is_collected(); }

// Bytes of a slab up to which a slice must be backed before it is taken: its first page, or all of it.
inline std::uint32_t end_of_first(std::uint32_t number, unsigned shift) {
    return (number << shift) + (is_paged(shift) ? kPage : 1u << shift);
}

// Offset in a slice of the first record of the stream that begins next in it.
inline std::uint32_t begin_of_records(const Ring& ring) {
    const std::uint32_t capacity = ring.header().capacity.load(std::memory_order_relaxed);
    if (capacity == 0) return kRingHeader;
    return kRingHeader +
           static_cast<std::uint32_t>(ring.committed().load(std::memory_order_acquire) % capacity);
}

// Whether the losses of this ring are stored, so that a new stream may begin with none.
SP_DETAIL_COLD bool is_told(const Ring& ring) {
    std::uint64_t sum = 0;
    for (const Long& lost : ring.header().losses) sum += lost.load(std::memory_order_relaxed);
    return sum == ring.header().told.load(std::memory_order_relaxed);
}

// The state of a slice. Its owner or claimer changes it, and no other thread may then.
inline std::uint32_t ring_state(std::uint32_t word) { return word & kRingStateMask; }
inline void set_ring_state(const Ring& ring, std::uint32_t state) {
    Steps::set_state(ring.header().state, state);
}

// Whether a slice in this state may be taken over. It may if it is free, or if its owner left or died and it
// is drained (or, for the flight recorder, may be forgotten).
SP_DETAIL_COLD bool is_adoptable(const Ring& ring, std::uint32_t state, bool forget) {
    if (state == kRingFree) return true;
    if (state == kRingClaiming) return false;
    const auto is_free_to_go = [&] {
        return forget || (ring.consumed().load(std::memory_order_acquire) ==
                              ring.committed().load(std::memory_order_acquire) &&
                          (!session.is_collected() || is_told(ring)));
    };
    if (!is_free_to_go()) return false;
    if (state != kRingLive) return true;
    // Read once more when the owner is known to be dead: it may have recorded until then.
    return is_thread_dead(ring.header().owner_tid.load(std::memory_order_relaxed)) && is_free_to_go();
}

// The state word that a slice may be taken over from; kRingClaiming when it may not.
SP_DETAIL_COLD std::uint32_t adoptable_state(const Ring& ring, bool forget) {
    if (ring.header().magic.load(std::memory_order_acquire) != kRingMagic) return kRingClaiming;
    return Steps::adoptable_state(ring.header().state,
                                  [&](std::uint32_t state) { return is_adoptable(ring, state, forget); });
}

// Whether the slice has all of its memory. Else the collector has given it back, or its owner has not come
// to the end of it.
inline bool is_there(const Ring& ring) {
    return ring.header().returned.load(std::memory_order_relaxed) == kPresent;
}

// Takes a slice over, with memory where its records begin: if the collector has given that back, it is made
// again. False: others have the slice, the collector is giving its memory back now, or there is none.
SP_DETAIL_COLD bool take_over(const Ring& ring, std::uint32_t word) {
    if (!Steps::take_over(ring.header().state, word)) return false;
    if (ring_state(word) == kRingFree) return true;
    const std::uint32_t memory = Steps::look_at_memory(ring.header().returned);
    if (memory == kPresent) return true;
    const auto place = static_cast<std::size_t>(ring.base - session.rings);
    if (memory == kReturned && back(session.rings, place + begin_of_records(ring), 1, "rings")) return true;
    set_ring_state(ring, kRingRetired);
    return false;
}

// Slices of a slab that were ever claimed and are backed, if it has slices of this size.
SP_DETAIL_COLD std::uint32_t slices_in(std::uint32_t slab, unsigned shift) {
    const SlabEntry& entry = slab_entry(slab);
    if (entry.shift.load(std::memory_order_acquire) != shift) return 0;
    const std::uint32_t fit = session.slab_bytes >> shift;
    const std::uint32_t backed = entry.backed.load(std::memory_order_acquire) >> shift;
    const std::uint32_t count = entry.next.load(std::memory_order_acquire);
    return count < fit ? (count < backed ? count : backed) : (fit < backed ? fit : backed);
}

// Checks `most` slices of this size for one to take over, beginning where the last search ended. `forget`:
// takes the one that was claimed first, although it is not drained.
SP_DETAIL_COLD Ring adopt(unsigned shift, std::uint32_t most, bool forget) {
    static constinit Word cursor{0};
    const std::uint32_t slabs = slabs_in_use();
    std::uint32_t all = 0;
    for (std::uint32_t slab = 0; slab < slabs; ++slab) all += slices_in(slab, shift);
    if (all == 0) return {};
    if (most > all) most = all;
    std::uint32_t skip = cursor.fetch_add(most, std::memory_order_relaxed) % all;
    Ring oldest, returned;
    std::uint64_t oldest_ticks = ~std::uint64_t{0};
    // Twice around, since the search begins in the middle.
    for (std::uint32_t slab = 0, looked = 0; slab < 2 * slabs && looked < most; ++slab) {
        const std::uint32_t count = slices_in(slab % slabs, shift);
        if (skip >= count) {
            skip -= count;
            continue;
        }
        for (std::uint32_t n = skip; n < count && looked < most; ++n, ++looked) {
            const Ring ring = slice_at(slab % slabs, n, shift);
            const std::uint32_t state = adoptable_state(ring, forget);
            if (state == kRingClaiming) continue;
            if (!forget) {
                // Memory that was given back is as expensive as new memory.
                if (!is_there(ring)) {
                    returned = ring;
                } else if (take_over(ring, state)) {
                    return ring;
                }
            } else if (const auto ticks = ring.header().claimed_ticks.load(std::memory_order_relaxed);
                       ticks < oldest_ticks) {
                oldest_ticks = ticks;
                oldest = ring;
            }
        }
        skip = 0;
    }
    if (!forget) oldest = returned;
    if (!oldest) return {};
    const std::uint32_t state = adoptable_state(oldest, forget);
    return state != kRingClaiming && take_over(oldest, state) ? oldest : Ring{};
}

// Slices that a claim examines for adoption before it takes new room: a bound on the time of a thread's first
// record. Those as large as a slab are few, and an emptied one is better than new memory.
inline std::uint32_t looks_of(unsigned shift) { return 1u << shift == session.slab_bytes ? 256 : 8; }

// Whether a slice of this size, with its memory, may be taken over. The caller may find that another thread
// was quicker.
SP_DETAIL_COLD bool is_one_adoptable(unsigned shift) {
    std::uint32_t left = looks_of(shift);
    const std::uint32_t slabs = slabs_in_use();
    for (std::uint32_t slab = 0; slab < slabs; ++slab) {
        const std::uint32_t count = slices_in(slab, shift);
        for (std::uint32_t n = 0; n < count; ++n) {
            if (left-- == 0) return false;
            const Ring ring = slice_at(slab, n, shift);
            if (is_there(ring) && adoptable_state(ring, false) != kRingClaiming) return true;
        }
    }
    return false;
}

// Makes sure that a slab is backed up to `end`, from where its backed part ends. Whole pages: two of the
// smallest slices have one together. What the collector has prepared is backed already: its pages come into
// the page tables later, piece by piece (enter_pages in refill.hpp).
SP_DETAIL_COLD bool back_slab(std::uint32_t slab, std::uint32_t end) {
    Word& backed = slab_entry(slab).backed;
    std::uint32_t before = backed.load(std::memory_order_acquire);
    if (end <= before) return true;
    std::uint32_t goal = (end + kPage - 1) & ~(kPage - 1);
    if (goal > session.slab_bytes) goal = session.slab_bytes;
    std::uint32_t prepared = slab_entry(slab).prepared.load(std::memory_order_acquire);
    if (prepared > session.slab_bytes) prepared = session.slab_bytes;
    if (end <= prepared) {
        if (goal > prepared) goal = prepared;
    } else {
        const std::uint32_t from = before > prepared ? before : prepared;
        const std::size_t begin = static_cast<std::size_t>(slab) * session.slab_bytes + from;
        if (!back(session.rings, begin, goal - from, "rings")) return false;
    }
    while (before < goal && !backed.compare_exchange_weak(before, goal, std::memory_order_release)) {
    }
    return true;
}

// Enters a page into the page tables, and what the kernel enters around it: for a load several at once, for a
// store one. Entries of a file in memory are writable at once.
inline void load_page(const char* at) { static_cast<void>(*static_cast<const volatile char*>(at)); }

// Whether the collector is preparing a slab for slices of this size, and is not yet as far as one of them. To
// make the rest of its pages takes the caller long; the collector has it soon.
SP_DETAIL_COLD bool is_being_prepared(unsigned shift) {
    const auto ready = [](const SlabEntry& entry) {
        const std::uint32_t backed = entry.backed.load(std::memory_order_relaxed);
        const std::uint32_t prepared = entry.prepared.load(std::memory_order_relaxed);
        return backed > prepared ? backed : prepared;
    };
    const std::uint32_t slabs = slabs_in_use();
    if (shift == 0 || slabs == session.slab_count) return false;
    for (std::uint32_t slab = 0; slab < slabs; ++slab) {
        const SlabEntry& entry = slab_entry(slab);
        const std::uint32_t next = entry.next.load(std::memory_order_relaxed);
        if (entry.shift.load(std::memory_order_relaxed) == shift && next < session.slab_bytes >> shift &&
            (next + 1) << shift <= ready(entry))
            return false;
    }
    const SlabEntry& entry = slab_entry(slabs);
    return entry.prepared.load(std::memory_order_relaxed) != 0 && ready(entry) < 1u << shift;
}

// Whether a slice was backed by the collector, at least in part. A producer that backs one enters its pages
// into the page tables, too.
SP_DETAIL_COLD bool is_prepared(const Ring& ring) {
    const auto at = static_cast<std::size_t>(ring.base - session.rings);
    const SlabEntry& entry = slab_entry(static_cast<std::uint32_t>(at / session.slab_bytes));
    return entry.prepared.load(std::memory_order_relaxed) > at % session.slab_bytes;
}

// Up to the end of a slice that was just taken, a slab counts as backed: its owner sees to the rest. Returns
// how far it is, up to there. (Threads that took later slices have backed this one.)
SP_DETAIL_COLD std::uint32_t count_as_backed(std::uint32_t slab, std::uint32_t end) {
    SlabEntry& entry = slab_entry(slab);
    std::uint32_t before = entry.backed.load(std::memory_order_acquire);
    const std::uint32_t prepared = entry.prepared.load(std::memory_order_acquire);
    const std::uint32_t there = before > prepared ? before : prepared;
    while (before < end && !entry.backed.compare_exchange_weak(before, end, std::memory_order_acq_rel)) {
    }
    return there < end ? there : end;
}

// The next slice of a slab of this size; empty if others have taken all of them, or there is no memory (see
// `has_memory`). A number is taken only after its slice is backed, or its first page: a slice without memory
// would never be used.
SP_DETAIL_COLD Ring take_from(std::uint32_t slab, unsigned shift, bool& has_memory) {
    Word& next = slab_entry(slab).next;
    std::uint32_t number = next.load(std::memory_order_acquire);
    while (number < session.slab_bytes >> shift) {
        const std::uint32_t end = (number + 1) << shift, first = end_of_first(number, shift);
        has_memory = back_slab(slab, first);
        if (!has_memory) return {};
        if (next.compare_exchange_weak(number, number + 1, std::memory_order_acq_rel)) {
            Ring ring = slice_at(slab, number, shift);
            load_page(ring.base);
            if (first == end) return ring;
            const std::uint32_t missing = end - count_as_backed(slab, end);
            if (missing == 0) return ring;
            ring.there = (1u << shift) - missing;
            ring.header().returned.store(kReturned, std::memory_order_relaxed);
            return ring;
        }
    }
    return {};
}

// As below, without regard to earlier attempts.
SP_DETAIL_COLD Ring take_new_now(unsigned shift, bool may_begin_slab, bool& has_memory) {
    Word& slabs_next = session.header().slabs_next;
    for (;;) {
        const std::uint32_t slabs = slabs_in_use();
        for (std::uint32_t slab = slabs; slab-- > 0;)
            if (slab_entry(slab).shift.load(std::memory_order_acquire) == shift)
                if (const Ring ring = take_from(slab, shift, has_memory)) return ring;
        if (!may_begin_slab || slabs >= usable_slabs()) return {};
        // As for a slice: a slab is begun when its first slice is backed. The thread that sets its size sets
        // it for all; any thread may then mark it as in use. Late threads take from it, or begin the next
        // slab if it has another size.
        has_memory = accessible_slabs(slabs + 1) > slabs && back_slab(slabs, end_of_first(0, shift));
        if (!has_memory) return {};
        std::uint32_t none = 0, begun = slabs;
        slab_entry(slabs).shift.compare_exchange_strong(none, shift, std::memory_order_acq_rel);
        slabs_next.compare_exchange_strong(begun, slabs + 1, std::memory_order_acq_rel);
    }
}

// A slice without earlier owner; from a new slab only if `may_begin_slab`.
SP_DETAIL_COLD Ring take_new(unsigned shift, bool may_begin_slab) {
    // A thread without a ring comes here at each of its records. If there was no memory just now, it does not
    // ask the kernel again.
    static constinit Long not_before_ns[32]{};
    Long& not_before = not_before_ns[shift];
    const std::uint64_t until = not_before.load(std::memory_order_relaxed);
    if (until != 0 && monotonic_now() < until) return {};
    bool has_memory = true;
    const Ring ring = take_new_now(shift, may_begin_slab, has_memory);
    if (!has_memory) not_before.store(monotonic_now() + 1'000'000u, std::memory_order_relaxed);
    return ring;
}

// A slice of this size that belongs to the caller and holds nothing yet: in state claiming, or a new one.
// Empty if there is no memory; or, unless it `may_begin_slab`, if no slice is available without a new slab.
SP_DETAIL_COLD Ring claim_slice(unsigned shift, bool may_begin_slab = true) {
    if (shift == 0) return {};
    Ring ring = adopt(shift, looks_of(shift), false);
    if (!ring) ring = take_new(shift, may_begin_slab);
    if (!ring && may_begin_slab) {
        // A long search that found nothing is not repeated at once: other threads must go on too.
        static constinit Long not_before_ns{0};
        const std::uint64_t now = monotonic_now();
        if (now < not_before_ns.load(std::memory_order_relaxed)) return {};
        ring = adopt(shift, ~0u, false);
        if (!ring && !session.is_collected()) ring = adopt(shift, ~0u, true);
        if (!ring) not_before_ns.store(monotonic_now() + 10'000'000u, std::memory_order_relaxed);
    }
    return ring;
}

// Begins a stream in a slice that the caller has claimed.
SP_DETAIL_COLD void begin_stream(const Ring& ring, unsigned shift, unsigned lane, std::uint32_t tid,
                                 std::uint32_t previous) {
    RingHeader& header = ring.header();
    set_ring_state(ring, kRingClaiming);
    const std::uint64_t base = ring.committed().load(std::memory_order_relaxed);
    header.owner_tid.store(tid, std::memory_order_relaxed);
    const std::uint32_t stream = session.header().streams_next.fetch_add(1, std::memory_order_acq_rel) + 1;
    header.stream.store(stream, std::memory_order_relaxed);
    header.capacity.store((1u << shift) - kRingHeader, std::memory_order_relaxed);
    header.data_at.store(kRingHeader, std::memory_order_relaxed);
    header.lane = static_cast<std::uint16_t>(lane);
    header.copy = static_cast<std::uint16_t>(session.copy);
    header.previous.store(previous, std::memory_order_relaxed);
    header.claimed_ticks.store(session.now(), std::memory_order_relaxed);
    char name[16] = {};
    name_of_thread(name);
    std::uint64_t halves[2];
    std::memcpy(halves, name, sizeof halves);
    header.name[0].store(halves[0], std::memory_order_relaxed);
    header.name[1].store(halves[1], std::memory_order_relaxed);
    header.base.store(base, std::memory_order_relaxed);
    ring.oldest().store(base, std::memory_order_relaxed);
    ring.consumed().store(base, std::memory_order_relaxed);
    header.waiting.store(0, std::memory_order_relaxed);
    header.stalls.store(0, std::memory_order_relaxed);
    header.stall_ns.store(0, std::memory_order_relaxed);
    header.told.store(0, std::memory_order_relaxed);
    for (Long& lost : header.losses) lost.store(0, std::memory_order_relaxed);
    header.magic.store(kRingMagic, std::memory_order_release);
    set_ring_state(ring, kRingLive);
}

// Claims a slice of this size, as claim_slice, and begins a stream in it.
SP_DETAIL_COLD Ring claim_ring(unsigned size, unsigned lane, std::uint32_t tid, std::uint32_t previous,
                               bool may_begin_slab) {
    const unsigned shift = shift_of(size);
    const Ring ring = claim_slice(shift, may_begin_slab);
    if (ring) begin_stream(ring, shift, lane, tid, previous);
    return ring;
}

SP_DETAIL_END
