// An argument as C tracepoints capture it.
#pragma once

#include <cstddef>
#include <cstdint>

// sp_c_argument of silverpoint/c/arguments.h.
struct Argument {
    const char* block;
    std::uint64_t bits, high;
    std::uint32_t fixed;

    bool is_block() const { return fixed >= kMeasured; }
    std::size_t size() const { return is_block() ? 4 + bits : fixed; }

    static constexpr std::uint32_t kMeasured = 0x100, kText = 0x101;
};
