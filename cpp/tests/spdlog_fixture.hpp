// A directory that goes with the test, and what tests of spdlog's interface ask.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <silverpoint/spdlog.hpp>
#include <string>
#include <vector>

#include "support/traced.hpp"

namespace fs = std::filesystem;

// The directory; all loggers are let go.
class Spdlog : public testing::Test {
  protected:
    void SetUp() override {
        std::string name = fs::temp_directory_path() / "silverpoint-spdlog-XXXXXX";
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        directory_ = name;
        spdlog::shutdown();
        spdlog::set_level(spdlog::level::info);
        spdlog::set_default_logger(spdlog::null_logger_mt("test"));
    }
    void TearDown() override {
        spdlog::shutdown();
        fs::remove_all(directory_);
    }
    [[nodiscard]] std::string path(const std::string& name) const { return directory_ / name; }
    [[nodiscard]] std::string text(const std::string& name) const {
        std::ifstream file(path(name));
        return {std::istreambuf_iterator<char>(file), {}};
    }
    // On a busy machine longer than the five seconds of one call.
    static bool flushed(spdlog::logger& log) {
        for (int tries = 0; tries < 12; ++tries)
            if (log.flush()) return true;
        return false;
    }
    static const reader::Site* site(const std::vector<reader::Site>& all, const std::string& text) {
        for (const auto& one : all)
            if (one.stage == 3 && one.text == text) return &one;
        return nullptr;
    }

  private:
    fs::path directory_;
};
