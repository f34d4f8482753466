// A program whose calls of ATrace LTTng and the ring both record: once to make them known, then N times
// behind a line of input.
#include <cstdio>
#include <cstdlib>
#include <silverpoint/atrace.hpp>

namespace atrace = silverpoint::atrace;

static void one(int i) {
    SP_ATRACE("draw");
    atrace::int64(atrace::kApp, "frame", std::int64_t{i} << 33);
    atrace::async_begin(atrace::kApp, "upload", i);
    atrace::track_begin(atrace::kApp, "track", "part", i);
    atrace::begin(atrace::kApp, "a name of more than sixteen bytes");
    atrace::instant(atrace::kApp, "point");
    atrace::end(atrace::kApp);
    atrace::track_end(atrace::kApp, "track", i);
    atrace::async_end(atrace::kApp, "upload", i);
}

int main(int argc, char** argv) {
    const int times = argc > 1 ? std::atoi(argv[1]) : 3;
    one(0);
    if (std::getchar() == EOF) return 1;
    for (int i = 1; i <= times; ++i) one(i);
}
