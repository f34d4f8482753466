// Files of sessions, on Windows: made, opened, mapped, read and removed.
#pragma once

#include <atomic>
#include <cstring>

#include "environment.hpp"
#include "owner.hpp"
#include "threads.hpp"

SP_DETAIL_BEGIN

// A path as Windows takes it; empty if it is too long, or no UTF-8.
class WidePath {
  public:
    explicit WidePath(const char* path) { to_wide(path, text_, sizeof text_ / sizeof *text_); }
    const wchar_t* get() const { return text_; }

  private:
    wchar_t text_[1200] = {};
};

// A place in a file, as OVERLAPPED.
class Overlapped {
  public:
    explicit Overlapped(std::uint64_t at)
        : low_(static_cast<std::uint32_t>(at)), high_(static_cast<std::uint32_t>(at >> 32)) {}
    struct _OVERLAPPED* get() { return reinterpret_cast<struct _OVERLAPPED*>(this); }

  private:
    // (Read by Windows alone.)
    [[maybe_unused]] std::uintptr_t status_[2] = {};
    [[maybe_unused]] std::uint32_t low_, high_;
    [[maybe_unused]] void* event_ = nullptr;
};
static_assert(sizeof(Overlapped) == 32);

// An open file, or none. Closing it is up to its user.
class File {
  public:
    File() = default;
    // As CreateFileW returns it.
    explicit File(void* handle) {
        constexpr unsigned long kNoSuchFile = 2, kNoSuchPath = 3;
        if (handle != reinterpret_cast<void*>(std::intptr_t{-1})) {
            handle_ = handle;
        } else {
            const unsigned long why = GetLastError();
            is_missing_ = why == kNoSuchFile || why == kNoSuchPath;
        }
    }
    explicit operator bool() const { return handle_ != nullptr; }
    // Whether it was not opened because there is no such file.
    bool is_missing() const { return is_missing_; }
    void* handle() const { return handle_; }

  private:
    void* handle_ = nullptr;
    bool is_missing_ = false;
};

inline constexpr unsigned long kGenericRead = 0x8000'0000, kGenericWrite = 0x4000'0000;

// Others may do with the file what they like meanwhile, and a link is not followed.
inline File open_as(const char* path, unsigned long access, unsigned long how) {
    constexpr unsigned long kShareAll = 7, kNoFollow = 0x0020'0000;
    return File(CreateFileW(WidePath(path).get(), access, kShareAll, nullptr, how, kNoFollow, nullptr));
}
// A new file, which belongs to the user alone as its directory does (make_directory); none if it exists, or
// cannot be made. Unused parts take no room, where the file system can do that.
inline File create_file(const char* path) {
    constexpr unsigned long kNew = 1, kSetSparse = 0x0009'00C4;
    const File file = open_as(path, kGenericRead | kGenericWrite, kNew);
    unsigned long len = 0;
    if (file) DeviceIoControl(file.handle(), kSetSparse, nullptr, 0, nullptr, 0, &len, nullptr);
    return file;
}
inline constexpr unsigned long kExisting = 3;
inline File open_file(const char* path) { return open_as(path, kGenericRead | kGenericWrite, kExisting); }
inline File open_to_read(const char* path) { return open_as(path, kGenericRead, kExisting); }
// Keeps errno and GetLastError().
inline void close_file(File file) {
    const ErrnoGuard guard;
    if (file) CloseHandle(file.handle());
}
inline bool resize_file(File file, std::uint64_t size) {
    auto high = static_cast<long>(size >> 32);
    constexpr unsigned long kFromBegin = 0;
    SetFilePointer(file.handle(), static_cast<long>(size), &high, kFromBegin);
    return SetEndOfFile(file.handle()) != 0;
}
// All of it.
inline bool read_at(File file, void* to, std::size_t size, std::uint64_t at) {
    Overlapped place(at);
    unsigned long len = 0;
    return ReadFile(file.handle(), to, static_cast<unsigned long>(size), &len, place.get()) != 0 &&
           len == size;
}
inline bool write_at(File file, const char* from, std::size_t size, std::uint64_t at) {
    Overlapped place(at);
    unsigned long len = 0;
    return WriteFile(file.handle(), from, static_cast<unsigned long>(size), &len, place.get()) != 0 &&
           len == size;
}

// The attributes of a file: a directory, and a link of any kind.
inline constexpr unsigned long kDirectory = 0x10, kLink = 0x400;
inline bool is_directory(unsigned long attributes) {
    return attributes != 0xFFFF'FFFF && (attributes & (kDirectory | kLink)) == kDirectory;
}

// The bytes of a plain file of this user; false if it is none.
SP_DETAIL_COLD bool size_of_own_file(File file, std::size_t& size) {
    struct {
        std::uint32_t attributes, times[6], volume, size_high, size_low, links, index[2];
    } found = {};
    static_assert(sizeof found == 52);
    if (GetFileInformationByHandle(file.handle(),
                                   reinterpret_cast<struct _BY_HANDLE_FILE_INFORMATION*>(&found)) == 0 ||
        (found.attributes & (kDirectory | kLink)) != 0 || !is_open_file_of_user(file.handle()))
        return false;
    size = std::size_t{found.size_high} << 32 | found.size_low;
    return true;
}
// The bytes that a file takes.
inline std::uint64_t room_of_file(const char* path) {
    unsigned long high = 0;
    const unsigned long low = GetCompressedFileSizeW(WidePath(path).get(), &high);
    return low == 0xFFFF'FFFF ? 0 : std::uint64_t{high} << 32 | low;
}

// To what is mapped. Windows cannot reserve addresses of a file without access: both are the same.
enum class Access { kNone, kWrite };

// The file shared with other processes, whole. Null if it cannot be mapped, or is to replace a mapping, which
// only a forked child asks for.
SP_DETAIL_COLD char* map_shared(File file, std::size_t size, Access, void* fixed = nullptr) {
    if (fixed != nullptr) return nullptr;
    constexpr unsigned long kReadWrite = 4, kMapWrite = 2;
    void* const mapping =
        CreateFileMappingW(file.handle(), nullptr, kReadWrite, static_cast<unsigned long>(size >> 32),
                           static_cast<unsigned long>(size), nullptr);
    if (mapping == nullptr) return nullptr;
    void* const map = MapViewOfFile(mapping, kMapWrite, 0, 0, size);
    CloseHandle(mapping);
    return static_cast<char*>(map);
}

// A second mapping of the pages of a file of this user; null, and errno, if there is none.
SP_DETAIL_COLD char* map_again(char*, std::size_t size, const char* path) {
    const File file = open_file(path);
    std::size_t found = 0;
    char* map = nullptr;
    if (file && size_of_own_file(file, found) && found == size) map = map_shared(file, size, Access::kWrite);
    close_file(file);
    if (map == nullptr) errno = ENOENT;
    return map;
}

// Free bytes where a directory is; false if unknown.
inline bool room_at(const char* path, std::uint64_t& bytes) {
    return GetDiskFreeSpaceExW(WidePath(path).get(), reinterpret_cast<union _ULARGE_INTEGER*>(&bytes),
                               nullptr, nullptr) != 0;
}

// Makes sure, as far as Windows can, that whole pages of a mapped file are backed: there is room, and each
// page was written to. If another program takes the room at the same time, the program gets
// EXCEPTION_IN_PAGE_ERROR.
template <class PathOfFile>
bool populate(char* map, std::size_t begin, std::size_t end, PathOfFile&& file) {
    auto path = file();
    std::size_t slash = path.size();
    while (slash > 0 && path.c_str()[slash - 1] != '/') --slash;
    path.cut(slash);
    std::uint64_t room = 0;
    if (room_at(path.c_str(), room) && room < end - begin) return false;
    for (std::size_t at = begin; at < end; at += 4096) {
        auto* const word = reinterpret_cast<std::atomic<std::uint32_t>*>(map + at);
        std::uint32_t value = word->load(std::memory_order_relaxed);
        word->compare_exchange_strong(value, value, std::memory_order_relaxed);
    }
    return true;
}

// As populate, of [begin, end), for one who makes the rest up to `most` later. Returns up to where it is
// done. Whether there is room is asked once.
template <class PathOfFile>
std::size_t populate_some(char* map, std::size_t begin, std::size_t, std::size_t most, PathOfFile&& file) {
    return populate(map, begin, most, file) ? most : begin;
}

inline std::uint64_t file_size_limit() { return ~std::uint64_t{0}; }

inline bool make_directory(const char* path) { return make_own_directory(WidePath(path).get()); }
inline void remove_directory(const char* path) { RemoveDirectoryW(WidePath(path).get()); }
inline void remove_file(const char* path) { DeleteFileW(WidePath(path).get()); }

// Whether a directory keeps its name as long as a file in it is open; and if so, whether that is tried: Wine
// renames it. A test does as Windows does.
inline constexpr bool kOpenFilesPinDirectories = true;
#if defined(SILVERPOINT_TEST_PINNED_DIRECTORIES)
inline constexpr bool kRenamesPinnedDirectories = false;
#else
inline constexpr bool kRenamesPinnedDirectories = true;
#endif

enum class Renamed { kDone, kTaken, kFailed };

// Gives a directory a name that no other has.
SP_DETAIL_COLD Renamed rename_directory(const char* from, const char* to) {
    const WidePath name(to);
    if (MoveFileExW(WidePath(from).get(), name.get(), 0) != 0) return Renamed::kDone;
    return GetFileAttributesW(name.get()) != 0xFFFF'FFFF ? Renamed::kTaken : Renamed::kFailed;
}

// WIN32_FIND_DATAW.
struct FoundFile {
    std::uint32_t attributes, created[2], accessed[2], written[2], size[2], reserved[2];
    wchar_t name[260], short_name[14];
    std::uint32_t others[3];  // more than Windows writes
};

// Visits the names in a directory until `visit` returns false.
template <class Visit>
void each_name(const char* path, Visit&& visit) {
    char pattern[1200];
    const std::size_t len = std::strlen(path);
    if (len + 3 > sizeof pattern) return;
    std::memcpy(pattern, path, len);
    std::memcpy(pattern + len, "/*", 3);
    FoundFile found;
    auto* const data = reinterpret_cast<struct _WIN32_FIND_DATAW*>(&found);
    void* const search = FindFirstFileW(WidePath(pattern).get(), data);
    if (search == reinterpret_cast<void*>(std::intptr_t{-1})) return;
    char name[800];
    do {
        if (to_utf8(found.name, name, sizeof name) != 0 && !visit(static_cast<const char*>(name))) break;
    } while (FindNextFileW(search, data) != 0);
    FindClose(search);
}

// When a directory of this user was changed, in seconds since 1970; false if it is none. (Others may be able
// to put theirs into the root: is_own_directory.)
SP_DETAIL_COLD bool directory_changed(const char* path, std::int64_t& seconds) {
    const WidePath wide(path);
    FoundFile found;
    void* const search = FindFirstFileW(wide.get(), reinterpret_cast<struct _WIN32_FIND_DATAW*>(&found));
    if (search == reinterpret_cast<void*>(std::intptr_t{-1})) return false;
    FindClose(search);
    const std::uint64_t time = std::uint64_t{found.written[1]} << 32 | found.written[0];
    seconds = static_cast<std::int64_t>(ns_since_1970(time) / 1'000'000'000u);
    return is_directory(found.attributes) && is_file_of_user(wide.get());
}

// Where sessions may be unless the environment says so: in the user's own directory.
template <class Use>
bool use_a_root(Use&& use) {
    const char* const local = environment("LOCALAPPDATA");
    return local != nullptr && *local != 0 && use(local, "/silverpoint", false);
}

// Whether this directory may be a root of sessions: of this user, no link. It is made if it is missing. Who
// else has access to one that exists is not asked: what is in it must belong to this user, too.
SP_DETAIL_COLD bool is_own_directory(const char* path) {
    const WidePath wide(path);
    if (GetFileAttributesW(wide.get()) == 0xFFFF'FFFF && !make_own_directory(wide.get())) return false;
    return is_directory(GetFileAttributesW(wide.get())) && is_file_of_user(wide.get());
}

SP_DETAIL_END
