// Where log files go, and the program's name: parts of their names.
#pragma once

#include <pwd.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "flags.hpp"

namespace google {
namespace glog_internal_namespace_ {

inline std::string host_name() {
    utsname names{};
    return uname(&names) == 0 ? names.nodename : "(unknown)";
}

inline std::string user_name() {
    if (const char* user = std::getenv("USER"); user != nullptr) return user;
    const uid_t uid = geteuid();
    char room[1024];
    passwd entry{};
    passwd* found = nullptr;
    if (getpwuid_r(uid, &entry, room, sizeof room, &found) == 0 && found != nullptr) return found->pw_name;
    return "uid" + std::to_string(uid);
}

// The program's name without directories, from InitGoogleLogging on. Kept beyond static destructors.
inline constinit std::atomic<const char*> program_name{nullptr};

inline const char* short_program_name() {
    const char* const name = program_name.load(std::memory_order_acquire);
    return name == nullptr ? "UNKNOWN" : name;
}

// Each name is kept for ever: other threads may read one after ShutdownGoogleLogging(), and destructors that
// run later may log. (It is no leak, for all stay reachable.)
inline const char* kept_program_name(const std::string& name) {
    static auto& lock = *new std::mutex;
    static auto& names = *new std::set<std::string>;
    const std::lock_guard guard(lock);
    return names.insert(name).first->c_str();
}

inline bool is_directory(const std::string& path) {
    struct stat found {};
    return stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
}

inline std::vector<std::string>* logging_directories = nullptr;

}  // namespace glog_internal_namespace_

// The directory for temporary files that exists, by the environment and by convention.
// Thread-safe: any thread, while none changes the environment. Cost: a system call for each directory that it
// tries.
inline void GetExistingTempDirectories(std::vector<std::string>* list) {
    list->clear();
    const char* const names[] = {std::getenv("TEST_TMPDIR"), std::getenv("TMPDIR"), std::getenv("TMP"),
                                 "/tmp"};
    for (const char* name : names) {
        if (name == nullptr || *name == 0) continue;
        std::string path = name;
        if (path.back() != '/') path += '/';
        if (!glog_internal_namespace_::is_directory(path)) continue;
        list->push_back(path);
        return;
    }
}

// Directories in which a log file may be made, the best first: decided when first asked for.
// Thread-safe: before other threads log; later calls from any thread. Cost: the first call looks for
// directories, later ones are a load.
inline const std::vector<std::string>& GetLoggingDirectories() {
    auto*& known = glog_internal_namespace_::logging_directories;
    if (known == nullptr) {
        auto* found = new std::vector<std::string>;
        if (!FLAGS_log_dir.empty()) {
            found->push_back(FLAGS_log_dir);
        } else {
            GetExistingTempDirectories(found);
            found->push_back("./");
        }
        known = found;
    }
    return *known;
}

// For tests: the directories are decided again.
// Thread-safe: while no other thread logs. Cost: frees the list.
inline void TestOnly_ClearLoggingDirectoriesList() {
    delete glog_internal_namespace_::logging_directories;
    glog_internal_namespace_::logging_directories = nullptr;
}

}  // namespace google
