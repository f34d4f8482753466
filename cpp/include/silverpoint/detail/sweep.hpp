// What dead sessions leave behind: removed if they hold no records, kept within bounds if they do.
//
// Every start of a program sweeps a little. A session that lives is never removed. Neither is one that a
// collector has (its lock), nor anything that is not a session by its name and files.
#pragma once

#include "session.hpp"

SP_DETAIL_BEGIN

// One sweep checks so many sessions. Of the dead ones with records the newest stay, within all three bounds.
inline constexpr unsigned kSweepEntries = 64, kSweepKept = 32;
inline constexpr std::uint64_t kSweepBytes = 256u << 20;
inline constexpr std::int64_t kSweepSeconds = 7 * 86'400;
// A session under a hidden name that is not finished after so long never will be.
inline constexpr std::int64_t kUnfinishedSeconds = 10;

SP_DETAIL_COLD void unlink_session(const Path& directory) {
    // The lock files last: as long as they exist, others see that the session is taken.
    for (const char* file : {"/control", "/rings", "/collector", "/owner"}) {
        Path path = directory;
        unlink(path.add(file).c_str());
    }
    rmdir(directory.c_str());
}

// `<pid>-<start>-<n>`, or `.new-<pid>-<random>`.
SP_DETAIL_COLD bool is_session_name(const char* name) {
    const bool hidden = std::strncmp(name, ".new-", 5) == 0;
    if (hidden) name += 5;
    int dashes = 0;
    char before = '-';
    for (; *name != 0; before = *name++) {
        if (*name == '-' ? before == '-' : *name < '0' || *name > '9') return false;
        dashes += *name == '-';
    }
    return before != '-' && dashes == (hidden ? 1 : 2);
}

// A dead session, locked against collectors and other sweeps for as long as this lives.
class DeadSession {
  public:
    explicit DeadSession(const Path& path) {
        // First: a collector that comes for a living session must never find its lock taken.
        if (!is_ownerless(path)) return;
        Path collector = path;
        lock_ = open(collector.add("/collector").c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        const bool has_lock = lock_ >= 0;
        if (has_lock ? !lock_byte(lock_, F_WRLCK) : errno != ENOENT) return;
        is_dead_ = is_ownerless(path);  // also with the lock: a session in the making may live by now
    }
    ~DeadSession() {
        if (lock_ >= 0) close(lock_);
    }
    DeadSession(const DeadSession&) = delete;
    DeadSession& operator=(const DeadSession&) = delete;
    explicit operator bool() const { return is_dead_; }

  private:
    static bool is_ownerless(Path path) {
        const int fd = open(path.add("/owner").c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (fd < 0) return errno == ENOENT;
        const bool is_owned = is_locked(fd);
        close(fd);
        return !is_owned;
    }

    int lock_ = -1;
    bool is_dead_ = false;
};

// What a dead session holds: nothing that a collector would want; records; or records for which a collector
// is expected. The last are not for a sweep to judge.
enum class Content { kNothing, kRecords, kExpected };

// `bytes` is what it uses.
SP_DETAIL_COLD Content content_of_session(const Path& path, std::uint64_t& bytes) {
    Path control = path, rings = path;
    const int fd = open(control.add("/control").c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return Content::kNothing;
    char header[1024];
    struct stat found {};
    const bool whole =
        pread(fd, header, sizeof header, 0) == static_cast<ssize_t>(sizeof header) && fstat(fd, &found) == 0;
    close(fd);
    if (!whole) return Content::kNothing;
    bytes = static_cast<std::uint64_t>(found.st_blocks) * 512;
    if (lstat(rings.add("/rings").c_str(), &found) == 0)
        bytes += static_cast<std::uint64_t>(found.st_blocks) * 512;
    // Without a stream there is no record: slices may be reserved for a crash.
    std::uint32_t streams, flags;
    std::memcpy(&streams, header + at::kStreamsNext, sizeof streams);
    std::memcpy(&flags, header + at::kFlags, sizeof flags);
    std::uint64_t losses[kCauses];
    std::memcpy(losses, header + at::kSessionLosses, sizeof losses);
    bool is_empty = streams == 0;
    for (const std::uint64_t lost : losses) is_empty = is_empty && lost == 0;
    if (is_empty) return Content::kNothing;
    return (flags & kFlagExpected) != 0 ? Content::kExpected : Content::kRecords;
}

SP_DETAIL_COLD void sweep(const Path& root) {
    struct Kept {
        char name[80];
        std::int64_t changed;
        std::uint64_t bytes;
    };
    const int directory = open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (directory < 0) return;
    Kept kept[kSweepEntries];
    unsigned count = 0, looked = 0;
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    const auto path_of = [&](const char* name) {
        Path path = root;
        return path.add("/").add(name);
    };
    alignas(8) char buffer[4096];
    long len;
    while (looked < kSweepEntries && (len = syscall(SYS_getdents64, directory, buffer, sizeof buffer)) > 0) {
        // An entry: inode and offset of 8 bytes, u16 length, u8 type, name.
        for (long at = 0; at < len && looked < kSweepEntries;) {
            std::uint16_t size;
            std::memcpy(&size, buffer + at + 16, sizeof size);
            const char* name = buffer + at + 19;
            at += size;
            if (std::strlen(name) >= sizeof(Kept::name) || !is_session_name(name)) continue;
            ++looked;
            const Path path = path_of(name);
            struct stat found {};
            if (lstat(path.c_str(), &found) != 0 || !S_ISDIR(found.st_mode)) continue;
            const std::int64_t changed = found.st_mtime;
            if (name[0] == '.' && now.tv_sec - changed < kUnfinishedSeconds) continue;
            const DeadSession dead(path);
            if (!dead) continue;
            std::uint64_t bytes = 0;
            const Content content = name[0] == '.' ? Content::kNothing : content_of_session(path, bytes);
            if (content == Content::kNothing) unlink_session(path);
            if (content != Content::kRecords) continue;
            // Newest first.
            unsigned place = count++;
            for (; place > 0 && kept[place - 1].changed < changed; --place) kept[place] = kept[place - 1];
            std::memcpy(kept[place].name, name, std::strlen(name) + 1);
            kept[place].changed = changed;
            kept[place].bytes = bytes;
        }
    }
    close(directory);
    std::uint64_t bytes = 0;
    for (unsigned i = 0; i < count; ++i) {
        bytes += kept[i].bytes;
        if (i < kSweepKept && bytes <= kSweepBytes && now.tv_sec - kept[i].changed <= kSweepSeconds) continue;
        const Path path = path_of(kept[i].name);
        if (const DeadSession dead(path); dead) unlink_session(path);
    }
}

SP_DETAIL_END
