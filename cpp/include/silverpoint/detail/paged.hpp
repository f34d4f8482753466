// Large rings whose memory comes a page at a time, where the next record goes (spec/wire.md, section 3.4).
//
// The word `returned` of such a slice says that memory may be missing: it was given back, or never made. If
// its owner leaves it before all is there, who adopts it makes pages in the same way, and finds those that
// are.
#pragma once

#include "lane.hpp"

SP_DETAIL_BEGIN

inline constexpr std::uint64_t kAllThere = ~std::uint64_t{0};
// Bytes of a pad that are written.
inline constexpr std::uint32_t kPad = 8;

// Whether a record of this size begins in the next lap.
inline bool does_wrap(const Lane& lane, std::size_t size) {
    return reinterpret_cast<std::uintptr_t>(lane.cur) + size > reinterpret_cast<std::uintptr_t>(lane.last);
}

// Position of the first byte of the data in this lap.
inline std::uint64_t lap_of(const Lane& lane) {
    return lane.position() - static_cast<std::uint64_t>(lane.cur - lane.data);
}

// A lane has just taken a ring in which memory is missing.
SP_DETAIL_COLD void begin_memory(Lane& lane) {
    lane.entered = lane.base;
    // (A stream that begins: its first record has the position `committed`.)
    std::uint32_t there = (begin_of_records(lane.ring) & ~(kPage - 1)) + kPage;
    if (lane.ring.there > there) there = lane.ring.there;
    lane.there = lap_of(lane) + there - kRingHeader;
}

// Whether memory is missing, or may be.
inline bool is_partial(const Lane& lane) { return lane.there != kAllThere || lane.last != lane.end; }

// Position up to which records of this lap may come without a look at the memory. Behind them there is always
// some for a pad: the lap may have to end there.
inline std::uint64_t end_of_memory(const Lane& lane) {
    const std::uint64_t lap = lap_of(lane);
    const std::uint64_t last = lap + static_cast<std::uint64_t>(lane.last - lane.data);
    return lane.there < lap + lane.capacity && lane.there - kPad < last ? lane.there - kPad : last;
}

// Makes memory for a record of this size. False: there is none, and from now on laps end before that.
SP_DETAIL_COLD bool make_more_memory(Lane& lane, std::size_t size) {
    while (lane.there != kAllThere) {
        const bool wraps = does_wrap(lane, size);
        std::uint64_t lap = lap_of(lane);
        std::uint64_t end = lane.position() + size + kPad;
        if (lane.there >= lap + lane.capacity) {
            // This lap is whole. Of the next one the first page is there in any case.
            if (!wraps) return true;
            lap += lane.capacity;
            end = lap + size + kPad;
            if (lane.there < lap + kPage - kRingHeader) lane.there = lap + kPage - kRingHeader;
        } else if (wraps) {
            end = lap + lane.capacity;
        }
        if (end > lap + lane.capacity) end = lap + lane.capacity;
        if (end <= lane.there) return true;
        const auto slice = static_cast<std::size_t>(lane.ring.base - session.rings);
        const std::size_t from = slice + kRingHeader + (lane.there - lap);
        const std::size_t most = slice + kRingHeader + lane.capacity;
        const std::size_t to = (slice + kRingHeader + (end - lap) + kPage - 1) & ~std::size_t{kPage - 1};
        const std::size_t made = back_some_of_rings(from, to, most);
        if (made <= from) {
            char* const last = lane.data + (lane.there - lap) - kPad;
            if (last < lane.last) lane.last = last;
            // What lies before the base comes in the second lap.
            lane.there = lap >= lane.base ? kAllThere : lap + lane.capacity;
            return false;
        }
        lane.there = lap + (made - slice - kRingHeader);
        if (lane.there >= lane.base + lane.capacity) {
            lane.there = kAllThere;
            if (lane.last == lane.end) lane.ring.header().returned.store(kPresent, std::memory_order_relaxed);
        }
    }
    return true;
}
inline bool make_memory(Lane& lane, std::size_t size) {
    return lane.there == kAllThere || make_more_memory(lane, size);
}

SP_DETAIL_END
