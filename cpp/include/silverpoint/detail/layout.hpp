// What lies in the files of a session, as types: the tables of spec/wire.md, sections 3.1 and 4.
//
//   control                                         rings
//   ├─ ControlHeader, one page                      ├─ slab: slices of one size
//   ├─ slabs_at ──────▶ SlabEntry × slab_count      │   ├─ RingHeader │ records, wrapping around
//   ├─ anchors_at, process_at, directives_at        │   └─ RingHeader │ records …
//   ├─ states_at ─────▶ one byte a site             └─ slab …
//   ├─ sites_at ──────▶ SiteEntry × sites_cap
//   └─ index_at, descs_at
//
// Who writes a word decides on which line of the cache it lies: no two writers that meet often share one.
//
//   ControlHeader   0 its maker, once │ 512 frontends, at cold paths │ 640 who rings the doorbell
//                   704 who changes directives │ 768 the collector │ 832 threads that follow directives
//   RingHeader      0 a claimer, once a stream │ 64 the owner, each record │ 128 the collector │ 192 losses
//
// So a ring's header has four lines: an eighth of the smallest slice (2 KiB), 0.02 % of the largest (1 MiB).
// A record writes the owner's line. The collector's words are read at every quarter of the ring only.
//
// `scripts/check-layout` lets the compiler compare each field with the tables.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "config.hpp"

SP_DETAIL_BEGIN

// Atomic words within the mapped files.
using Word = std::atomic<std::uint32_t>;
using Long = std::atomic<std::uint64_t>;
static_assert(sizeof(Word) == 4 && sizeof(Long) == 8 && Long::is_always_lock_free);

struct ControlHeader {
    // By the maker of the session, before others see it.
    char magic[8];
    std::uint16_t version_major, version_minor;
    std::uint32_t header_size;
    std::uint32_t flags, pid;
    std::uint64_t start_time;
    std::uint8_t boot_id[16];
    std::uint32_t uid, pid_ns;
    std::uint64_t created_wall_ns;
    std::uint64_t session_id[2];
    std::uint32_t clock_source, parent_pid;
    std::uint64_t ticks_per_second;
    std::uint64_t control_size, rings_size;
    std::uint32_t slab_bytes, slab_count;
    std::uint64_t slabs_at, directives_at;
    std::uint32_t directives_cap, sites_cap;
    std::uint64_t sites_at, states_at, index_at;
    std::uint32_t index_cap, anchors_cap;
    std::uint64_t anchors_at, descs_at, descs_size;
    std::uint64_t process_at;
    std::uint32_t process_size;
    std::uint32_t ring_header_size;
    std::uint16_t ring_fields[12];
    char reserved[272];

    // By frontends. `next` counts what is claimed.
    Word sites_next, descs_next, slabs_next, streams_next;
    Word copies_joined, copies_next;
    Word anchors_next, executable;
    Long descs_reserved, ids_next;
    Long session_losses[kCauses];
    alignas(64) Word doorbell;
    std::uint32_t zero;
    Word probes_wake, probes_asked;

    // By who changes directives.
    alignas(64) Word generation;
    Word directives_len;

    // By the collector; the last two by `ctl`, too.
    alignas(64) Word collector_pid;
    Word collector_sleeping;
    Long heartbeat;
    Word collector_state;
    Word block_max_ms;
    std::atomic<Policy> policy[8];

    // By threads that follow the directives.
    struct Follower {
        Word thread, followed;
    };
    alignas(64) Follower followers[8];
};

struct RingHeader {
    // By who claims the slice. (Only `state` changes later.)
    Word magic, state;
    Word owner_tid, stream;
    Word capacity, data_at;
    std::uint16_t lane, copy;
    Word previous;
    Long claimed_ticks;
    Long name[2];  // as text
    Long base;

    // By the owner.
    alignas(64) Long committed;
    Long oldest;
    Word waiting;
    std::uint32_t zero;
    Long stalls, stall_ns;

    // By the collector.
    alignas(64) Long consumed;
    Word wake;
    Long told;
    Word returned;

    alignas(64) Long losses[kCauses];
};

struct SlabEntry {
    // Set once, by compare-and-swap from 0, when a first slice of that size is backed; afterwards slabs_next
    // passes over the slab.
    Word shift;
    // Slices below this number are claimed, and backed: it passes over a slice only by compare-and-swap from
    // that slice's number, after its backing.
    Word next;
    Word backed;
    // By the collector: so far it has backed the slab.
    Word prepared;
};

struct SiteEntry {
    Word stage;
    Word location_at;
    Word body_at;
    Word zero;
    Long hash;
    Long probe;  // probe_event
};

inline constexpr char kControlMagic[] = "SPCTL\r\n\x1a";
inline constexpr std::size_t kHeaderPage = 4096;
static_assert(sizeof(ControlHeader) <= kHeaderPage && sizeof(RingHeader) == kRingHeader &&
              sizeof(SiteEntry) == kSiteEntry);

// What a control file says of its rings' headers: where a reader finds the fields that it needs.
inline constexpr std::uint16_t kRingFields[12] = {
    offsetof(RingHeader, state),   offsetof(RingHeader, owner_tid), offsetof(RingHeader, capacity),
    offsetof(RingHeader, data_at), offsetof(RingHeader, stream),    offsetof(RingHeader, committed),
    offsetof(RingHeader, oldest),  offsetof(RingHeader, waiting),   offsetof(RingHeader, consumed),
    offsetof(RingHeader, wake),    offsetof(RingHeader, losses),    offsetof(RingHeader, name),
};

inline ControlHeader& header_of(char* control) { return *reinterpret_cast<ControlHeader*>(control); }
inline const ControlHeader& header_of(const char* control) {
    return *reinterpret_cast<const ControlHeader*>(control);
}
inline SiteEntry& site_of(char* control, std::uint64_t sites_at, std::size_t number) {
    return *reinterpret_cast<SiteEntry*>(control + sites_at + number * kSiteEntry);
}
inline const SiteEntry& site_of(const char* control, std::uint64_t sites_at, std::size_t number) {
    return *reinterpret_cast<const SiteEntry*>(control + sites_at + number * kSiteEntry);
}

SP_DETAIL_END
