// The driver of ATrace in C++ (bench/run --part tracing); bench/tracing/src/atracing.rs is the same in Rust.
//
// Mode `burst`: calls into the ring, beside the floor. Mode `disabled`: the loops that BENCH_LOOP names.
// `off.…` is measured beside an empty loop, `marker.…` beside bare write(2) calls of the same messages.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <silverpoint/atrace.hpp>
#include <string>

#include "../harness/harness.h"
#include "case.hpp"

namespace {

namespace atrace = silverpoint::atrace;

const std::string kLong(1000, 'n');

// What the kernel is given by hand.
int marker = -1;
std::string message;

void write_bare() { [[maybe_unused]] const ssize_t written = write(marker, message.data(), message.size()); }

}  // namespace

CASE(name10, atrace::instant(atrace::kApp, "name of 10"))
CASE(name1000, atrace::instant(atrace::kApp, kLong))
CASE(counter, atrace::int64(atrace::kApp, "a counter.", static_cast<std::int64_t>(id)))
CASE(scope10, SP_ATRACE("name of 10"))

// Halves of scopes that lie in each other: n begins, then n ends. The time of one half is shared among its
// calls: some machines' counters go in steps as long as a call. The harness takes two reads off each.
static std::uint32_t reads() {
    static const std::uint32_t known = [] {
        std::array<std::uint32_t, 1001> gaps{};
        for (std::uint32_t& gap : gaps) {
            const std::uint64_t before = bench_ticks();
            gap = static_cast<std::uint32_t>(bench_ticks() - before);
        }
        std::nth_element(gaps.begin(), gaps.begin() + 500, gaps.end());
        return gaps[500];
    }();
    return known;
}
static void share(std::uint64_t ticks, std::uint64_t n, std::uint32_t* elapsed_ticks) {
    const std::uint64_t net = ticks > reads() ? ticks - reads() : 0;
    std::fill_n(elapsed_ticks, n, static_cast<std::uint32_t>((net + n / 2) / n) + reads());
}
[[gnu::noinline]] static void begins(std::uint64_t n, std::uint64_t, std::uint32_t* elapsed_ticks) {
    const std::uint64_t before = bench_ticks();
    for (std::uint64_t i = 0; i != n; ++i) atrace::begin(atrace::kApp, "name of 10");
    share(bench_ticks() - before, n, elapsed_ticks);
    for (std::uint64_t i = 0; i != n; ++i) atrace::end(atrace::kApp);
}
[[gnu::noinline]] static void ends(std::uint64_t n, std::uint64_t, std::uint32_t* elapsed_ticks) {
    for (std::uint64_t i = 0; i != n; ++i) atrace::begin(atrace::kApp, "name of 10");
    const std::uint64_t before = bench_ticks();
    for (std::uint64_t i = 0; i != n; ++i) atrace::end(atrace::kApp);
    share(bench_ticks() - before, n, elapsed_ticks);
}

LOOP(empty, (void)0)
LOOP(bare, write_bare())
LOOP(begin10, atrace::begin(atrace::kApp, "name of 10"))
LOOP(begin1000, atrace::begin(atrace::kApp, kLong))
LOOP(end, atrace::end(atrace::kApp))
LOOP(count, atrace::int64(atrace::kApp, "a counter.", 1'234'567))

int main(int argc, char** argv) {
    static const bench_case cases[] = {
        {"name10", name10_burst, name10_singles},
        {"name1000", name1000_burst, name1000_singles},
        {"counter", counter_burst, counter_singles},
        {"scope10", scope10_burst, scope10_singles},
        {"begin", scope10_burst, begins},
        {"end", scope10_burst, ends},
    };
    struct Call {
        const char* name;
        void (*loop)(std::uint64_t, std::uint64_t);
        std::string message;
    };
    const std::string pid = "|" + std::to_string(getpid());
    const Call calls[] = {{"begin10", begin10, "B" + pid + "|name of 10"},
                          {"begin1000", begin1000, "B" + pid + "|" + kLong},
                          {"end", end, "E" + pid},
                          {"counter", count, "C" + pid + "|a counter.|1234567"}};
    bench_facility facility{};
    facility.name = "atrace-cpp";
    facility.cases = cases;
    facility.case_count = sizeof cases / sizeof cases[0];
    facility.empty = facility.disabled = empty;
    facility.prepare_thread = [] { silverpoint::prepare_thread(); };
    facility.observe = bench_observe_session;
    const char* chosen = std::getenv("BENCH_LOOP");
    const char* call = chosen == nullptr ? nullptr : std::strchr(chosen, '.');
    if (call != nullptr) {
        const bool is_marker = std::strncmp(chosen, "marker.", 7) == 0;
        for (const Call& one : calls) {
            if (std::strcmp(one.name, call + 1) != 0) continue;
            facility.disabled = one.loop;
            message = one.message;
        }
        if (facility.disabled == empty || atrace::is_in_marker(atrace::kApp) != is_marker) {
            std::fprintf(stderr, "%s: no such loop, or properties say otherwise\n", chosen);
            return 1;
        }
        if (is_marker) {
            facility.empty = bare;
            facility.observe = nullptr;
            marker =
                open(std::getenv("SILVERPOINT_ATRACE_MARKER"), O_WRONLY | O_CLOEXEC | O_APPEND | O_NONBLOCK);
        }
    }
    return bench_main(argc, argv, &facility);
}
