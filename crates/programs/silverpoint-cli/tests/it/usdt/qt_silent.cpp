// A file without probes in a program that has some: its statements are not given to a tracer.
#undef SILVERPOINT_USDT
#include <silverpoint/qt/debug.hpp>

int silent(int i) {
    qInfo() << "silent" << i;
    return i;
}
