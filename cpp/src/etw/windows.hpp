// Windows's functions for providers, declared as its headers declare them, and the backend of them.
#pragma once

#include "backend.hpp"

struct _EVENT_DATA_DESCRIPTOR;
struct _EVENT_DESCRIPTOR;
struct _EVENT_FILTER_DESCRIPTOR;
struct _GUID;

// An enumeration of <evntprov.h> cannot be declared a second time.
#if defined(_EVNTPROV_) || defined(_EVNTPROV_H_)
#    define SP_DETAIL_EVENT_INFO_CLASS EVENT_INFO_CLASS
#else
#    define SP_DETAIL_EVENT_INFO_CLASS int
#endif
#define SP_DETAIL_IMPORT extern "C" __declspec(dllimport)

SP_DETAIL_IMPORT unsigned long __stdcall EventRegister(
    const struct _GUID*,
    void(__stdcall*)(const struct _GUID*, unsigned long, unsigned char, unsigned long long,
                     unsigned long long, struct _EVENT_FILTER_DESCRIPTOR*, void*),
    void*, unsigned long long*);
SP_DETAIL_IMPORT unsigned long __stdcall EventUnregister(unsigned long long);
SP_DETAIL_IMPORT unsigned long __stdcall EventSetInformation(unsigned long long, SP_DETAIL_EVENT_INFO_CLASS,
                                                             void*, unsigned long);
SP_DETAIL_IMPORT unsigned long __stdcall EventWriteTransfer(unsigned long long,
                                                            const struct _EVENT_DESCRIPTOR*,
                                                            const struct _GUID*, const struct _GUID*,
                                                            unsigned long, struct _EVENT_DATA_DESCRIPTOR*);

#undef SP_DETAIL_IMPORT

namespace silverpoint::etw::windows {

inline void __stdcall on_enable(const struct _GUID*, unsigned long control, unsigned char level,
                                unsigned long long any, unsigned long long all,
                                struct _EVENT_FILTER_DESCRIPTOR*, void* provider) {
    static_cast<Provider*>(provider)->heed(static_cast<std::uint32_t>(control), level, any, all);
}

inline unsigned long add(Provider& provider) {
    unsigned long long handle = 0;
    const auto* const id = reinterpret_cast<const struct _GUID*>(provider.id().data());
    const unsigned long error = EventRegister(id, &on_enable, &provider, &handle);
    if (error != 0) return error;
    // So that tools know its name. Events carry it, too.
    constexpr auto kTraits = static_cast<SP_DETAIL_EVENT_INFO_CLASS>(2);  // EventProviderSetTraits
    const std::string_view traits = provider.traits();
    EventSetInformation(handle, kTraits, const_cast<char*>(traits.data()),
                        static_cast<unsigned long>(traits.size()));
    provider.handle.store(handle, std::memory_order_release);
    return 0;
}
inline void remove(Provider& provider) {
    EventUnregister(provider.handle.exchange(0, std::memory_order_acq_rel));
}
inline void write(const Provider& provider, const EventDescriptor& of, const ActivityId* activity,
                  const ActivityId* parent, DataDescriptor* parts, unsigned count) {
    const unsigned long long handle = provider.handle.load(std::memory_order_acquire);
    // It is being registered, and wanted already.
    if (handle == 0) return;
    EventWriteTransfer(handle, reinterpret_cast<const struct _EVENT_DESCRIPTOR*>(&of),
                       reinterpret_cast<const struct _GUID*>(activity),
                       reinterpret_cast<const struct _GUID*>(parent), count,
                       reinterpret_cast<struct _EVENT_DATA_DESCRIPTOR*>(parts));
}

inline constexpr Backend backend{add, remove, write};

}  // namespace silverpoint::etw::windows

#undef SP_DETAIL_EVENT_INFO_CLASS
