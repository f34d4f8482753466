// What is recorded before a logger starts, between two, after the last one and after main comes out too. The
// programs are beside this one.
#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

// Both libraries, whose ends come at different moments, and C.
class LoggerLife : public testing::TestWithParam<const char*> {
  protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "silverpoint-life-XXXXXX").string();
        directory_ = mkdtemp(pattern.data());
        fs::create_directory(directory_ / "sessions");
        fs::permissions(directory_ / "sessions", fs::perms::owner_all);
    }
    void TearDown() override { fs::remove_all(directory_); }

    // Runs the program, and waits until it and all its children have closed their standard output.
    int run(const std::string& mode) {
        const std::string sessions = (directory_ / "sessions").string(),
                          log = (directory_ / "app.log").string();
        const fs::path program = fs::read_symlink("/proc/self/exe").parent_path() / GetParam();
        const std::string command = "env -u SILVERPOINT_FILTER SILVERPOINT_DIR='" + sessions + "' '" +
                                    program.string() + "' " + mode + " '" + log + "'";
        FILE* output = popen(command.c_str(), "r");
        if (output == nullptr) return -1;
        while (std::fgetc(output) != EOF) {
        }
        return pclose(output);
    }

    // The messages of the log.
    std::vector<std::string> messages() const {
        std::ifstream file(directory_ / "app.log");
        std::vector<std::string> found;
        for (std::string line; std::getline(file, line);) {
            for (const char* message :
                 {"static constructor", "before start", "is not kept", "first logger", "between",
                  "second logger", "after stop", "static destructor", "late destructor", "parent", "child",
                  "plugin constructor", "plugin 41", "plugin destructor", "unloaded"})
                if (line.find(message) != std::string::npos) found.emplace_back(message);
        }
        return found;
    }

    // What is left beside the log, and of sessions.
    std::vector<std::string> leftovers() const {
        std::vector<std::string> found;
        for (const auto& entry : fs::directory_iterator(directory_))
            if (entry.path().filename() != "app.log" && entry.path().filename() != "sessions")
                found.push_back(entry.path().filename().string());
        for (const auto& entry : fs::directory_iterator(directory_ / "sessions"))
            found.push_back(entry.path().filename().string());
        return found;
    }

    fs::path directory_;
};

TEST_P(LoggerLife, RecordsBeforeBetweenAndAfterLoggersComeOut) {
    ASSERT_EQ(run("whole"), 0);
    const std::vector<std::string> expected{
        "static constructor", "before start", "first logger",      "between",
        "second logger",      "after stop",   "static destructor", "late destructor"};
    EXPECT_EQ(messages(), expected);
    EXPECT_EQ(leftovers(), std::vector<std::string>{});
}

TEST_P(LoggerLife, WithoutAnyLoggerNothingIsLeftBehind) {
    ASSERT_EQ(run("never"), 0);
    EXPECT_EQ(messages(), std::vector<std::string>{});
    EXPECT_EQ(leftovers(), std::vector<std::string>{});
}

TEST_P(LoggerLife, ADaemonThatClosesAllDescriptorsGoesOnInTheSameLog) {
    ASSERT_EQ(run("daemon"), 0);
    const std::vector<std::string> expected{"static constructor", "parent", "child", "static destructor",
                                            "late destructor"};
    EXPECT_EQ(messages(), expected);
    EXPECT_EQ(leftovers(), std::vector<std::string>{});
}

TEST_P(LoggerLife, WhatIsPrintedWithoutStandardStreamsComesIntoNoFileOfTheLoggers) {
    ASSERT_EQ(run("bare"), 0);
    const std::vector<std::string> expected{"static constructor", "parent", "child", "static destructor",
                                            "late destructor"};
    EXPECT_EQ(messages(), expected);
    EXPECT_EQ(leftovers(), std::vector<std::string>{});
    std::ifstream file(directory_ / "app.log");
    for (std::string line; std::getline(file, line);) EXPECT_EQ(line.find("stray"), line.npos) << line;
}

TEST_P(LoggerLife, PluginsThatWereUnloadedHaveTheirRecords) {
    ASSERT_EQ(run("plugin"), 0);
    std::vector<std::string> expected{"static constructor"};
    for (int round = 0; round < 3; ++round)
        for (const char* message : {"plugin constructor", "plugin 41", "plugin destructor", "unloaded"})
            expected.emplace_back(message);
    expected.emplace_back("static destructor");
    expected.emplace_back("late destructor");
    EXPECT_EQ(messages(), expected);
    EXPECT_EQ(leftovers(), std::vector<std::string>{});
}

INSTANTIATE_TEST_SUITE_P(Libraries, LoggerLife,
                         testing::Values("logger_life_static", "logger_life_shared", "logger_life_c"));

}  // namespace
