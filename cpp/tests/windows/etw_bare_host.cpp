// A program without tracepoints, whose DLL feeds ETW: `etw_bare_host PLUGIN`.
#include "etw_session.hpp"

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    fake::want_all();
    for (int time = 0; time < 3; ++time) {
        const HMODULE loaded = LoadLibraryA(argv[1]);
        if (loaded == nullptr) return 3;
        auto* const work =
            reinterpret_cast<void (*)(int)>(reinterpret_cast<void*>(GetProcAddress(loaded, "work_own")));
        if (work == nullptr) return 4;
        fake::await_events("events of a round", 3, [&] { work(time); });
        FreeLibrary(loaded);
        fake::await("unregistering", [] { return !fake::is_registered("Silverpoint-plugged"); });
    }
    return 0;
}
