// Making a session, or joining one that another copy in this process has made.
#pragma once

#include "opened.hpp"
#include "settings.hpp"
#include "sweep.hpp"

SP_DETAIL_BEGIN

// Holds the shared lock on `owner` for as long as this process image lives.
SP_DETAIL_COLD bool hold_owner(File file) {
    char* const lock = lock_shared(file);
    if (lock != nullptr) session.owner = lock;
    return lock != nullptr;
}

SP_DETAIL_COLD void release_owner() {
    if (session.owner != nullptr) release_shared_lock(session.owner);
    session.owner = nullptr;
}

// Reads the layout from a mapped control header, no matter which copy made it.
SP_DETAIL_COLD void adopt_layout(const Settings& settings) {
    Session& s = session;
    s.control_size = s.plain<std::uint64_t>(at::kControlSize);
    s.rings_size = s.plain<std::uint64_t>(at::kRingsSize);
    s.slabs_at = s.plain<std::uint64_t>(at::kSlabsAt);
    s.directives_at = s.plain<std::uint64_t>(at::kDirectivesAt);
    s.sites_at = s.plain<std::uint64_t>(at::kSitesAt);
    s.states_at = s.plain<std::uint64_t>(at::kStatesAt);
    s.index_at = s.plain<std::uint64_t>(at::kIndexAt);
    s.anchors_at = s.plain<std::uint64_t>(at::kAnchorsAt);
    s.descs_at = s.plain<std::uint64_t>(at::kDescsAt);
    s.descs_size = s.plain<std::uint64_t>(at::kDescsSize);
    s.slab_bytes = s.plain<std::uint32_t>(at::kSlabBytes);
    s.slab_count = s.plain<std::uint32_t>(at::kSlabCount);
    s.directives_cap = s.plain<std::uint32_t>(at::kDirectivesCap);
    s.sites_cap = s.plain<std::uint32_t>(at::kSitesCap);
    s.index_cap = s.plain<std::uint32_t>(at::kIndexCap);
    s.anchors_cap = s.plain<std::uint32_t>(at::kAnchorsCap);
    s.source = s.plain<std::uint32_t>(at::kClockSource);
    s.flags = s.plain<std::uint32_t>(at::kFlags);
    const auto small = static_cast<std::uint32_t>(kSmallMemory / s.slab_bytes);
    s.uncollected_slabs = settings.memory != 0 || s.slab_count < small ? s.slab_count : small;
}

// Counts this copy in; false if the last one has left, and the directory may be about to be removed.
SP_DETAIL_COLD bool enter_session(char* control) {
    auto& joined = *reinterpret_cast<Word*>(control + at::kCopiesJoined);
    std::uint32_t copies = joined.load(std::memory_order_acquire);
    do {
        if (copies == 0) return false;
    } while (!joined.compare_exchange_weak(copies, copies + 1, std::memory_order_acq_rel));
    auto& next = *reinterpret_cast<Word*>(control + at::kCopiesNext);
    session.copy = next.fetch_add(1, std::memory_order_relaxed) + 1;
    return true;
}

// Bytes of rings of a new session.
SP_DETAIL_COLD std::uint64_t ceiling(const Path& root, std::uint64_t asked) {
    if (asked != 0) return session_memory(asked, file_size_limit());
    MemoryLimits limits{~std::uint64_t{0}, ~std::uint64_t{0}, may_reserve_more_than(kSmallMemory)};
    if (const std::uint64_t bytes = memory_of_machine(); bytes > 0) limits.memory = bytes;
    char text[64] = {};
    if (group_memory_text(text, sizeof text - 1) > 0 && text[0] >= '0' && text[0] <= '9')
        limits.memory = least(limits.memory, parse_size(text));
    if (std::uint64_t free = 0; room_at(root.c_str(), free)) limits.room = free;
    return session_memory(default_memory(limits), file_size_limit());
}

// `key=value`, control characters and backslashes escaped.
template <std::size_t Length>
SP_DETAIL_COLD void add_line(Text<Length>& out, const char* key, const char* value, std::size_t len) {
    out.add(key).add("=");
    for (std::size_t i = 0; i < len; ++i) {
        const auto c = static_cast<unsigned char>(value[i]);
        if (c < ' ' || c == 0x7F || c == '\\') {
            constexpr char digits[] = "0123456789ABCDEF";
            const char escaped[] = {'\\', 'x', digits[c >> 4], digits[c & 15]};
            out.add(escaped, 4);
        } else {
            out.add(value + i, 1);
        }
    }
    out.add("\n");
}

inline constexpr std::uint32_t kProcessSize = 8192;

// Returns the bytes written.
SP_DETAIL_COLD std::uint32_t write_process_text(char* out) {
    Text<kProcessSize - 1> text;
    char buffer[4096];
    if (const std::size_t len = path_of_executable(buffer, sizeof buffer); len > 0)
        add_line(text, "exe", buffer, len);
    if (const std::size_t len = text_of_command_line(buffer, sizeof buffer); len > 0)
        add_line(text, "cmdline", buffer, len < 3000 ? len : 3000);
    if (const std::size_t len = working_directory(buffer, 1024); len > 0) add_line(text, "cwd", buffer, len);
    add_line(text, "language", "C++", 3);
    add_line(text, "frontend", "silverpoint-cpp 0.1.0", 21);
    std::memcpy(out, text.c_str(), text.size());
    return static_cast<std::uint32_t>(text.size());
}

// A new file of this size, mapped; the descriptor is closed. `fixed` replaces a mapping at that address.
SP_DETAIL_COLD char* make_file(const Path& directory, const char* name, std::size_t size, Access access,
                               void* fixed = nullptr) {
    if (size > file_size_limit()) {
        errno = EFBIG;
        return nullptr;
    }
    Path path = directory;
    path.add("/").add(name);
    const File file = create_file(path.c_str());
    if (!file) return nullptr;
    char* const map = resize_file(file, size) ? map_shared(file, size, access, fixed) : nullptr;
    close_file(file);
    return map;
}

// The files `owner` and `collector`; from here on the owner lock is held.
SP_DETAIL_COLD bool make_locks(const Path& directory) {
    for (const char* name : {"/owner", "/collector"}) {
        Path path = directory;
        const File file = create_file(path.add(name).c_str());
        if (!file) return false;
        const bool done = resize_file(file, 4096) && (name[1] != 'o' || hold_owner(file));
        close_file(file);
        if (!done) return false;
    }
    return true;
}

// As rename_directory, of a session whose owner lock is held. Where an open file hinders that, the lock is
// let go for the moment: sweeps leave a young session alone there.
SP_DETAIL_COLD Renamed rename_session(const Path& made, const Path& name) {
    if constexpr (!kOpenFilesPinDirectories) {
        return rename_directory(made.c_str(), name.c_str());
    } else {
        Renamed renamed = Renamed::kFailed;
        if constexpr (kRenamesPinnedDirectories) renamed = rename_directory(made.c_str(), name.c_str());
        if (renamed != Renamed::kFailed) return renamed;
        release_owner();
        renamed = rename_directory(made.c_str(), name.c_str());
        Path path = renamed == Renamed::kDone ? name : made;
        const File owner = open_file(path.add("/owner").c_str());
        const bool is_held = owner && hold_owner(owner);
        close_file(owner);
        return is_held ? renamed : Renamed::kFailed;
    }
}

// Gives a whole directory its final name; false when another copy was first.
SP_DETAIL_COLD bool publish(const Path& made, const Path& root) {
    const std::uint64_t start = start_time();
    for (unsigned number = 0; number < 10'000; ++number) {
        Path name = root;
        process_name(name, start, number);
        const Renamed renamed = rename_session(made, name);
        if (renamed == Renamed::kDone) session.path = name;
        if (renamed != Renamed::kTaken) return renamed == Renamed::kDone;
    }
    return false;
}

SP_DETAIL_COLD bool make_session(const Settings& settings) {
    Path root;
    if (!find_root(root)) return false;
    std::uint64_t nonce = 0;
    if (system_random(&nonce, sizeof nonce, true) == 0) nonce = counter();
    Path made = root;
    made.add("/.new-").number(process_id()).add("-").number(nonce);
    if (!make_directory(made.c_str())) return false;

    Session& s = session;
    const std::uint64_t most = ceiling(root, settings.memory);
    const std::uint32_t slab = slab_bytes_of(most);
    const std::uint32_t slabs = static_cast<std::uint32_t>(most / slab);  // at most 65,536
    struct Region {
        std::size_t at;
        std::size_t size;
    };
    std::size_t end = 4096;
    const auto region = [&](std::size_t size) {
        const std::size_t begin = end;
        end = (begin + size + 4095) & ~std::size_t{4095};
        return begin;
    };
    constexpr std::uint32_t kSites = 65536, kIndex = 131072, kDirectives = 16384, kAnchors = 64;
    constexpr std::size_t kDescs = 16u << 20;
    const std::size_t slabs_at = region(slabs * 16u), anchors_at = region(kAnchors * 32u),
                      process_at = region(kProcessSize);
    const std::size_t directives_at = region(kDirectives);
    const std::size_t eager = end;  // small, and needed at once
    const std::size_t states_at = region(kSites), sites_at = region(kSites * 32u),
                      index_at = region(kIndex * 4u);
    const std::size_t descs_at = region(kDescs);

    s.path = made;
    s.control = make_file(made, "control", end, Access::kWrite);
    const std::size_t rings_size = static_cast<std::size_t>(slabs) * slab;
    s.rings_size = rings_size;
    s.rings_opened.store(0, std::memory_order_relaxed);
    s.rings = make_file(made, "rings", s.rings_bytes(), Access::kNone);
    if (s.control == nullptr || s.rings == nullptr || !open_rings(1) ||
        !back(s.control, 0, eager, "control")) {
        const ErrnoGuard guard;
        unlink_session(made);
        return false;
    }
    std::memcpy(s.control, "SPCTL\r\n\x1a", 8);
    s.plain<std::uint16_t>(at::kVersionMajor) = 1;
    s.plain<std::uint32_t>(at::kHeaderSize) = 4096;
    s.plain<std::uint32_t>(at::kFlags) =
        (settings.expected ? kFlagExpected : 0) | (settings.demanded ? kFlagDemanded : 0);
    s.plain<std::uint32_t>(at::kPid) = process_id();
    s.plain<std::uint32_t>(at::kParentPid) = parent_process_id();
    s.plain<std::uint64_t>(at::kStartTime) = start_time();
    char boot[40] = {};
    boot_text(boot);
    for (unsigned i = 0, nibble = 0; boot[i] != 0 && nibble < 32; ++i) {
        const char c = boot[i];
        const int value = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (value < 0) continue;
        auto& byte = s.plain<std::uint8_t>(at::kBootId + nibble / 2);
        byte = static_cast<std::uint8_t>(byte | value << (nibble % 2 == 0 ? 4 : 0));
        ++nibble;
    }
    s.plain<std::uint32_t>(at::kUid) = user_id();
    s.plain<std::uint32_t>(at::kPidNs) = process_namespace();
    s.plain<std::uint64_t>(at::kCreatedWallNs) = wall_now();
    if (system_random(s.control + at::kSessionId, 16, true) != 16) {
        s.plain<std::uint64_t>(at::kSessionId) = wall_now();
        s.plain<std::uint64_t>(at::kSessionId + 8) = process_id();
    }
    s.source = clock_source();
    s.plain<std::uint32_t>(at::kClockSource) = s.source;
    s.plain<std::uint64_t>(at::kTicksPerSecond) = ticks_per_second(s.source);
    s.plain<std::uint64_t>(at::kControlSize) = end;
    s.plain<std::uint64_t>(at::kRingsSize) = rings_size;
    s.plain<std::uint32_t>(at::kSlabBytes) = slab;
    s.plain<std::uint32_t>(at::kSlabCount) = slabs;
    s.plain<std::uint64_t>(at::kSlabsAt) = slabs_at;
    s.plain<std::uint64_t>(at::kDirectivesAt) = directives_at;
    s.plain<std::uint32_t>(at::kDirectivesCap) = kDirectives;
    s.plain<std::uint32_t>(at::kSitesCap) = kSites;
    s.plain<std::uint64_t>(at::kSitesAt) = sites_at;
    s.plain<std::uint64_t>(at::kStatesAt) = states_at;
    s.plain<std::uint64_t>(at::kIndexAt) = index_at;
    s.plain<std::uint32_t>(at::kIndexCap) = kIndex;
    s.plain<std::uint32_t>(at::kAnchorsCap) = kAnchors;
    s.plain<std::uint64_t>(at::kAnchorsAt) = anchors_at;
    s.plain<std::uint64_t>(at::kDescsAt) = descs_at;
    s.plain<std::uint64_t>(at::kDescsSize) = kDescs;
    s.plain<std::uint64_t>(at::kProcessAt) = process_at;
    s.plain<std::uint32_t>(at::kRingHeaderSize) = kRingHeader;
    constexpr std::uint16_t fields[] = {4, 8, 16, 20, 12, 64, 72, 80, 128, 136, 192, 40};
    std::memcpy(s.control + at::kRingFields, fields, sizeof fields);
    std::size_t len = std::strlen(settings.filter);
    if (len > kDirectives) len = 0;
    std::memcpy(s.control + directives_at, settings.filter, len);
    s.plain<std::uint32_t>(at::kDirectivesLen) = static_cast<std::uint32_t>(len);
    s.plain<std::uint32_t>(at::kBlockMaxMs) = settings.block_max_ms;
    for (std::size_t i = 0; i < 6; ++i) s.plain<Policy>(at::kPolicy + i) = settings.policy[i];
    s.plain<std::uint32_t>(at::kProcessSize) = write_process_text(s.control + process_at);
    s.word(at::kCopiesJoined).store(1, std::memory_order_relaxed);
    s.word(at::kCopiesNext).store(1, std::memory_order_relaxed);
    s.copy = 1;
    s.is_kept = settings.kept;
    adopt_layout(settings);
    add_anchor();
    if (!make_locks(made) || !publish(made, root)) {
        const ErrnoGuard guard;
        unlink_session(made);
        return false;
    }
    sweep(root);
    return true;
}

// A file of a session, mapped whole; null if it is not a plain file of the user, or has another size. A size
// of 0 stands for any of a page or more; it receives the file's.
SP_DETAIL_COLD char* map_file(const Path& directory, const char* name, std::size_t& size, Access access,
                              void* fixed = nullptr) {
    Path path = directory;
    const File file = open_file(path.add("/").add(name).c_str());
    std::size_t found = 0;
    char* map = nullptr;
    if (file && size_of_own_file(file, found) && found >= 4096 && (size == 0 || found == size)) {
        size = found;
        map = map_shared(file, size, access, fixed);
    }
    close_file(file);
    return map;
}

// Whether this version can use a layout: everything within the files, valid sizes.
SP_DETAIL_COLD bool is_layout_sound(const char* control, std::size_t control_size, std::size_t rings_size) {
    const auto u32 = [&](std::size_t at) {
        std::uint32_t value;
        std::memcpy(&value, control + at, sizeof value);
        return value;
    };
    const auto u64 = [&](std::size_t at) {
        std::uint64_t value;
        std::memcpy(&value, control + at, sizeof value);
        return value;
    };
    const auto fits = [&](std::size_t where, std::uint64_t count, std::uint64_t bytes) {
        return u64(where) % 8 == 0 && u64(where) <= control_size &&
               count * bytes <= control_size - u64(where);
    };
    constexpr std::uint16_t fields[] = {4, 8, 16, 20, 12, 64, 72, 80, 128, 136, 192, 40};
    const std::uint32_t slab = u32(at::kSlabBytes), index = u32(at::kIndexCap);
    return std::memcmp(control, "SPCTL\r\n\x1a", 8) == 0 && (u32(at::kVersionMajor) & 0xFFFF) == 1 &&
           u32(at::kRingHeaderSize) == kRingHeader &&
           std::memcmp(control + at::kRingFields, fields, sizeof fields) == 0 &&
           u64(at::kControlSize) <= control_size && u64(at::kRingsSize) <= rings_size &&
           slab >= (64u << 10) && slab <= (1u << 20) && (slab & (slab - 1)) == 0 &&
           std::uint64_t{u32(at::kSlabCount)} * slab <= u64(at::kRingsSize) && index != 0 &&
           (index & (index - 1)) == 0 && u32(at::kSitesCap) != 0 && u32(at::kAnchorsCap) != 0 &&
           fits(at::kSlabsAt, u32(at::kSlabCount), 16) &&
           fits(at::kDirectivesAt, u32(at::kDirectivesCap), 1) &&
           fits(at::kSitesAt, u32(at::kSitesCap), kSiteEntry) && fits(at::kStatesAt, u32(at::kSitesCap), 1) &&
           fits(at::kIndexAt, index, 4) && fits(at::kAnchorsAt, u32(at::kAnchorsCap), 32) &&
           u64(at::kDescsSize) <= control_size && fits(at::kDescsAt, u64(at::kDescsSize), 1) &&
           u64(at::kProcessAt) <= control_size && u32(at::kProcessSize) <= control_size - u64(at::kProcessAt);
}

// Visits the sessions of this very process image: those whose owner lock is held. `visit` joins one and
// returns true, with the lock taken.
template <class Visit>
SP_DETAIL_COLD bool find_session(const Path& root, Visit visit) {
    const std::uint64_t start = start_time();
    for (unsigned number = 0; number < 1000; ++number) {
        Path name = root;
        process_name(name, start, number);
        Path path = name;
        const File owner = open_file(path.add("/owner").c_str());
        if (!owner) return false;
        // Not held: the session of an image before exec.
        const bool held = is_locked(owner) && hold_owner(owner);
        close_file(owner);
        if (!held) continue;
        if (visit(name)) return true;
        release_owner();
    }
    return false;
}

// Joins the session that another copy of this process has made, if there is one.
SP_DETAIL_COLD bool join_session(const Settings& settings) {
    Path root;
    if (!find_root(root)) return false;
    return find_session(root, [&settings](const Path& name) {
        std::size_t control_size = 0, rings_size = 0;
        session.control = map_file(name, "control", control_size, Access::kWrite);
        session.rings = map_file(name, "rings", rings_size, Access::kNone);
        session.rings_size = rings_size;
        session.rings_opened.store(0, std::memory_order_relaxed);
        if (session.control != nullptr && session.rings != nullptr && open_rings(1) &&
            is_layout_sound(session.control, control_size, rings_size) && enter_session(session.control)) {
            session.path = name;
            adopt_layout(settings);
            return true;
        }
        if (session.control != nullptr) unmap(session.control, control_size);
        if (session.rings != nullptr) unmap(session.rings, rings_size);
        return false;
    });
}

SP_DETAIL_END
