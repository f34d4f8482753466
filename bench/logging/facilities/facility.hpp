// What a logger is to the drivers: one header beside this one. Its first lines say, for the runner
// (lib/rivals.py), what it is:
//
//   // facility: NAME                 in the tables; what begins with "silverpoint" is ours
//   // how: TEXT                      how it is set up, and why so; shown in the report
//   // needs: HEADER PACKAGE          a file that shows that it is installed, and the Debian package
//   // links: FLAGS                   of the linker; `ours` is the library of the logger inside the process,
//                                     `rust` bench/logging/rust, NAME.c a file in C beside this one
//   // asks: NAME                     what the machine must have besides (lib/rivals.py: REQUIREMENTS)
//   // off: WHY                      when no line of it can be switched off: then it has no OFF
//   // in: PART ...                   s4 (bench/logging/driver.cpp), cases, paced (bench/rivals/driver.cpp)
//
// and it defines, in the global namespace:
//
//   static void begin(const Run&)     before the first call; the output goes to `file`
//   static void flush()               returns when what was logged is on its way to the file
//   static void end()                 returns when everything is in the file; nothing is called after it
//   STATEMENT(title, count, pointer, string, real)
//                                     of S4: `title iteration #count pointer string and a float: 3.14159`
//
// and, when it is in `cases` or `paced`, with an id that is a std::uint64_t, an int and a double:
//
//   LITERAL()                         `bench literal`
//   THREE(id, index, fraction)        `bench three ID INDEX FRACTION`
//   TEXT(id, fraction, path)          `bench text ID FRACTION PATH`
//   OFF(id, path)                     the same at a level that is switched off
//
// The lines may have anything before and behind. Each is found in the output by its words, and by the sum of
// its numbers (bench/logging/count.c).
#ifndef SILVERPOINT_BENCH_FACILITY_HPP
#define SILVERPOINT_BENCH_FACILITY_HPP
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

struct Run {
    std::string file;
    std::uint64_t entries;  // that all threads will log at most, for those that must make room; 0 unknown
};

[[maybe_unused]] static void begin(const Run& run);
[[maybe_unused]] static void flush();
[[maybe_unused]] static void end();

[[noreturn, maybe_unused]] static void give_up(const char* what) {
    std::perror(what);
    std::_Exit(1);
}
#endif
