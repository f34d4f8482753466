// A shared object that is the only part of its process with tracepoints.
#include <silverpoint/silverpoint.hpp>

SP_CATEGORY("shop")

extern "C" [[gnu::visibility("default")]] int one_more(int time) {
    int wanted = 0;
    SP_EVENT("reloaded", time, ++wanted);
    return wanted;
}
