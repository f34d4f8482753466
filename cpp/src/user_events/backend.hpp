// The seam between events and the kernel: tests have a backend of their own.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

namespace silverpoint::user_events {

struct Backend {
    // Before the others, and again when it is lost. 0, or the error of the system.
    int (*open)();
    // `write` uses what was opened last, from now on.
    void (*publish)();
    // Whether what was opened is there no more: the program has closed it.
    bool (*is_lost)();
    // Makes a tracepoint, or finds it. `declaration`: its name and common fields. From then on `*enabled` is
    // not 0 while somebody listens; it stays where it is for ever. 0, or the error of the system. Called
    // again for each after `open`.
    int (*add)(const char* declaration, int* enabled, std::uint32_t* index);
    // Writes an event of a tracepoint. The first part is left free for the backend. Safe in signal handlers.
    // False: what was opened is lost.
    bool (*write)(std::uint32_t index, iovec* parts, int count);
    // What `open` opens, for messages.
    const char* name;
    // Bytes of an event without the first part. What does not fit is cut.
    std::size_t most;
};

}  // namespace silverpoint::user_events
