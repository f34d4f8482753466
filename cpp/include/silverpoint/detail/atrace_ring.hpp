// ATrace into the rings. Each kind of call and name is a site of the category atrace::TAG. So directives,
// readers and converters handle them as spans, async spans, counters and instants. Their level is info:
// ATrace has no levels, only tags, so that the directive `info` must not leave some of a tag's kinds out.
#pragma once

#include "arena.hpp"
#include "atrace_open.hpp"
#include "atrace_state.hpp"
#include "front.hpp"

SP_DETAIL_BEGIN

inline constexpr const char* kAtraceCategories[kAtraceTags] = {
    "atrace::always",   "atrace::gfx",     "atrace::input",  "atrace::view",     "atrace::webview",
    "atrace::wm",       "atrace::am",      "atrace::sm",     "atrace::audio",    "atrace::video",
    "atrace::camera",   "atrace::hal",     "atrace::app",    "atrace::res",      "atrace::dalvik",
    "atrace::rs",       "atrace::bionic",  "atrace::power",  "atrace::pm",       "atrace::ss",
    "atrace::database", "atrace::network", "atrace::adb",    "atrace::vibrator", "atrace::aidl",
    "atrace::nnapi",    "atrace::rro",     "atrace::thermal"};

// Of several tags the lowest names the category.
inline unsigned atrace_bit(std::uint64_t tag) {
    const auto bit = static_cast<unsigned>(__builtin_ctzll(tag | std::uint64_t{1} << 63));
    return bit < kAtraceTags ? bit : 0;
}

// Sites that are asked whether a tag records at all.
struct AtraceAsked {
    Site site{Level::kInfo, "", 0};
};
inline constinit AtraceAsked atrace_asked[kAtraceTags];

inline bool atrace_ring_is_on(std::uint64_t tag) {
    const unsigned bit = atrace_bit(tag);
    Site& site = atrace_asked[bit].site;
    const bool is_on = site.is_on("", kAtraceCategories[bit]);
    const StateByte* const state = site.state.load(std::memory_order_acquire);
    if (state != &kUnregistered) atrace_state.set_state(bit, state);
    // Each name asks for itself whether a system tracer wants it.
    return is_on || (state->load(std::memory_order_relaxed) & (0x80 | kProbedBit)) == kProbedBit;
}

// Where what has a tag goes.
struct AtraceTo {
    std::uint64_t all, tag;

    explicit AtraceTo(std::uint64_t the_tag) : all(atrace_state.outputs()), tag(the_tag) {}
    bool marker() const { return (all >> kAtraceMarker & tag) != 0; }
    bool ring() const { return (all & tag & kAtraceValid) != 0 && atrace_ring_is_on(tag); }
};

// The gate of a tag; for several tags together the outputs decide. Off: two loads and a branch.
SP_DETAIL_HOT std::uint8_t atrace_gate(std::uint64_t tag) {
    if (tag == 0 || (tag & (tag - 1)) != 0 || tag > kAtraceValid) [[unlikely]]
        return 0x80;
    return atrace_state.gate(static_cast<unsigned>(__builtin_ctzll(tag)));
}
inline constexpr std::uint8_t kAtraceRingAlone = 1;

// Distinguishes names: kind, tag, number of arguments and length, and the first and the last bytes. For names
// of up to kWhole bytes that is everything.
struct AtraceKey {
    static constexpr std::size_t kWhole = 16;
    std::uint64_t what, first = 0, last = 0;

    SP_DETAIL_HOT AtraceKey(Kind kind, unsigned bit, std::uint32_t shape, std::string_view name)
        : what(static_cast<std::uint64_t>(kind) << 56 | std::uint64_t{shape} << 48 |
               std::uint64_t{bit} << 40 | name.size()) {
        const char* const begin = name.data();
        const char* const end = begin + name.size();
        if (name.size() >= 8) {
            std::memcpy(&first, begin, 8);
            std::memcpy(&last, end - 8, 8);
        } else if (name.size() >= 4) {
            std::memcpy(&first, begin, 4);
            std::memcpy(&last, end - 4, 4);
        } else {
            for (const char* at = begin; at != end; ++at) last = last << 8 | static_cast<std::uint8_t>(*at);
        }
    }
    bool operator==(const AtraceKey& other) const {
        return what == other.what && first == other.first && last == other.last;
    }
};

// A name of one kind and tag; kept for ever.
struct AtraceName {
    Site site{Level::kInfo, "", 0};
    AtraceKey key;
    AtraceName* next = nullptr;
    char name[1] = {};

    SP_DETAIL_HOT bool is(const AtraceKey& other, std::string_view text) const {
        return key == other &&
               (text.size() <= AtraceKey::kWhole || std::memcmp(name, text.data(), text.size()) == 0);
    }
};

inline constexpr std::size_t kAtracePlaces = 4096;
// Bytes of a name that is remembered.
inline constexpr std::size_t kAtraceLongest = 4096;
// Names that are remembered; further ones are one site, "atrace".
inline constexpr std::uint32_t kAtraceNames = 4096;
inline constinit std::atomic<AtraceName*> atrace_names[kAtracePlaces];
inline constinit std::atomic<std::uint32_t> atrace_name_count{0};

SP_DETAIL_HOT std::atomic<AtraceName*>& atrace_place(const AtraceKey& key) {
    const std::uint64_t mixed =
        ((key.first << 23 | key.first >> 41) ^ key.last ^ key.what) * 0x9E3779B97F4A7C15u;
    static_assert(kAtracePlaces == 1u << 12);
    return atrace_names[mixed >> 52];
}

SP_DETAIL_COLD AtraceName* make_atrace_name(std::atomic<AtraceName*>& place, const AtraceKey& key,
                                            std::string_view name) {
    // Not by operator new, which may be what is being traced.
    void* const memory = keep_memory(sizeof(AtraceName) + name.size());
    if (memory == nullptr) return nullptr;
    auto* const made = ::new (memory) AtraceName{.key = key};
    if (!name.empty()) std::memcpy(made->name, name.data(), name.size());
    // Two threads may make one each: they are registered as the same.
    made->next = place.load(std::memory_order_acquire);
    while (!place.compare_exchange_weak(made->next, made, std::memory_order_acq_rel)) continue;
    return made;
}

// The first one that is like it, or a new one; null: there are too many, or it is too long.
inline AtraceName* find_atrace_name(Kind kind, unsigned bit, std::uint32_t shape, std::string_view name) {
    if (name.size() > kAtraceLongest) return nullptr;
    const AtraceKey key(kind, bit, shape, name);
    std::atomic<AtraceName*>& place = atrace_place(key);
    for (AtraceName* one = place.load(std::memory_order_acquire); one != nullptr; one = one->next)
        if (one->is(key, name)) return one;
    if (atrace_name_count.fetch_add(1, std::memory_order_relaxed) >= kAtraceNames) {
        atrace_name_count.store(kAtraceNames, std::memory_order_relaxed);
        return nullptr;
    }
    return make_atrace_name(place, key, name);
}

// What was recorded, if it was: a name's site, and when.
struct AtraceMade {
    Site* site = nullptr;
    std::uint64_t ticks = 0;
};

template <class... Ts>
SP_DETAIL_HOT AtraceMade record_atrace_at(AtraceName& known, unsigned bit, Kind kind, std::string_view source,
                                          std::string_view name, const Ts&... args) {
    if (!known.site.is_wanted("", kAtraceCategories[bit])) return {};
    return {&known.site, record_named(known.site, kind, name, source, args...)};
}

// The site of names that are not remembered, or very long: each kind's own. (Of those that have the same
// arguments there are two at most.)
template <class... Ts>
inline Site& atrace_unnamed(Kind kind, unsigned bit) {
    static constinit AtraceAsked others[2][kAtraceTags];
    return others[kind == Kind::kAsyncEnd || kind == Kind::kInstant ? 1 : 0][bit].site;
}
// The name is an argument there.
template <class... Ts>
inline std::uint64_t record_atrace_unnamed(Site& site, Kind kind, std::string_view source,
                                           std::string_view name, const Ts&... args) {
    char names[64];
    std::size_t size = 0;
    for (const std::string_view part :
         {source, std::string_view(source.empty() ? "atrace.name" : ", atrace.name")})
        for (const char c : part) names[size++] = c;
    return record_named(site, kind, "atrace", {names, size}, args..., name);
}

// For a name that is not where it is searched first. (Its key is computed again, so that other callers need
// not keep it in memory.)
template <class... Ts>
[[gnu::noinline]] inline AtraceMade record_atrace_elsewhere(Kind kind, unsigned bit, std::string_view source,
                                                            std::string_view name,
                                                            typename Passed<Ts>::type... args) {
    AtraceName* const known = find_atrace_name(kind, bit, sizeof...(Ts), name);
    if (known != nullptr) [[likely]]
        return record_atrace_at<Ts...>(*known, bit, kind, source, name, args...);
    AtraceMade made;
    if (Site& site = atrace_unnamed<Ts...>(kind, bit); site.is_wanted("", kAtraceCategories[bit]))
        made = {&site, record_atrace_unnamed(site, kind, source, name, args...)};
    return made;
}

// The same, whether its tag is on or not: the end of what was begun while it was.
template <class... Ts>
[[gnu::noinline]] inline void record_atrace_anyway(Kind kind, std::uint64_t tag, std::string_view source,
                                                   std::string_view name, Ts... args) {
    const unsigned bit = atrace_bit(tag);
    AtraceName* const known = find_atrace_name(kind, bit, sizeof...(Ts), name);
    Site& site = known != nullptr ? known->site : atrace_unnamed<Ts...>(kind, bit);
    site.is_wanted("", kAtraceCategories[bit]);  // makes the site known
    if (known != nullptr)
        record_named(site, kind, name, source, args...);
    else
        record_atrace_unnamed(site, kind, source, name, args...);
}

// Of a long name, which is compared whole.
template <class... Ts>
[[gnu::noinline]] inline AtraceMade record_atrace_long(Kind kind, unsigned bit, std::string_view source,
                                                       std::string_view name,
                                                       typename Passed<Ts>::type... args) {
    if (name.size() <= kAtraceLongest) [[likely]] {
        const AtraceKey key(kind, bit, sizeof...(Ts), name);
        AtraceName* const one = atrace_place(key).load(std::memory_order_acquire);
        if (one != nullptr && one->is(key, name)) [[likely]]
            return record_atrace_at<Ts...>(*one, bit, kind, source, name, args...);
    }
    return record_atrace_elsewhere<Ts...>(kind, bit, source, name, args...);
}

// Records one call. What needs calls is elsewhere: so nothing is saved and brought back for them.
template <class... Ts>
SP_DETAIL_HOT AtraceMade record_atrace(Kind kind, std::uint64_t tag, std::string_view source,
                                       std::string_view name, const Ts&... args) {
    const unsigned bit = atrace_bit(tag);
    if (name.size() <= AtraceKey::kWhole) [[likely]] {
        const AtraceKey key(kind, bit, sizeof...(Ts), name);
        AtraceName* const one = atrace_place(key).load(std::memory_order_acquire);
        if (one != nullptr && one->key == key) [[likely]]
            return record_atrace_at<Ts...>(*one, bit, kind, source, name, args...);
        return record_atrace_elsewhere<Ts...>(kind, bit, source, name, args...);
    }
    return record_atrace_long<Ts...>(kind, bit, source, name, args...);
}

SP_DETAIL_HOT AtraceBegun record_atrace_begin(std::uint64_t tag, std::string_view name) {
    if (!has_room_atrace()) [[unlikely]]
        make_room_atrace();
    const AtraceMade made = record_atrace(Kind::kSpan, tag, "", name);
    if (static_cast<std::int64_t>(made.ticks) <= 0) [[unlikely]] {
        if (made.ticks == 0) return {};
        const std::uint32_t id = (made.ticks & kRecordedSpan) != 0 ? made.site->id() : 0;
        return {made.site, id | AtraceBegun::kTraced, made.ticks};
    }
    return {made.site, made.site->id(), made.ticks};
}
SP_DETAIL_HOT void begin_atrace(std::uint64_t tag, std::string_view name) {
    open_atrace(record_atrace_begin(tag, name));
}

inline constexpr std::uint64_t kAtraceEnd =
    std::uint64_t{kSiteSpanEnd} << 32 | head_size<std::uint32_t, std::uint64_t>();
SP_DETAIL_HOT void record_atrace_end(const AtraceBegun& begun, std::uint32_t id) {
    record_captured(kAtraceEnd, *begun.site, id, begun.ticks);
}
SP_DETAIL_END
