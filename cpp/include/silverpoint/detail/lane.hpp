// A thread's private side of its rings: the state of the hot path.
//
//   tls ──▶ Lane 0 ── the thread's own records
//           Lane 1 ── records of a signal handler that interrupted a record of lane 0, and so on
//
//   ready:  kReady ──(make_busy)──▶ mark of a frame ──(make_ready)──▶ kReady
//                                        └─(take_back: the frame is gone)─▶ mark of the frame that finds it
//           0: new, or wiped by a fork ──(reset_thread, at the first record)──▶ kReady
//
// Each of these is a plain store by the owning thread, or by its signal handler. No other thread writes into
// a lane, with one exception: each may make `limit` null, which only costs a cold path. So the hot path has
// no locked instruction. Its six words (ready, cur, limit, delta, committed, reach) are the first 48 bytes of
// a lane. When a thread has died, a new one may get its lanes, by compare-and-swap of `tid`.
//
// A lane's `ready` alone excludes a thread and its own signal handlers from each other. A handler finds it
// busy while a record is being made, and goes one lane up. Everything else is read after it was cleared,
// never before: a handler in between may wrap or change the ring. The kernel wipes the memory in a forked
// child. So the child's first record finds nothing ready and no magic, and makes a session of its own.
#pragma once

#include "contexts.hpp"
#include "handing.hpp"
#include "probe.hpp"
#include "ring.hpp"

SP_DETAIL_BEGIN

// How far a record is, for the code that finds its lane left behind (take_back in refill.hpp).
enum class Phase : std::uint8_t {
    kPacking,
    kCold,   // the lane itself is being changed
    kGiven,  // published, and in a function of the program
};

// The value of `ready` while no record is made. Otherwise the lower half of an address (of a multiple of
// eight) in the stack of the code that makes one.
inline constexpr std::uint32_t kReady = 1;

struct Lane {
    Word ready{0};
    char* cur = nullptr;
    // Up to here records fit without checking the collector; null: every record takes the cold path. Another
    // thread may make it null at any time (hand_over.hpp): use limit_of and set_limit.
    char* limit = nullptr;
    // Position of `cur` in the ring = cur + delta.
    std::uint64_t delta = 0;
    Long* committed = nullptr;
    // Up to here lines may be prefetched: beyond, they belong to others, or the collector still reads them.
    char* reach = nullptr;

    // For the cold path.
    char* data = nullptr;
    char* end = nullptr;
    Ring ring;
    std::uint32_t capacity = 0;
    std::uint32_t stream = 0;
    unsigned size = 0;
    std::uint32_t eighth = 0;
    // Where records begin, by eighth of the ring: what `oldest` may be.
    std::uint64_t marks[kSubBuffers] = {};
    // Time and position of the claim: a ring that fills twice in half a second is too small.
    std::uint64_t claimed_ns = 0;
    std::uint64_t base = 0;
    // Position up to which pages are in the page tables, in the first lap after the claim; later the maximum.
    std::uint64_t entered = 0;
    // Position up to which the ring has memory, in the first lap after the claim; later the maximum
    // (paged.hpp).
    std::uint64_t there = 0;
    // Records of a lap end here: before the end where there was no memory for more.
    char* last = nullptr;
    // Where records are dropped, no further slice is searched before this time.
    std::uint64_t continue_after_ns = 0;
    // Cause + 1 while records are dropped until the ring is half empty.
    std::uint32_t degraded = 0;
    bool untold = false;
    std::uint64_t lost[kCauses] = {};
    std::uint64_t lost_first[kCauses] = {};
    std::uint64_t lost_last[kCauses] = {};
    std::uint64_t stalled_ns = 0;
    std::uint8_t stalled_why = 0;
    Phase phase = Phase::kPacking;
    // How often it was found left behind.
    std::uint8_t doubted = 0;
    // The state of the context that the ring states, and in which eighth of it (position / eighth).
    std::uint64_t stated = 0;
    std::uint64_t stated_eighth = 0;

    std::uint64_t position() const { return reinterpret_cast<std::uint64_t>(cur) + delta; }
    // Everything before this is stored, or given up.
    std::uint64_t lower() const { return Steps::lower(ring.consumed(), ring.oldest()); }
};

SP_DETAIL_HOT char* limit_of(const Lane* lane) { return SP_DETAIL_LOAD_RELAXED(&lane->limit); }
// Whether a record of `size` bytes fits at `at`: one comparison with memory. Compilers make two instructions
// of an atomic load and a comparison. So on x86-64 the comparison is written down: it reads the aligned
// pointer whole, and once.
SP_DETAIL_HOT bool fits(const Lane* lane, const char* at, std::size_t size) {
    const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(at) + size;
#if defined(__x86_64__)
    bool is_within;
    asm("cmpq %[limit], %[end]" : "=@ccbe"(is_within) : [end] "r"(end), [limit] "m"(lane->limit));
    return is_within;
#else
    return end <= reinterpret_cast<std::uintptr_t>(limit_of(lane));
#endif
}
inline std::uint32_t stack_mark(const void* address) {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(address)) & ~7u;
}
SP_DETAIL_HOT bool is_ready(const Lane* lane) {
    return lane->ready.load(std::memory_order_relaxed) == kReady;
}
// From here on the calling frame makes a record in the lane.
SP_DETAIL_INLINE void make_busy(Lane* lane) {
#if defined(__x86_64__)
    // (As many instructions as to store a constant.)
    asm volatile("movl %%esp, %0" : "=m"(lane->ready));
#else
    lane->ready.store(stack_mark(SP_DETAIL_FRAME_ADDRESS()), std::memory_order_relaxed);
#endif
    std::atomic_signal_fence(std::memory_order_seq_cst);
}
SP_DETAIL_HOT void make_ready(Lane* lane) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    lane->ready.store(kReady, std::memory_order_relaxed);
}

inline void set_limit(Lane& lane, char* limit) { SP_DETAIL_STORE_RELAXED(&lane.limit, limit); }

// Publishes a record of `size` bytes at the lane's position. The lane stays busy.
SP_DETAIL_HOT void publish(Lane* lane, char* at, std::size_t size) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    SP_DETAIL_FAULT_POINT("mid-record");
    char* end = at + size;
    lane->cur = end;
    Steps::publish(*lane->committed, reinterpret_cast<std::uint64_t>(end) + lane->delta);
}

struct Thread {
    Lane lanes[kLanes];
    Word tid;
    std::uint32_t magic;
    Contexts contexts;
};

inline constexpr std::uint32_t kThreadMagic = 0x53505448;

// The target for threads without a ring: never ready, so that the first record takes the cold path, and never
// written to.
inline constinit Lane empty_lane;

// Initial-exec: one load, also in a shared object (eight bytes of the static TLS surplus).
inline thread_local constinit Lane* tls_lane SP_DETAIL_THREAD_MODEL = &empty_lane;
// The thread's position in its stack while it makes its first ring, or its session: a signal handler's record
// is lost then, and counted. Else 0.
inline thread_local constinit std::uint32_t tls_claiming SP_DETAIL_THREAD_MODEL = 0;

// Called at each thread's first record, if set (crash.hpp).
inline constinit std::atomic<void (*)()> on_first_record{nullptr};

inline Thread* thread_of(Lane* lane0) { return reinterpret_cast<Thread*>(lane0); }

// Private heads come from chunks that stay as long as the copy; those of dead threads are used again.
inline constexpr std::uint32_t kThreadsInChunk = 32, kChunks = 4096;
inline constexpr std::size_t kChunkBytes = (sizeof(Thread) * kThreadsInChunk + 4095) & ~std::size_t{4095};
inline constinit std::atomic<Thread*> chunks[kChunks];

SP_DETAIL_COLD Thread* claim_thread(std::uint32_t tid) {
    static constinit Word cursor{0};
    std::uint32_t count = session.threads_next.load(std::memory_order_acquire);
    if (count > kChunks * kThreadsInChunk) count = kChunks * kThreadsInChunk;
    for (int i = 0; i < 4 && count > 0; ++i) {
        const std::uint32_t number = cursor.fetch_add(1, std::memory_order_relaxed) % count;
        Thread* chunk = chunks[number / kThreadsInChunk].load(std::memory_order_acquire);
        if (chunk == nullptr) continue;
        Thread& thread = chunk[number % kThreadsInChunk];
        // Zero: about to be taken, or wiped by a fork. In the latter case it may be the one to which the
        // thread that forked points.
        std::uint32_t owner = thread.tid.load(std::memory_order_relaxed);
        if (owner == 0 || (owner != tid && !is_thread_dead(owner))) continue;
        if (thread.tid.compare_exchange_strong(owner, tid, std::memory_order_acq_rel)) return &thread;
    }
    // A thread that searches for a free state may take this one before its maker does: then there is another.
    for (;;) {
        const std::uint32_t number = session.threads_next.fetch_add(1, std::memory_order_acq_rel);
        if (number >= kChunks * kThreadsInChunk) return nullptr;
        auto& slot = chunks[number / kThreadsInChunk];
        Thread* chunk = slot.load(std::memory_order_acquire);
        if (chunk == nullptr) {
            void* made = map_private(kChunkBytes);
            if (made == nullptr) return nullptr;
            wipe_on_fork(made, kChunkBytes);
            if (slot.compare_exchange_strong(chunk, static_cast<Thread*>(made), std::memory_order_acq_rel)) {
                chunk = static_cast<Thread*>(made);
            } else {
                unmap(made, kChunkBytes);
            }
        }
        Thread& thread = chunk[number % kThreadsInChunk];
        std::uint32_t nobody = 0;
        if (thread.tid.compare_exchange_strong(nobody, tid, std::memory_order_acq_rel)) return &thread;
    }
}

// Gives back all rings of this copy when its shared object is unloaded: its lanes cannot be used any more.
SP_DETAIL_COLD void retire_all_rings() {
    for (auto& slot : chunks) {
        Thread* chunk = slot.load(std::memory_order_acquire);
        if (chunk == nullptr) return;
        for (std::uint32_t i = 0; i < kThreadsInChunk; ++i)
            for (Lane& lane : chunk[i].lanes)
                if (chunk[i].magic == kThreadMagic && lane.ring) set_ring_state(lane.ring, kRingRetired);
    }
}

// Other work that has to end before (atrace_state.hpp).
inline constinit std::atomic<void (*)()> on_unload{nullptr};

// Frees the memory that this copy has mapped, when its shared object is unloaded. The program that unloads it
// guarantees that none of its code runs, or will run. So no thread, however long it lives, reads a lane, a
// state byte or a ring by this copy again. Only thread-locals of other threads still point into chunks; they
// go with the object.
SP_DETAIL_COLD void unmap_everything() {
    session.state.store(Session::kOff, std::memory_order_release);
    if (Word* page = session.alive.exchange(nullptr, std::memory_order_acq_rel)) unmap(page, 4096);
    for (auto& slot : chunks) {
        Thread* chunk = slot.exchange(nullptr, std::memory_order_acq_rel);
        if (chunk == nullptr) break;
        unmap(chunk, kChunkBytes);
    }
    unmap(session.rings, session.rings_bytes());
    unmap(session.control, session.control_size);
    release_owner();
}

// The end of this copy: of the process, or of its shared object alone. While a process ends other threads go
// on, and record into their rings. When a shared object is unloaded no thread does. If the executable has no
// copy it is unknown which of both it is. Then rings are given back, since claiming them again repairs that,
// and nothing is unmapped.
inline void at_unload() {
    if (const auto end = on_unload.exchange(nullptr, std::memory_order_acq_rel)) end();
    if (!session.is_ready()) return;
    const SystemGuard guard;
    Word& executable = session.header().executable;
    if (is_in_executable()) {
        executable.store(kExecutableEnded);
        leave_session();
        return;
    }
    tell_tracers_of_unload();
    const std::uint32_t state = executable.load();
    if (state != kExecutableEnded) retire_all_rings();
    leave_session();
    if (state == kExecutableThere) unmap_everything();
}

// A fresh state for a thread's lanes.
SP_DETAIL_COLD void reset_thread(Thread& thread, std::uint32_t tid) {
    for (Lane& lane : thread.lanes) {
        set_limit(lane, nullptr);
        lane.cur = lane.reach = lane.data = lane.end = lane.last = nullptr;
        lane.delta = 0;
        lane.ring = Ring{};
        lane.capacity = lane.stream = lane.eighth = lane.degraded = 0;
        lane.size = 0;
        lane.untold = false;
        lane.stalled_ns = lane.continue_after_ns = 0;
        lane.stated = lane.stated_eighth = 0;
        lane.phase = Phase::kPacking;
        lane.doubted = 0;
        for (auto& mark : lane.marks) mark = 0;
        for (auto& lost : lane.lost) lost = 0;
        lane.ready.store(kReady, std::memory_order_relaxed);
    }
    thread.contexts.reset();
    thread.tid.store(tid, std::memory_order_relaxed);
    thread.magic = kThreadMagic;
}

SP_DETAIL_END
