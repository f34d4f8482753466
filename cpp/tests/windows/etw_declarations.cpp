// Our declarations beside those of Windows's headers: compiled only.
#include <windows.h>
// After it.
#include <evntprov.h>

// (The class of information that we set is younger than the enumeration of mingw's header.)
#pragma GCC diagnostic ignored "-Wconversion"
#include <etw/windows.hpp>

using namespace silverpoint::etw;

static_assert(sizeof(EventDescriptor) == sizeof(EVENT_DESCRIPTOR));
static_assert(offsetof(EventDescriptor, channel) == offsetof(EVENT_DESCRIPTOR, Channel));
static_assert(offsetof(EventDescriptor, level) == offsetof(EVENT_DESCRIPTOR, Level));
static_assert(offsetof(EventDescriptor, opcode) == offsetof(EVENT_DESCRIPTOR, Opcode));
static_assert(offsetof(EventDescriptor, task) == offsetof(EVENT_DESCRIPTOR, Task));
static_assert(offsetof(EventDescriptor, keyword) == offsetof(EVENT_DESCRIPTOR, Keyword));
static_assert(sizeof(DataDescriptor) == sizeof(EVENT_DATA_DESCRIPTOR));
static_assert(offsetof(DataDescriptor, size) == offsetof(EVENT_DATA_DESCRIPTOR, Size));
// (Of which newer headers make the type.)
static_assert(offsetof(DataDescriptor, type) == offsetof(EVENT_DATA_DESCRIPTOR, Reserved));
static_assert(sizeof(ActivityId) == sizeof(GUID) && sizeof(ProviderId) == sizeof(GUID));
