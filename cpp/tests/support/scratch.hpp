// A directory of a test's own.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

// Made now, for this user alone. No other process has it, nor had it: a number of a process comes again.
inline std::filesystem::path scratch_directory(const std::string& of) {
    std::string name = (std::filesystem::temp_directory_path() / ("silverpoint-" + of + "-XXXXXX")).string();
    if (mkdtemp(name.data()) != nullptr) return name;
    std::perror("mkdtemp");
    std::abort();
}
