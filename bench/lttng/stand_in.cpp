// In place of libsilverpoint_lttng where instructions are counted: a tracer that knows each site. It wants
// none of its events, or, with BENCH_LTTNG_WANTED, all of them. No session daemon is needed. When the first
// event is there the file BENCH_LTTNG_GATE is made. (libsilverpoint_lttng maps the session a second time,
// which valgrind does not do.)
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <probes/description.hpp>
#include <probes/thread.hpp>

namespace {

using namespace silverpoint;

probes::Control session;

void write_nothing(const probes::ProbeEvent*, const detail::ProbeRecord*) {}

void* follow(void*) {
    static const int is_wanted = std::getenv("BENCH_LTTNG_WANTED") != nullptr ? 1 : 0;
    const auto make = [](const probes::ProbeEvent* end) {
        return new probes::ProbeEvent{probes::ProbeEvent::kMagic, &is_wanted, &write_nothing, end, nullptr,
                                      detail::kLttngProbe};
    };
    for (;; usleep(1000)) {
        // (Sites that are only asked whether they are on are never complete.)
        for (std::uint32_t number = 0; number < session.count(); ++number) {
            if (!session.is_complete(number) || session.published(number).load() != 0) continue;
            const bool is_span = session.description(number).kind == detail::Kind::kSpan;
            session.publish(number, *make(is_span ? make(nullptr) : nullptr));
            if (const char* const gate = std::getenv("BENCH_LTTNG_GATE"))
                close(open(gate, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
        }
    }
}

}  // namespace

extern "C" [[gnu::visibility("default")]] void silverpoint_start_lttng(char* control, std::size_t size) {
    session = {control, size};
    probes::start_thread(&follow, nullptr);
}
