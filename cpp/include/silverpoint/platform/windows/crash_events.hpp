// Crashes on Windows: exceptions that nobody handles, aborts, failed asserts, and what the C library refuses.
//
//   event ──▶ enter ─▶ work_crash ─▶ what was there before ours, or the default. No dialog opens.
#pragma once

#include <signal.h>

#include "../../detail/crash_handler.hpp"
#include "assert_import.hpp"

// The newer C library, which Microsoft's compilers always have.
#if defined(_UCRT) || defined(_MSC_VER)
#    define SP_DETAIL_IS_UCRT 1
#else
#    define SP_DETAIL_IS_UCRT 0
#endif

SP_DETAIL_BEGIN

// As in Windows's headers.
struct ExceptionRecord {
    std::uint32_t code, flags;
    ExceptionRecord* nested;
    void* address;
    std::uint32_t count;
    std::uintptr_t information[15];
};
struct ExceptionPointers {
    ExceptionRecord* record;
    void* registers;
};
static_assert(sizeof(ExceptionRecord) == 152);

enum ExceptionKind : unsigned { kSegv = 1, kBus = 2, kIll = 4, kFpe = 8, kTrap = 16, kOtherException = 32 };

struct CrashEvents {
    // Which exceptions make a record.
    std::atomic<unsigned> wanted{0};
    bool has_filter = false, has_abort = false, has_library = false;
    long(__stdcall* filter_before)(struct _EXCEPTION_POINTERS*) = nullptr;
    void(__cdecl* abort_before)(int) = nullptr;
#if SP_DETAIL_IS_UCRT
    _invalid_parameter_handler invalid_before = nullptr;
#endif
    // The C library's functions behind `assert`.
    void *assert_before = nullptr, *wide_assert_before = nullptr;
};
inline constinit CrashEvents crash_events;

// --- Exceptions.

struct KnownException {
    std::uint32_t code;
    ExceptionKind kind;
    const char* name;
};

SP_DETAIL_COLD KnownException known_exception(std::uint32_t code) {
    static constexpr KnownException known[] = {
        {0xC000'0005, kSegv, "EXCEPTION_ACCESS_VIOLATION"},
        {0xC000'00FD, kSegv, "EXCEPTION_STACK_OVERFLOW"},
        {0xC000'008C, kSegv, "EXCEPTION_ARRAY_BOUNDS_EXCEEDED"},
        {0xC000'0006, kBus, "EXCEPTION_IN_PAGE_ERROR"},
        {0x8000'0002, kBus, "EXCEPTION_DATATYPE_MISALIGNMENT"},
        {0xC000'001D, kIll, "EXCEPTION_ILLEGAL_INSTRUCTION"},
        {0xC000'0096, kIll, "EXCEPTION_PRIV_INSTRUCTION"},
        {0xC000'008D, kFpe, "EXCEPTION_FLT_DENORMAL_OPERAND"},
        {0xC000'008E, kFpe, "EXCEPTION_FLT_DIVIDE_BY_ZERO"},
        {0xC000'008F, kFpe, "EXCEPTION_FLT_INEXACT_RESULT"},
        {0xC000'0090, kFpe, "EXCEPTION_FLT_INVALID_OPERATION"},
        {0xC000'0091, kFpe, "EXCEPTION_FLT_OVERFLOW"},
        {0xC000'0092, kFpe, "EXCEPTION_FLT_STACK_CHECK"},
        {0xC000'0093, kFpe, "EXCEPTION_FLT_UNDERFLOW"},
        {0xC000'0094, kFpe, "EXCEPTION_INT_DIVIDE_BY_ZERO"},
        {0xC000'0095, kFpe, "EXCEPTION_INT_OVERFLOW"},
        {0x8000'0003, kTrap, "EXCEPTION_BREAKPOINT"},
        {0x8000'0004, kTrap, "EXCEPTION_SINGLE_STEP"},
    };
    for (const KnownException& one : known)
        if (one.code == code) return one;
    return {code, kOtherException, ""};
}

// Uncaught exceptions of C++, of gcc and of Microsoft, end in std::terminate.
inline bool is_of_cpp(std::uint32_t code) {
    return (code & 0x20FF'FFFF) == 0x2047'4343 || code == 0xE06D'7363;
}

SP_DETAIL_COLD void describe_exception_record(Crash& crash, const ExceptionRecord& record) {
    const KnownException known = known_exception(record.code);
    crash.begin("signal");
    crash.signal = static_cast<int>(record.code);
    crash.name = known.name;
    if (*known.name != 0) {
        crash.what.add(known.name);
    } else {
        crash.what.add("exception ");
        add_hex(crash.what, record.code);
    }
    const bool has_access = (record.code == 0xC000'0005 || record.code == 0xC000'0006) && record.count >= 2;
    if (has_access) {
        const std::uintptr_t access = record.information[0];
        crash.code = static_cast<int>(access);
        crash.code_name = access == 0 ? "READ" : access == 1 ? "WRITE" : access == 8 ? "EXECUTE" : "";
        if (*crash.code_name != 0) crash.what.add(" (").add(crash.code_name).add(")");
    }
    crash.has_address = true;
    crash.address = has_access ? record.information[1] : reinterpret_cast<std::uint64_t>(record.address);
    crash.what.add(" at address ");
    add_hex(crash.what, crash.address);
}

SP_DETAIL_COLD void end_process(std::uint32_t code) { TerminateProcess(GetCurrentProcess(), code); }

inline long __stdcall on_unhandled_exception(struct _EXCEPTION_POINTERS* given) {
    const auto& about = *reinterpret_cast<const ExceptionPointers*>(given);
    const std::uint32_t code = about.record->code;
    const auto forward = [given] {
        return crash_events.filter_before != nullptr ? crash_events.filter_before(given) : 0;
    };
    CrashState* const known = crash_settings.state.load(std::memory_order_acquire);
    const unsigned wanted = crash_events.wanted.load(std::memory_order_relaxed);
    if (known == nullptr || tls_crash_told || is_of_cpp(code) || (known_exception(code).kind & wanted) == 0)
        return forward();
    CrashState& state = *known;
    int first = 0;
    const bool is_again = record_event(state, first, [&] {
        state.from = {reinterpret_cast<std::uint64_t>(about.record->address), about.registers};
        describe_exception_record(state.crash, *about.record);
    });
    constexpr std::uint32_t kAborted = 3;
    if (is_again) end_process(first == 0 || first == SIGABRT ? kAborted : static_cast<std::uint32_t>(first));
    return forward();
}

// --- The C library.

// As the library does by default after the handler of SIGABRT.
SP_DETAIL_COLD void end_by_abort() {
    signal(SIGABRT, SIG_DFL);
#if SP_DETAIL_IS_UCRT
    abort();
#else
    raise(SIGABRT);
#endif
}

inline void __cdecl on_abort(int number) {
    if (!tls_crash_told)
        record_crash(reinterpret_cast<std::uint64_t>(SP_DETAIL_RETURN_ADDRESS()), [](Crash& crash) {
            crash.begin("signal");
            crash.signal = SIGABRT;
            crash.name = "SIGABRT";
            crash.what.add(crash.name);
        });
    // (The library has forgotten this handler already.)
    if (crash_events.abort_before == SIG_DFL || crash_events.abort_before == SIG_IGN) return end_by_abort();
    crash_events.abort_before(number);
}

#if SP_DETAIL_IS_UCRT
// The library ends the program for it. (msvcrt.dll has no hook, and goes on.)
inline void __cdecl on_invalid_parameter(const wchar_t* expression, const wchar_t* function,
                                         const wchar_t* file, unsigned line, std::uintptr_t more) {
    record_crash(reinterpret_cast<std::uint64_t>(SP_DETAIL_RETURN_ADDRESS()), [](Crash& crash) {
        crash.begin("check");
        crash.what.add("invalid parameter of a function of the C library");
    });
    if (crash_events.invalid_before != nullptr)
        return crash_events.invalid_before(expression, function, file, line, more);
    // As the library does: __fastfail(FAST_FAIL_INVALID_ARG).
    SP_DETAIL_FAST_FAIL(5);
}
#endif

SP_DETAIL_COLD void record_assert(std::uint64_t from, const char* condition, const char* file,
                                  unsigned line) {
    record_crash(from, [&](Crash& crash) {
        crash.begin("check");
        crash.what.add("assertion failed: ").add(condition);
        crash.where.add(file).add(":").number(line);
    });
}

inline void __cdecl on_assert(const char* condition, const char* file, unsigned line) {
    record_assert(reinterpret_cast<std::uint64_t>(SP_DETAIL_RETURN_ADDRESS()), condition, file, line);
    using Assert = void(__cdecl*)(const char*, const char*, unsigned);
    reinterpret_cast<Assert>(crash_events.assert_before)(condition, file, line);
}

inline void __cdecl on_wide_assert(const wchar_t* condition, const wchar_t* file, unsigned line) {
    char condition_text[1000], file_text[400];
    condition_text[to_utf8(condition, condition_text, sizeof condition_text)] = 0;
    file_text[to_utf8(file, file_text, sizeof file_text)] = 0;
    record_assert(reinterpret_cast<std::uint64_t>(SP_DETAIL_RETURN_ADDRESS()), condition_text, file_text,
                  line);
    using Assert = void(__cdecl*)(const wchar_t*, const wchar_t*, unsigned);
    reinterpret_cast<Assert>(crash_events.wide_assert_before)(condition, file, line);
}

// --- Installing.

// No dialog of Windows or of the C library; child processes inherit this.
SP_DETAIL_COLD void open_no_dialog() {
    constexpr unsigned kFailCriticalErrors = 1, kNoFaultDialog = 2;
    SetErrorMode(SetErrorMode(kFailCriticalErrors) | kFailCriticalErrors | kNoFaultDialog);
    _set_error_mode(1 /* _OUT_TO_STDERR */);
#if SP_DETAIL_IS_UCRT
    _set_abort_behavior(0, 1 /* _WRITE_ABORT_MSG */);
#endif
}

// Aborts, and what the library ends the program for.
SP_DETAIL_COLD void take_library() {
    if (crash_events.has_library) return;
    crash_events.has_library = true;
#if SP_DETAIL_IS_UCRT
    crash_events.invalid_before = _set_invalid_parameter_handler(&on_invalid_parameter);
#endif
    replace_import("_assert", reinterpret_cast<void*>(&on_assert), crash_events.assert_before);
    replace_import("_wassert", reinterpret_cast<void*>(&on_wide_assert), crash_events.wide_assert_before);
}

// Adds events to those that make a record. Windows has no SIGSYS: `sys` are exceptions that are nothing else
// here. Nobody sends a process SIGTERM.
template <class Options>
void take_crashes(const Options& options) {
    open_no_dialog();
    const auto kind = [](bool is_wanted, ExceptionKind of) { return is_wanted ? of : 0u; };
    crash_events.wanted.fetch_or(kind(options.segv, kSegv) | kind(options.bus, kBus) |
                                 kind(options.ill, kIll) | kind(options.fpe, kFpe) |
                                 kind(options.trap, kTrap) | kind(options.sys, kOtherException));
    if (!crash_events.has_filter) {
        crash_events.has_filter = true;
        crash_events.filter_before = SetUnhandledExceptionFilter(&on_unhandled_exception);
    }
    if (!options.abrt) return;
    take_library();
    if (crash_events.has_abort) return;
    crash_events.has_abort = true;
    const auto before = signal(SIGABRT, &on_abort);
    crash_events.abort_before = before == SIG_ERR ? SIG_DFL : before;
}

SP_DETAIL_END
