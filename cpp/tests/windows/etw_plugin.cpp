// A DLL whose tracepoints feed ETW: of a provider of its own, and of one that its host has, too.
#include <silverpoint/silverpoint.hpp>

namespace {
namespace own {
SP_CATEGORY("plugged::part")
void work(int time) {
    SP_SPAN_AT(info, "work", time);
    SP_INFO("working {}", time);
}
}  // namespace own
namespace shared {
SP_CATEGORY("shop::plugin")
void work(int time) { SP_INFO("helping {}", time); }
}  // namespace shared
}  // namespace

extern "C" __declspec(dllexport) void work_own(int time) { own::work(time); }
extern "C" __declspec(dllexport) void work_shared(int time) { shared::work(time); }
