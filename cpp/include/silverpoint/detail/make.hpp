// Making a session, or joining one that another copy in this process has made.
//
//   join_session ─▶ <pid>-<start>-<n> with a held owner lock? ─▶ map, check ─▶ copies_joined + 1
//        │ none
//        ▼
//   make_session ─▶ .new-<pid>-<random> ─▶ control, rings ─▶ header ─▶ owner lock ─▶ renamed ─▶ sweep
//
// The rename publishes everything at once: who finds a session by its name finds it whole.
//
// Who may do what: until the rename its maker alone writes. Later a copy counts itself in by
// compare-and-swap, and never from 0: then the last one has left, and may be removing the directory.
//
// The bytes of a control file, for up to 65,536 sites. Most of them get memory only when they are used:
//
//   at once    header 4 + anchors 4 + process text 8 + directives 16 = 32 KiB; 16 bytes for each slab
//   on use     states 64 KiB, entries 2 MiB (32 bytes each), index 512 KiB, descriptions 16 MiB
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
    const ControlHeader& h = s.header();
    s.control_size = h.control_size;
    s.rings_size = h.rings_size;
    s.slabs_at = h.slabs_at;
    s.directives_at = h.directives_at;
    s.sites_at = h.sites_at;
    s.states_at = h.states_at;
    s.index_at = h.index_at;
    s.anchors_at = h.anchors_at;
    s.descs_at = h.descs_at;
    s.descs_size = h.descs_size;
    s.slab_bytes = h.slab_bytes;
    s.slab_count = h.slab_count;
    s.directives_cap = h.directives_cap;
    s.sites_cap = h.sites_cap;
    s.index_cap = h.index_cap;
    s.anchors_cap = h.anchors_cap;
    s.source = h.clock_source;
    s.flags = h.flags;
    const auto small = static_cast<std::uint32_t>(kSmallMemory / s.slab_bytes);
    s.uncollected_slabs = settings.memory != 0 || s.slab_count < small ? s.slab_count : small;
}

// Counts this copy in; false if the last one has left, and the directory may be about to be removed.
SP_DETAIL_COLD bool enter_session(char* control) {
    Word& joined = header_of(control).copies_joined;
    std::uint32_t copies = joined.load(std::memory_order_acquire);
    do {
        if (copies == 0) return false;
    } while (!joined.compare_exchange_weak(copies, copies + 1, std::memory_order_acq_rel));
    session.copy = header_of(control).copies_next.fetch_add(1, std::memory_order_relaxed) + 1;
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
    std::size_t end = kHeaderPage;
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
    ControlHeader& h = s.header();
    std::memcpy(h.magic, kControlMagic, sizeof h.magic);
    h.version_major = 1;
    h.header_size = kHeaderPage;
    h.flags = (settings.expected ? kFlagExpected : 0) | (settings.demanded ? kFlagDemanded : 0);
    h.pid = process_id();
    h.parent_pid = parent_process_id();
    h.start_time = start_time();
    char boot[40] = {};
    boot_text(boot);
    for (unsigned i = 0, nibble = 0; boot[i] != 0 && nibble < 32; ++i) {
        const char c = boot[i];
        const int value = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (value < 0) continue;
        std::uint8_t& byte = h.boot_id[nibble / 2];
        byte = static_cast<std::uint8_t>(byte | value << (nibble % 2 == 0 ? 4 : 0));
        ++nibble;
    }
    h.uid = user_id();
    h.pid_ns = process_namespace();
    h.created_wall_ns = wall_now();
    if (system_random(h.session_id, sizeof h.session_id, true) != 16) {
        h.session_id[0] = wall_now();
        h.session_id[1] = process_id();
    }
    s.source = clock_source();
    h.clock_source = s.source;
    h.ticks_per_second = ticks_per_second(s.source);
    h.control_size = end;
    h.rings_size = rings_size;
    h.slab_bytes = slab;
    h.slab_count = slabs;
    h.slabs_at = slabs_at;
    h.directives_at = directives_at;
    h.directives_cap = kDirectives;
    h.sites_cap = kSites;
    h.sites_at = sites_at;
    h.states_at = states_at;
    h.index_at = index_at;
    h.index_cap = kIndex;
    h.anchors_cap = kAnchors;
    h.anchors_at = anchors_at;
    h.descs_at = descs_at;
    h.descs_size = kDescs;
    h.process_at = process_at;
    h.ring_header_size = kRingHeader;
    std::memcpy(h.ring_fields, kRingFields, sizeof kRingFields);
    std::size_t len = std::strlen(settings.filter);
    if (len > kDirectives) len = 0;
    std::memcpy(s.control + directives_at, settings.filter, len);
    h.directives_len.store(static_cast<std::uint32_t>(len), std::memory_order_relaxed);
    h.block_max_ms.store(settings.block_max_ms, std::memory_order_relaxed);
    for (std::size_t i = 0; i < kLevels; ++i)
        h.policy[i].store(settings.policy[i], std::memory_order_relaxed);
    h.process_size = write_process_text(s.control + process_at);
    h.copies_joined.store(1, std::memory_order_relaxed);
    h.copies_next.store(1, std::memory_order_relaxed);
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
    const ControlHeader& h = header_of(control);
    const auto fits = [&](std::uint64_t where, std::uint64_t count, std::uint64_t bytes) {
        return where % 8 == 0 && where <= control_size && count * bytes <= control_size - where;
    };
    const std::uint32_t slab = h.slab_bytes, index = h.index_cap;
    return std::memcmp(h.magic, kControlMagic, sizeof h.magic) == 0 && h.version_major == 1 &&
           h.ring_header_size == kRingHeader &&
           std::memcmp(h.ring_fields, kRingFields, sizeof kRingFields) == 0 &&
           h.control_size <= control_size && h.rings_size <= rings_size && slab >= (64u << 10) &&
           slab <= (1u << 20) && (slab & (slab - 1)) == 0 &&
           std::uint64_t{h.slab_count} * slab <= h.rings_size && index != 0 && (index & (index - 1)) == 0 &&
           h.sites_cap != 0 && h.anchors_cap != 0 && fits(h.slabs_at, h.slab_count, 16) &&
           fits(h.directives_at, h.directives_cap, 1) && fits(h.sites_at, h.sites_cap, kSiteEntry) &&
           fits(h.states_at, h.sites_cap, 1) && fits(h.index_at, index, 4) &&
           fits(h.anchors_at, h.anchors_cap, 32) && h.descs_size <= control_size &&
           fits(h.descs_at, h.descs_size, 1) && h.process_at <= control_size &&
           h.process_size <= control_size - h.process_at;
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
