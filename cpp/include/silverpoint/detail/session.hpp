// The session of this process as all its threads see it (spec/wire.md sections 2 and 3).
//
//   none ──(first use, or load)──▶ making ──▶ ready      everything works
//                                        └──▶ off        no session: every site stays off
//   ready ──(first record of a forked child)──▶ making ──▶ ready, at the same addresses
//
// Nothing here allocates or takes a lock; `errno` is kept. A failure never harms the program.
#pragma once

#include "clock.hpp"
#include "layout.hpp"

SP_DETAIL_BEGIN

struct Session {
    enum State : std::uint32_t { kNone, kMaking, kReady, kOff };

    Word state{kNone};
    // In a page of its own that the kernel wipes in a forked child. Its value is kWhole as long as the
    // session is this process's; before that the number of the thread that is making it. A child of vfork
    // shares the page, and the session with it.
    enum Page : std::uint32_t { kWiped, kWhole = 0xFFFF'FFFF };
    std::atomic<Word*> alive{nullptr};
    // Its maker was waited for in vain once.
    Word is_given_up{0};
    // There was a session once; in a forked child, before its first record, that of the parent.
    bool was_ready = false;
    Word left{0};
    std::uint32_t copy = 0;
    char* owner = nullptr;  // one page, mapped: it holds the owner lock
    char* control = nullptr;
    char* rings = nullptr;
    std::size_t control_size = 0;
    std::size_t rings_size = 0;
    std::atomic<std::size_t> rings_opened{0};  // accessible bytes from the start on (opened.hpp)
    std::uint32_t uncollected_slabs = 0;       // may be used while nobody collects
    bool is_of_executable = false;             // and not of a shared object that may be unloaded
    std::size_t slabs_at = 0, directives_at = 0, sites_at = 0, states_at = 0, index_at = 0, anchors_at = 0,
                descs_at = 0;
    std::size_t descs_size = 0;
    std::uint32_t slab_bytes = 0, slab_count = 0, directives_cap = 0, sites_cap = 0, index_cap = 0,
                  anchors_cap = 0;
    std::uint32_t source = kTsc;
    std::uint32_t flags = 0;
    // Its records are kept for a logger; and the process that started one.
    bool is_kept = false;
    Word logger_process{0};
    // Why there is none: kOffAsked, kPrivileged, or the system's error; 0: there is one.
    static constexpr int kOffAsked = -1, kPrivileged = -2;
    std::atomic<int> absence{0};
    Word warned{0};
    Word threads_next{0};
    Path path;

    ControlHeader& header() const { return header_of(control); }
    // The entry of a site, in the table that is backed up to it.
    SiteEntry& site(std::size_t number) const { return site_of(control, sites_at, number); }
    // Whether there is a session of this very process; else call ensure_session().
    bool is_ready() const {
        const Word* page = alive.load(std::memory_order_acquire);
        return page != nullptr && page->load(std::memory_order_acquire) == kWhole &&
               state.load(std::memory_order_acquire) == kReady;
    }
    // The same where there was one once: false in a forked child that has not made its own.
    bool is_still_ready() const {
        return alive.load(std::memory_order_relaxed)->load(std::memory_order_acquire) == kWhole;
    }
    std::size_t rings_bytes() const { return rings_size == 0 ? 4096 : rings_size; }
    bool is_collected() const {
        return header().collector_pid.load(std::memory_order_acquire) != 0 || (flags & kFlagExpected) != 0;
    }
    std::uint64_t now() const { return source == kMonotonic ? monotonic_now() : counter(); }
};

inline constinit Session session;

// The system tracers that the session, which is there, asks for (probe.hpp), as bits.
inline std::uint32_t probes_wanted() { return session.header().probes_asked.load(std::memory_order_seq_cst); }

inline void count_session_loss(Cause cause) {
    if (session.is_ready())
        session.header().session_losses[static_cast<std::size_t>(cause)].fetch_add(1,
                                                                                   std::memory_order_relaxed);
}

// Makes sure that [at, at + size) of a mapping is backed by memory, so that a store cannot be fatal.
SP_DETAIL_COLD bool back(char* map, std::size_t at, std::size_t size, const char* file) {
    const std::size_t begin = at & ~std::size_t{4095};
    const std::size_t end = (at + size + 4095) & ~std::size_t{4095};
    return populate(map, begin, end, [file] {
        Path path = session.path;
        return path.add("/").add(file);
    });
}

// As back, of [at, end) of the ring file, for one who backs the rest up to `most` later. Returns up to where
// it is.
SP_DETAIL_COLD std::size_t back_some_of_rings(std::size_t at, std::size_t end, std::size_t most) {
    return populate_some(session.rings, at & ~std::size_t{4095}, end, most, [] {
        Path path = session.path;
        return path.add("/rings");
    });
}

SP_DETAIL_COLD void add_anchor() {
    const std::uint32_t number =
        session.header().anchors_next.fetch_add(1, std::memory_order_relaxed) % session.anchors_cap;
    auto* anchor = reinterpret_cast<Long*>(session.control + session.anchors_at + number * 32u);
    struct Clocks {
        std::uint64_t ticks() const { return session.now(); }
        std::uint64_t monotonic_ns() const { return monotonic_now(); }
        std::uint64_t wall_ns() const { return wall_now(); }
    } clocks;
    const auto [ticks, monotonic, wall] = read_anchor(clocks);
    anchor[3].store(0, std::memory_order_release);
    anchor[0].store(ticks, std::memory_order_relaxed);
    anchor[1].store(monotonic, std::memory_order_relaxed);
    anchor[2].store(wall, std::memory_order_relaxed);
    anchor[3].store(ticks ^ monotonic ^ wall ^ 0x53504E4348303031u, std::memory_order_release);
}

SP_DETAIL_COLD void process_name(Path& path, std::uint64_t start, unsigned number) {
    path.add("/").number(process_id()).add("-").number(start).add("-").number(number);
}

// Longest path of a root in bytes; a longer one is refused.
inline constexpr std::size_t kLongestRoot = 1024;

SP_DETAIL_COLD bool is_usable_root(const Path& path) {
    return path.size() <= kLongestRoot && is_own_directory(path.c_str());
}

// The value of SILVERPOINT_DIR, if there is one.
SP_DETAIL_COLD const char* named_root() {
    const char* named = environment("SILVERPOINT_DIR");
    return named != nullptr && *named != 0 ? named : nullptr;
}

// The named root, and no other; else the first that is usable.
SP_DETAIL_COLD bool find_root(Path& root) {
    if (const char* named = named_root()) return is_usable_root((root = Path()).add(named));
    return use_a_root([&root](const char* directory, const char* name, bool is_numbered) {
        (root = Path()).add(directory).add(name);
        if (is_numbered) root.number(user_id());
        return is_usable_root(root);
    });
}

// Says that the named root is refused. False: it is not, or none was named.
template <std::size_t Length>
SP_DETAIL_COLD bool add_refused_root(Text<Length>& text) {
    const char* named = named_root();
    if (named == nullptr || is_usable_root(Path().add(named))) return false;
    const std::size_t len = strlen(named);
    text.add("SILVERPOINT_DIR names ").add(named, len < 300 ? len : 300);
    text.add(", which is ").add(kNotOwnDirectory);
    return true;
}

SP_DETAIL_COLD bool warn_of_refused_root() {
    Text<400> line;
    if (!add_refused_root(line)) return false;
    warn(line.add(": nothing is recorded").c_str());
    return true;
}

SP_DETAIL_END
