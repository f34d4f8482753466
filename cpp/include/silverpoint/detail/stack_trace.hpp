// A stack as program counters, and the modules in which they lie (spec/crash.md). Each system's walk fills
// it.
#pragma once

#include <cstdint>

#include "config.hpp"

SP_DETAIL_BEGIN

// A file that is mapped as code.
struct Module {
    std::uint64_t base = 0;  // address − base is the address in the file
    std::uint64_t begin = 0, end = 0;
    const char* path = "";
    unsigned char build_id[32] = {};
    unsigned build_id_size = 0;
};

struct StackTrace {
    static constexpr unsigned kMost = 64, kMostModules = 24;
    // The most frames that are counted, beyond those that are kept.
    static constexpr unsigned kMostCounted = 100'000;

    // Innermost first.
    std::uint64_t frames[kMost];
    unsigned count;
    unsigned missing;
    // The requested frame was found: everything from here on is outside of the handler.
    bool has_begun;
    Module modules[kMostModules];
    unsigned module_count;

    void begin() {
        count = missing = module_count = 0;
        has_begun = false;
    }
    // Whether the module of an address is missing, and there is room for it.
    bool lacks_module_of(std::uint64_t address) const {
        for (unsigned i = 0; i < module_count; ++i)
            if (address >= modules[i].begin && address < modules[i].end) return false;
        return module_count < kMostModules;
    }
    // Of one frame, of which nothing else is known.
    void begin_at(std::uint64_t frame) {
        begin();
        frames[count++] = frame;
        has_begun = true;
    }
};

SP_DETAIL_END
