// facility: silverpoint c
// how: sp_start_logger, one text file, defaults; the statement is a function of C's (silverpoint_c.c)
// links: silverpoint_c.c ours
// in: s4
#include "facility.hpp"

extern "C" {
int bench_c_start(const char* file);
int bench_c_flush(void);
int bench_c_stop(void);
void bench_c_log(const char* title, unsigned count, const char* pointer, const char* string, double real);
}

static void begin(const Run& run) {
    if (bench_c_start(run.file.c_str()) != 0) std::abort();
}
static void flush() {
    if (bench_c_flush() != 0) std::abort();
}
static void end() {
    if (bench_c_stop() != 0) std::abort();
}
// The thread that formats and writes the file.
#define SINK_THREAD "sp-sink"
#define STATEMENT(title, count, pointer, string, real) \
    bench_c_log((title).c_str(), count, pointer, (string).c_str(), static_cast<double>(real))
