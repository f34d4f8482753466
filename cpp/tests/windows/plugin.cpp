// A DLL with a copy of the headers of its own.
#include <silverpoint/silverpoint.hpp>

SP_CATEGORY("plugin")

extern "C" __declspec(dllexport) void work(int time) { SP_INFO("work {}", time); }
