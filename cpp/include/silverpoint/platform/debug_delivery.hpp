// Debug output beyond the record: to a debugger, and to a monitor of the system's own debug output.
#pragma once

#if defined(_WIN64)
#    include "windows/debug_delivery.hpp"
#else
#    include <string_view>

#    include "../detail/config.hpp"

SP_DETAIL_BEGIN

// Other systems have no such monitor.
template <class Char>
void deliver_debug_text(std::basic_string_view<Char>, bool) {}
inline void end_debug_delivery() {}

SP_DETAIL_END
#endif
