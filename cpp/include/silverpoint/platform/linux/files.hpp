// Files of sessions, on Linux: made, opened, mapped, read and removed.
#pragma once

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "environment.hpp"
#include "threads.hpp"

#ifndef MADV_POPULATE_WRITE
#    define MADV_POPULATE_WRITE 23
#endif

SP_DETAIL_BEGIN

// An open file, or none. Closing it is up to its user.
class File {
  public:
    File() = default;
    explicit File(int descriptor) : descriptor_(descriptor), is_missing_(descriptor < 0 && errno == ENOENT) {}
    explicit operator bool() const { return descriptor_ >= 0; }
    // Whether it was not opened because there is no such file.
    bool is_missing() const { return is_missing_; }
    int descriptor() const { return descriptor_; }

  private:
    int descriptor_ = -1;
    bool is_missing_ = false;
};

// A new file of the user alone; none if it exists, or cannot be made.
inline File create_file(const char* path) {
    return File(open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
}
inline File open_file(const char* path) {
    return File(open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
}
inline File open_to_read(const char* path) {
    return File(open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
}
// Keeps errno.
inline void close_file(File file) {
    const ErrnoGuard guard;
    if (file) close(file.descriptor());
}
inline bool resize_file(File file, std::uint64_t size) {
    return ftruncate(file.descriptor(), static_cast<off_t>(size)) == 0;
}
// All of it.
inline bool read_at(File file, void* to, std::size_t size, std::uint64_t at) {
    return pread(file.descriptor(), to, size, static_cast<off_t>(at)) == static_cast<ssize_t>(size);
}
inline bool write_at(File file, const char* from, std::size_t size, std::uint64_t at) {
    while (size > 0) {
        const ssize_t len = pwrite(file.descriptor(), from, size, static_cast<off_t>(at));
        if (len <= 0) return false;
        from += len;
        at += static_cast<std::size_t>(len);
        size -= static_cast<std::size_t>(len);
    }
    return true;
}
// The bytes of a plain file of this user; false if it is none.
inline bool size_of_own_file(File file, std::size_t& size) {
    struct stat found {};
    if (fstat(file.descriptor(), &found) != 0 || !S_ISREG(found.st_mode) || found.st_uid != geteuid())
        return false;
    size = static_cast<std::size_t>(found.st_size);
    return true;
}
// The bytes that a file takes.
inline std::uint64_t room_of_file(const char* path) {
    struct stat found {};
    return lstat(path, &found) == 0 ? static_cast<std::uint64_t>(found.st_blocks) * 512 : 0;
}

// Reads a small file whole; returns the number of bytes. Does not wait for a process that writes into a pipe.
SP_DETAIL_COLD std::size_t read_file(const char* path, char* buffer, std::size_t size) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) return 0;
    std::size_t len = 0;
    while (len < size) {
        const ssize_t more = read(fd, buffer + len, size - len);
        if (more <= 0) break;
        len += static_cast<std::size_t>(more);
    }
    close(fd);
    return len;
}

// To what is mapped: none is for addresses that are reserved (allow_access in memory.hpp).
enum class Access { kNone, kWrite };

// The file shared with other processes, whole; `fixed` replaces a mapping at that address. Null if it cannot
// be mapped.
inline char* map_shared(File file, std::size_t size, Access access, void* fixed = nullptr) {
    void* map = mmap(fixed, size, access == Access::kNone ? PROT_NONE : PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_NORESERVE | (fixed != nullptr ? MAP_FIXED : 0), file.descriptor(), 0);
    return map == MAP_FAILED ? nullptr : static_cast<char*>(map);
}

// Makes sure that whole pages of a mapped file are backed by memory. A kernel before 5.14 needs a descriptor.
// It is a new one, of the path that `file` returns: the program may have closed one that we kept.
template <class PathOfFile>
bool populate(char* map, std::size_t begin, std::size_t end, PathOfFile&& file) {
    if (madvise(map + begin, end - begin, MADV_POPULATE_WRITE) == 0) return true;
    if (errno != EINVAL) return false;
    const SystemGuard guard;
    const int fd = open(file().c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return false;
    const bool done = fallocate(fd, 0, static_cast<off_t>(begin), static_cast<off_t>(end - begin)) == 0;
    close(fd);
    return done;
}

// As populate, of [begin, end), for one who makes the rest up to `most` later. Returns up to where it is
// done: all at once, where a kernel has no quick way.
template <class PathOfFile>
std::size_t populate_some(char* map, std::size_t begin, std::size_t end, std::size_t most,
                          PathOfFile&& file) {
    if (madvise(map + begin, end - begin, MADV_POPULATE_WRITE) == 0) return end;
    return errno == EINVAL && populate(map, begin, most, file) ? most : begin;
}

// Larger files would end the program by SIGXFSZ.
SP_DETAIL_COLD std::uint64_t file_size_limit() {
    struct rlimit limit {};
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 ? limit.rlim_cur : ~std::uint64_t{0};
}

// Free bytes where a directory is; false if unknown.
inline bool room_at(const char* path, std::uint64_t& bytes) {
    struct statfs found {};
    if (statfs(path, &found) != 0) return false;
    bytes = std::uint64_t{found.f_bavail} * static_cast<std::uint64_t>(found.f_bsize);
    return true;
}

inline bool make_directory(const char* path) { return mkdir(path, 0700) == 0; }
inline void remove_directory(const char* path) { rmdir(path); }
inline void remove_file(const char* path) { unlink(path); }

// Whether a directory keeps its name as long as a file in it is open; and if so, whether that is tried.
inline constexpr bool kOpenFilesPinDirectories = false, kRenamesPinnedDirectories = true;
enum class Renamed { kDone, kTaken, kFailed };

// Gives a directory a name that no other has.
inline Renamed rename_directory(const char* from, const char* to) {
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return Renamed::kDone;
    // File systems without this.
    if (errno == EINVAL && access(to, F_OK) != 0 && rename(from, to) == 0) return Renamed::kDone;
    return errno == EEXIST || errno == ENOTEMPTY || errno == EINVAL ? Renamed::kTaken : Renamed::kFailed;
}

// Visits the names in a directory until `visit` returns false. Nothing is allocated.
template <class Visit>
void each_name(const char* path, Visit&& visit) {
    const int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (directory < 0) return;
    alignas(8) char buffer[4096];
    bool goes_on = true;
    long len;
    while (goes_on && (len = syscall(SYS_getdents64, directory, buffer, sizeof buffer)) > 0) {
        // An entry: inode and offset of 8 bytes, u16 length, u8 type, name.
        for (long at = 0; at < len && goes_on;) {
            std::uint16_t size;
            std::memcpy(&size, buffer + at + 16, sizeof size);
            goes_on = visit(buffer + at + 19);
            at += size;
        }
    }
    close(directory);
}

// When a directory was changed, in seconds since 1970; false if it is none.
inline bool directory_changed(const char* path, std::int64_t& seconds) {
    struct stat found {};
    if (lstat(path, &found) != 0 || !S_ISDIR(found.st_mode)) return false;
    seconds = found.st_mtime;
    return true;
}

// Where sessions may be unless the environment says so, the best place first, until `use` returns true. It
// gets a directory, the name in it, and whether the user's number follows that.
template <class Use>
bool use_a_root(Use&& use) {
    if (use("/dev/shm", "/silverpoint-", true)) return true;
    const char* runtime = environment("XDG_RUNTIME_DIR");
    if (runtime != nullptr && *runtime != 0 && use(runtime, "/silverpoint", false)) return true;
    return use("/tmp", "/silverpoint-", true);
}

// Whether this directory may be a root of sessions: of mode 0700, of the effective user, no link. It is made
// if it is missing.
SP_DETAIL_COLD bool is_own_directory(const char* path) {
    struct stat found {};
    if (lstat(path, &found) != 0 && (mkdir(path, 0700) != 0 || lstat(path, &found) != 0)) return false;
    return S_ISDIR(found.st_mode) && found.st_uid == geteuid() && (found.st_mode & 0777) == 0700;
}

SP_DETAIL_END
