// Making, joining, replacing and leaving the session: everything that happens once.
#pragma once

#include <link.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/statfs.h>

#include "sweep.hpp"

SP_DETAIL_BEGIN

inline Settings read_settings() {
    Settings settings;
    if (const char* filter = environment("SILVERPOINT_FILTER")) {
        settings.demanded = true;
        settings.filter = filter;
    }
    const char* collector = environment("SILVERPOINT_COLLECTOR");
    settings.expected = collector != nullptr && *collector == '1';
    if (const char* memory = environment("SILVERPOINT_MEMORY")) settings.memory = parse_size(memory);
    if (const char* most = environment("SILVERPOINT_BLOCK_MAX")) {
        std::uint64_t ms = 0;
        while (*most >= '0' && *most <= '9' && ms < 10'000'000)
            ms = ms * 10 + static_cast<unsigned>(*most++ - '0');
        settings.block_max_ms = static_cast<std::uint32_t>(*most == 'm' ? ms : ms * 1000);
    }
    // POLICY[,level=POLICY]…
    const char* text = environment("SILVERPOINT_POLICY");
    while (text != nullptr && *text != 0) {
        std::size_t len = std::strcspn(text, ",");
        const char* value = text;
        int level = -1;
        if (const void* equals = std::memchr(text, '=', len);
            equals != nullptr && std::strncmp(text, "block=", 6) != 0) {
            constexpr const char* names[] = {"trace", "debug", "info", "warn", "error", "fatal"};
            const auto name = static_cast<std::size_t>(static_cast<const char*>(equals) - text);
            for (int i = 0; i < 6; ++i)
                if (std::strlen(names[i]) == name && std::memcmp(names[i], text, name) == 0) level = i;
            value = text + name + 1;
        }
        const auto is = [&](const char* word) {
            return static_cast<std::size_t>(text + len - value) == std::strlen(word) &&
                   std::memcmp(value, word, std::strlen(word)) == 0;
        };
        Policy policy = Policy::kBlock;
        if (is("drop")) policy = Policy::kDrop;
        if (is("overwrite")) policy = Policy::kOverwrite;
        if (is("block=forever")) settings.block_max_ms = kBlockForEver;
        for (int i = 0; i < 6; ++i)
            if (level < 0 || level == i) settings.policy[i] = policy;
        text += len + (text[len] == ',');
    }
    return settings;
}

// Holds the read lock on `owner` for as long as this process image lives: the mapping keeps the open file
// description, and a forked child does not get it.
inline bool hold_owner(int fd) {
    if (!lock_byte(fd, F_RDLCK)) return false;
    void* map = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0);
    return map != MAP_FAILED && madvise(map, 4096, MADV_DONTFORK) == 0;
}

// Reads the layout from a mapped control header, whoever made it.
inline void adopt_layout() {
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
    s.pid = static_cast<std::uint32_t>(getpid());
    s.copy = s.word(at::kCopiesNext).fetch_add(1, std::memory_order_relaxed) + 1;
    s.word(at::kCopiesJoined).fetch_add(1, std::memory_order_relaxed);
}

// Larger files would end the program by SIGXFSZ.
inline std::uint64_t file_size_limit() {
    struct rlimit limit {};
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 ? limit.rlim_cur : ~std::uint64_t{0};
}

// Bytes that the rings of a session may have at most.
inline std::uint64_t ceiling(const Path& root, std::uint64_t asked) {
    std::uint64_t most = 32u << 20;
    if (asked != 0) most = asked;
    char text[64] = {};
    if (read_file("/sys/fs/cgroup/memory.max", text, sizeof text - 1) > 0 && text[0] >= '0' &&
        text[0] <= '9') {
        const std::uint64_t limit = parse_size(text) / 16;
        if (limit < most) most = limit;
    }
    struct statfs found {};
    if (statfs(root.c_str(), &found) == 0) {
        const std::uint64_t free =
            static_cast<std::uint64_t>(found.f_bavail) * static_cast<std::uint64_t>(found.f_bsize) / 4;
        if (free < most) most = free;
    }
    const std::uint64_t limit = file_size_limit();
    if (limit < most) most = limit;
    return most;
}

// `key=value`, control characters and backslashes escaped.
template <std::size_t N>
inline void add_line(Text<N>& out, const char* key, const char* value, std::size_t len) {
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

// Gives the bytes written.
inline std::uint32_t write_process_text(char* out) {
    Text<kProcessSize - 1> text;
    char buffer[4096];
    if (const ssize_t len = readlink("/proc/self/exe", buffer, sizeof buffer); len > 0)
        add_line(text, "exe", buffer, static_cast<std::size_t>(len));
    if (std::size_t len = read_file("/proc/self/cmdline", buffer, sizeof buffer); len > 0) {
        if (buffer[len - 1] == 0) --len;
        for (std::size_t i = 0; i < len; ++i)
            if (buffer[i] == 0) buffer[i] = ' ';
        if (len > 3000) len = 3000;
        add_line(text, "cmdline", buffer, len);
    }
    if (getcwd(buffer, 1024) != nullptr) add_line(text, "cwd", buffer, std::strlen(buffer));
    add_line(text, "language", "C++", 3);
    add_line(text, "frontend", "silverpoint-cpp 0.1.0", 21);
    std::memcpy(out, text.c_str(), text.size());
    return static_cast<std::uint32_t>(text.size());
}

// A new file of this size, mapped; the descriptor is closed. `fixed` replaces a mapping at that address.
inline char* make_file(const Path& directory, const char* name, std::size_t size, void* fixed = nullptr) {
    if (size > file_size_limit()) return nullptr;
    Path path = directory;
    path.add("/").add(name);
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return nullptr;
    void* map = MAP_FAILED;
    if (ftruncate(fd, static_cast<off_t>(size)) == 0)
        map = mmap(fixed, size, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_NORESERVE | (fixed != nullptr ? MAP_FIXED : 0), fd, 0);
    close(fd);
    return map == MAP_FAILED ? nullptr : static_cast<char*>(map);
}

// The files `owner` and `collector`; the owner lock is held from here on.
inline bool make_locks(const Path& directory) {
    for (const char* name : {"/owner", "/collector"}) {
        Path path = directory;
        const int fd = open(path.add(name).c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0) return false;
        const bool done = ftruncate(fd, 4096) == 0 && (name[1] != 'o' || hold_owner(fd));
        close(fd);
        if (!done) return false;
    }
    return true;
}

// Gives a whole directory its final name; false when another copy was first.
inline bool publish(const Path& made, const Path& root) {
    const std::uint64_t start = start_time();
    for (unsigned number = 0; number < 10'000; ++number) {
        Path name = root;
        process_name(name, start, number);
        if (renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, name.c_str(), RENAME_NOREPLACE) == 0) {
            session.path = name;
            return true;
        }
        if (errno == EINVAL && access(name.c_str(), F_OK) != 0 && rename(made.c_str(), name.c_str()) == 0) {
            session.path = name;
            return true;
        }
        if (errno != EEXIST && errno != ENOTEMPTY && errno != EINVAL) return false;
    }
    return false;
}

inline bool make_session(const Settings& settings) {
    Path root;
    if (!find_root(root)) return false;
    std::uint64_t nonce = 0;
    if (getrandom(&nonce, sizeof nonce, 0) < 0) nonce = counter();
    Path made = root;
    made.add("/.new-").number(static_cast<std::uint64_t>(getpid())).add("-").number(nonce);
    if (mkdir(made.c_str(), 0700) != 0) return false;

    Session& s = session;
    const std::uint64_t most = ceiling(root, settings.memory);
    std::uint32_t slab = 1u << 20;
    while (slab > (64u << 10) && most / slab < 8) slab >>= 1;
    const std::uint32_t slabs = static_cast<std::uint32_t>(most / slab > 4096 ? 4096 : most / slab);
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
    s.control = make_file(made, "control", end);
    const std::size_t rings_size = static_cast<std::size_t>(slabs) * slab;
    s.rings = make_file(made, "rings", rings_size == 0 ? 4096 : rings_size);
    if (s.control == nullptr || s.rings == nullptr || !back(s.control, 0, eager, "control")) {
        unlink_session(made);
        return false;
    }
    std::memcpy(s.control, "SPCTL\r\n\x1a", 8);
    s.plain<std::uint16_t>(at::kVersionMajor) = 1;
    s.plain<std::uint32_t>(at::kHeaderSize) = 4096;
    s.plain<std::uint32_t>(at::kFlags) =
        (settings.expected ? kFlagExpected : 0) | (settings.demanded ? kFlagDemanded : 0);
    s.plain<std::uint32_t>(at::kPid) = static_cast<std::uint32_t>(getpid());
    s.plain<std::uint32_t>(at::kParentPid) = static_cast<std::uint32_t>(getppid());
    s.plain<std::uint64_t>(at::kStartTime) = start_time();
    char boot[40] = {};
    read_file("/proc/sys/kernel/random/boot_id", boot, 36);
    for (unsigned i = 0, nibble = 0; boot[i] != 0 && nibble < 32; ++i) {
        const char c = boot[i];
        const int value = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (value < 0) continue;
        auto& byte = s.plain<std::uint8_t>(at::kBootId + nibble / 2);
        byte = static_cast<std::uint8_t>(byte | value << (nibble % 2 == 0 ? 4 : 0));
        ++nibble;
    }
    s.plain<std::uint32_t>(at::kUid) = geteuid();
    struct stat ns {};
    s.plain<std::uint32_t>(at::kPidNs) =
        stat("/proc/self/ns/pid", &ns) == 0 ? static_cast<std::uint32_t>(ns.st_ino) : 0;
    s.plain<std::uint64_t>(at::kCreatedWallNs) = clock_ns(CLOCK_REALTIME);
    if (getrandom(s.control + at::kSessionId, 16, 0) != 16) {
        s.plain<std::uint64_t>(at::kSessionId) = clock_ns(CLOCK_REALTIME);
        s.plain<std::uint64_t>(at::kSessionId + 8) = static_cast<std::uint64_t>(getpid());
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
    adopt_layout();
    add_anchor();
    if (!make_locks(made) || !publish(made, root)) {
        unlink_session(made);
        return false;
    }
    sweep(root);
    return true;
}

// Joins the session that another copy of this process has made, if there is one.
inline bool join_session() {
    Path root;
    if (!find_root(root)) return false;
    const std::uint64_t start = start_time();
    for (unsigned number = 0; number < 10'000; ++number) {
        Path name = root;
        process_name(name, start, number);
        Path path = name;
        const int owner = open(path.add("/owner").c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
        if (owner < 0) return false;
        // Held: this very image's. Not held: that of an image before exec.
        const bool held = is_locked(owner) && hold_owner(owner);
        close(owner);
        if (!held) continue;
        const auto map = [&](const char* file, std::size_t& size) -> char* {
            Path file_path = name;
            const int fd = open(file_path.add(file).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
            struct stat found {};
            void* mapped = MAP_FAILED;
            if (fd >= 0 && fstat(fd, &found) == 0) {
                size = static_cast<std::size_t>(found.st_size);
                mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
            }
            if (fd >= 0) close(fd);
            return mapped == MAP_FAILED ? nullptr : static_cast<char*>(mapped);
        };
        std::size_t size = 0;
        session.path = name;
        session.control = map("/control", size);
        session.rings = map("/rings", size);
        if (session.control == nullptr || session.rings == nullptr ||
            session.plain<std::uint16_t>(at::kVersionMajor) != 1)
            return false;
        adopt_layout();
        return true;
    }
    return false;
}

// In a forked child: its own files, with the parent's sites, at the same addresses, so that every site's
// state byte and id stay valid.
inline void replace_session_after_fork() {
    Path root = session.path;
    std::size_t slash = root.size();
    while (slash > 0 && root.c_str()[slash - 1] != '/') --slash;
    root.cut(slash > 0 ? slash - 1 : 0);
    const std::uint64_t nonce = counter();
    Path made = root;
    made.add("/.new-").number(static_cast<std::uint64_t>(getpid())).add("-").number(nonce);
    Path control = made;
    control.add("/control");
    bool done = session.control_size <= file_size_limit() && mkdir(made.c_str(), 0700) == 0;
    const int fd =
        done ? open(control.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
    done = fd >= 0 && ftruncate(fd, static_cast<off_t>(session.control_size)) == 0;
    // The parts in use; the rest stays sparse.
    const auto copy = [&](std::size_t at, std::size_t size) {
        for (std::size_t offset = 0; done && offset < size;) {
            const ssize_t len =
                pwrite(fd, session.control + at + offset, size - offset, static_cast<off_t>(at + offset));
            done = len > 0;
            if (done) offset += static_cast<std::size_t>(len);
        }
    };
    const auto least = [](std::size_t a, std::size_t b) { return a < b ? a : b; };
    const std::size_t sites = least(session.word(at::kSitesNext).load(), session.sites_cap);
    const std::size_t descs = least(std::size_t{session.word(at::kDescsNext).load()} * 8, session.descs_size);
    if (done) {
        copy(0, 4096);
        copy(session.plain<std::uint64_t>(at::kProcessAt), session.plain<std::uint32_t>(at::kProcessSize));
        copy(session.directives_at, session.directives_cap);
        copy(session.sites_at, sites * kSiteEntry);
        copy(session.states_at, sites);
        if (sites > 0) copy(session.index_at, session.index_cap * 4u);
        copy(session.descs_at, descs);
    }
    void* mapped = MAP_FAILED;
    if (done)
        mapped = mmap(session.control, session.control_size, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_NORESERVE | MAP_FIXED, fd, 0);
    if (fd >= 0) close(fd);
    // What is written without asking later on; the rest of what is backed is what was copied.
    done = mapped != MAP_FAILED && back(session.control, 0, 4096, "control") &&
           back(session.control, session.slabs_at, session.slab_count * 16u, "control") &&
           back(session.control, session.anchors_at, session.anchors_cap * 32u, "control") &&
           make_file(made, "rings", session.rings_size == 0 ? 4096 : session.rings_size, session.rings) !=
               nullptr;
    if (!done) {
        // Without files of its own the child must not write into its parent's: everything off, privately.
        mmap(session.control, session.control_size, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
        unlink_session(made);
        session.state.store(Session::kOff, std::memory_order_release);
        return;
    }
    session.pid = static_cast<std::uint32_t>(getpid());
    session.plain<std::uint32_t>(at::kPid) = session.pid;
    session.plain<std::uint32_t>(at::kParentPid) = static_cast<std::uint32_t>(getppid());
    session.plain<std::uint64_t>(at::kStartTime) = start_time();
    session.plain<std::uint64_t>(at::kCreatedWallNs) = clock_ns(CLOCK_REALTIME);
    if (getrandom(session.control + at::kSessionId, 16, 0) != 16)
        session.plain<std::uint64_t>(at::kSessionId) ^= session.pid;
    for (const std::size_t at : {at::kSlabsNext, at::kStreamsNext, at::kAnchorsNext, at::kCollectorPid,
                                 at::kCollectorSleeping, at::kCollectorState})
        session.word(at).store(0, std::memory_order_relaxed);
    session.word(at::kCopiesJoined).store(1, std::memory_order_relaxed);
    for (unsigned cause = 0; cause < kCauses; ++cause)
        session.longword(at::kSessionLosses + 8 * cause).store(0);
    session.longword(at::kDescsReserved).store(descs & ~std::size_t{4095}, std::memory_order_relaxed);
    std::memset(session.control + session.slabs_at, 0, session.slab_count * 16u);
    add_anchor();
    session.path = made;
    if (!make_locks(made) || !publish(made, root)) {
        unlink_session(made);
        session.state.store(Session::kOff, std::memory_order_release);
    }
}

// Whether this copy is that of the executable itself, not of a shared object that may be unloaded.
inline bool is_in_executable() {
    return dl_iterate_phdr(
               [](dl_phdr_info* info, std::size_t, void*) {
                   const auto here = reinterpret_cast<std::uintptr_t>(&session);
                   int found = 1;  // the executable is the first object; others are not looked at
                   for (int i = 0; i < info->dlpi_phnum; ++i) {
                       const std::uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
                       if (info->dlpi_phdr[i].p_type == PT_LOAD && here >= begin &&
                           here < begin + info->dlpi_phdr[i].p_memsz)
                           found = 2;
                   }
                   return found;
               },
               nullptr) == 2;
}

// Whether somebody looks at the session, or something is in it.
inline bool is_session_of_interest() {
    for (unsigned cause = 0; cause < kCauses; ++cause)
        if (session.longword(at::kSessionLosses + 8 * cause).load(std::memory_order_relaxed) != 0)
            return true;
    return session.word(at::kSlabsNext).load(std::memory_order_acquire) != 0 ||
           session.word(at::kCollectorPid).load(std::memory_order_acquire) != 0 ||
           session.word(at::kDirectivesLen).load(std::memory_order_acquire) != 0 || session.flags != 0;
}

// A clean end of this copy: a closing anchor; the last one removes a session of no interest to anybody.
inline void leave_session() {
    if (!session.is_ready() || session.pid != static_cast<std::uint32_t>(getpid())) return;
    const ErrnoGuard guard;
    add_anchor();
    const bool last = session.word(at::kCopiesJoined).fetch_sub(1, std::memory_order_acq_rel) == 1;
    if (last && !is_session_of_interest()) unlink_session(session.path);
}

SP_DETAIL_END
