// The seam between events and the kernel: tests have a backend of their own.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

namespace silverpoint::user_events {

struct Backend {
    // Before the others, once. 0, or the error of the system.
    int (*open)();
    // Makes a tracepoint, or finds it. `declaration`: its name and common fields. From then on `*enabled` is
    // not 0 while somebody listens; it stays where it is for ever. 0, or the error of the system.
    int (*add)(const char* declaration, int* enabled, std::uint32_t* index);
    // Writes an event of a tracepoint. The first part is left free for the backend. Safe in signal handlers.
    void (*write)(std::uint32_t index, iovec* parts, int count);
    // What `open` opens, for messages.
    const char* name;
    // Bytes of an event without the first part. What does not fit is cut.
    std::size_t most;
};

}  // namespace silverpoint::user_events
