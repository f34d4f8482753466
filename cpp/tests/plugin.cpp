// A shared object with a copy of the headers of its own (built with -fPIC, hidden visibility or not).
#include <cstdint>
#include <silverpoint/atrace.hpp>
#include <silverpoint/silverpoint.hpp>
#include <string>
#include <vector>

SP_CATEGORY("plugin")

namespace {
struct AtLoad {
    AtLoad() { SP_INFO("plugin constructor"); }
    ~AtLoad() { SP_INFO("plugin destructor"); }
} at_load;
}  // namespace

// Templates and inline functions: their statics are what would keep a shared object from being unloaded.
template <class T>
inline void plugin_record(const T& value) {
    SP_EVENT("plugin.template", value);
    SP_DEBUG << "plugin stream" << value;
}
inline void plugin_inline(std::uint64_t number) {
    SP_SPAN("plugin.span", number);
    SP_INFO("plugin {}", number);
}

extern "C" void plugin_run(std::uint64_t number) {
    plugin_record(number);
    plugin_record(std::vector<std::string>{"x"});
    plugin_inline(number);
}

// The tag kApp comes from properties, which are followed.
extern "C" std::uint64_t plugin_trace() {
    SP_ATRACE("plugin.traced");
    return silverpoint::atrace::enabled_tags();
}
