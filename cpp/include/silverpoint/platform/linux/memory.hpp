// Memory of this process alone, on Linux.
#pragma once

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../../detail/config.hpp"

#ifndef MADV_WIPEONFORK
#    define MADV_WIPEONFORK 18
#endif

SP_DETAIL_BEGIN

// Zeroed pages; null without memory.
inline void* map_private(std::size_t size) {
    void* made = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return made == MAP_FAILED ? nullptr : made;
}

// The same in place of the mapping that is there. It uses memory only where it is written.
inline void replace_by_private(char* map, std::size_t size) {
    mmap(map, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
}

// Of `map_private`, and of a shared file.
inline void unmap(void* map, std::size_t size) { munmap(map, size); }

// A second mapping of the pages of a file; null, and errno, if there is none. (Other systems want its path.)
inline char* map_again(char* map, std::size_t size, const char*) {
    void* const made = mremap(map, 0, size, MREMAP_MAYMOVE);
    return made == MAP_FAILED ? nullptr : static_cast<char*>(made);
}

// A forked child gets zeros. False: a kernel before 4.14.
inline bool wipe_on_fork(void* map, std::size_t size) { return madvise(map, size, MADV_WIPEONFORK) == 0; }

// Makes a mapping accessible; false if the system refuses.
inline bool allow_access(char* map, std::size_t size) {
    return mprotect(map, size, PROT_READ | PROT_WRITE) == 0;
}

// A limit of the address space counts reserved addresses. So does `mlockall` where memory may be locked up to
// a limit. A limit below `small` allows no program with a session to lock all of its memory.
constexpr bool allow_more_than(std::uint64_t small, rlim_t addresses, rlim_t locked) {
    return addresses == RLIM_INFINITY && (locked == RLIM_INFINITY || locked <= small);
}

// Whether addresses for more than `small` bytes may be reserved.
SP_DETAIL_COLD bool may_reserve_more_than(std::uint64_t small) {
    struct rlimit addresses {};
    struct rlimit locked {};
    return getrlimit(RLIMIT_AS, &addresses) == 0 && getrlimit(RLIMIT_MEMLOCK, &locked) == 0 &&
           allow_more_than(small, addresses.rlim_cur, locked.rlim_cur);
}

// Bytes of the machine's memory; 0 if unknown.
inline std::uint64_t memory_of_machine() {
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size) : 0;
}

SP_DETAIL_END
