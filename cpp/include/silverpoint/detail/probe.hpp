// System tracers that get an event from a tracepoint itself, beside or instead of its record.
//
//   state byte: kProbedBit ─▶ Site::is_wanted_otherwise ─┬─ a tracer wants it: no head ─▶ record_probed
//                                                        └─ none does: as the directives say
//
// Only a program that was started with SILVERPOINT_PROBES, or is asked while it runs, has this bit. So other
// programs pay nothing. A record for a tracer takes the cold path of a first record, since its site has no
// head then: that path has all arguments.
//
// A tracer knows an event from the first execution of its tracepoint on: the types of the arguments are not
// known before. So that execution evaluates the arguments, even if nothing wants them.
#pragma once

#include "../platform/library.hpp"
#include "../platform/tracers.hpp"
#include "probe_event.hpp"
#include "process.hpp"

SP_DETAIL_BEGIN

// The first event of an entry; null: there is none, or not yet.
SP_DETAIL_HOT const ProbeEvent* probe_event(std::uint32_t entry) {
    if (entry >= session.sites_cap) return nullptr;
    const std::uint64_t at = session.site(entry).probe.load(std::memory_order_acquire);
    const auto* const event = reinterpret_cast<const ProbeEvent*>(at);
    return event != nullptr && event->magic == ProbeEvent::kMagic ? event : nullptr;
}

// A site is complete: the library looks for it.
SP_DETAIL_COLD void wake_probes() {
    session.header().probes_wake.fetch_add(1, std::memory_order_release);
    wake_waiters(&session.header().probes_wake);
}

// Bits of the tracers whose library is loaded, or is being loaded.
inline constinit Word probes_begun{0};
// Bits of those whose library could not be loaded. A forked child does not report it again.
inline constinit Word probes_failed{0};

// The library's function; null, and a message, if it cannot be loaded.
SP_DETAIL_COLD StartProbes load_probes(const ProbeLibrary& of) {
    const char* const named = environment(of.variable);
    const char* const name = named != nullptr && *named != 0 ? named : of.file;
    const char* why = nullptr;
    if (void* const found = load_function(name, of.function, why))
        return reinterpret_cast<StartProbes>(found);
    Text<600> line;
    // A long path leaves room for the advice.
    line.add("SILVERPOINT_PROBES=").add(of.asked).add(": ").add(of.receiver).add(" gets no events: ");
    line.add(why, strnlen(why, 400)).add("; install ").add(of.package);
    line.add(", or name its file in ").add(of.variable);
    warn(line.c_str());
    return nullptr;
}

SP_DETAIL_COLD void stop_asking_for(std::uint32_t tracer) {
    const std::uint32_t count = session.header().sites_next.load(std::memory_order_acquire);
    stop_asking(session.control, session.states_at, count < session.sites_cap ? count : session.sites_cap,
                tracer);
}

// Loads the libraries of the tracers that are asked for, and gives them the session. In a forked child they
// are loaded.
inline void start_probes() {
    const SystemGuard guard;
    const std::uint32_t asked = probes_wanted();
    probes_begun.fetch_or(asked, std::memory_order_relaxed);
    static constinit std::array<std::atomic<StartProbes>, kProbeLibraries.size()> all_known = {};
    auto* known = all_known.data();
    for (const ProbeLibrary& library : kProbeLibraries) {
        const std::uint32_t bit = library.bit;
        std::atomic<StartProbes>& found = *known++;
        if ((asked & bit) == 0) continue;
        StartProbes start = found.load(std::memory_order_acquire);
        if (start == nullptr && (probes_failed.load(std::memory_order_relaxed) & bit) == 0)
            start = load_probes(library);
        if (start == nullptr) {
            probes_failed.fetch_or(bit, std::memory_order_relaxed);
            stop_asking_for(bit);
            probes_begun.fetch_and(~bit, std::memory_order_relaxed);
            continue;
        }
        found.store(start, std::memory_order_release);
        Path path = session.path;
        give_session(start, session.control, session.control_size, path.add("/control").c_str());
        // The library could not open the tracer: it is called again when somebody asks again.
        if ((probes_wanted() & bit) == 0) probes_begun.fetch_and(~bit, std::memory_order_relaxed);
    }
}

// The same when a program that runs is asked to feed a tracer: by a thread, since loading takes long. Not
// from a signal handler, where no thread can be started. Not in a plug-in, which may be unloaded meanwhile.
// One that is linked with `-z nodelete` says so by SP_DETAIL_STAYS_LOADED.
#if defined(SP_DETAIL_STAYS_LOADED)
inline constexpr bool kStaysLoaded = true;
#else
inline constexpr bool kStaysLoaded = false;
#endif
SP_DETAIL_COLD void begin_probes_in_thread() {
    const SystemGuard guard;
    if ((!kStaysLoaded && !session.is_of_executable) || !may_start_thread()) return;
    const std::uint32_t asked = probes_wanted();
    if ((asked & ~probes_begun.fetch_or(asked, std::memory_order_acq_rel)) == 0) return;
    const auto body = [] {
        // Somebody asks again: the library may be there by now.
        probes_failed.fetch_and(~probes_wanted(), std::memory_order_relaxed);
        start_probes();
    };
    if (!start_thread(body)) warn("system tracers get no events: no thread could be started");
}
// Whether this tracer alone is asked for, and its library alone is loaded, or is being loaded.
SP_DETAIL_HOT bool is_probing_begun_for(std::uint32_t tracer) {
    const std::uint32_t asked = probes_wanted();
    return asked == tracer && asked == probes_begun.load(std::memory_order_relaxed);
}
inline void begin_probes() {
    if ((probes_wanted() & ~probes_begun.load(std::memory_order_relaxed)) != 0) [[unlikely]]
        begin_probes_in_thread();
}

SP_DETAIL_END
