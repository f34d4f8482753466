// What tests of the logger inside the process share.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "scratch.hpp"
#include "silverpoint/logger.hpp"

namespace fs = std::filesystem;
using silverpoint::logger_config;
using silverpoint::sink;

// A directory that is removed in the end.
class LoggerTest : public testing::Test {
  protected:
    void SetUp() override { directory_ = scratch_directory("logger"); }
    void TearDown() override {
        silverpoint::stop();
        fs::remove_all(directory_);
    }

    std::string path(const std::string& name) const { return (directory_ / name).string(); }

    std::vector<std::string> lines(const std::string& name) const {
        std::ifstream file(directory_ / name);
        std::vector<std::string> found;
        for (std::string line; std::getline(file, line);) found.push_back(line);
        return found;
    }

    fs::path directory_;
};

// How a forked child ends that does this; it is killed when it hangs.
inline int in_child(const std::function<int()>& what) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(300);
        exit(what());
    }
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child ? status : -1;
}
