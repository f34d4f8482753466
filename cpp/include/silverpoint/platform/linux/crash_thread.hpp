// Stacks for signal handlers, so that one can run when a thread's own stack is used up, on Linux.
#pragma once

#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "../../detail/session.hpp"

SP_DETAIL_BEGIN

struct AlternateStack {
    Long owner{0};  // process << 32 | thread; 0: unused
    std::atomic<char*> memory{nullptr};
};
inline constexpr unsigned kAlternateStacks = 4096;
inline constexpr std::size_t kAlternateBytes = 64u << 10;
inline constinit AlternateStack alternate_stacks[kAlternateStacks];
inline constinit Word alternate_stacks_used{0};

// An entry of a thread that is gone, or a new one; null when there are too many threads.
SP_DETAIL_COLD AlternateStack* claim_alternate_stack() {
    static constinit Word cursor{0};
    const std::uint64_t process = static_cast<std::uint32_t>(getpid());
    const std::uint64_t self = process << 32 | thread_id();
    std::uint32_t count = alternate_stacks_used.load(std::memory_order_acquire);
    if (count > kAlternateStacks) count = kAlternateStacks;
    for (unsigned looked = 0; looked < 8 && looked < count; ++looked) {
        AlternateStack& entry = alternate_stacks[cursor.fetch_add(1, std::memory_order_relaxed) % count];
        std::uint64_t owner = entry.owner.load(std::memory_order_acquire);
        // An entry of a parent's thread may be in use here: by the thread that forked.
        if (owner >> 32 != process || entry.memory.load(std::memory_order_acquire) == nullptr) continue;
        if (owner != self && !is_thread_dead(static_cast<std::uint32_t>(owner))) continue;
        if (entry.owner.compare_exchange_strong(owner, self, std::memory_order_acq_rel)) return &entry;
    }
    const std::uint32_t number = alternate_stacks_used.fetch_add(1, std::memory_order_acq_rel);
    if (number >= kAlternateStacks) {
        alternate_stacks_used.store(kAlternateStacks, std::memory_order_relaxed);
        return nullptr;
    }
    AlternateStack& entry = alternate_stacks[number];
    entry.owner.store(self, std::memory_order_release);
    return &entry;
}

// Gives the calling thread a stack for handlers, unless it has one that is large enough.
SP_DETAIL_COLD void give_crash_stack() {
    const SystemGuard guard;
    stack_t now{};
    if (sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_ONSTACK) != 0 ||
        ((now.ss_flags & SS_DISABLE) == 0 && now.ss_size >= kAlternateBytes / 2))
        return;
    AlternateStack* entry = claim_alternate_stack();
    if (entry == nullptr) return;
    // What the kernel puts there grows with the processor's registers.
    const std::size_t size = kAlternateBytes + ((getauxval(AT_MINSIGSTKSZ) + 4095) & ~std::size_t{4095});
    char* memory = entry->memory.load(std::memory_order_acquire);
    if (memory == nullptr) {
        void* made = mmap(nullptr, size + 4096, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
        if (made == MAP_FAILED) return;
        mprotect(made, 4096, PROT_NONE);
        memory = static_cast<char*>(made) + 4096;
        entry->memory.store(memory, std::memory_order_release);
    }
    stack_t given{};
    given.ss_sp = memory;
    given.ss_size = size;
    sigaltstack(&given, nullptr);
}

SP_DETAIL_END
