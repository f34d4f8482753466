// Locks of a session's files, on Windows: of an open file, and so they end with the process at the latest.
// Others cannot read or write a byte that is locked alone, but mappings are not affected.
#pragma once

#include "files.hpp"

SP_DETAIL_BEGIN

inline constexpr unsigned long kLockAtOnce = 1, kLockAlone = 2;

SP_DETAIL_COLD bool lock_byte(File file, std::uint64_t at, unsigned long how) {
    Overlapped place{at};
    return LockFileEx(file.handle(), how, 0, 1, 0, place.get()) != 0;
}

// Takes the lock of a file for its owner alone; it ends when the file is closed.
inline bool lock_alone(File file) { return lock_byte(file, 0, kLockAlone | kLockAtOnce); }

// Whether anyone has the file's lock. The only way to know is to take it for a moment.
SP_DETAIL_COLD bool is_locked(File file) {
    if (!lock_alone(file)) return true;
    Overlapped place{0};
    UnlockFileEx(file.handle(), 0, 1, 0, place.get());
    return false;
}

// Takes a shared lock that lasts until the process ends, even if the file is closed. Another handle of the
// same open file keeps it, which no child inherits. The result is for `release_shared_lock`; null if the lock
// cannot be had. A process that asks whether it is taken has it for a moment: then this tries again.
SP_DETAIL_COLD char* lock_shared(File file) {
    unsigned tries = 0;
    while (!lock_byte(file, 0, kLockAtOnce)) {
        if (++tries == 100) return nullptr;
        Sleep(1);
    }
    constexpr unsigned long kSameAccess = 2;
    void *const self = GetCurrentProcess(), *kept = nullptr;
    if (DuplicateHandle(self, file.handle(), self, &kept, 0, 0, kSameAccess) == 0) return nullptr;
    return static_cast<char*>(kept);
}
inline void release_shared_lock(char* lock) { CloseHandle(lock); }

// As a controller: alone among those that change the directives, until the file is closed.
inline void await_controllers_lock(File file) { lock_byte(file, 1, kLockAlone); }

SP_DETAIL_END
