// USDT probes of what ends elsewhere than at its place in the source: streams that are held, and async spans.
//
//   SP_STREAM, SP_ASYNC_SPAN while a tracer is attached ─▶ a place with the probe's function ─▶ at the end:
//   probe, then the record, if the site is on
//
// Files with and without SILVERPOINT_USDT may be linked together: all of them heed such places.
#pragma once

#include "site.hpp"

SP_DETAIL_BEGIN

// Marks in the address of a site, which is a multiple of eight: its probe is to be hit; it is off.
inline constexpr std::uintptr_t kUsdtHit = 1, kUsdtOff = 2;

// The probe of a stream that is held, instead of its site and with the same marks.
struct UsdtHeld {
    void (*hit)(const char* data, std::size_t size);
    std::atomic<void*> site{nullptr};
};

// The end of a stream that is held: the place of its site, after the probe; null: it is off.
SP_DETAIL_COLD void* place_behind_usdt(void* held, const char* data, std::size_t size) {
    const auto marked = reinterpret_cast<std::uintptr_t>(held);
    if ((marked & kUsdtHit) == 0) return held;
    const auto* const place = reinterpret_cast<const UsdtHeld*>(marked & ~(kUsdtHit | kUsdtOff));
    place->hit(data, size);
    return (marked & kUsdtOff) != 0 ? nullptr : place->site.load(std::memory_order_relaxed);
}

// The language of what stands for an end whose probe is to be hit; sites have others. (An AsyncSpan may end
// in another shared object, which knows no address of this one.)
inline constexpr std::uint8_t kUsdtEndLanguage = 0;
inline constinit const StateByte kUsdtEnd{kProbedBit};

// Instead of the site of an async span's end, and of spans in C.
struct UsdtEnd {
    Site site{Level::kTrace, "", 0, &kUsdtEnd};
    void (*hit)(std::uint64_t id);
    // Null: the begin is not recorded.
    std::atomic<Site*> recorded{nullptr};

    explicit constexpr UsdtEnd(void (*the_hit)(std::uint64_t)) : hit(the_hit) {
        site.language = kUsdtEndLanguage;
    }
};

// The end of an async span whose state is not plain: the site that records it, or null.
SP_DETAIL_COLD Site* end_otherwise(Site& site, std::uint64_t id) {
    Site* found = &site;
    if (site.language == kUsdtEndLanguage) {
        const auto& end = reinterpret_cast<const UsdtEnd&>(site);
        end.hit(id);
        found = end.recorded.load(std::memory_order_relaxed);
        if (found == nullptr || (found->state_byte() & kProbedBit) == 0) return found;
    }
    return found->is_wanted_otherwise(found->state_byte(), nullptr, nullptr) ? found : nullptr;
}

SP_DETAIL_END
