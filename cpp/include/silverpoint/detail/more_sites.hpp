// Further sites of calls that are made with several categories or levels, in a hash table. Their number is
// bounded: what varies at run time must not fill the session's table.
#pragma once

#include <source_location>

#include "arena.hpp"
#include "front.hpp"

SP_DETAIL_BEGIN

struct CallSite;

struct MoreKey {
    const CallSite* of;
    const char* category;  // compared by its address
    Level level;
    // Of a text as a value, beside the site of the literal.
    bool is_of_values;

    bool operator==(const MoreKey&) const = default;
};

struct MoreSite {
    MoreKey key;
    Site site;
    MoreSite* next;
};

inline constexpr unsigned kMorePlacesLog = 13;
inline constinit std::atomic<MoreSite*> more_sites[1u << kMorePlacesLog];

SP_DETAIL_COLD std::atomic<MoreSite*>& more_place(const MoreKey& key) {
    const auto mix = [](std::uint64_t value) { return (value ^ value >> 29) * 0x9E3779B97F4A7C15u; };
    const std::uint64_t hash =
        mix(mix(reinterpret_cast<std::uintptr_t>(key.of)) ^ reinterpret_cast<std::uintptr_t>(key.category) ^
            (static_cast<std::uint64_t>(key.level) << 1 | key.is_of_values));
    return more_sites[hash >> (64 - kMorePlacesLog)];
}

// Further sites take at most half of the session's table and of its descriptions, as in Rust. The other half
// is for places in the source.
SP_DETAIL_COLD bool is_room_for_more_sites() {
    return ensure_session() &&
           session.header().sites_next.load(std::memory_order_relaxed) < session.sites_cap / 2 &&
           std::size_t{session.header().descs_next.load(std::memory_order_relaxed)} * 8 <
               session.descs_size / 2;
}

// Null: there is no room for it. The limit does not hold for a site that is needed.
SP_DETAIL_COLD Site* find_more_site(const MoreKey& key, const std::source_location& at, bool is_needed) {
    std::atomic<MoreSite*>& place = more_place(key);
    MoreSite* head = place.load(std::memory_order_acquire);
    for (MoreSite* one = head; one != nullptr; one = one->next)
        if (one->key == key) return &one->site;
    if (!is_needed && !is_room_for_more_sites()) return nullptr;
    void* const memory = keep_memory(sizeof(MoreSite));
    if (memory == nullptr) return nullptr;
    // Two threads may make one each: they are registered as the same.
    auto* const made = ::new (memory) MoreSite{key, Site(key.level, at.file_name(), at.line()), head};
    while (!place.compare_exchange_weak(made->next, made, std::memory_order_acq_rel)) continue;
    return &made->site;
}

SP_DETAIL_END
