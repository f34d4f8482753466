// The system tracers of Linux.
#pragma once

#include <array>

#include "../../detail/probe_event.hpp"

SP_DETAIL_BEGIN

inline constexpr std::array<ProbeLibrary, 3> kProbeLibraries = {
    {{kLttngProbe, "lttng", "LTTng", "SILVERPOINT_LTTNG_LIBRARY", "libsilverpoint_lttng.so.0",
      "libsilverpoint_lttng", "silverpoint_start_lttng"},
     {kUserEventsProbe, "user_events", "the kernel", "SILVERPOINT_USER_EVENTS_LIBRARY",
      "libsilverpoint_user_events.so.0", "libsilverpoint_user_events", "silverpoint_start_user_events"},
     {kTraceMarkerProbe, "trace_marker", "trace_marker", "SILVERPOINT_TRACE_MARKER_LIBRARY",
      "libsilverpoint_trace_marker.so.0", "libsilverpoint_trace_marker", "silverpoint_start_trace_marker"}}};

// The function of such a library: it gets the mapped control file of the session. Safe in a signal handler,
// but for the first call of a process.
using StartProbes = void (*)(char* control, std::size_t size);
inline void give_session(StartProbes start, char* control, std::size_t size, const char*) {
    start(control, size);
}

// What a library has made stays for ever.
inline void note_site_of_copy(std::uint32_t) {}
inline void tell_tracers_of_unload() {}

SP_DETAIL_END
