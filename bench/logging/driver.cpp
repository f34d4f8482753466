// What a logger costs its callers, as in the source's table S4. N threads log M entries each, every call is
// timed, then everything is flushed.
//
// driver THREADS ENTRIES FILE: one line of JSON. Compiled once a facility, with
// -DFACILITY='"facilities/….hpp"' and that library. The time stamp counter is read before and after each
// call. The two reads are in every facility's figure alike. "nothing" is those reads alone: what the machine
// and its scheduler do to a thread that logs nothing.
#include <sys/resource.h>
#include <time.h>
#include <x86intrin.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

// The facility: a header of facilities/ that says how it begins and ends, and its statement.
#include FACILITY

static double ns_per_tick() {
    const auto clock = std::chrono::steady_clock::now();
    const std::uint64_t ticks = __rdtsc();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const std::chrono::duration<double, std::nano> passed = std::chrono::steady_clock::now() - clock;
    return passed.count() / static_cast<double>(__rdtsc() - ticks);
}

// What a thread with this name has used; 0 when there is none (any more).
[[maybe_unused]] static double cpu_seconds_of(const std::string& wanted) {
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        std::string name;
        double nanoseconds = 0;
        std::getline(std::ifstream(task.path() / "comm"), name);
        if (name == wanted && std::ifstream(task.path() / "schedstat") >> nanoseconds)
            return nanoseconds / 1e9;
    }
    return 0;
}

// Of all threads, and of helpers that have ended.
static double cpu_seconds() {
    double sum = 0;
    for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
        rusage used{};
        getrusage(who, &used);
        for (const timeval& time : {used.ru_utime, used.ru_stime})
            sum += static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    }
    return sum;
}

static double cpu_seconds_of_thread() {
    timespec used{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

// Returns the CPU time that it has taken.
static double log_entries(unsigned entries, std::vector<std::uint32_t>& took) {
    const double cpu = cpu_seconds_of_thread();
    const std::string title = "Silverpoint's table", string = " and a text ";
    const char* const pointer = "a pointer to characters";
    const float real = 3.1415926535897932384626433832795f;
    for (unsigned count = 0; count < entries; ++count) {
        const std::uint64_t before = __rdtsc();
        STATEMENT(title, count, pointer, string, real);
        took[count] = static_cast<std::uint32_t>(std::min<std::uint64_t>(__rdtsc() - before, UINT32_MAX));
    }
    return cpu_seconds_of_thread() - cpu;
}

// Of a curve whose axis is the logarithm of what is slower.
static constexpr double kQuantiles[] = {0,     0.25,  0.5,    0.75,   0.9,     0.95,    0.99,
                                        0.995, 0.999, 0.9995, 0.9999, 0.99995, 0.99999, 1};

// Single calls of one thread, for a plot over time: every n-th one, and the slowest; `[number of the call,
// ns]`.
static void print_calls(const std::vector<std::uint32_t>& took, double scale) {
    constexpr std::size_t kOfEach = 400;
    std::vector<std::size_t> chosen(took.size());
    for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i] = i;
    const auto slowest = chosen.begin() + static_cast<long>(std::min(kOfEach, chosen.size()));
    std::partial_sort(chosen.begin(), slowest, chosen.end(),
                      [&](std::size_t a, std::size_t b) { return took[a] > took[b]; });
    chosen.erase(slowest, chosen.end());
    for (std::size_t i = 0; i < kOfEach; ++i) chosen.push_back(i * took.size() / kOfEach);
    std::sort(chosen.begin(), chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    std::printf(",\"calls\":[");
    for (std::size_t i = 0; i < chosen.size(); ++i)
        std::printf("%s[%zu,%.0f]", i ? "," : "", chosen[i], took[chosen[i]] * scale);
    std::printf("]");
}

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fputs("driver THREADS ENTRIES FILE\n", stderr);
        return 2;
    }
    const auto threads = static_cast<unsigned>(std::atoi(argv[1])),
               entries = static_cast<unsigned>(std::atoi(argv[2]));
    const double scale = ns_per_tick();
    // Touched beforehand: the driver's own page faults are not the logger's.
    std::vector<std::vector<std::uint32_t>> took(threads, std::vector<std::uint32_t>(entries, 1));
    std::vector<double> callers(threads);
    begin(Run{argv[3], std::uint64_t{threads} * entries});
    const double cpu = cpu_seconds();
    const auto start = std::chrono::steady_clock::now();
    std::vector<std::thread> running;
    for (unsigned i = 0; i < threads; ++i)
        running.emplace_back([&, i] { callers[i] = log_entries(entries, took[i]); });
    for (auto& thread : running) thread.join();
    const std::chrono::duration<double> called = std::chrono::steady_clock::now() - start;
    double sink = 0;
#ifdef SINK_THREAD
    flush();
    sink = cpu_seconds_of(SINK_THREAD);
#endif
    end();
    const std::chrono::duration<double> total = std::chrono::steady_clock::now() - start;
    const double cpu_used = cpu_seconds() - cpu;
    std::vector<std::uint32_t> all;
    for (const auto& own : took) all.insert(all.end(), own.begin(), own.end());
    double sum = 0;
    for (const std::uint32_t one : all) sum += one;
    const auto at = [&](double quantile) {
        const auto place = all.begin() + static_cast<long>(quantile * static_cast<double>(all.size() - 1));
        std::nth_element(all.begin(), place, all.end());
        return *place * scale;
    };
    std::printf(
        "{\"mean_ns\":%.2f,\"p50_ns\":%.1f,\"p999_ns\":%.1f,\"peak_ns\":%.0f,\"called_s\":%.4f,\"total_s\":%."
        "4f,\"cpu_s\":%.4f,\"callers_s\":%.4f,\"sink_s\":%.4f",
        sum / static_cast<double>(all.size()) * scale, at(0.5), at(0.999), at(1.0), called.count(),
        total.count(), cpu_used, std::accumulate(callers.begin(), callers.end(), 0.0), sink);
    std::printf(",\"curve\":[");
    for (const double quantile : kQuantiles)
        std::printf("%s[%.6f,%.1f]", quantile == 0 ? "" : ",", quantile, at(quantile));
    std::printf("]");
    print_calls(took.front(), scale);
    std::puts("}");
}
