// Records that a system tracer may want (probe.hpp): an event for it, and the record if the site is on.
#pragma once

#include "packed_bytes.hpp"
#include "record.hpp"

SP_DETAIL_BEGIN

// So many bytes of arguments are packed on the stack, and have their room in every ring.
inline constexpr std::size_t kPackedEventMost = 512;

// The record that follows its events.
SP_DETAIL_NOINLINE inline std::uint64_t record_packed(std::uint64_t head, const Site& site, const char* bytes,
                                                      std::size_t size) {
    return record_captured(site.whole.load(std::memory_order_acquire) | (head & kTruncated), site,
                           PackedBytes{bytes, size});
}
SP_DETAIL_COLD std::uint64_t record_behind_probe(std::uint64_t head, const Site& site, AnyArguments args) {
    const Entry entry{nullptr, stack_mark(SP_DETAIL_FRAME_ADDRESS())};
    return record_evaluated_arguments(entry, site.whole.load(std::memory_order_acquire) | (head & kTruncated),
                                      site, args, args.size());
}

// Events of these bytes, before the record, which may have to wait for room. That is made from `args`, if
// there are any.
SP_DETAIL_NOINLINE inline std::uint64_t record_probed_bytes(std::uint64_t head, const Site& site,
                                                            const char* bytes, std::size_t size, void* caller,
                                                            const AnyArguments* args) {
    const bool is_span = (head & kProbedSpanHead) != 0;
    std::uint64_t began = 1;
    if (is_span) [[unlikely]]
        began = session.now();
    std::uint64_t ticks = 0;
    if (write_probe(head, site, bytes, size, caller)) [[unlikely]]
        ticks =
            args == nullptr ? record_packed(head, site, bytes, size) : record_behind_probe(head, site, *args);
    if (!is_span) [[likely]]
        return ticks != 0 ? ticks : began;
    return hold_span(site, ticks, began);
}

// The same of arguments of any size. Without room for them there is no event.
SP_DETAIL_NOINLINE inline std::uint64_t record_probed_arguments(std::uint64_t head, const Site& site,
                                                                void* caller, AnyArguments args) {
    Scratch evaluated;
    if (!evaluate(evaluated, args)) {
        lose({nullptr, stack_mark(SP_DETAIL_FRAME_ADDRESS())}, evaluated.cause());
        return 0;
    }
    if (evaluated.is_cut()) head |= kTruncated;
    const std::size_t size = args.size();
    const AnyArguments* const rest = size <= kPackedEventMost ? nullptr : &args;
    // Evaluated ones lie one after the other.
    if (args.are_evaluated()) return record_probed_bytes(head, site, evaluated.begin(), size, caller, rest);
    Scratch scratch;
    char* const out = size <= kRecordMax ? scratch.fit(scratch.begin(), size) : nullptr;
    if (out != nullptr) {
        args.put(out);
        return record_probed_bytes(head, site, out, size, caller, rest);
    }
    const bool is_span = (head & kProbedSpanHead) != 0;
    const std::uint64_t began = is_span ? session.now() : 1;
    const std::uint64_t ticks = site.records() ? record_behind_probe(head, site, args) : 0;
    if (is_span) return hold_span(site, ticks, began);
    return ticks != 0 ? ticks : began;
}

// Arrays of numbers lie in memory as in a record.
template <class T>
inline constexpr bool kLiesPacked = requires(const T& array) {
    requires ArrayLike<T> && !Described<T> && kIsSteady<T> && kIsPlain<typename T::value_type>;
    array.data();
};
template <class T, std::size_t Length>
inline constexpr bool kLiesPacked<T[Length]> =
    kIsPlain<std::remove_cv_t<T>> && !Character<std::remove_cv_t<T>>;

template <class First, class... Rest>
SP_DETAIL_HOT const First& first_of(const First& first, const Rest&...) {
    return first;
}

// A record of packed arguments, which fit into every ring, of a site with a traced_head that is no span's.
// Usually the ring wants it, too. (The end of what has begun is recorded even if its site is off by now.)
SP_DETAIL_NOINLINE inline std::uint64_t record_traced_in_ring(std::uint64_t head, Site& site,
                                                              const char* bytes, std::size_t size,
                                                              void* caller) {
    if (site.is_traced(head)) [[likely]] {
        write_known(head, probe_record(bytes, size, false, caller));
    } else if (const std::uint64_t now = marked_head(site, Kind::kEvent); (now & kProbedHead) != 0) {
        return record_probed_bytes(now, site, bytes, size, caller);
    }
    record_packed(0, site, bytes, size);
    return 1;
}
// The same; usually the ring does not want it.
SP_DETAIL_HOT std::uint64_t write_traced(std::uint64_t head, Site& site, const char* bytes, std::size_t size,
                                         void* caller) {
    if (site.state_byte() != kProbedBit) [[unlikely]]
        return record_traced_in_ring(head, site, bytes, size, caller);
    write_known(head, probe_record(bytes, size, false, caller));
    return 1;
}
SP_DETAIL_NOINLINE inline std::uint64_t record_traced(std::uint64_t head, Site& site, const char* bytes,
                                                      std::size_t size, void* caller) {
    return write_traced(head, site, bytes, size, caller);
}
SP_DETAIL_NOINLINE inline std::uint64_t record_traced_alone(std::uint64_t head, Site& site) {
    return write_traced(head, site, nullptr, 0, SP_DETAIL_RETURN_ADDRESS());
}
// Instead of a traced_head for other arguments: a mark, or the head of a record that no tracer may want.
SP_DETAIL_COLD std::uint64_t head_of_traced(std::uint64_t head, Site& site) {
    return site.is_traced(head) ? known_mark(Kind::kEvent, head) : marked_head(site, Kind::kEvent);
}

// `head`: a mark, or a traced_head of a site that has arguments and is no span's. (Not cold: that would be
// compiled for size, and copy byte by byte.)
template <class... Ts>
SP_DETAIL_NOINLINE std::uint64_t record_probed(std::uint64_t head, Site& site,
                                               typename Passed<Ts>::type... args) {
    void* const caller = SP_DETAIL_RETURN_ADDRESS();
    if constexpr (sizeof...(Ts) == 0) {
        return record_probed_bytes(head, site, nullptr, 0, caller);
    } else {
        constexpr bool kIsArray = sizeof...(Ts) == 1 && (kLiesPacked<Ts> && ...);
        constexpr bool kIsPacked = !kIsArray && (kIsFlat<Ts> && ...);
        bool is_cut = false;
        if constexpr ((CutBefore<Ts>::kMayBe || ...)) is_cut = (CutBefore<Ts>::is_cut(args) || ...);
        std::size_t size = kPackedEventMost + 1;
        if constexpr (kIsArray || kIsPacked) size = Fields<Ts...>::size(args...);
        bool is_traced = (head & kTracedHead) != 0;
        if (is_traced && (is_cut || size > kPackedEventMost)) [[unlikely]] {
            head = head_of_traced(head, site);
            if ((head & kProbedHead) == 0) return record_slowly<Ts...>(nullptr, head, site, args...);
            is_traced = false;
        }
        if (is_cut) head |= kTruncated;
        const auto record_few = [&](const char* bytes) SP_DETAIL_HOT_LAMBDA {
            if (is_traced) [[likely]]
                return record_traced(head, site, bytes, size, caller);
            return record_probed_bytes(head, site, bytes, size, caller);
        };
        if constexpr (kIsArray) {
            const auto* const bytes = reinterpret_cast<const char*>(std::data(first_of(args...)));
            if (size <= kPackedEventMost) [[likely]]
                return record_few(bytes);
            AnyArgument one = AnyArgument::of<Ts...>(args...);
            const AnyArguments all{&one, 1};
            return record_probed_bytes(head, site, bytes, size, caller, &all);
        } else {
            if constexpr (kIsPacked) {
                if (size <= kPackedEventMost) [[likely]] {
                    char bytes[kPackedEventMost + 1];
                    *Fields<Ts...>::put(bytes, args...) = 0;
                    return record_few(bytes);
                }
            }
            AnyArgument all[] = {AnyArgument::of<Ts>(args)...};
            return record_probed_arguments(head, site, caller, {all, sizeof...(Ts)});
        }
    }
}

// A record of a site that is on, by the cold path: its first, or one that is unusual.
SP_DETAIL_COLD std::uint64_t record_coldly(const Entry& entry, Site& site, Kind kind, std::string_view text,
                                           const Signed& types, void* caller, AnyArguments args) {
    const std::uint64_t known = site.head.load(std::memory_order_relaxed);
    std::uint64_t head = is_no_head(known) && site.is_traced(known)
                             ? known_mark(kind, known)
                             : complete_signed(site, kind, {}, text, types);
    if (head == 0) return 0;
    if (args.are_cut()) head |= kTruncated;
    if ((head & kProbedHead) != 0) return record_probed_arguments(head, site, caller, args);
    return args.are_flat() ? record_evaluated_arguments(entry, head, site, args, args.size())
                           : record_unevaluated_arguments(entry, head, site, args);
}

// Nanoseconds for a number of the session's ticks; where their rate is not stated, by its first anchor and
// now.
SP_DETAIL_COLD std::uint64_t ns_of_ticks(std::uint64_t ticks) {
    if (session.source == kMonotonic) return ticks;
    auto rate = static_cast<double>(session.header().ticks_per_second) / 1e9;
    if (rate == 0) {
        const auto* anchor = reinterpret_cast<const Long*>(session.control + session.anchors_at);
        const std::uint64_t before = anchor[0].load(std::memory_order_relaxed),
                            then = anchor[1].load(std::memory_order_relaxed);
        const std::uint64_t passed = monotonic_now() - then;
        if (passed == 0) return 0;
        rate = static_cast<double>(session.now() - before) / static_cast<double>(passed);
    }
    return static_cast<std::uint64_t>(static_cast<double>(ticks) / rate);
}

// The end of a span that a tracer may want; `head` is that of its record.
SP_DETAIL_COLD void end_probed_span(Site& site, std::uint64_t held, std::uint64_t head) {
    const std::uint64_t began = held & ~(kProbedSpan | kRecordedSpan);
    // The thread may have come to another processor, whose counter is some ticks behind.
    const std::uint64_t now = session.now();
    const std::uint64_t duration = now > began ? now - began : 0;
    // In a forked child without a session the event is the parent's (Site::is_wanted_otherwise).
    const ProbeEvent* const event = session.is_ready() || ensure_session()
                                        ? probe_event(site.entry.load(std::memory_order_relaxed))
                                        : nullptr;
    if (event != nullptr && event->is_wanted_by_any(~std::uint32_t{0}, true)) {
        const std::uint64_t ns = ns_of_ticks(duration);
        const auto* const bytes = reinterpret_cast<const char*>(&ns);
        write_wanted(*event, true,
                     ProbeSpanEnd{probe_record(bytes, sizeof ns, false, SP_DETAIL_RETURN_ADDRESS()), began});
    }
    if ((held & kRecordedSpan) != 0)
        record_slowly<std::uint32_t, std::uint64_t>(nullptr, head, site, site.id(), began);
}

SP_DETAIL_END
