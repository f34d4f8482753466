// The seam between events and the system: tests have a backend of their own.
#pragma once

#include "../probes/activities.hpp"
#include "provider.hpp"

namespace silverpoint::etw {

using probes::ActivityId;

// EVENT_DESCRIPTOR.
struct EventDescriptor {
    std::uint16_t id = 0;
    std::uint8_t version = 0, channel = 11, level = 0, opcode = 0;
    std::uint16_t task = 0;
    std::uint64_t keyword = 0;
};
static_assert(sizeof(EventDescriptor) == 16);

// EVENT_DATA_DESCRIPTOR.
struct DataDescriptor {
    enum Type : std::uint32_t { kPayload = 0, kMetadata = 1, kProvider = 2 };
    std::uint64_t at = 0;
    std::uint32_t size = 0, type = kPayload;

    DataDescriptor(std::string_view bytes, Type of)
        : at(reinterpret_cast<std::uintptr_t>(bytes.data())),
          size(static_cast<std::uint32_t>(bytes.size())),
          type(of) {}
};
static_assert(sizeof(DataDescriptor) == 16);

struct Backend {
    // Registers a provider, and stores its handle. From now on `heed` is called, already within this call.
    // 0, or the error of the system.
    unsigned long (*add)(Provider& provider);
    // When this returns, no call of `heed` runs, and none will.
    void (*remove)(Provider& provider);
    // Activities may be null. Safe in handlers of exceptions.
    void (*write)(const Provider& provider, const EventDescriptor& of, const ActivityId* activity,
                  const ActivityId* parent, DataDescriptor* parts, unsigned count);
};

// Bytes of metadata and payload. What does not fit is cut. Of the 64 KiB of an event some are the system's.
inline constexpr std::size_t kMost = 64000;

}  // namespace silverpoint::etw
