// Namespaces, attributes and the numbers of the contract (spec/wire.md) that the C++ frontend uses.
#pragma once

// A file that is missing ends the compilation. Without that, thousands of errors would follow this one.
#if !defined(Q_MOC_RUN) && __cplusplus <= 201703L && (!defined(_MSVC_LANG) || _MSVC_LANG <= 201703L)
#    error \
        "Silverpoint needs C++20: compile with -std=c++20, in CMake target_compile_features(app PRIVATE cxx_std_20)"
#    include "C++20 is needed"
#endif

#include <cstddef>
#include <cstdint>

#include "../platform/compiler.h"

// Hidden from moc, Qt's own reader of headers, which does not understand it. On Windows a library shows what
// it exports, and nothing else.
#if defined(Q_MOC_RUN) || defined(_WIN32)
#    define SP_DETAIL_HIDDEN
#else
#    define SP_DETAIL_HIDDEN __attribute__((visibility("hidden")))
#endif

// Every copy of these headers (the executable's, a plug-in's) is separate: nothing in this namespace is
// visible outside of its shared object. So copies of different versions live side by side, and a plug-in can
// really be unloaded.
#define SP_DETAIL_BEGIN                    \
    namespace silverpoint {                \
    inline namespace v1 SP_DETAIL_HIDDEN { \
    namespace detail {
#define SP_DETAIL_END \
    }                 \
    }                 \
    }

// Types that a program may have as members of its own, or as variables of a coroutine, are visible. Otherwise
// g++ warns of a class with a member that is less visible than itself (-Wattributes). Their functions are
// hidden.
#if defined(Q_MOC_RUN) || defined(_WIN32)
#    define SP_DETAIL_VISIBLE
#    define SP_DETAIL_OWN
#else
#    define SP_DETAIL_VISIBLE __attribute__((visibility("default")))
#    define SP_DETAIL_OWN __attribute__((visibility("hidden")))
#endif

// SP_DETAIL_INLINE: always a part of its caller. What refers to the caller's frame, and probes.
// The hot path: a part of its caller where the compiler optimises. Without, calls take twice as long (140
// ns), and a statement a fifth of the time to compile and an eighth of the code.
#if defined(__OPTIMIZE__) || (!SP_DETAIL_IS_GNU && !defined(_DEBUG))
#    define SP_DETAIL_HOT SP_DETAIL_INLINE
#    define SP_DETAIL_HOT_LAMBDA SP_DETAIL_INLINE_LAMBDA
#else
#    define SP_DETAIL_HOT inline
#    define SP_DETAIL_HOT_LAMBDA
#endif
#define SP_DETAIL_COLD SP_DETAIL_NOINLINE_COLD inline

SP_DETAIL_BEGIN

// Orders all memory accesses before it and behind it.
// g++ warns that its sanitizer of threads does not know fences: there it orders all the same.
#if defined(__GNUC__) && !defined(__clang__)
#    pragma GCC diagnostic push
#    pragma GCC diagnostic ignored "-Wtsan"
#endif
SP_DETAIL_HOT void full_fence() { SP_DETAIL_FULL_FENCE(); }
#if defined(__GNUC__) && !defined(__clang__)
#    pragma GCC diagnostic pop
#endif

SP_DETAIL_END

// A place where the kill test ends the process. Otherwise empty.
#ifndef SP_DETAIL_FAULT_POINT
#    define SP_DETAIL_FAULT_POINT(name) ((void)0)
#endif

// Before a `catch (...)` that ends an exception: the end of a thread (pthread_cancel, pthread_exit) must go
// on.
#if defined(__cpp_exceptions) && __has_include(<bits/cxxabi_forced.h>)
#    include <bits/cxxabi_forced.h>
#    define SP_DETAIL_CATCH_END_OF_THREAD              \
        catch (const ::__cxxabiv1::__forced_unwind&) { \
            throw;                                     \
        }
#else
#    define SP_DETAIL_CATCH_END_OF_THREAD
#endif

SP_DETAIL_BEGIN

inline constexpr std::uint32_t kRingMagic = 0x47525053;
inline constexpr std::uint32_t kRingHeader = 256;
// States. The rest of the word counts adoptions: a state that was read before an adoption is void after it.
inline constexpr std::uint32_t kRingFree = 0, kRingClaiming = 1, kRingLive = 2, kRingRetired = 3;
// What a collector has done with the memory of a retired slice.
inline constexpr std::uint32_t kPresent = 0, kReturning = 1, kReturned = 2;
inline constexpr std::uint32_t kRingStateMask = 0xFF, kRingAdoption = 0x100;
inline constexpr unsigned kLanes = 4;
inline constexpr unsigned kSubBuffers = 8;
inline constexpr unsigned kLevels = 6;
// Slice sizes as powers of two: 2 KiB, 16 KiB, 128 KiB, 1 MiB.
inline constexpr unsigned kShifts[] = {11, 14, 17, 20};
inline constexpr unsigned kSizes = 4;

inline constexpr std::uint32_t kFlagExpected = 1, kFlagDemanded = 2;
inline constexpr std::uint32_t kBlockForEver = 0xFFFFFFFF;
inline constexpr std::uint32_t kStateSinkFull = 2;  // collector_state

enum class Policy : std::uint8_t { kBlock = 0, kDrop = 1, kOverwrite = 2 };
enum class Cause : std::uint8_t {
    kFull,
    kCollectorGone,
    kSinkFull,
    kNoMemory,
    kNested,
    kTooLarge,
    kNoSite,
    kOther
};
inline constexpr unsigned kCauses = 8;

// Control records (section 6) and site ids.
inline constexpr std::uint32_t kSitePad = 0, kSiteLoss = 1, kSiteStall = 2, kSiteSpanEnd = 3,
                               kSiteContext = 6, kFirstSite = 16;
inline constexpr std::uint32_t kTruncated = 1u << 24;
inline constexpr std::uint32_t kRecordMax = 256u << 10;
inline constexpr std::uint32_t kCut = 1u << 31;

// Site table (section 3.2) and descriptions (section 7).
inline constexpr std::uint32_t kStageWriting = 1, kStageLocated = 2, kStageComplete = 3;
inline constexpr std::size_t kSiteEntry = 32, kDescFixed = 48, kDescMax = 65536;

// Bits of `probes_asked`: system tracers.
inline constexpr std::uint32_t kLttngProbe = 1, kUserEventsProbe = 2, kTraceMarkerProbe = 4, kEtwProbe = 8;
// In the state byte of a site: any of them is asked for.
inline constexpr std::uint8_t kProbedBit = 2;
// The ring wants the records, and the one tracer that is asked for did not want the events lately. They are
// one more than the number of its bit.
inline constexpr std::uint8_t kQuietBits = 7 << 2;
constexpr std::uint8_t quiet_state_for(std::uint32_t tracer) {
    return static_cast<std::uint8_t>(kProbedBit | 1 |
                                     ((SP_DETAIL_TRAILING_ZEROS(tracer) + 1) << 2 & kQuietBits));
}

enum class Kind : std::uint8_t {
    kLog = 0,
    kStream = 1,
    kEvent = 2,
    kSpan = 3,
    kCounter = 4,
    kInstant = 5,
    kAsyncBegin = 6,
    kAsyncEnd = 7,
    kAsyncInstant = 8,
    kFlowBegin = 9,
    kFlowStep = 10,
    kFlowEnd = 11,
    kLink = 12,
    kPercent = 255  // a log whose template is of the % grammar: on the wire a flag
};

SP_DETAIL_END

namespace silverpoint {
inline namespace v1 SP_DETAIL_HIDDEN {
// Severity, in ascending order.
enum class Level : std::uint8_t { kTrace = 0, kDebug = 1, kInfo = 2, kWarn = 3, kError = 4, kFatal = 5 };
}  // namespace SP_DETAIL_HIDDEN
}  // namespace silverpoint

SP_DETAIL_BEGIN

// What the macros' level arguments name.
namespace level_names {
inline constexpr Level trace = Level::kTrace, debug = Level::kDebug, info = Level::kInfo, warn = Level::kWarn,
                       error = Level::kError, fatal = Level::kFatal;
}

SP_DETAIL_END
