// The stack of a thread as program counters, and the modules in which they lie (spec/crash.md), on 64-bit
// Windows. Each module has tables that say how to unwind it. Memory is read within the thread's stack and in
// mapped modules. Nothing is allocated.
#pragma once

#include <cstring>
#include <type_traits>

#include "../../detail/stack_trace.hpp"
#include "../../detail/sys.hpp"

SP_DETAIL_BEGIN

// The registers of a thread (CONTEXT), of which two are read here.
struct alignas(16) ThreadRegisters {
    static constexpr std::size_t kStackAt = 0x98, kPcAt = 0xF8;
    char bytes[1232];

    std::uint64_t word(std::size_t at) const {
        std::uint64_t value = 0;
        std::memcpy(&value, bytes + at, sizeof value);
        return value;
    }
    void set(std::size_t at, std::uint64_t value) { std::memcpy(bytes + at, &value, sizeof value); }
};

// Windows's functions for this. They are looked up before anything fails: later the loader may be locked.
struct StackWalker {
    void(__stdcall* capture)(void* registers);
    void*(__stdcall* find_entry)(std::uint64_t pc, std::uint64_t* base, void* history);
    void*(__stdcall* unwind)(unsigned long kind, std::uint64_t base, std::uint64_t pc, void* entry,
                             void* registers, void** handler_data, std::uint64_t* frame, void* pointers);
    void(__stdcall* limits)(std::uintptr_t* low, std::uintptr_t* high);
};
inline constinit StackWalker stack_walker{};

SP_DETAIL_COLD void find_stack_walker() {
    const auto find = [](auto& function, const wchar_t* library, const char* name) {
        using Function = std::remove_reference_t<decltype(function)>;
        function = system_function<Function>(library, name);
    };
    find(stack_walker.capture, L"ntdll.dll", "RtlCaptureContext");
    find(stack_walker.find_entry, L"ntdll.dll", "RtlLookupFunctionEntry");
    find(stack_walker.unwind, L"ntdll.dll", "RtlVirtualUnwind");
    find(stack_walker.limits, L"kernel32.dll", "GetCurrentThreadStackLimits");
}

// Where an exception interrupted its thread.
struct Interrupted {
    std::uint64_t pc = 0;
    const void* registers = nullptr;
};

SP_DETAIL_COLD void add_frame(StackTrace& stack, std::uint64_t pc) {
    if (stack.count < StackTrace::kMost) {
        stack.frames[stack.count] = pc;
        std::atomic_signal_fence(std::memory_order_seq_cst);
        ++stack.count;
    } else {
        ++stack.missing;
    }
}

// From these registers outwards.
SP_DETAIL_COLD void walk_registers(StackTrace& stack, ThreadRegisters& registers, std::uint64_t from) {
    constexpr std::size_t kPc = ThreadRegisters::kPcAt, kStack = ThreadRegisters::kStackAt;
    std::uintptr_t low = 0, high = 0;
    stack_walker.limits(&low, &high);
    for (bool is_first = true; stack.missing < StackTrace::kMostCounted; is_first = false) {
        const std::uint64_t pc = registers.word(kPc), position = registers.word(kStack);
        if (pc == from && !stack.has_begun) {
            // What lies below belongs to the handler.
            stack.has_begun = true;
            stack.count = stack.missing = 0;
        }
        if (pc == 0 && !is_first) return;
        add_frame(stack, pc);
        if (position < low || position > high - 8 || position % 8 != 0) return;
        std::uint64_t base = 0;
        if (void* const entry = stack_walker.find_entry(pc, &base, nullptr)) {
            void* handler_data = nullptr;
            std::uint64_t frame = 0;
            stack_walker.unwind(0, base, pc, entry, registers.bytes, &handler_data, &frame, nullptr);
        } else {
            // A function that calls none, or a call through a bad pointer: its return address is on top.
            if (!is_first) return;
            std::uint64_t caller = 0;
            std::memcpy(&caller, reinterpret_cast<const void*>(position), sizeof caller);
            registers.set(kPc, caller);
            registers.set(kStack, position + 8);
        }
        if (registers.word(kStack) <= position) return;
    }
}

SP_DETAIL_COLD bool begin_walk(StackTrace& stack) {
    stack.begin();
    return stack_walker.capture != nullptr && stack_walker.find_entry != nullptr &&
           stack_walker.unwind != nullptr && stack_walker.limits != nullptr;
}

// The calling thread's stack from the frame with this program counter outwards; all of it if there is none.
SP_DETAIL_COLD bool walk_stack(StackTrace& stack, std::uint64_t from) {
    if (!begin_walk(stack)) return false;
    ThreadRegisters registers;
    stack_walker.capture(registers.bytes);
    walk_registers(stack, registers, from);
    return stack.has_begun;
}

SP_DETAIL_COLD void guess_stack(StackTrace& stack, const Interrupted& from) { stack.begin_at(from.pc); }

// As walk_stack, of a thread that an exception has interrupted.
SP_DETAIL_COLD void walk_interrupted(StackTrace& stack, const Interrupted& from) {
    if (!begin_walk(stack)) return guess_stack(stack, from);
    ThreadRegisters registers;
    std::memcpy(registers.bytes, from.registers, sizeof registers.bytes);
    walk_registers(stack, registers, from.pc);
}

// --- Modules.

// A part of a module in memory, as its header describes it.
class ModuleImage {
  public:
    explicit ModuleImage(std::uint64_t base) : base_(base) {
        const std::uint64_t header = base_ + at<std::uint32_t>(0x3C, 0x1000);
        if (header - base_ > 0x1000 - 0x100 || at<std::uint32_t>(header - base_, 0x1000) != 0x0000'4550)
            return;
        header_ = header - base_;
        size_ = at<std::uint32_t>(header_ + 0x50, 0x1000);
    }
    std::uint64_t size() const { return size_; }
    // A number at this offset; 0 where the module does not reach.
    template <class T>
    T at(std::uint64_t offset) const {
        return at<T>(offset, size_);
    }
    const char* text(std::uint64_t offset) const { return reinterpret_cast<const char*>(base_ + offset); }
    // Where one of the tables begins that the header lists; 0: there is none.
    std::uint32_t table(unsigned number) const {
        return size_ != 0 ? at<std::uint32_t>(header_ + 0x88 + number * 8) : 0;
    }
    std::uint32_t table_size(unsigned number) const {
        return size_ != 0 ? at<std::uint32_t>(header_ + 0x8C + number * 8) : 0;
    }

  private:
    template <class T>
    T at(std::uint64_t offset, std::uint64_t size) const {
        T value = 0;
        if (size >= sizeof value && offset <= size - sizeof value)
            std::memcpy(&value, reinterpret_cast<const void*>(base_ + offset), sizeof value);
        return value;
    }
    std::uint64_t base_, header_ = 0, size_ = 0;
};

// The GUID and the age by which debuggers find the module's symbols.
SP_DETAIL_COLD void find_build_id(Module& module, const ModuleImage& image) {
    constexpr unsigned kDebug = 6, kCodeView = 2, kEntry = 28, kGuidAndAge = 20;
    constexpr std::uint32_t kRsds = 0x5344'5352;
    const std::uint32_t table = image.table(kDebug);
    for (std::uint32_t entry = 0; table != 0 && entry + kEntry <= image.table_size(kDebug); entry += kEntry) {
        const std::uint64_t at = image.at<std::uint32_t>(table + entry + 20);
        if (image.at<std::uint32_t>(table + entry + 12) != kCodeView || at == 0 ||
            image.at<std::uint32_t>(at) != kRsds || at + 4 + kGuidAndAge > image.size())
            continue;
        std::memcpy(module.build_id, image.text(at + 4), kGuidAndAge);
        module.build_id_size = kGuidAndAge;
        return;
    }
}

// Of the record that is being made.
inline constinit char module_paths[StackTrace::kMostModules][520] = {};

// Finds the modules of all frames.
SP_DETAIL_COLD void find_modules(StackTrace& stack) {
    constexpr unsigned long kImage = 0x0100'0000;
    stack.module_count = 0;
    for (unsigned i = 0; i < stack.count; ++i) {
        const std::uint64_t address = stack.frames[i];
        if (!stack.lacks_module_of(address)) continue;
        const MemoryRegion region = region_of(reinterpret_cast<const void*>(address));
        if (region.type != kImage) continue;
        Module module;
        module.base = module.begin = reinterpret_cast<std::uint64_t>(region.allocation);
        const ModuleImage image(module.begin);
        module.end = module.begin + image.size();
        char(&path)[520] = module_paths[stack.module_count];
        wchar_t wide[260];
        const unsigned long len =
            GetModuleFileNameW(static_cast<struct HINSTANCE__*>(region.allocation), wide, 260);
        path[len == 0 || len == 260 ? 0 : to_utf8(wide, path, sizeof path)] = 0;
        module.path = path;
        stack.modules[stack.module_count] = module;
        // Counted first: if what follows fails, the module is there without its build id.
        Module& kept = stack.modules[stack.module_count++];
        std::atomic_signal_fence(std::memory_order_seq_cst);
        find_build_id(kept, image);
    }
}

SP_DETAIL_COLD void prepare_stack(StackTrace& room) {
    find_stack_walker();
    describe_thread();
    walk_stack(room, 0);
    find_modules(room);
    room.count = room.missing = room.module_count = 0;
}

// Handlers run on the stack of their thread: if that is used up, this much is left for them.
SP_DETAIL_COLD void give_crash_stack() {
    const ErrnoGuard guard;
    unsigned long bytes = 32u << 10;
    SetThreadStackGuarantee(&bytes);
}

SP_DETAIL_END
