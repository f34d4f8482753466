// A descriptor under a number that no other file of the program can get.
//
// A program that becomes a daemon closes all descriptors, and opens files of its own, under the same numbers.
// None of them may get what is written through a kept number. open(2), dup2(2) and the like give no number
// that is not below the limit of descriptors.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../../detail/sys.hpp"

SP_DETAIL_BEGIN

// Limits above this are left alone. The kernel's table of descriptors reaches up to the highest number, and
// each fork copies it.
inline constexpr rlim_t kHighestLimit = 4096;
// How many numbers beyond the limit may be used: each copy of this library in the process needs its own.
inline constexpr rlim_t kRoomBeyond = 64;

SP_DETAIL_COLD int move_beyond_limit(int descriptor) {
    rlimit before, replaced, found;
    if (prlimit(0, RLIMIT_NOFILE, nullptr, &before) != 0 || before.rlim_cur > kHighestLimit ||
        before.rlim_max < before.rlim_cur + kRoomBeyond)
        return -1;
    rlimit raised = before;
    raised.rlim_cur += kRoomBeyond;
    if (prlimit(0, RLIMIT_NOFILE, &raised, &replaced) != 0) return -1;
    const auto is_same = [](const rlimit& one, const rlimit& other) {
        return one.rlim_cur == other.rlim_cur && one.rlim_max == other.rlim_max;
    };
    int moved = -1;
    if (is_same(replaced, before))
        moved = fcntl(descriptor, F_DUPFD_CLOEXEC, static_cast<int>(before.rlim_cur));
    // What another thread of the program has set meanwhile stays.
    if (prlimit(0, RLIMIT_NOFILE, &replaced, &found) == 0 && !is_same(found, raised))
        prlimit(0, RLIMIT_NOFILE, &found, nullptr);
    return moved;
}

// The same file under a number that is not below the program's limit of descriptors, which is raised for that
// moment. -1: the limit cannot be raised, or is too high.
SP_DETAIL_COLD int beyond_limit(int descriptor) {
    // One copy of this library at a time: none takes the raised limit for the program's.
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) return -1;
    const int moved = move_beyond_limit(descriptor);
    flock(descriptor, LOCK_UN);
    return moved;
}

SP_DETAIL_END
