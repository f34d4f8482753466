// libsilverpoint_trace_marker: writes a line into the kernel's trace_marker for every execution of a site of
// this process that is on. A frontend loads it when SILVERPOINT_PROBES asks for it
// (silverpoint/detail/probe.hpp), once for all copies and languages.
#include "trace_marker/events.hpp"

namespace {
constinit silverpoint::probes::KernelRegistrar<silverpoint::trace_marker::TraceMarker> registrar;
}

extern "C" [[gnu::visibility("default")]] void silverpoint_start_trace_marker(char* control,
                                                                              std::size_t size) {
    registrar.start(control, size);
}
