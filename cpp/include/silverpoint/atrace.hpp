// Android's ATrace, on Linux and Android: the same calls, tags and properties, two outputs.
//
//   #include <silverpoint/atrace.hpp>
//   namespace atrace = silverpoint::atrace;
//
//   void draw(int frame) {
//       SP_ATRACE("draw");                                    until the end of the block
//       atrace::int64(atrace::kApp, "frame", frame);
//       atrace::async_begin(atrace::kApp, "upload", 7);       may end in any thread
//       atrace::async_end(atrace::kApp, "upload", 7);
//   }
//
// There are two outputs, which may be on at once: the kernel's trace_marker, in Android's format, and
// Silverpoint's rings. Properties with Android's names enable the kernel's output (docs/guide/atrace.md).
// With SILVERPOINT_USDT calls hit probes, too, while a tracer is attached.
// Directives enable the rings' output: category atrace::app and the like. Where properties are set, the rings
// get only tags that the properties enable.
#pragma once

#include <cstdarg>
#include <cstdio>

#include "detail/atrace_message.hpp"
#include "detail/atrace_ring.hpp"
#include "detail/usdt_atrace.hpp"
#include "platform/only_linux.h"
#include "silverpoint.hpp"

namespace silverpoint {
inline namespace v1 SP_DETAIL_HIDDEN {
namespace atrace {

// Tags: numbers and names are Android's. May be combined.
using Tag = std::uint64_t;
inline constexpr Tag kAlways = 1u << 0, kGraphics = 1u << 1, kInput = 1u << 2, kView = 1u << 3,
                     kWebview = 1u << 4, kWindowManager = 1u << 5, kActivityManager = 1u << 6,
                     kSyncManager = 1u << 7, kAudio = 1u << 8, kVideo = 1u << 9, kCamera = 1u << 10,
                     kHal = 1u << 11, kApp = 1u << 12, kResources = 1u << 13, kDalvik = 1u << 14,
                     kRs = 1u << 15, kBionic = 1u << 16, kPower = 1u << 17, kPackageManager = 1u << 18,
                     kSystemServer = 1u << 19, kDatabase = 1u << 20, kNetwork = 1u << 21, kAdb = 1u << 22,
                     kVibrator = 1u << 23, kAidl = 1u << 24, kNnapi = 1u << 25, kRro = 1u << 26,
                     kThermal = 1u << 27;

}  // namespace atrace

namespace atrace {

// Whether any of these tags goes to the kernel, and whether it goes into the ring.
// Thread-safe: any thread. Cost: a few loads; update_tags reads the properties, and its first call begins to
// follow their file.
inline bool is_in_marker(Tag tag) { return detail::AtraceTo(tag).marker(); }
inline bool is_in_ring(Tag tag) { return detail::AtraceTo(tag).ring(); }
// Whether it has any output, or a tracer is attached to a USDT probe.
inline SP_DETAIL_ATRACE bool is_tag_enabled(Tag tag) {
    if (detail::atrace_is_attached()) return true;
    const detail::AtraceTo to(tag);
    return to.marker() || to.ring();
}
// All tags that are enabled.
inline Tag enabled_tags() {
    Tag tags = detail::atrace_state.marker_tags();
    for (unsigned bit = 0; bit < detail::kAtraceTags; ++bit)
        if (is_in_ring(Tag{1} << bit)) tags |= Tag{1} << bit;
    return tags;
}
// Reads the properties again, now. (A property file is followed automatically; the environment is not.)
inline void update_tags() { detail::atrace_state.update(); }

}  // namespace atrace

namespace detail {

// The calling process's id. It is kept here because a forked child wipes the session's own, and asking the
// kernel costs as much as all the rest.
inline std::uint32_t atrace_process() {
    return session.is_ready() ? session.header().pid : static_cast<std::uint32_t>(getpid());
}

// One call, as the kernel gets it.
struct SP_DETAIL_VISIBLE AtraceCall {
    char letter;
    std::size_t count = 0;
    std::string_view names[2] = {};
    bool has_number = false;
    std::int64_t number = 0;
};
inline void write_atrace(const AtraceCall& call) {
    AtraceMessage message(call.letter, atrace_process(), call.names, call.count,
                          call.has_number ? &call.number : nullptr);
    atrace_state.write(atrace_state.is_file() ? message.line() : message.text());
}

// What a call does if its gate is not closed. Separate functions, so that a call that is off costs only the
// check.

// Decides the outputs: writes to the kernel if it wants the call. True: the ring wants it too.
[[gnu::noinline]] inline bool atrace_to_outputs(std::uint64_t tag, const AtraceCall& call) {
    const AtraceTo to(tag);
    // (The ring is checked before the kernel: what has to be loaded is waited for behind the kernel's check.)
    const bool in_ring = to.ring();
    if (to.marker()) write_atrace(call);
    return in_ring;
}

// Begins a stretch of time of the calling thread. False: its tag is off.
[[gnu::noinline]] inline bool atrace_begin_by_outputs(std::uint64_t tag, std::string_view name) {
    const AtraceTo to(tag);
    const bool in_marker = to.marker(), in_ring = to.ring();
    if (!in_marker && !in_ring) return false;
    if (in_marker) write_atrace({'B', 1, {name}});
    AtraceBegun begun;
    if (in_ring)
        begun = record_atrace_begin(tag, name);
    else if (!has_room_atrace())
        make_room_atrace();
    if (in_marker) begun.id |= AtraceBegun::kTold;
    open_atrace(begun);
    return true;
}
[[gnu::noinline]] inline bool atrace_begin(std::uint8_t gate, std::uint64_t tag, std::string_view name) {
    if (gate != kAtraceRingAlone) [[unlikely]]
        return atrace_begin_by_outputs(tag, name);
    begin_atrace(tag, name);
    return true;
}

// The last one was written to the kernel, or is not in the ring; or none is known, or it lies too deep.
[[gnu::noinline]] inline bool end_atrace_otherwise() {
    AtraceBegun* const next = tls_atrace_next;
    AtraceBegun begun;
    if (next > tls_atrace_limit) {
        if (!close_atrace_deep(begun)) return false;
    } else {
        if (next == tls_atrace_open->bottom()) return false;
        tls_atrace_next = next - 1;
        begun = next[-1];
    }
    if ((begun.id & AtraceBegun::kTold) == AtraceBegun::kTold) write_atrace({'E'});
    const std::uint32_t id = begun.id & ~AtraceBegun::kMarks;
    if ((begun.id & AtraceBegun::kTraced) == AtraceBegun::kTraced)
        end_probed_span(*begun.site, begun.ticks, kAtraceEnd);
    else if (id != 0)
        record_atrace_end(begun, id);
    return true;
}
// Ends the last one in the outputs it was begun in, even if they were switched since. False: nothing is known
// of it.
SP_DETAIL_HOT bool end_atrace() {
    AtraceBegun* const last = tls_atrace_next - 1;
    // (One comparison: neither nothing nor unusual.)
    if (static_cast<std::int32_t>(last->id) <= 0) [[unlikely]]
        return end_atrace_otherwise();
    tls_atrace_next = last;
    record_atrace_end(*last, last->id);
    return true;
}

// Ends the stretch that the calling thread began last, in the outputs it was begun in. A scope's stretch ends
// even if its tag was switched off meanwhile, because it has begun.
[[gnu::noinline]] inline void atrace_end_by_outputs(std::uint64_t tag, bool is_scope) {
    const AtraceTo to(tag);
    const bool in_marker = to.marker();
    if (!in_marker && !is_scope && !to.ring()) return;
    // Where nothing was begun, the kernel gets the end, as on Android.
    if (!end_atrace() && in_marker) write_atrace({'E'});
}
[[gnu::noinline]] inline void atrace_end(std::uint8_t gate, std::uint64_t tag, bool is_scope) {
    if (gate != kAtraceRingAlone) [[unlikely]]
        return atrace_end_by_outputs(tag, is_scope);
    end_atrace();
}

[[gnu::noinline]] inline void atrace_async(std::uint8_t gate, char letter, Kind kind, std::uint64_t tag,
                                           std::string_view name, std::int32_t cookie) {
    if (gate != kAtraceRingAlone && !atrace_to_outputs(tag, {letter, 1, {name}, true, cookie})) return;
    record_atrace(kind, tag, "id", name, std::uint64_t{static_cast<std::uint32_t>(cookie)});
}

[[gnu::noinline]] inline void atrace_track_begin(std::uint8_t gate, std::uint64_t tag, std::string_view track,
                                                 std::string_view name, std::int32_t cookie) {
    if (gate != kAtraceRingAlone && !atrace_to_outputs(tag, {'G', 2, {track, name}, true, cookie})) return;
    record_atrace(Kind::kAsyncBegin, tag, "id, name", track,
                  std::uint64_t{static_cast<std::uint32_t>(cookie)}, name);
}

[[gnu::noinline]] inline void atrace_instant(std::uint8_t gate, std::uint64_t tag, std::string_view name) {
    if (gate != kAtraceRingAlone && !atrace_to_outputs(tag, {'I', 1, {name}})) return;
    record_atrace(Kind::kInstant, tag, "", name);
}

[[gnu::noinline]] inline void atrace_track_instant(std::uint8_t gate, std::uint64_t tag,
                                                   std::string_view track, std::string_view name) {
    if (gate != kAtraceRingAlone && !atrace_to_outputs(tag, {'N', 2, {track, name}})) return;
    record_atrace(Kind::kInstant, tag, "track", name, track);
}

[[gnu::noinline]] inline void atrace_counter(std::uint8_t gate, std::uint64_t tag, std::string_view name,
                                             std::int64_t value) {
    if (gate != kAtraceRingAlone && !atrace_to_outputs(tag, {'C', 1, {name}, true, value})) return;
    record_atrace(Kind::kCounter, tag, "value", name, value);
}

// A cookie for a stretch that may end in another thread: a different one each time. The start value depends
// on the address of this copy, so plug-ins use other cookies.
inline constinit std::atomic<std::uint32_t> atrace_cookies{0};
inline std::int32_t new_atrace_cookie() {
    const auto copy = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(&atrace_cookies) >> 4);
    return static_cast<std::int32_t>(copy * 0x9E3779B1u +
                                     atrace_cookies.fetch_add(1, std::memory_order_relaxed));
}

// A stretch that may end in another thread, and where it was begun.
struct SP_DETAIL_VISIBLE AtraceAsync {
    std::uint64_t tag = 0;
    std::string_view name;
    std::int32_t cookie = 0;
    bool in_marker = false, in_ring = false, is_hit = false;
};
[[gnu::noinline]] inline void begin_atrace_async(AtraceAsync& made) {
    const AtraceTo to(made.tag);
    made.cookie = new_atrace_cookie();
    made.in_marker = to.marker();
    if (made.in_marker) write_atrace({'S', 1, {made.name}, true, made.cookie});
    made.in_ring = to.ring() && record_atrace(Kind::kAsyncBegin, made.tag, "id", made.name,
                                              std::uint64_t{static_cast<std::uint32_t>(made.cookie)})
                                        .ticks != 0;
}
[[gnu::noinline]] inline void end_atrace_async(const AtraceAsync& made) {
    if (made.in_marker) write_atrace({'F', 1, {made.name}, true, made.cookie});
    if (made.in_ring)
        record_atrace_anyway(Kind::kAsyncEnd, made.tag, "id", made.name,
                             std::uint64_t{static_cast<std::uint32_t>(made.cookie)});
}

// A name that is formatted as by printf; cut where a message to the kernel would be cut.
class AtraceText {
  public:
    [[gnu::format(printf, 2, 3)]] explicit AtraceText(const char* format, ...) {
        const SystemGuard guard;
        va_list arguments;
        va_start(arguments, format);
        const int size = std::vsnprintf(text_, sizeof text_, format, arguments);
        va_end(arguments);
        size_ = size < 0 ? 0 : static_cast<std::size_t>(size);
        if (size_ >= sizeof text_) size_ = sizeof text_ - 1;
    }
    operator std::string_view() const { return {text_, size_}; }

  private:
    char text_[AtraceMessage::kMost + 1];
    std::size_t size_ = 0;
};

}  // namespace detail

namespace atrace {

// Begins a stretch of time of the calling thread; end ends it. They may be nested.
// Thread-safe: any thread. Cost: while the tag is off, a load and a comparison. While it is on, a record in
// the ring, a write to the kernel, or both.
inline SP_DETAIL_ATRACE void begin(Tag tag, std::string_view name) {
    detail::hit_atrace<detail::AtraceProbe::kBegin>(tag, name);
    if (const auto gate = detail::atrace_gate(tag)) detail::atrace_begin(gate, tag, name);
}
// Ends the stretch that the calling thread began last, in the outputs it was begun in. (As on Android nothing
// happens while the tag is off. Use a Scope if the stretch must end in any case.)
inline SP_DETAIL_ATRACE void end(Tag tag) {
    detail::hit_atrace<detail::AtraceProbe::kEnd>(tag);
    if (const auto gate = detail::atrace_gate(tag)) detail::atrace_end(gate, tag, false);
}

// Begins a stretch of time that may end in another thread. Tag, name and cookie connect begin and end.
// Thread-safe: any thread. Cost: that of begin.
inline SP_DETAIL_ATRACE void async_begin(Tag tag, std::string_view name, std::int32_t cookie) {
    detail::hit_atrace<detail::AtraceProbe::kAsyncBegin>(tag, name, cookie);
    if (const auto gate = detail::atrace_gate(tag))
        detail::atrace_async(gate, 'S', detail::Kind::kAsyncBegin, tag, name, cookie);
}
// Ends it.
inline SP_DETAIL_ATRACE void async_end(Tag tag, std::string_view name, std::int32_t cookie) {
    detail::hit_atrace<detail::AtraceProbe::kAsyncEnd>(tag, name, cookie);
    if (const auto gate = detail::atrace_gate(tag))
        detail::atrace_async(gate, 'F', detail::Kind::kAsyncEnd, tag, name, cookie);
}

// Begins a stretch of time on a track of its own. Tag, track and cookie connect begin and end.
// Thread-safe: any thread. Cost: that of begin.
inline SP_DETAIL_ATRACE void track_begin(Tag tag, std::string_view track, std::string_view name,
                                         std::int32_t cookie) {
    detail::hit_atrace<detail::AtraceProbe::kTrackBegin>(tag, name, cookie, track);
    if (const auto gate = detail::atrace_gate(tag))
        detail::atrace_track_begin(gate, tag, track, name, cookie);
}
// Ends it.
inline SP_DETAIL_ATRACE void track_end(Tag tag, std::string_view track, std::int32_t cookie) {
    detail::hit_atrace<detail::AtraceProbe::kTrackEnd>(tag, {}, cookie, track);
    if (const auto gate = detail::atrace_gate(tag))
        detail::atrace_async(gate, 'H', detail::Kind::kAsyncEnd, tag, track, cookie);
}

// A point in time of the calling thread.
// Thread-safe: any thread. Cost: that of begin.
inline SP_DETAIL_ATRACE void instant(Tag tag, std::string_view name) {
    detail::hit_atrace<detail::AtraceProbe::kInstant>(tag, name);
    if (const auto gate = detail::atrace_gate(tag)) detail::atrace_instant(gate, tag, name);
}
// A point in time on a track.
inline SP_DETAIL_ATRACE void track_instant(Tag tag, std::string_view track, std::string_view name) {
    detail::hit_atrace<detail::AtraceProbe::kTrackInstant>(tag, name, 0, track);
    if (const auto gate = detail::atrace_gate(tag)) detail::atrace_track_instant(gate, tag, track, name);
}

// The value of a counter, of 64 bits and of 32.
// Thread-safe: any thread. Cost: that of begin.
inline SP_DETAIL_ATRACE void int64(Tag tag, std::string_view name, std::int64_t value) {
    detail::hit_atrace<detail::AtraceProbe::kCounter>(tag, name, value);
    if (const auto gate = detail::atrace_gate(tag)) detail::atrace_counter(gate, tag, name, value);
}
inline SP_DETAIL_ATRACE void int32(Tag tag, std::string_view name, std::int32_t value) {
    int64(tag, name, value);
}

// A stretch of time until the end of the block.
// Thread-safe: its own thread. Cost: while the tag is off, a load and a comparison.
class [[nodiscard, gnu::visibility("default")]] Scope {
  public:
    SP_DETAIL_OWN SP_DETAIL_ATRACE Scope(Tag tag, std::string_view name) {
        if (detail::hit_atrace<detail::AtraceProbe::kBegin>(tag, name)) hit_ = tag;
        const auto gate = detail::atrace_gate(tag);
        if (gate != 0 && detail::atrace_begin(gate, tag, name)) tag_ = tag;
    }
    // `make_name` is called only when the tag is on. It returns the name, or anything that a std::string_view
    // can be made of.
    template <class Functor>
        requires requires(Functor& make_name) { std::string_view(make_name()); }
    SP_DETAIL_OWN SP_DETAIL_ATRACE Scope(Tag tag, Functor&& make_name) {
        const auto gate = detail::atrace_gate(tag);
        if (!detail::atrace_is_attached() &&
            (gate == 0 || (gate != detail::kAtraceRingAlone && !is_tag_enabled(tag))))
            return;
        const auto name = make_name();
        if (detail::hit_atrace<detail::AtraceProbe::kBegin>(tag, std::string_view(name))) hit_ = tag;
        if (gate != 0 && detail::atrace_begin(gate, tag, std::string_view(name))) tag_ = tag;
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    SP_DETAIL_OWN SP_DETAIL_ATRACE ~Scope() {
        if (hit_ != 0) detail::hit_atrace<detail::AtraceProbe::kEnd>(hit_);
        if (tag_ != 0) detail::atrace_end(detail::atrace_gate(tag_), tag_, true);
    }

  private:
    Tag tag_ = 0, hit_ = 0;  // where it was begun: outputs, probe
};

// A stretch of time that may end in another thread. It ends when this object is destroyed, even if it was
// moved or tags were switched since. It has a cookie of its own. The name must live as long.
// Thread-safe: one thread at a time. Cost: while the tag is off, a load and a comparison.
class [[nodiscard, gnu::visibility("default")]] AsyncScope {
  public:
    SP_DETAIL_OWN SP_DETAIL_ATRACE AsyncScope(Tag tag, std::string_view name) : made_{tag, name} {
        const auto gate = detail::atrace_gate(tag);
        if (gate != 0) detail::begin_atrace_async(made_);
        if (!detail::atrace_is_attached()) return;
        if (gate == 0) made_.cookie = detail::new_atrace_cookie();
        made_.is_hit = detail::hit_atrace<detail::AtraceProbe::kAsyncBegin>(tag, name, made_.cookie);
    }
    SP_DETAIL_OWN AsyncScope(AsyncScope&& other) noexcept : made_(other.made_) {
        other.made_.in_marker = other.made_.in_ring = other.made_.is_hit = false;
    }
    AsyncScope(const AsyncScope&) = delete;
    AsyncScope& operator=(const AsyncScope&) = delete;
    SP_DETAIL_OWN SP_DETAIL_ATRACE ~AsyncScope() {
        if (made_.is_hit)
            detail::hit_atrace<detail::AtraceProbe::kAsyncEnd>(made_.tag, made_.name, made_.cookie);
        if (made_.in_marker || made_.in_ring) detail::end_atrace_async(made_);
    }

  private:
    detail::AtraceAsync made_;
};
// The same, to be kept in an `auto`.
inline SP_DETAIL_ATRACE AsyncScope async_scope(Tag tag, std::string_view name) { return {tag, name}; }

}  // namespace atrace
}  // namespace SP_DETAIL_HIDDEN
}  // namespace silverpoint

#define SP_ATRACE(name) SP_ATRACE_TAG(::silverpoint::atrace::kApp, name)
#define SP_ATRACE_TAG(tag, name) \
    const ::silverpoint::atrace::Scope SP_DETAIL_JOIN(sp_atrace_, __COUNTER__)(tag, name)
// With a name formatted as by printf, only when the tag is on: SP_ATRACE_FORMAT("frame %d", frame).
#define SP_ATRACE_FORMAT(...) SP_ATRACE_TAG_FORMAT(::silverpoint::atrace::kApp, __VA_ARGS__)
#define SP_ATRACE_TAG_FORMAT(tag, ...) \
    SP_ATRACE_TAG(tag, [&] { return ::silverpoint::detail::AtraceText(__VA_ARGS__); })
