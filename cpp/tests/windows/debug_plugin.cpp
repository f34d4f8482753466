// A DLL that writes debug output, and is unloaded at once.
#include <silverpoint/debug_output.hpp>
#include <string>

extern "C" __declspec(dllexport) void work(int time) {
    silverpoint::debug_output("plugin " + std::to_string(time));
}
