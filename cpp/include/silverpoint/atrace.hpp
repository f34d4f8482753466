// Android's ATrace, on Linux and Android: the same calls, tags and properties, two outputs.
//
//   #include <silverpoint/atrace.hpp>
//   namespace atrace = silverpoint::atrace;
//
//   void draw(int frame) {
//       SP_ATRACE("draw");                                    until the end of the block
//       atrace::int64(atrace::kApp, "frame", frame);
//       atrace::async_begin(atrace::kApp, "upload", 7);       ends in whatever thread
//       atrace::async_end(atrace::kApp, "upload", 7);
//   }
//
// Outputs, also both at once: the kernel's trace_marker, written as Android writes it, and Silverpoint's
// rings. The kernel's is enabled by properties of Android's names (docs/guide/atrace.md), the rings' by
// directives: category atrace::app and the like; where properties are set, only tags that they enable.
#pragma once

#include "detail/atrace_message.hpp"
#include "detail/atrace_ring.hpp"
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

namespace detail {

// Where what has a tag goes.
struct AtraceTo {
    std::uint64_t all, tag;

    SP_DETAIL_HOT explicit AtraceTo(std::uint64_t the_tag) : all(atrace_state.outputs()), tag(the_tag) {}
    SP_DETAIL_HOT bool marker() const { return (all >> kAtraceMarker & tag) != 0; }
    SP_DETAIL_HOT bool ring() const { return (all & tag & kAtraceValid) != 0 && atrace_ring_is_on(tag); }
};

}  // namespace detail

namespace atrace {

// Whether any of these tags goes to the kernel, and whether it goes into the ring.
inline bool is_in_marker(Tag tag) { return detail::AtraceTo(tag).marker(); }
inline bool is_in_ring(Tag tag) { return detail::AtraceTo(tag).ring(); }
// Whether it has any output.
inline bool is_tag_enabled(Tag tag) {
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
// Reads properties again, now. (A file is followed by itself; the environment is not.)
inline void update_tags() { detail::atrace_state.update(); }

}  // namespace atrace

namespace detail {

// The calling process's id: a session's own is wiped in a forked child, and asking the kernel costs as much
// as all the rest.
inline std::uint32_t atrace_process() {
    return session.is_ready() ? session.plain<const std::uint32_t>(at::kPid)
                              : static_cast<std::uint32_t>(getpid());
}

[[gnu::noinline]] inline void write_atrace(char letter, const std::string_view* names, std::size_t count,
                                           const std::int64_t* number) {
    AtraceMessage message(letter, atrace_process(), names, count, number);
    atrace_state.write(atrace_state.is_file() ? message.line() : message.text());
}

// Begins a stretch of time of the calling thread; false: its tag is off.
inline bool begin_where(std::uint64_t tag, std::string_view name) {
    const AtraceTo to(tag);
    const bool in_marker = to.marker(), in_ring = to.ring();
    if (!in_marker && !in_ring) return false;
    if (in_marker) write_atrace('B', &name, 1, nullptr);
    begin_atrace(tag, name, in_ring);
    return true;
}
// Ends the stretch that the calling thread has begun last.
inline void end_begun(bool in_marker) {
    if (in_marker) write_atrace('E', nullptr, 0, nullptr);
    end_atrace();
}

}  // namespace detail

namespace atrace {

// Begins a stretch of time of the calling thread; end ends it. They may be nested.
inline void begin(Tag tag, std::string_view name) { detail::begin_where(tag, name); }
// Ends the stretch that the calling thread has begun last.
inline void end(Tag tag) {
    const detail::AtraceTo to(tag);
    if (to.marker() || to.ring()) detail::end_begun(to.marker());
}

// Begins a stretch of time that may end in another thread: both belong together by tag, name and cookie.
inline void async_begin(Tag tag, std::string_view name, std::int32_t cookie) {
    const detail::AtraceTo to(tag);
    const std::int64_t number = cookie;
    if (to.marker()) detail::write_atrace('S', &name, 1, &number);
    if (to.ring())
        detail::record_atrace(detail::Kind::kAsyncBegin, tag, "id", name,
                              std::uint64_t{static_cast<std::uint32_t>(cookie)});
}
// Ends it.
inline void async_end(Tag tag, std::string_view name, std::int32_t cookie) {
    const detail::AtraceTo to(tag);
    const std::int64_t number = cookie;
    if (to.marker()) detail::write_atrace('F', &name, 1, &number);
    if (to.ring())
        detail::record_atrace(detail::Kind::kAsyncEnd, tag, "id", name,
                              std::uint64_t{static_cast<std::uint32_t>(cookie)});
}

// Begins a stretch of time on a track of its own: both belong together by tag, track and cookie.
inline void track_begin(Tag tag, std::string_view track, std::string_view name, std::int32_t cookie) {
    const detail::AtraceTo to(tag);
    const std::int64_t number = cookie;
    const std::string_view names[] = {track, name};
    if (to.marker()) detail::write_atrace('G', names, 2, &number);
    if (to.ring())
        detail::record_atrace(detail::Kind::kAsyncBegin, tag, "id, name", track,
                              std::uint64_t{static_cast<std::uint32_t>(cookie)}, name);
}
// Ends it.
inline void track_end(Tag tag, std::string_view track, std::int32_t cookie) {
    const detail::AtraceTo to(tag);
    const std::int64_t number = cookie;
    if (to.marker()) detail::write_atrace('H', &track, 1, &number);
    if (to.ring())
        detail::record_atrace(detail::Kind::kAsyncEnd, tag, "id", track,
                              std::uint64_t{static_cast<std::uint32_t>(cookie)});
}

// A point in time of the calling thread.
inline void instant(Tag tag, std::string_view name) {
    const detail::AtraceTo to(tag);
    if (to.marker()) detail::write_atrace('I', &name, 1, nullptr);
    if (to.ring()) detail::record_atrace(detail::Kind::kInstant, tag, "", name);
}
// A point in time on a track.
inline void track_instant(Tag tag, std::string_view track, std::string_view name) {
    const detail::AtraceTo to(tag);
    const std::string_view names[] = {track, name};
    if (to.marker()) detail::write_atrace('N', names, 2, nullptr);
    if (to.ring()) detail::record_atrace(detail::Kind::kInstant, tag, "track", name, track);
}

// The value of a counter, of 64 bits and of 32.
inline void int64(Tag tag, std::string_view name, std::int64_t value) {
    const detail::AtraceTo to(tag);
    if (to.marker()) detail::write_atrace('C', &name, 1, &value);
    if (to.ring()) detail::record_atrace(detail::Kind::kCounter, tag, "value", name, value);
}
inline void int32(Tag tag, std::string_view name, std::int32_t value) { int64(tag, name, value); }

// A stretch of time until the end of the block.
class [[nodiscard]] Scope {
  public:
    Scope(Tag tag, std::string_view name) : tag_(detail::begin_where(tag, name) ? tag : 0) {}
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() {
        // Also when the tag was switched off meanwhile: it has begun.
        if (tag_ != 0) detail::end_begun(is_in_marker(tag_));
    }

  private:
    Tag tag_;
};

}  // namespace atrace
}  // namespace gnu::visibility("hidden")
}  // namespace silverpoint

#define SP_ATRACE(name) SP_ATRACE_TAG(::silverpoint::atrace::kApp, name)
#define SP_ATRACE_TAG(tag, name) \
    const ::silverpoint::atrace::Scope SP_DETAIL_JOIN(sp_atrace_, __COUNTER__)(tag, name)
