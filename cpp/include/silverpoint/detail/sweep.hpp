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
        remove_file(path.add(file).c_str());
    }
    remove_directory(directory.c_str());
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
        lock_ = open_file(collector.add("/collector").c_str());
        if (lock_ ? !lock_alone(lock_) : !lock_.is_missing()) return;
        is_dead_ = is_ownerless(path);  // also with the lock: a session in the making may live by now
    }
    ~DeadSession() { close_file(lock_); }
    DeadSession(const DeadSession&) = delete;
    DeadSession& operator=(const DeadSession&) = delete;
    explicit operator bool() const { return is_dead_; }

  private:
    static bool is_ownerless(Path path) {
        const File owner = open_file(path.add("/owner").c_str());
        if (!owner) return owner.is_missing();
        const bool is_owned = is_locked(owner);
        close_file(owner);
        return !is_owned;
    }

    File lock_;
    bool is_dead_ = false;
};

// What a dead session holds: nothing that a collector would want; records; or records for which a collector
// is expected. The last are not for a sweep to judge.
enum class Content { kNothing, kRecords, kExpected };

// `bytes` is what it uses.
SP_DETAIL_COLD Content content_of_session(const Path& path, std::uint64_t& bytes) {
    Path control = path, rings = path;
    const File file = open_to_read(control.add("/control").c_str());
    if (!file) return Content::kNothing;
    char header[1024];
    const bool whole = read_at(file, header, sizeof header, 0);
    close_file(file);
    if (!whole) return Content::kNothing;
    bytes = room_of_file(control.c_str()) + room_of_file(rings.add("/rings").c_str());
    // Without a stream there is no record: slices may be reserved for a crash.
    std::uint32_t streams, flags;
    std::memcpy(&streams, header + offsetof(ControlHeader, streams_next), sizeof streams);
    std::memcpy(&flags, header + offsetof(ControlHeader, flags), sizeof flags);
    std::uint64_t losses[kCauses];
    std::memcpy(losses, header + offsetof(ControlHeader, session_losses), sizeof losses);
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
    Kept kept[kSweepEntries];
    unsigned count = 0, looked = 0;
    const auto now = static_cast<std::int64_t>(wall_now() / 1'000'000'000u);
    const auto path_of = [&](const char* name) {
        Path path = root;
        return path.add("/").add(name);
    };
    each_name(root.c_str(), [&](const char* name) {
        if (std::strlen(name) >= sizeof(Kept::name) || !is_session_name(name)) return true;
        const bool goes_on = ++looked < kSweepEntries;
        const Path path = path_of(name);
        std::int64_t changed = 0;
        if (!directory_changed(path.c_str(), changed)) return goes_on;
        const bool may_be_unfinished = name[0] == '.' || kOpenFilesPinDirectories;
        if (may_be_unfinished && now - changed < kUnfinishedSeconds) return goes_on;
        const DeadSession dead(path);
        if (!dead) return goes_on;
        std::uint64_t bytes = 0;
        const Content content = name[0] == '.' ? Content::kNothing : content_of_session(path, bytes);
        if (content == Content::kNothing) unlink_session(path);
        if (content != Content::kRecords) return goes_on;
        // Newest first.
        unsigned place = count++;
        for (; place > 0 && kept[place - 1].changed < changed; --place) kept[place] = kept[place - 1];
        std::memcpy(kept[place].name, name, std::strlen(name) + 1);
        kept[place].changed = changed;
        kept[place].bytes = bytes;
        return goes_on;
    });
    std::uint64_t bytes = 0;
    for (unsigned i = 0; i < count; ++i) {
        bytes += kept[i].bytes;
        if (i < kSweepKept && bytes <= kSweepBytes && now - kept[i].changed <= kSweepSeconds) continue;
        const Path path = path_of(kept[i].name);
        if (const DeadSession dead(path); dead) unlink_session(path);
    }
}

SP_DETAIL_END
