// The stack of a thread as program counters, and the modules in which they lie, for a crash record
// (spec/crash.md). By async-signal-safe means: nothing is allocated, no lock is taken. (Unwinding is
// libgcc's. It finds its tables by _dl_find_object since glibc 2.35; prepare_stack has it loaded.)
#pragma once

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unwind.h>

#include "../../detail/stack_trace.hpp"
#include "../../detail/sys.hpp"

SP_DETAIL_BEGIN

// The executable's path, which the dynamic linker does not give. Written by prepare_stack.
inline constinit char executable_path[1024] = {};

// Modules as they were when prepare_stack was called: for systems whose dynamic linker cannot be queried in a
// signal handler.
struct ModuleTable {
    static constexpr unsigned kMost = 128;
    Module modules[kMost];
    unsigned count = 0;
};
inline constinit ModuleTable known_modules;

// Copies memory that may not exist, up to the first page that does not; returns how many bytes exist.
SP_DETAIL_COLD std::size_t peek_some_memory(std::uint64_t from, void* to, std::size_t size) {
    const iovec local{to, size}, remote{reinterpret_cast<void*>(from), size};
    const long copied = syscall(SYS_process_vm_readv, getpid(), &local, 1, &remote, 1, 0);
    return copied < 0 ? 0 : static_cast<std::size_t>(copied);
}

// Copies memory that may not exist; false if it does not.
SP_DETAIL_COLD bool peek_memory(std::uint64_t from, void* to, std::size_t size) {
    return peek_some_memory(from, to, size) == size;
}

// Copies what a module has in memory: the known part at once, other parts with care.
SP_DETAIL_COLD bool copy_mapped(const Module& module, std::uint64_t from, void* to, std::size_t size) {
    if (from < module.begin || from > module.end || size > module.end - from)
        return peek_memory(from, to, size);
    std::memcpy(to, reinterpret_cast<const void*>(from), size);
    return true;
}

// The build id in the notes of a mapped file. Its ELF header is where the file begins. But if a file's
// segments lie apart, the dynamic linker gives only the one that the address is in. Such files have a hole of
// a page, which linkers leave now and then, or are laid out for larger pages than the machine has.
SP_DETAIL_COLD void find_build_id(Module& module) {
    ElfW(Ehdr) header;
    const auto is_header = [&](std::uint64_t at) {
        return copy_mapped(module, at, &header, sizeof header) &&
               std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0;
    };
    std::uint64_t begin = module.begin;
    if (!is_header(begin) && !is_header(begin = module.base)) return;
    if (header.e_phentsize != sizeof(ElfW(Phdr))) return;
    for (unsigned i = 0; i < header.e_phnum; ++i) {
        ElfW(Phdr) segment;
        if (!copy_mapped(module, begin + header.e_phoff + i * sizeof segment, &segment, sizeof segment))
            return;
        if (segment.p_type != PT_NOTE) continue;
        std::uint64_t at = module.base + segment.p_vaddr;
        const std::uint64_t end = at + segment.p_memsz;
        ElfW(Nhdr) note;
        while (at < end && end - at >= sizeof note && copy_mapped(module, at, &note, sizeof note)) {
            at += sizeof note;
            const std::uint64_t name = (std::uint64_t{note.n_namesz} + 3) & ~std::uint64_t{3},
                                desc = (std::uint64_t{note.n_descsz} + 3) & ~std::uint64_t{3};
            if (name > end - at || desc > end - at - name) break;
            char owner[4];
            if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof owner &&
                copy_mapped(module, at, owner, sizeof owner) && std::memcmp(owner, "GNU", 4) == 0) {
                const unsigned size =
                    note.n_descsz < sizeof module.build_id ? note.n_descsz : sizeof module.build_id;
                if (copy_mapped(module, at + name, module.build_id, size)) module.build_id_size = size;
                return;
            }
            at += name + desc;
        }
    }
}

SP_DETAIL_COLD const char* module_path(const char* name) {
    return name == nullptr || *name == 0 ? executable_path : name;
}

// The module that an address lies in, without its build id; false when there is none.
SP_DETAIL_COLD bool find_module(std::uint64_t address, Module& module) {
#if defined(__GLIBC__) && defined(DLFO_STRUCT_HAS_EH_DBASE)
    dl_find_object found{};
    if (_dl_find_object(reinterpret_cast<void*>(address), &found) != 0) return false;
    module.begin = reinterpret_cast<std::uint64_t>(found.dlfo_map_start);
    module.end = reinterpret_cast<std::uint64_t>(found.dlfo_map_end);
    module.base = found.dlfo_link_map->l_addr;
    module.path = module_path(found.dlfo_link_map->l_name);
    return true;
#else
    for (unsigned i = 0; i < known_modules.count; ++i) {
        if (address < known_modules.modules[i].begin || address >= known_modules.modules[i].end) continue;
        module = known_modules.modules[i];
        return true;
    }
    return false;
#endif
}

// Finds the modules of all frames.
SP_DETAIL_COLD void find_modules(StackTrace& stack) {
    stack.module_count = 0;
    for (unsigned i = 0; i < stack.count; ++i) {
        const std::uint64_t address = stack.frames[i];
        if (!stack.lacks_module_of(address)) continue;
        Module module;
        if (!find_module(address, module)) continue;
        stack.modules[stack.module_count] = module;
        // Counted first: if what follows fails, the module is there without its build id.
        Module& kept = stack.modules[stack.module_count++];
        std::atomic_signal_fence(std::memory_order_seq_cst);
        if (kept.build_id_size == 0) find_build_id(kept);
    }
}

// Where a signal interrupted its thread.
struct Interrupted {
    std::uint64_t pc = 0, stack = 0, frame = 0, link = 0;
};

SP_DETAIL_COLD Interrupted interrupted_by(const void* context) {
    Interrupted found;
    const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
    found.pc = static_cast<std::uint64_t>(machine.gregs[REG_RIP]);
    found.stack = static_cast<std::uint64_t>(machine.gregs[REG_RSP]);
    found.frame = static_cast<std::uint64_t>(machine.gregs[REG_RBP]);
#elif defined(__aarch64__)
    found.pc = machine.pc;
    found.stack = machine.sp;
    found.frame = machine.regs[29];
    found.link = machine.regs[30];
#else
    (void)machine;
#endif
    return found;
}

// Puts the callers of a place without an unwind table (a call through a bad pointer) into the stack, as far
// as frame pointers lead. Only readable memory is read, and only addresses of code are accepted.
SP_DETAIL_COLD void follow_frame_pointers(StackTrace& stack, const Interrupted& from) {
    const auto take = [&stack](std::uint64_t address) {
        Module module;
        if (stack.count == StackTrace::kMost || !find_module(address, module)) return false;
        stack.frames[stack.count++] = address;
        return true;
    };
    std::uint64_t caller = from.link;
    if (caller != 0 || peek_memory(from.stack, &caller, sizeof caller)) take(caller);
    std::uint64_t frame = from.frame, least = from.stack;
    while (frame >= least && frame % 8 == 0) {
        std::uint64_t words[2];
        if (!peek_memory(frame, words, sizeof words) || !take(words[1])) return;
        least = frame + 16;
        frame = words[0];
    }
}

struct Walk {
    StackTrace* stack;
    std::uint64_t from;
};

SP_DETAIL_COLD _Unwind_Reason_Code take_frame(_Unwind_Context* context, void* given) {
    Walk& walk = *static_cast<Walk*>(given);
    StackTrace& stack = *walk.stack;
    const std::uint64_t pc = _Unwind_GetIP(context);
    if (pc == walk.from && !stack.has_begun) {
        // What lies below belongs to the handler.
        stack.has_begun = true;
        stack.count = stack.missing = 0;
    }
    if (pc == 0 && stack.count > 0) return _URC_END_OF_STACK;
    if (stack.count < StackTrace::kMost) {
        stack.frames[stack.count] = pc;
        std::atomic_signal_fence(std::memory_order_seq_cst);
        ++stack.count;
    } else if (++stack.missing == StackTrace::kMostCounted) {
        return _URC_END_OF_STACK;
    }
    return _URC_NO_REASON;
}

// The calling thread's stack from the frame with this program counter outwards; all of it if there is none.
SP_DETAIL_COLD bool walk_stack(StackTrace& stack, std::uint64_t from) {
    stack.begin();
    Walk walk{&stack, from};
    _Unwind_Backtrace(&take_frame, &walk);
    return stack.has_begun;
}

// Without unwind tables: where a signal interrupted the thread, and the callers that frame pointers give.
SP_DETAIL_COLD void guess_stack(StackTrace& stack, const Interrupted& from) {
    stack.begin_at(from.pc);
    follow_frame_pointers(stack, from);
}

// As walk_stack, of a thread that a signal has interrupted.
SP_DETAIL_COLD void walk_interrupted(StackTrace& stack, const Interrupted& from) {
    if (!walk_stack(stack, from.pc) || stack.count < 2) guess_stack(stack, from);
}

// Loads and initialises what unwinding needs, and stores what cannot be queried later.
SP_DETAIL_COLD void prepare_stack(StackTrace& room) {
    const ssize_t len = readlink("/proc/self/exe", executable_path, sizeof executable_path - 1);
    executable_path[len < 0 ? 0 : len] = 0;
#if !(defined(__GLIBC__) && defined(DLFO_STRUCT_HAS_EH_DBASE))
    known_modules.count = 0;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void*) {
            if (known_modules.count == ModuleTable::kMost) return 1;
            Module module;
            module.base = info->dlpi_addr;
            module.begin = ~std::uint64_t{0};
            for (int i = 0; i < info->dlpi_phnum; ++i) {
                const auto& segment = info->dlpi_phdr[i];
                if (segment.p_type != PT_LOAD) continue;
                const std::uint64_t begin = info->dlpi_addr + segment.p_vaddr;
                if (begin < module.begin) module.begin = begin;
                if (begin + segment.p_memsz > module.end) module.end = begin + segment.p_memsz;
            }
            module.path = module_path(info->dlpi_name);
            if (module.begin < module.end) {
                find_build_id(module);
                known_modules.modules[known_modules.count++] = module;
            }
            return 0;
        },
        nullptr);
#endif
    walk_stack(room, 0);
    find_modules(room);
    room.count = room.missing = room.module_count = 0;
}

SP_DETAIL_END
