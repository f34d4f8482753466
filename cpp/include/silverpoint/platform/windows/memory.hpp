// Memory of this process alone, on Windows.
#pragma once

#include "api.hpp"

SP_DETAIL_BEGIN

// What VirtualQuery tells.
struct MemoryRegion {
    void* base;
    void* allocation;
    unsigned long allocation_protect;
    std::uint16_t partition;
    std::size_t size;
    unsigned long state, protect, type;
};
static_assert(sizeof(MemoryRegion) == 48);
inline MemoryRegion region_of(const void* address) {
    MemoryRegion region = {};
    VirtualQuery(address, reinterpret_cast<struct _MEMORY_BASIC_INFORMATION*>(&region), sizeof region);
    return region;
}

// Zeroed pages; null without memory.
inline void* map_private(std::size_t size) {
    constexpr unsigned long kReserveAndCommit = 0x3000, kReadWrite = 4;
    return VirtualAlloc(nullptr, size, kReserveAndCommit, kReadWrite);
}

// Only a forked child asks for this, and Windows has none.
inline void replace_by_private(char*, std::size_t) {}

// Of `map_private`, and of a shared file.
SP_DETAIL_COLD void unmap(void* map, std::size_t) {
    constexpr unsigned long kPrivate = 0x20000, kRelease = 0x8000;
    if (region_of(map).type == kPrivate) {
        VirtualFree(map, 0, kRelease);
    } else {
        UnmapViewOfFile(map);
    }
}

// There are no forked children.
inline bool wipe_on_fork(void*, std::size_t) { return true; }

// A mapped file is accessible as a whole (map_shared in files.hpp).
inline bool allow_access(char*, std::size_t) { return true; }

// Not: what is mapped counts at once, since it is accessible.
inline bool may_reserve_more_than(std::uint64_t) { return false; }

// Bytes of the machine's memory; 0 if unknown.
SP_DETAIL_COLD std::uint64_t memory_of_machine() {
    struct {
        unsigned long size, load;
        std::uint64_t bytes, others[6];
    } status = {};
    static_assert(sizeof status == 64);
    status.size = sizeof status;
    return GlobalMemoryStatusEx(reinterpret_cast<struct _MEMORYSTATUSEX*>(&status)) != 0 ? status.bytes : 0;
}

SP_DETAIL_END
