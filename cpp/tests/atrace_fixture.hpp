// ATrace's outputs in tests: a file that stands for trace_marker, and the ring.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <silverpoint/atrace.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "support/traced.hpp"

namespace atrace = silverpoint::atrace;

// Files of this process beside its session.
inline const std::string& place() {
    static const std::string path = [] {
        std::string base = std::string(std::getenv("SILVERPOINT_DIR")) + "-atrace";
        (void)mkdir(base.c_str(), 0700);
        return base;
    }();
    return path;
}

inline std::string read_file(const std::string& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

inline std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> all;
    std::stringstream stream(text);
    for (std::string line; std::getline(stream, line);) all.push_back(line);
    return all;
}

// Written by another name and moved into place.
inline void set_properties(const std::string& text) {
    const std::string path = place() + "/properties";
    std::ofstream(path + ".new") << text;
    ASSERT_EQ(std::rename((path + ".new").c_str(), path.c_str()), 0);
}

// The state follows the file in a thread of its own.
inline void become(const std::string& text, atrace::Tag tags) {
    set_properties(text);
    const auto start = std::chrono::steady_clock::now();
    while (silverpoint::detail::atrace_state.marker_tags() != tags) {
        ASSERT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(120)) << text;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

// One call of each kind.
inline void call_everything() {
    atrace::begin(atrace::kApp, "outer");
    {
        SP_ATRACE("inner");
        atrace::instant(atrace::kApp, "point|of\ntime");
        atrace::track_instant(atrace::kApp, "track", "point");
    }
    atrace::int32(atrace::kApp, "small", INT32_MIN);
    atrace::int64(atrace::kApp, "large", INT64_MAX);
    atrace::async_begin(atrace::kApp, "load", -7);
    std::thread([] { atrace::async_end(atrace::kApp, "load", -7); }).join();
    atrace::track_begin(atrace::kApp, "net", "fetch", 8);
    atrace::track_end(atrace::kApp, "net", 8);
    { SP_ATRACE_TAG(atrace::kGraphics, "off"); }
    atrace::begin(atrace::kApp, std::string(3000, 'x'));
    atrace::end(atrace::kApp);
    atrace::end(atrace::kApp);
}

// What the kernel is given for that; the tag kGraphics is off.
inline std::vector<std::string> messages(pid_t process) {
    const std::string pid = "|" + std::to_string(process);
    const std::string begin = "B" + pid + "|";
    return {begin + "outer",
            begin + "inner",
            "I" + pid + "|point/of time",
            "N" + pid + "|track|point",
            "E" + pid,
            "C" + pid + "|small|-2147483648",
            "C" + pid + "|large|9223372036854775807",
            "S" + pid + "|load|-7",
            "F" + pid + "|load|-7",
            "G" + pid + "|net|fetch|8",
            "H" + pid + "|net|8",
            begin + std::string(1023 - begin.size(), 'x'),
            "E" + pid,
            "E" + pid};
}

class Atrace : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        std::ofstream(place() + "/marker").flush();
        // Where there is none, until a test needs it.
        setenv("SILVERPOINT_ATRACE_MARKER", (place() + "/absent").c_str(), 1);
        setenv("SILVERPOINT_ATRACE_PROPERTIES", (place() + "/properties").c_str(), 1);
        EXPECT_EQ(silverpoint::detail::atrace_state.marker_tags(), 0u);
    }
    static void TearDownTestSuite() {
        for (const char* name : {"/marker", "/properties"}) std::remove((place() + name).c_str());
        rmdir(place().c_str());
    }
    void SetUp() override {
        ASSERT_EQ(truncate((place() + "/marker").c_str(), 0), 0);
        const bool needs_none =
            testing::UnitTest::GetInstance()->current_test_info()->name() == std::string("TheRingAlone");
        if (needs_none && has_marker) GTEST_SKIP() << "it has been opened: this one comes first";
        if (!needs_none && !has_marker) {
            setenv("SILVERPOINT_ATRACE_MARKER", (place() + "/marker").c_str(), 1);
            has_marker = true;
        }
        (void)traced::take();
    }
    static inline bool has_marker = false;
    static std::vector<std::string> marker() { return lines_of(read_file(place() + "/marker")); }
};
