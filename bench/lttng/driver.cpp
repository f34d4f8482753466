// LTTng's tracer in user space, under a session that bench/lttng/run has made. Arguments are declared fields;
// or one payload of CBOR, as in the source of table S1, for types that LTTng has no field for.
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include <unistd.h>

#include <QCborStreamWriter>
#include <QMap>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "../cpp/case.hpp"
#include "../harness/harness.h"
#include "events.h"

namespace {

struct Inputs {
    std::array<float, 128> samples{};
    QMap<QString, int> counts{{"alpha", 1}, {"beta", 20}, {"gamma", 300}};
    std::string path = "/var/lib/silverpoint/data/frame.000";  // 35 bytes
    Inputs() {
        for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = 0.25F * static_cast<float>(i);
    }
};
const Inputs inputs;

thread_local QByteArray bytes;

void send() { lttng_ust_tracepoint(bench, cbor, bytes.constData(), static_cast<std::size_t>(bytes.size())); }

void map(std::uint64_t id, std::int32_t index, double fraction) {
    bytes.clear();
    QCborStreamWriter to(&bytes);
    to.startArray(5);
    to.append(QLatin1String("bench map"));
    to.append(static_cast<quint64>(id));
    to.append(index);
    to.append(fraction);
    to.startMap(static_cast<quint64>(inputs.counts.size()));
    for (auto at = inputs.counts.begin(); at != inputs.counts.end(); ++at) {
        to.append(QStringView(at.key()));
        to.append(at.value());
    }
    to.endMap();
    to.endArray();
    send();
}

void floats() {
    bytes.clear();
    QCborStreamWriter to(&bytes);
    to.startArray(2);
    to.append(QLatin1String("bench floats"));
    to.startArray(inputs.samples.size());
    for (const float one : inputs.samples) to.append(one);
    to.endArray();
    to.endArray();
    send();
}

// The session's daemon, and the consumer, its child, which writes the trace.
std::vector<pid_t> daemons() {
    const char* const told = std::getenv("BENCH_LTTNG_DAEMON");
    if (!told) return {};
    const pid_t first = std::atoi(told);
    std::vector<pid_t> found{first};
    for (const auto& process : std::filesystem::directory_iterator("/proc")) {
        std::string line;
        std::getline(std::ifstream(process.path() / "stat"), line);
        const std::size_t end = line.rfind(") ");  // of its name, which may have anything in it
        int parent = 0;
        if (end == std::string::npos || std::sscanf(line.c_str() + end + 2, "%*c %d", &parent) != 1) continue;
        if (parent == first) found.push_back(std::atoi(process.path().filename().c_str()));
    }
    return found;
}

int observe(bench_observation* seen) {
    static const std::vector<pid_t> all = daemons();
    *seen = {};
    for (const pid_t one : all) {
        clockid_t clock;
        timespec used{};
        if (clock_getcpuclockid(one, &clock) != 0 || clock_gettime(clock, &used) != 0) return -1;
        seen->helper_cpu_ns += static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000U +
                               static_cast<std::uint64_t>(used.tv_nsec);
    }
    return 0;
}

// Where buffers are handed over by a timer, it has come three times.
void flush() {
    if (const char* const timer = std::getenv("BENCH_LTTNG_TIMER_US"))
        usleep(3 * static_cast<useconds_t>(std::atoi(timer)));
}

}  // namespace

CASE(literal, lttng_ust_tracepoint(bench, literal))
CASE(map, map(id, index, fraction))
CASE(floats, floats())
CASE(three_fields, lttng_ust_tracepoint(bench, three, index, fraction, id))
CASE(text_fields, lttng_ust_tracepoint(bench, text, id, fraction, inputs.path.c_str()))
CASE(floats_fields, lttng_ust_tracepoint(bench, floats, inputs.samples.data(), inputs.samples.size()))

int main(int argc, char** argv) {
    static const bench_case cases[] = {
        {"literal", literal_burst, literal_singles},
        {"map", map_burst, map_singles},
        {"floats", floats_burst, floats_singles},
        {"three.fields", three_fields_burst, three_fields_singles},
        {"text.fields", text_fields_burst, text_fields_singles},
        {"floats.fields", floats_fields_burst, floats_fields_singles},
    };
    const auto nothing = [](std::uint64_t, std::uint64_t) {};
    bench_facility facility{};
    facility.name = "LTTng-UST";
    facility.cases = cases;
    facility.case_count = sizeof cases / sizeof cases[0];
    facility.empty = nothing;
    facility.disabled = nothing;
    facility.flush = flush;
    facility.observe = observe;
    return bench_main(argc, argv, &facility);
}
