// Programs and plug-ins that a test starts or loads: they are in its own directory.
#pragma once

#include <filesystem>
#include <string>

inline std::string beside(const std::string& name) {
    return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / name).string();
}
