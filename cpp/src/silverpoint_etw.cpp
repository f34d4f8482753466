// silverpoint_etw.dll: makes events for ETW of every site of this process. A frontend loads it when
// SILVERPOINT_PROBES asks for it (silverpoint/detail/probe.hpp), once for all copies and languages.
#include "etw/registrar.hpp"
#include "etw/windows.hpp"

namespace {

constinit silverpoint::etw::Registrar registrar{silverpoint::etw::windows::backend};

void leave(const silverpoint::detail::CopySites* sites) {
    // At the end of the process other threads are gone, perhaps with a lock; its providers go with it.
    if (!silverpoint::detail::has_lost_threads()) registrar.leave(sites);
}

}  // namespace

extern "C" __declspec(dllexport) silverpoint::detail::LeaveProbes
    silverpoint_start_etw(char* control, std::size_t size, const char* path,
                          const silverpoint::detail::CopySites* sites) {
    // Sessions call into this DLL, and events lie in its memory: it stays loaded.
    silverpoint::detail::keep_loaded(reinterpret_cast<const void*>(&leave));
    registrar.start(control, size, path, sites);
    return &leave;
}
