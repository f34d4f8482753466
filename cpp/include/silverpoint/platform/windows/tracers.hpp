// The system tracer of Windows.
#pragma once

#include <array>
#include <atomic>

#include "../../detail/probe_event.hpp"

SP_DETAIL_BEGIN

inline constexpr std::array<ProbeLibrary, 1> kProbeLibraries = {
    {{kEtwProbe, "etw", "ETW", "SILVERPOINT_ETW_LIBRARY", "silverpoint_etw.dll", "silverpoint_etw.dll",
      "silverpoint_start_etw"}}};

// The sites that a copy of the headers has located, as bits, by the numbers of their entries. A provider is
// registered while a copy has one of its sites.
class CopySites {
  public:
    void add(std::uint32_t entry) {
        if (entry < kMost)
            words_[entry / 64].fetch_or(std::uint64_t{1} << (entry % 64), std::memory_order_seq_cst);
    }
    bool has(std::uint32_t entry) const {
        return entry < kMost && (words_[entry / 64].load(std::memory_order_seq_cst) >> (entry % 64) & 1) != 0;
    }

    // As many as a session has.
    static constexpr std::uint32_t kMost = 65536;

  private:
    std::atomic<std::uint64_t> words_[kMost / 64] = {};
};
inline constinit CopySites copy_sites;
inline void note_site_of_copy(std::uint32_t entry) { copy_sites.add(entry); }

// Of a library: called before the DLL with these sites is unloaded.
using LeaveProbes = void (*)(const CopySites* sites);
// The function of such a library: it gets the mapped control file of the session, its path, and the sites of
// the copy that calls.
using StartProbes = LeaveProbes (*)(char* control, std::size_t size, const char* path,
                                    const CopySites* sites);

inline constinit std::atomic<LeaveProbes> leave_probes{nullptr};
inline void give_session(StartProbes start, char* control, std::size_t size, const char* path) {
    leave_probes.store(start(control, size, path, &copy_sites), std::memory_order_release);
}
inline void tell_tracers_of_unload() {
    if (const LeaveProbes leave = leave_probes.exchange(nullptr, std::memory_order_acq_rel))
        leave(&copy_sites);
}

SP_DETAIL_END
