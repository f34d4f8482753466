// Sites in what several files of a program share: each is there once, from any of them.
#pragma once

#include <silverpoint/silverpoint.hpp>

namespace listed {

inline void shared(int number) { SP_INFO("shared {}", number); }

template <class T>
void shared_for(T value) {
    SP_EVENT("shared.for", value, value + value);
}

struct Shared {
    SP_CATEGORY("shared.class")
    void run() const { SP_WARN("in a class"); }
    static void stream(int a) { SP_DEBUG << "at" << a; }
};

void other_file();

}  // namespace listed
