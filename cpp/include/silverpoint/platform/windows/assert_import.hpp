// The executable's calls of the C library's `assert` on Windows. The library has no hook for them. So the
// executable's own table of imported functions gets ours, which calls the library's.
#pragma once

#include "crash_stack.hpp"

SP_DETAIL_BEGIN

// Puts `by` in the place of a function, if the executable imports it; `before`: the one that it called
// before.
SP_DETAIL_COLD void replace_import(const char* name, void* by, void*& before) {
    constexpr unsigned kImports = 1, kEntry = 20;
    constexpr unsigned long kReadWrite = 4;
    const auto base = reinterpret_cast<std::uint64_t>(GetModuleHandleW(nullptr));
    const ModuleImage image(base);
    for (std::uint64_t library = image.table(kImports); library != 0; library += kEntry) {
        const std::uint32_t names = image.at<std::uint32_t>(library);
        const std::uint32_t functions = image.at<std::uint32_t>(library + 16);
        if (functions == 0) return;
        for (std::uint64_t i = 0; names != 0; i += 8) {
            const std::uint64_t named = image.at<std::uint64_t>(names + i);
            if (named == 0) break;
            // (The highest bit: by number.)
            if (named >> 63 != 0 || std::strcmp(image.text(named + 2), name) != 0) continue;
            void** const slot = reinterpret_cast<void**>(base + functions + i);
            unsigned long access = 0;
            if (VirtualProtect(slot, sizeof *slot, kReadWrite, &access) == 0) return;
            before = *slot;
            *slot = by;
            VirtualProtect(slot, sizeof *slot, access, &access);
            return;
        }
    }
}

SP_DETAIL_END
