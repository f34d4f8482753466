// Loads and unloads a DLL that records, again and again: `host PLUGIN TIMES`. A thread of the host that has
// recorded in the DLL records on after it is gone.
#include <windows.h>

#include <cstdlib>
#include <silverpoint/silverpoint.hpp>
#include <thread>

SP_CATEGORY("host")

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    for (int time = 0; time < std::atoi(argv[2]); ++time) {
        const HMODULE plugin = LoadLibraryA(argv[1]);
        if (plugin == nullptr) return 3;
        auto* const work =
            reinterpret_cast<void (*)(int)>(reinterpret_cast<void*>(GetProcAddress(plugin, "work")));
        if (work == nullptr) return 4;
        work(time);
        std::thread([work, time] { work(-time); }).join();
        FreeLibrary(plugin);
        SP_INFO("unloaded {}", time);
    }
    return 0;
}
