// The hot path: one record.
//
//   lane ready? ─▶ busy ─▶ fits before the limit? ─▶ head, ticks, arguments ─▶ publish ─▶ ready
//       │ no                   │ no                                              one release store
//       └──────────┬───────────┘
//                  ▼
//             record_slowly ─▶ arguments.hpp ─▶ reserve (refill.hpp)
//
// Everything that may take longer is out of line, and the same code for all types. So is Site::complete
// (site.hpp), which a site's first record needs.
//
// The cost in instructions (docs/budgets.md, g++ 12, x86-64), and of the same bytes packed by hand:
//
//   a literal                         40 = 15 by hand + 25
//   three numbers                     48 = 21 by hand + 27
//   two numbers, a text of 35 bytes   69 = 35 by hand + 34
//
// The rest checks site, lane and room, reads the clock, publishes, and releases the lane. The compiler knows
// the record's size where it knows the arguments': one comparison then covers all of it. With a text the rest
// takes seven more, since the room depends on its length.
//
// Arguments that may run code of the program are evaluated before (scratch.hpp): no lane is busy meanwhile.
//
// Who may do what: the owning thread alone makes its lane busy, writes behind `committed`, and advances it.
// A signal handler that interrupts it finds the lane busy, and goes one lane up. The collector reads what
// lies before `committed`. So a record is there as a whole, or not at all.
#pragma once

#include "arguments.hpp"
#include "given.hpp"
#include "probe_write.hpp"

SP_DETAIL_BEGIN

// Ends a record of `size` bytes at the lane's position: from here on it exists, and the lane is ready for the
// next.
SP_DETAIL_HOT void commit(Lane* lane, char* at, std::size_t size) {
    publish(lane, at, size);
    make_ready(lane);
}

// Prefetches the lines that records of this size will fill in a while (see kAhead).
SP_DETAIL_HOT void take_ahead(const Lane* lane, char* at, std::size_t size) {
    char* ahead = at + kAhead;
    if (ahead + size > lane->reach) [[unlikely]]
        return;
    take_line(ahead);
    if (size <= kLine) return;
    take_line(ahead + kLine);
    for (std::size_t line = 2 * kLine; line < size; line += kLine) take_line(ahead + line);
}

// Packs a record of `size` bytes, whose head and ticks are given.
template <class... Ts>
SP_DETAIL_HOT void pack(char* at, std::size_t size, std::uint64_t head, std::uint64_t ticks,
                        const Ts&... args) {
    constexpr std::size_t fixed = Fields<Ts...>::fixed_size();
    // The tail first, so that what follows may overlap it: a record depends on its arguments alone.
    if constexpr (fixed == kVaries || fixed % 8 != 0) put_bytes(at + size - 8, std::uint64_t{0});
    put_bytes(put_bytes(at, head), ticks);
    [[maybe_unused]] char* end = Fields<Ts...>::put(at + 16, args...);
#if defined(SILVERPOINT_CHECKS)
    if (round_up_8(static_cast<std::size_t>(end - at)) != size) SP_DETAIL_TRAP();
#endif
}

// As pack, in one pass (see Within), and publishes it; 0 when the record does not fit before the limit.
template <class... Ts>
SP_DETAIL_HOT std::uint64_t pack_within(Lane* lane, char* at, const char* limit, std::uint64_t head,
                                        const Ts&... args) {
    // The record's own words, its tail, and all arguments of fixed size are checked at once.
    constexpr std::size_t kFixed =
        (std::size_t{0} + ... + (CodecOf<Ts>::fixed == kVaries ? 0 : CodecOf<Ts>::fixed));
    if (reinterpret_cast<std::uintptr_t>(at) + 24 + kFixed > reinterpret_cast<std::uintptr_t>(limit))
        return 0;
    Bound room{limit - 8 - kFixed};
    char* out = at + 16;
    const auto put_next = [&]<class T>(const T& value) SP_DETAIL_HOT_LAMBDA {
        if constexpr (CodecOf<T>::fixed != kVaries) {
            out = Within<T>::put_fixed(out, value);
            room.limit += CodecOf<T>::fixed;
            return true;
        } else {
            out = Within<T>::put(room, out, value);
            return out != nullptr;
        }
    };
    if (!(put_next.template operator()<Ts>(args) && ...)) return 0;
    put_bytes(out, std::uint64_t{0});
    const std::uint64_t ticks = counter();
    const std::size_t size = round_up_8(static_cast<std::size_t>(out - at));
    put_bytes(put_bytes(at, head | size), ticks);
    take_ahead(lane, at, size);
    commit(lane, at, size);
    return ticks;
}

// Of a record that a system tracer may want (probe_record.hpp).
template <class... Ts>
std::uint64_t record_probed(std::uint64_t head, Site& site, typename Passed<Ts>::type... args);

// The same of a site with this traced_head, without arguments.
std::uint64_t record_traced_alone(std::uint64_t head, Site& site);

std::uint64_t record_probed_arguments(std::uint64_t head, const Site& site, void* caller, AnyArguments args);
std::uint64_t record_probed_bytes(std::uint64_t head, const Site& site, const char* bytes, std::size_t size,
                                  void* caller, const AnyArguments* args = nullptr);

// A record that does not fit before the limit, or whose lane is not ready, or whose head has a mark.
// `entered` is the thread's own lane if the hot path has made it busy, else null.
template <class... Ts>
SP_DETAIL_COLD std::uint64_t record_slowly(Lane* entered, std::uint64_t head, const Site& site,
                                           typename Passed<Ts>::type... args) {
    const Entry entry{entered, stack_mark(SP_DETAIL_FRAME_ADDRESS())};
    void* const caller = SP_DETAIL_RETURN_ADDRESS();
    if constexpr ((CutBefore<Ts>::kMayBe || ...)) {
        if ((CutBefore<Ts>::is_cut(args) || ...)) head |= kTruncated;
    }
    if constexpr (constexpr std::size_t kBytes = Fields<Ts...>::fixed_size();
                  (kIsFlat<Ts> && ...) && kBytes <= kFewBytes) {
        char bytes[kBytes + 1];
        *Fields<Ts...>::put(bytes, args...) = 0;
        return (head & kProbedHead) != 0 ? record_probed_bytes(head, site, bytes, kBytes, caller)
                                         : record_few_bytes(entry, head, site, bytes, kBytes);
    } else {
        AnyArgument all[] = {AnyArgument::of<Ts>(args)...};
        if ((head & kProbedHead) != 0)
            return record_probed_arguments(head, site, caller, {all, sizeof...(Ts)});
        if constexpr ((kIsFlat<Ts> && ...)) {
            return record_evaluated_arguments(entry, head, site, {all, sizeof...(Ts)},
                                              Fields<Ts...>::size(args...));
        } else {
            return record_unevaluated_arguments(entry, head, site, {all, sizeof...(Ts)});
        }
    }
}

// A record of values of which some may run code of the program: all of them are evaluated before it.
template <class... Ts>
SP_DETAIL_NOINLINE std::uint64_t record_evaluated(std::uint64_t head, const Site& site,
                                                  typename Passed<Ts>::type... args);

// Packs a record into the thread's ring; returns its ticks, 0 if it was lost (or cut). `head` as in Site.
template <class... Ts>
SP_DETAIL_HOT std::uint64_t record_captured(std::uint64_t head, const Site& site, const Ts&... args) {
    constexpr std::size_t fixed = Fields<Ts...>::fixed_size();
    if constexpr ((CutBefore<Ts>::kMayBe || ...)) {
        if ((CutBefore<Ts>::is_cut(args) || ...)) head |= kTruncated;
    }
    if constexpr (!(kIsSteady<Ts> && ...)) {
        return record_evaluated<Ts...>(head, site, args...);
    } else {
        Lane* lane = tls_lane;
        Lane* entered = nullptr;
        if (is_ready(lane)) [[likely]] {
            make_busy(lane);
            entered = lane;
            char* at = lane->cur;
            if constexpr (!(kIsFlat<Ts> && ...)) {
                const std::uint64_t ticks = pack_within(lane, at, limit_of(lane), head, args...);
                if (ticks != 0) [[likely]]
                    return ticks;
            } else {
                const std::size_t size = round_up_8(16 + Fields<Ts...>::size(args...));
                if (fits(lane, at, size)) [[likely]] {
                    const std::uint64_t ticks = counter();
                    take_ahead(lane, at, size);
                    pack<Ts...>(at, size, fixed == kVaries ? head | size : head, ticks, args...);
                    commit(lane, at, size);
                    return ticks;
                }
            }
        }
        return record_slowly<Ts...>(entered, head, site, args...);
    }
}

template <class... Ts>
std::uint64_t record_evaluated(std::uint64_t head, const Site& site, typename Passed<Ts>::type... args) {
    return with_evaluated<Ts...>(
        {nullptr, stack_mark(SP_DETAIL_FRAME_ADDRESS())},
        [&]<class... Es>(bool cut, const Es&... all) {
            return record_captured<Es...>(cut ? head | kTruncated : head, site, all...);
        },
        args...);
}

template <class... Ts>
using Captured = SignatureOf<std::remove_cvref_t<typename Capture<Ts>::type>...>;

// Bytes of a record's arguments that go into a site's head: 0 when they vary.
template <class... Ts>
constexpr std::uint32_t head_size() {
    constexpr std::size_t fixed = Fields<std::remove_cvref_t<typename Capture<Ts>::type>...>::fixed_size();
    return fixed == kVaries ? 0 : static_cast<std::uint32_t>(round_up_8(16 + fixed));
}

// The head of a complete site that has none: a system tracer may want its records, which a mark says.
SP_DETAIL_COLD std::uint64_t marked_head(Site& site, Kind kind) {
    const std::uint64_t head = site.whole.load(std::memory_order_acquire);
    if (site.heeds_probes()) return probed_mark(kind);
    if (site.head.load(std::memory_order_relaxed) != head) site.head.store(head, std::memory_order_release);
    return head;
}

// What a site has of its arguments' types: their signature, and the size of its records as in its head.
struct Signed {
    std::string_view signature;
    std::uint32_t size;

    template <class... Ts>
    static constexpr Signed of() {
        static_assert(Captured<Ts...>::text.size() <= kSignatureMost,
                      "silverpoint: the types of these arguments have a signature of more than 16,384 bytes");
        return {Captured<Ts...>::text, head_size<Ts...>()};
    }
};
template <class... Ts>
inline constexpr Signed kSigned = Signed::of<Ts...>();

// Completes a site at its first recording; returns its head, 0 if there is no room for another site. While a
// system tracer may want its records every one comes here, and has a mark in its head.
SP_DETAIL_COLD std::uint64_t complete_signed(Site& site, Kind kind, std::string_view names,
                                             std::string_view text, const Signed& types) {
    if (site.whole.load(std::memory_order_acquire) == 0 &&
        !site.complete(kind, names, text, types.signature, types.size)) {
        count_session_loss(Cause::kNoSite);
        return 0;
    }
    return marked_head(site, kind);
}
template <class... Ts>
SP_DETAIL_COLD std::uint64_t complete_site(Site& site, Kind kind, std::string_view names,
                                           std::string_view text) {
    return complete_signed(site, kind, names, text, kSigned<Ts...>);
}

// As record_captured, with the head that complete_site has given.
template <class... Ts>
SP_DETAIL_HOT std::uint64_t record_completed(std::uint64_t head, Site& site, const Ts&... args) {
    if ((head & kProbedHead) == 0) return record_captured(head, site, args...);
    return record_probed<Ts...>(head, site, args...);
}

// A record of a site that is on. `complete` gives the head of one that has none yet.
template <class Complete, class... Ts>
SP_DETAIL_HOT std::uint64_t record_by(const Complete& complete, Site& site, Kind kind, const Ts&... args) {
    std::uint64_t head = site.head.load(std::memory_order_relaxed);
    if (is_no_head(head)) [[unlikely]] {
        if (kind == Kind::kSpan && site.is_traced(head)) {
            head = known_mark(kind, head);
        } else if (kind == Kind::kSpan || head == 0) {
            head = complete();
        } else if constexpr (sizeof...(Ts) == 0) {
            return record_traced_alone(head, site);
        }
        if (head == 0) return 0;
        if ((head & kProbedHead) != 0)
            return record_probed<CapturedAs<Ts>...>(head, site, Capture<Ts>::of(args)...);
    }
    return record_captured(head, site, Capture<Ts>::of(args)...);
}
template <class... Ts>
SP_DETAIL_HOT std::uint64_t record(Site& site, Kind kind, std::string_view names, std::string_view text,
                                   const Ts&... args) {
    const auto complete = [&]()
                              SP_DETAIL_HOT_LAMBDA { return complete_site<Ts...>(site, kind, names, text); };
    return record_by(complete, site, kind, args...);
}

SP_DETAIL_END

#include "probe_record.hpp"
