// A shared object in C++ that a program in Rust loads: both record, in part by the same names.
#include <silverpoint/silverpoint.hpp>

SP_CATEGORY("shop")

extern "C" [[gnu::visibility("default")]] void one_more(int i) {
    SP_EVENT("in C++", i);
    SP_INSTANT("tick");
    SP_SPAN("part", i);
}
