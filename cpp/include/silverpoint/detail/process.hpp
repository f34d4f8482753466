// The session in the life of a process: start, fork, end.
//
//   none ──(load, or first use)──▶ making ──▶ ready     everything works
//                                        └──▶ off       no session: every site stays off
//   ready ──(first use in a forked child)──▶ making ──▶ ready, at the same addresses
//
// Nothing here allocates or takes a lock; `errno` is kept. A failure never harms the program.
#pragma once

#include "make.hpp"

SP_DETAIL_BEGIN

// --- Fork. The child has its parent's mappings, and its sites hold ids and addresses of state bytes in them.
// So its session is a copy of the parent's control file, mapped over it. Ids and addresses stay valid, and
// decisions about sites hold until they are changed. Rings are not copied: the parent's records stay the
// parent's.

SP_DETAIL_COLD std::size_t sites_in(const char* control) {
    const std::uint32_t sites = header_of(control).sites_next.load(std::memory_order_acquire);
    return sites < session.sites_cap ? sites : session.sites_cap;
}

// Whether the session that another copy has made in this same child can replace the parent's: the same
// layout, and all its sites.
SP_DETAIL_COLD bool is_child_of_session(const char* other) {
    constexpr std::size_t begin = offsetof(ControlHeader, control_size);
    // The size of the process text may differ.
    constexpr std::size_t end = offsetof(ControlHeader, process_size);
    const ControlHeader &ours = session.header(), &theirs = header_of(other);
    if (std::memcmp(other + begin, session.control + begin, end - begin) != 0 ||
        theirs.ring_header_size != ours.ring_header_size ||
        std::memcmp(theirs.ring_fields, ours.ring_fields, sizeof ours.ring_fields) != 0)
        return false;
    const std::size_t sites = sites_in(session.control);
    if (sites > sites_in(other)) return false;
    for (std::size_t i = 0; i < sites; ++i)
        if (session.site(i).hash.load(std::memory_order_relaxed) !=
            site_of(other, session.sites_at, i).hash.load(std::memory_order_relaxed))
            return false;
    return true;
}

SP_DETAIL_COLD Path root_of_session() {
    Path root = session.path;
    std::size_t slash = root.size();
    while (slash > 0 && root.c_str()[slash - 1] != '/') --slash;
    root.cut(slash > 0 ? slash - 1 : 0);
    return root;
}

SP_DETAIL_COLD bool join_after_fork(const Path& root) {
    return find_session(root, [](const Path& name) {
        std::size_t size = session.control_size, rings_size = session.rings_bytes();
        char* other = map_file(name, "control", size, Access::kWrite);
        if (other == nullptr) return false;
        const bool joined = is_child_of_session(other) && enter_session(other);
        unmap(other, size);
        // Rings first: until the control file is the child's own, no process has noticed anything.
        if (!joined || map_file(name, "rings", rings_size, Access::kNone, session.rings) == nullptr ||
            !open_rings(1) || map_file(name, "control", size, Access::kWrite, session.control) == nullptr)
            return false;
        session.path = name;
        return true;
    });
}

// Copies what a child needs into its new control file: the parts in use, the rest stays sparse.
SP_DETAIL_COLD bool copy_control(File file, std::size_t sites, std::size_t descs) {
    const auto copy = [file](std::size_t at, std::size_t size) {
        return write_at(file, session.control + at, size, at);
    };
    return copy(0, kHeaderPage) && copy(session.header().process_at, session.header().process_size) &&
           copy(session.directives_at, session.directives_cap) &&
           copy(session.sites_at, sites * kSiteEntry) && copy(session.states_at, sites) &&
           (sites == 0 || copy(session.index_at, session.index_cap * 4u)) && copy(session.descs_at, descs);
}

// The fields that belong to the child, in the copy of its parent's header.
SP_DETAIL_COLD void renew_header(std::size_t sites, std::size_t descs) {
    ControlHeader& h = session.header();
    h.pid = process_id();
    h.parent_pid = parent_process_id();
    h.start_time = start_time();
    h.created_wall_ns = wall_now();
    if (system_random(h.session_id, sizeof h.session_id, false) != 16) h.session_id[0] ^= wall_now();
    for (Word* word : {&h.slabs_next, &h.streams_next, &h.anchors_next, &h.doorbell, &h.collector_pid,
                       &h.collector_sleeping, &h.collector_state, &h.executable})
        word->store(0, std::memory_order_relaxed);
    h.heartbeat.store(0, std::memory_order_relaxed);
    // Even: a writer of the parent's directives does not write the child's.
    Word& generation = h.generation;
    generation.store((generation.load(std::memory_order_relaxed) + 1) & ~1u, std::memory_order_relaxed);
    h.copies_joined.store(1, std::memory_order_relaxed);
    h.copies_next.store(1, std::memory_order_relaxed);
    session.copy = 1;
    for (Long& lost : h.session_losses) lost.store(0);
    // The parent goes on registering: only what was copied counts.
    h.sites_next.store(static_cast<std::uint32_t>(sites), std::memory_order_relaxed);
    h.descs_next.store(static_cast<std::uint32_t>(descs / 8), std::memory_order_relaxed);
    h.descs_reserved.store(descs & ~std::size_t{4095}, std::memory_order_relaxed);
    std::memset(session.control + session.slabs_at, 0, session.slab_count * 16u);
    // Addresses in the parent's memory; those that are the child's, too, are stored again.
    for (std::size_t i = 0; i < sites; ++i) {
        session.site(i).probe.store(0, std::memory_order_relaxed);
        auto& state = *reinterpret_cast<std::atomic<std::uint8_t>*>(session.control + session.states_at + i);
        state.fetch_and(static_cast<std::uint8_t>(~kQuietBits), std::memory_order_relaxed);
    }
}

SP_DETAIL_COLD bool make_after_fork(const Path& root) {
    Path made = root;
    made.add("/.new-").number(process_id()).add("-").number(counter());
    if (session.control_size > file_size_limit() || !make_directory(made.c_str())) return false;
    Path control = made;
    const File file = create_file(control.add("/control").c_str());
    const std::size_t sites = sites_in(session.control);
    std::size_t descs = std::size_t{session.header().descs_next.load()} * 8;
    if (const std::size_t backed = session.header().descs_reserved.load(); descs > backed) descs = backed;
    if (descs > session.descs_size) descs = session.descs_size;
    bool done = file && resize_file(file, session.control_size) && copy_control(file, sites, descs);
    session.path = made;  // where `back` reads
    done = done && make_file(made, "rings", session.rings_bytes(), Access::kNone, session.rings) != nullptr &&
           open_rings(1) &&
           map_shared(file, session.control_size, Access::kWrite, session.control) != nullptr;
    close_file(file);
    // The part that is written without a check later on; the rest of what is backed is what was copied.
    done = done && back(session.control, 0, 4096, "control") &&
           back(session.control, session.slabs_at, session.slab_count * 16u, "control") &&
           back(session.control, session.anchors_at, session.anchors_cap * 32u, "control");
    if (done) {
        renew_header(sites, descs);
        add_anchor();
        done = make_locks(made) && publish(made, root);
    }
    if (!done) unlink_session(made);
    return done;
}

// Gives a forked child a session of its own, at the addresses of its parent's.
SP_DETAIL_COLD bool replace_session() {
    const Path root = root_of_session();
    session.owner = nullptr;  // was not inherited
    session.left.store(0, std::memory_order_relaxed);
    session.rings_opened.store(0, std::memory_order_relaxed);
    if (join_after_fork(root) || make_after_fork(root)) return true;
    // Without files of its own the child must not write into its parent's: everything off, privately.
    replace_by_private(session.control, session.control_size);
    replace_by_private(session.rings, session.rings_bytes());
    session.rings_opened.store(session.rings_bytes(), std::memory_order_relaxed);
    return false;
}

// --- Start.

// The page that a fork wipes. False: no memory, or a kernel before 4.14.
SP_DETAIL_COLD bool make_alive_page() {
    if (session.alive.load(std::memory_order_acquire) != nullptr) return true;
    void* made = map_private(4096);
    if (made == nullptr) return false;
    Word* none = nullptr;
    if (!wipe_on_fork(made, 4096) ||
        !session.alive.compare_exchange_strong(none, static_cast<Word*>(made), std::memory_order_acq_rel))
        unmap(made, 4096);
    return session.alive.load(std::memory_order_acquire) != nullptr;
}

// Whether this copy is that of the executable itself, not of a shared object that may be unloaded.
inline bool is_in_executable() { return is_in_executable(&session); }

// The state of the executable's copy in the control header: there is none, it is there, it has left. The
// executable is the first object that ends when the process ends. So as long as its copy is there, a shared
// object that ends is being unloaded.
enum Executable : std::uint32_t { kNoExecutable, kExecutableThere, kExecutableEnded };

SP_DETAIL_COLD bool make_or_replace_session() {
    const auto note_executable = [] {
        if (is_in_executable()) {
            session.header().executable.store(kExecutableThere);
            session.is_of_executable = true;
        }
        return true;
    };
    const auto note_absence = [](int why) { session.absence.store(why, std::memory_order_relaxed); };
    note_absence(0);
    errno = 0;
    if (session.was_ready) {
        const bool done = replace_session();
        note_absence(done ? 0 : errno != 0 ? errno : EIO);
        return done && note_executable();
    }
    const Settings settings = read_settings();
    if (settings.off) {
        note_absence(settings.privileged ? Session::kPrivileged : Session::kOffAsked);
        return false;
    }
    const auto ask_probes = [&settings] {
        if (settings.probes != 0)
            session.header().probes_asked.fetch_or(settings.probes, std::memory_order_seq_cst);
    };
    if (join_session(settings)) {
        ask_probes();
        return note_executable();
    }
    if (make_session(settings)) {
        ask_probes();
        warn_of_malformed(settings.filter);
        return note_executable();
    }
    note_absence(errno != 0 ? errno : EIO);
    if (!warn_of_refused_root() && (settings.demanded || settings.expected))
        warn("no session could be made, nothing is recorded; `silverpoint doctor` shows why");
    return false;
}

// The session is made when the program (or the plug-in) is loaded, so that a collector can attach before it
// records anything. The code for this is part of what `begin_session` refers to: it is compiled where
// something can record.
inline void at_load();
inline void at_unload();     // lane.hpp
inline void start_probes();  // probe.hpp
using AtLoad = void (*)();
SP_DETAIL_AT_LOAD(at_load, at_unload)

// How many pauses of 50 us or more a thread waits for the maker of a session: 5 to 10 s in all. The maker
// needs about 100 us, and a processor, for which it may have to wait. A maker that was cancelled in between
// never finishes.
inline constexpr unsigned kPatience = 100'000;

SP_DETAIL_COLD bool begin_session() {
    SP_DETAIL_KEEP_ENTRIES();
    if (session.is_ready()) return true;
    const SystemGuard guard;
    if (!make_alive_page()) return false;
    const std::uint32_t self = thread_id();
    Word& alive = *session.alive.load(std::memory_order_relaxed);
    unsigned tries = 0;
    do {
        if (session.is_ready()) return true;
        if (session.state.load(std::memory_order_acquire) == Session::kOff) return false;
        // The thread that takes the wiped page makes the session. It is the first one of this process, also
        // if it was forked while another thread of its parent was making one. It announces that in one step:
        // a signal handler that interrupts it finds that the maker is its own thread.
        std::uint32_t maker = Session::kWiped;
        if (alive.compare_exchange_strong(maker, self, std::memory_order_acq_rel)) {
            // What was noted about another maker, of a parent perhaps, does not hold for this one.
            session.is_given_up.store(0, std::memory_order_relaxed);
            session.state.store(Session::kMaking, std::memory_order_release);
            const bool done = make_or_replace_session();
            session.was_ready = session.was_ready || done;
            session.state.store(done ? Session::kReady : Session::kOff, std::memory_order_release);
            alive.store(Session::kWhole, std::memory_order_release);
            if (done && probes_wanted() != 0) start_probes();
            return done;
        }
        if (maker == self) return false;
        sleep_ns(50'000);
    } while (session.is_given_up.load(std::memory_order_relaxed) == 0 && ++tries < kPatience);
    if (session.is_ready()) return true;
    session.is_given_up.store(1, std::memory_order_relaxed);
    return false;
}

// Makes the session ready if it is not; false if there is none. Safe in a signal handler: one that interrupts
// the making gets none. (Where no system can have one, nothing refers to what makes it.)
inline bool ensure_session() {
    if constexpr (kHasSessions) {
        return begin_session();
    } else {
        return false;
    }
}

// As ensure_session, for starting a logger; true also if the environment says that nothing is to be recorded.
// Otherwise `text` has the reason.
template <std::size_t Length>
SP_DETAIL_COLD bool has_session(Text<Length>& text) {
    if (ensure_session()) return true;
    const int why = session.absence.load(std::memory_order_relaxed);
    if (why == Session::kOffAsked) return true;
    text.add("nothing can be recorded: ");
    if (why == Session::kPrivileged) {
        text.add("a program that runs with more privileges than its caller (setuid) has no session");
    } else if (!add_refused_root(text)) {
        text.add("the session's files in shared memory cannot be made: ")
            .add(std::strerror(why == 0 ? EAGAIN : why));
        text.add(" (limits of file sizes and address space: ulimit -f, ulimit -v; another directory: ");
        text.add("SILVERPOINT_DIR)");
    }
    return false;
}

inline void at_load() { ensure_session(); }

// --- End.

// Whether a process observes the session, or something is in it.
SP_DETAIL_COLD bool is_session_of_interest() {
    const ControlHeader& h = session.header();
    for (const Long& lost : h.session_losses)
        if (lost.load(std::memory_order_relaxed) != 0) return true;
    // Without a stream there is no record: slices may be reserved for a crash.
    return h.streams_next.load(std::memory_order_acquire) != 0 ||
           h.collector_pid.load(std::memory_order_acquire) != 0 ||
           h.directives_len.load(std::memory_order_acquire) != 0 || session.flags != 0;
}

// Whether it has recorded for a logger only, and none was started.
SP_DETAIL_COLD bool is_session_kept_in_vain() {
    return session.is_kept && session.flags == 0 &&
           session.logger_process.load(std::memory_order_relaxed) != process_id() &&
           session.header().collector_pid.load(std::memory_order_acquire) == 0;
}

// A clean end of this copy: a closing anchor; the last copy removes a session that is of no use to anyone.
// Runs once, no matter how often it is called.
SP_DETAIL_COLD void leave_session() {
    if (!session.is_ready() || session.left.exchange(1, std::memory_order_acq_rel) != 0) return;
    const SystemGuard guard;
    add_anchor();
    // A library of a tracer outlives a shared object, which has to join its session when it is loaded again.
    Word& joined = session.header().copies_joined;
    const bool is_fed = !session.is_of_executable && probes_wanted() != 0 && is_known_to_go_on();
    std::uint32_t copies = joined.load(std::memory_order_acquire);
    do {
        if (is_fed && copies == 1) return;
    } while (!joined.compare_exchange_weak(copies, copies - 1, std::memory_order_acq_rel));
    if (copies == 1 && (!is_session_of_interest() || is_session_kept_in_vain())) unlink_session(session.path);
}

SP_DETAIL_END
