// Whether records are passed to functions of the program before their tracepoints return (hand_over.hpp):
// what the cold path of a record checks.
#pragma once

#include <atomic>
#include <cstdint>

#include "../c/made.h"
#include "config.hpp"

SP_DETAIL_BEGIN

inline constinit const std::uint32_t no_functions = 0;

// Empty until this copy of the headers joins, and then set for good: libsilverpoint's function, and how many
// functions of the program it knows.
struct Handing {
    std::atomic<void (*)(const silverpoint_made*)> take{nullptr};
    std::atomic<const std::uint32_t*> functions{&no_functions};

    SP_DETAIL_INLINE bool is_wanted() const {
        return SP_DETAIL_LOAD_RELAXED(functions.load(std::memory_order_acquire)) != 0;
    }
};

inline constinit Handing handing;

SP_DETAIL_END
