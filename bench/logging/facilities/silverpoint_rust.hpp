// facility: silverpoint rust
// how: silverpoint_logger::Logger, one text file, defaults; the statement is a function of Rust's
// (bench/logging/rust)
// links: rust
// in: s4
#include <string_view>

#include "facility.hpp"

extern "C" {
bool bench_rust_start(const char* file, std::size_t file_size);
bool bench_rust_flush();
bool bench_rust_stop();
void bench_rust_log(const char* title, std::size_t title_size, std::uint32_t count, const char* pointer,
                    std::size_t pointer_size, const char* string, std::size_t string_size, float real);
}

static void begin(const Run& run) {
    if (!bench_rust_start(run.file.data(), run.file.size())) std::abort();
}
static void flush() {
    if (!bench_rust_flush()) std::abort();
}
static void end() {
    if (!bench_rust_stop()) std::abort();
}
// The thread that formats and writes the file.
#define SINK_THREAD "sp-sink"
#define STATEMENT(title, count, pointer, string, real)                                               \
    bench_rust_log((title).data(), (title).size(), count, pointer, std::string_view(pointer).size(), \
                   (string).data(), (string).size(), real)
