// Crash records of programs in C (silverpoint/crash.h), by the C++ frontend's handler.
#include <silverpoint/platform/crash_events.hpp>
#include <silverpoint/silverpoint.hpp>

using namespace silverpoint::detail;

namespace {

// sp_crash_options of silverpoint/crash.h.
struct COptions {
    bool segv = true, bus = true, ill = true, fpe = true, abrt = true, sys = true, trap = false, term = false;
    std::uint32_t wait_ms = 3000;
    int (*drain)(std::uint64_t) = nullptr;
};
static_assert(sizeof(COptions) == 24 && offsetof(COptions, term) == 7 && offsetof(COptions, wait_ms) == 8);

}  // namespace

extern "C" {

SP_DETAIL_OWN bool sp_install_crash_handler(const COptions* given) {
    const COptions options = given == nullptr ? COptions() : *given;
    if (options.drain != nullptr) crash_settings.drain.store(options.drain, std::memory_order_release);
    if (!prepare_for_crashes(options.wait_ms)) return false;
    take_crashes(options);
    return true;
}

// A forked child has no session before its first record, and records nothing before a collector finds it.
// False, and why in `error`, when it can have none.
SP_DETAIL_OWN bool sp_c_expect_logger(char* error, std::size_t error_size) {
    Text<500> why;
    if (!has_session(why)) {
        if (error != nullptr && error_size > 0) {
            const std::size_t len = why.size() < error_size ? why.size() : error_size - 1;
            std::memcpy(error, why.c_str(), len);
            error[len] = 0;
        }
        return false;
    }
    if (session.is_ready()) session.logger_process.store(process_id(), std::memory_order_relaxed);
    return true;
}

SP_DETAIL_OWN void sp_prepare_thread_for_crash() { give_crash_stack(); }

[[noreturn, gnu::noinline]] SP_DETAIL_OWN void sp_c_fail_check(const char* source, unsigned count,
                                                               const char* file, unsigned line) {
    const Names names(source, count);
    const std::string_view condition = names.text().substr(0, names.text().find('\n'));
    fail_check(reinterpret_cast<std::uint64_t>(__builtin_return_address(0)), condition, file, line);
}
}
