// A part of atrace.cpp that is compiled without probes: its calls go into the ring alone.
#undef SILVERPOINT_USDT
#include <silverpoint/atrace.hpp>

namespace atrace = silverpoint::atrace;

void silent(int i);
void silent(int i) {
    SP_ATRACE("silent");
    atrace::begin(atrace::kApp, "of this file");
    atrace::int32(atrace::kApp, "silent too", i);
    atrace::end(atrace::kApp);
}
