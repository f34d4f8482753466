// Locks of a session's files, on Linux: of open file descriptions, which end with the process.
#pragma once

#include "files.hpp"

SP_DETAIL_BEGIN

SP_DETAIL_COLD bool lock_first_byte(File file, short type) {
    struct flock request = {};
    request.l_type = type;
    request.l_whence = SEEK_SET;
    request.l_len = 1;
    return fcntl(file.descriptor(), F_OFD_SETLK, &request) == 0;
}

// Takes the lock of a file for its owner alone; it ends when the file is closed.
inline bool lock_alone(File file) { return lock_first_byte(file, F_WRLCK); }

// Whether anyone has the file's lock.
SP_DETAIL_COLD bool is_locked(File file) {
    struct flock request = {};
    request.l_type = F_WRLCK;
    request.l_whence = SEEK_SET;
    request.l_len = 1;
    return fcntl(file.descriptor(), F_OFD_GETLK, &request) == 0 && request.l_type != F_UNLCK;
}

// Takes a shared lock that lasts until the process ends or executes another image, even if the file is
// closed. A mapping keeps the open file description, and a forked child does not get it. The result is for
// `release_shared_lock`; null if the lock cannot be had.
SP_DETAIL_COLD char* lock_shared(File file) {
    if (!lock_first_byte(file, F_RDLCK)) return nullptr;
    void* map = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file.descriptor(), 0);
    if (map == MAP_FAILED) return nullptr;
    if (madvise(map, 4096, MADV_DONTFORK) != 0) {
        munmap(map, 4096);
        return nullptr;
    }
    return static_cast<char*>(map);
}
inline void release_shared_lock(char* lock) { munmap(lock, 4096); }

// As a controller: alone among those that change the directives, until the file is closed.
inline void await_controllers_lock(File file) {
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = 1;
    lock.l_len = 1;
    fcntl(file.descriptor(), F_OFD_SETLKW, &lock);
}

SP_DETAIL_END
