// Descriptions of sites in the control file of a session (spec/wire.md, sections 3.2 and 7), for libraries
// that make events of them.
#pragma once

#include <atomic>
#include <cstring>
#include <silverpoint/detail/probe_event.hpp>
#include <string_view>

namespace silverpoint::probes {

using namespace detail;

// A site's description (spec/wire.md, section 7).
inline constexpr std::uint16_t kQuestionFlag = 4;
struct Description {
    Kind kind;
    std::uint8_t level;
    std::uint16_t flags;
    std::uint32_t line;
    std::string_view category, file, names, text, signature;

    std::uint64_t hash;  // tells descriptions apart

    explicit Description(const char* at) {
        const auto get = [at]<class T>(std::size_t offset, T value) {
            std::memcpy(&value, at + offset, sizeof value);
            return value;
        };
        hash = get(8, std::uint64_t{});
        kind = static_cast<Kind>(at[16]);
        level = static_cast<std::uint8_t>(at[17]);
        flags = get(18, std::uint16_t{});
        line = get(20, std::uint32_t{});
        const char* from = at + kDescFixed;
        const auto next = [&from](std::size_t size) {
            const std::string_view found(from, size);
            from += size;
            return found;
        };
        category = next(get(28, std::uint16_t{}));
        file = next(get(30, std::uint16_t{}));
        next(get(32, std::uint16_t{}));
        names = next(get(34, std::uint16_t{}));
        text = next(get(36, std::uint32_t{}));
        signature = next(get(40, std::uint32_t{}));
    }
    // It records nothing: it asks whether a record would be wanted.
    bool is_question() const {
        return (flags & kQuestionFlag) != 0 || (kind == Kind::kLog && text.empty() && signature.empty());
    }
};

// `probes_asked` of this process's session: a tracer that is no longer asked for gets nothing. Without a
// session all are asked for.
inline constinit const std::atomic<std::uint32_t> all_asked{0xFFFFFFFF};
inline constinit std::atomic<const std::atomic<std::uint32_t>*> asked_tracers{&all_asked};
inline bool is_asked(std::uint32_t tracer) {
    return (asked_tracers.load(std::memory_order_acquire)->load(std::memory_order_relaxed) & tracer) != 0;
}

// What stands behind the name of an event of this kind.
inline const char* ending_of(Kind kind) {
    switch (kind) {
        case Kind::kSpan:
            return "_entry";
        case Kind::kAsyncBegin:
        case Kind::kFlowBegin:
            return "_begin";
        case Kind::kAsyncEnd:
        case Kind::kFlowEnd:
            return "_end";
        case Kind::kFlowStep:
            return "_step";
        default:
            return "";
    }
}

// The control file of a session: a mapping of its own, since that of a plug-in ends with it.
struct Control {
    char* base = nullptr;
    std::size_t size = 0;

    ControlHeader& header() const { return detail::header_of(base); }
    SiteEntry& entry(std::size_t number) const { return detail::site_of(base, header().sites_at, number); }
    std::atomic<std::uint32_t>& asked() const { return header().probes_asked; }
    std::atomic<std::uint8_t>& state(std::uint32_t number) const {
        return *reinterpret_cast<std::atomic<std::uint8_t>*>(base + header().states_at + number);
    }
    // Nothing asks for a tracer that cannot be fed.
    void stop_asking(std::uint32_t tracer) const {
        detail::stop_asking(base, header().states_at, count(), tracer);
    }
    // Entries that were claimed.
    std::uint32_t count() const {
        const std::uint32_t most = header().sites_cap;
        const std::uint32_t claimed = header().sites_next.load(std::memory_order_acquire);
        return claimed < most ? claimed : most;
    }
    bool is_complete(std::uint32_t number) const {
        return entry(number).stage.load(std::memory_order_acquire) == kStageComplete;
    }
    // Where the first event of an entry is published.
    std::atomic<std::uint64_t>& published(std::uint32_t number) const { return entry(number).probe; }
    // Adds an event behind those of an entry: sites remember the first, while its tracer alone is asked for.
    // Once for each session.
    void publish(std::uint32_t number, ProbeEvent& event) const {
        // (In a forked child it may be that of the parent's session.)
        __atomic_store_n(&event.next, nullptr, __ATOMIC_RELAXED);
        std::atomic<std::uint64_t>& first = published(number);
        std::uint64_t found = 0;
        if (first.compare_exchange_strong(found, reinterpret_cast<std::uintptr_t>(&event),
                                          std::memory_order_acq_rel, std::memory_order_acquire))
            return;
        auto* at = reinterpret_cast<ProbeEvent*>(static_cast<std::uintptr_t>(found));
        for (const ProbeEvent* last = nullptr;
             !__atomic_compare_exchange_n(&at->next, &last, static_cast<const ProbeEvent*>(&event), false,
                                          __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
             last = nullptr)
            at = const_cast<ProbeEvent*>(last);
    }
    bool has(std::uint32_t number, const ProbeEvent* event) const {
        const std::uint64_t first = published(number).load(std::memory_order_acquire);
        const auto* at = reinterpret_cast<const ProbeEvent*>(static_cast<std::uintptr_t>(first));
        while (at != nullptr && at != event) at = at->following();
        return at != nullptr;
    }
    // Of an entry that is complete.
    Description description(std::uint32_t number) const {
        const std::uint32_t body = entry(number).body_at.load(std::memory_order_acquire);
        return Description(base + header().descs_at + std::size_t{body} * 8);
    }
};

}  // namespace silverpoint::probes
