// As atrace.rs, in C++.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <silverpoint/atrace.hpp>

namespace atrace = silverpoint::atrace;

// In a file without probes.
void silent(int i);

static void draw(int i) {
    SP_ATRACE_TAG(atrace::kView, __func__);
    atrace::int32(atrace::kView, "frame", -i);
}

int main(int, char** argv) {
    int formatted = 0;
    const auto format = [&](int i) {
        ++formatted;
        return i;
    };
    for (int i = 0; i < std::atoi(argv[1]); ++i) {
        atrace::begin(atrace::kApp, "outer");
        atrace::async_begin(atrace::kApp, "upload", i);
        atrace::track_begin(atrace::kNetwork, "track", "part", i);
        draw(i);
        {
            SP_ATRACE_FORMAT("frame %d", format(i));
            atrace::int64(atrace::kApp, "large", INT64_MIN + i);
        }
        atrace::instant(atrace::kApp, "point");
        atrace::track_instant(atrace::kNetwork, "track", "on it");
        silent(i);
        atrace::track_end(atrace::kNetwork, "track", i);
        atrace::async_end(atrace::kApp, "upload", i);
        { const auto stored = atrace::async_scope(atrace::kApp, "stored"); }
        atrace::end(atrace::kApp);
    }
    std::printf("%d formatted\n", formatted);
}
