// libsilverpoint_user_events: makes EventHeader events for the kernel's user_events of every site of this
// process. A frontend loads it when SILVERPOINT_PROBES asks for it (silverpoint/detail/probe.hpp), once for
// all copies and languages.
#include "user_events/kernel.hpp"
#include "user_events/registrar.hpp"

namespace {
constinit silverpoint::user_events::Registrar registrar{silverpoint::user_events::kernel::backend};
}

extern "C" [[gnu::visibility("default")]] void silverpoint_start_user_events(char* control,
                                                                             std::size_t size) {
    registrar.start(control, size);
}
