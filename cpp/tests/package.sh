#!/bin/sh
# A program of somebody else's, built against what is installed: by find_package with the static and the shared library, and by pkg-config; in C++ and in C;
# and against the sources, by add_subdirectory.
# package.sh BUILD_DIRECTORY COMPILER SOURCES CARGO_PROFILE CARGO_TARGET_DIRECTORY CARGO_SELECTION
set -eu
build=$1 compiler=$2 sources=$3 profile=$4 cargo_target=$5 selection=$6
command -v pkg-config >/dev/null || { echo "pkg-config is needed (scripts/setup test installs it)"; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cmake --install "$build" --prefix "$scratch/usr" >"$scratch/log" || { cat "$scratch/log"; exit 1; }
mkdir "$scratch/app"
cat >"$scratch/app/main.cpp" <<'END'
#include <silverpoint/logger.hpp>
#include <silverpoint/silverpoint.hpp>
int main(int, char** argv) {
    silverpoint::start(silverpoint::logger_config("info").to(silverpoint::sink::file(argv[1])));
    SP_INFO("number {}", 7);
}
END
cat >"$scratch/app/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.20)
project(app LANGUAGES CXX)
find_package(silverpoint 0.1 REQUIRED)
if(NOT COMMAND silverpoint_tracegen)  # (The tests of the program run it.)
    message(FATAL_ERROR "the package has no silverpoint_tracegen")
endif()
add_executable(with_static main.cpp)
target_link_libraries(with_static PRIVATE silverpoint::logger)
add_executable(with_shared main.cpp)
target_link_libraries(with_shared PRIVATE silverpoint::logger_shared)
# Its sources name headers of spdlog's.
add_executable(with_spdlog_names spdlog.cpp)
target_link_libraries(with_spdlog_names PRIVATE silverpoint::instead_of_spdlog)
END
cat >"$scratch/app/spdlog.cpp" <<'END'
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>
#ifndef SP_LOGGER_KEEPS
#    error "these are spdlog's own headers"
#endif
int main(int, char** argv) {
    spdlog::basic_logger_mt("app", argv[1])->info("number {}", 7);
}
END
cat >>"$scratch/app/CMakeLists.txt" <<'END'
# A program of Qt's, captured: its source knows nothing of Silverpoint.
find_package(Qt6 6.2 QUIET COMPONENTS Core)
if(Qt6_FOUND)
    add_executable(with_qt qt.cpp)
    target_link_libraries(with_qt PRIVATE Qt6::Core)
    silverpoint_capture_qt(with_qt)
endif()
END
cat >"$scratch/app/qt.cpp" <<'END'
#include <QDebug>
int main() { qInfo() << "number" << 7; }
END
cmake -S "$scratch/app" -B "$scratch/app/build" -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$scratch/usr" >"$scratch/log" &&
    cmake --build "$scratch/app/build" >"$scratch/log" || { cat "$scratch/log"; exit 1; }
pc=$(find "$scratch/usr" -name silverpoint.pc)
lib=$(dirname "$(dirname "$pc")")
flags=$(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --cflags --libs silverpoint)
# shellcheck disable=SC2086 # several words
"$compiler" -std=c++20 "$scratch/app/main.cpp" -o "$scratch/app/build/with_pkg_config" $flags -pthread -Wl,-rpath,"$lib"
# The library stays while the process lives: its thread runs, and destructors of other libraries record.
readelf --dynamic --wide "$lib/libsilverpoint.so" | grep -q NODELETE || { echo "libsilverpoint.so may be unloaded"; exit 1; }
# As a folder of somebody's project, and a logger in C.
mkdir "$scratch/folder"
cp "$scratch/app/main.cpp" "$scratch/folder"
cat >"$scratch/folder/main.c" <<'END'
#include <silverpoint/silverpoint.h>
#include <silverpoint/start.h>
#include <stdio.h>
int main(int argc, char** argv) {
    char config[500], error[300];
    (void)argc;
    snprintf(config, sizeof config, "[[sink]]\nto = 'file'\npath = '%s'\n", argv[1]);
    if (sp_start_logger(config, error, sizeof error) != SILVERPOINT_DONE) return 1;
    SP_INFO("number %d", 7);
    return silverpoint_stop(60000) == SILVERPOINT_DONE ? 0 : 1;
}
END
cat >"$scratch/folder/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.20)
project(app LANGUAGES C CXX)
set(SILVERPOINT_LOGGER ON)
add_subdirectory($sources silverpoint)
add_executable(with_folder main.cpp)
target_link_libraries(with_folder PRIVATE silverpoint::logger)
add_executable(with_folder_in_c main.c)
target_link_libraries(with_folder_in_c PRIVATE silverpoint::logger_shared silverpoint::c)
END
# libsilverpoint as the tests have compiled it: nothing is compiled again.
cmake -S "$scratch/folder" -B "$scratch/app/build/folder" -DCMAKE_CXX_COMPILER="$compiler" -DSILVERPOINT_CARGO_PROFILE="$profile" \
    -DSILVERPOINT_CARGO_TARGET_DIR="$cargo_target" -DSILVERPOINT_CARGO_SELECTION="$selection" >"$scratch/log" &&
    cmake --build "$scratch/app/build/folder" --target with_folder with_folder_in_c >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
# In C: by find_package in a project of C alone, and by pkg-config.
mkdir "$scratch/c"
cat >"$scratch/c/main.c" <<'END'
#include <silverpoint/silverpoint.h>
int main(void) {
    SP_INFO("number %d", 7);
    return 0;
}
END
cat >"$scratch/c/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.20)
project(app LANGUAGES C)
find_package(silverpoint 0.1 REQUIRED)
add_executable(with_cmake main.c)
target_link_libraries(with_cmake PRIVATE silverpoint::c)
END
cmake -S "$scratch/c" -B "$scratch/c/build" -DCMAKE_PREFIX_PATH="$scratch/usr" >"$scratch/log" &&
    cmake --build "$scratch/c/build" >"$scratch/log" || { cat "$scratch/log"; exit 1; }
flags=$(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --cflags --libs silverpoint_c)
# shellcheck disable=SC2086 # several words
"${CC:-cc}" -std=c11 "$scratch/c/main.c" -o "$scratch/c/build/with_pkg_config" $flags
for program in with_cmake with_pkg_config; do
    mkdir -m 700 "$scratch/sessions"
    SILVERPOINT_FILTER=info SILVERPOINT_DIR=$scratch/sessions "$scratch/c/build/$program"
    grep -rq 'number %d' "$scratch/sessions" || { echo "$program: nothing in its session"; exit 1; }
    rm -r "$scratch/sessions"
done
for program in with_static with_shared with_spdlog_names with_pkg_config folder/with_folder folder/with_folder_in_c; do
    mkdir -m 700 "$scratch/sessions"
    SILVERPOINT_DIR=$scratch/sessions "$scratch/app/build/$program" "$scratch/program.log"
    rm -r "$scratch/sessions"
    grep -q 'number 7' "$scratch/program.log" || { echo "$program: nothing in its log"; exit 1; }
    rm -r "$scratch/program.log"*
done
qt="without Qt 6 none of its own"
if [ -x "$scratch/app/build/with_qt" ]; then
    mkdir -m 700 "$scratch/sessions"
    SILVERPOINT_FILTER=info SILVERPOINT_DIR=$scratch/sessions "$scratch/app/build/with_qt" 2>"$scratch/printed"
    grep -rq 'number {}' "$scratch/sessions" || { echo "with_qt: nothing in its session"; exit 1; }
    if [ -s "$scratch/printed" ]; then cat "$scratch/printed"; exit 1; fi
    qt="and one of Qt"
fi
echo "six programs logged, and two of C recorded, $qt"
