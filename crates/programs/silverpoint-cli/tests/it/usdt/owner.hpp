// What owns an async span. Its destructor is one function of the process: that of the program, also for a
// library.
#pragma once

#include <silverpoint/silverpoint.hpp>

struct Owner {
    silverpoint::AsyncSpan span;

    [[gnu::noinline]] ~Owner() {}
};
