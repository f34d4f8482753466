// Programs that life_test starts, and what their sessions say.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "support/beside.hpp"
#include "support/reader.hpp"

namespace life {

using Environment = std::map<std::string, std::string>;

struct Ran {
    pid_t pid;
    int status;
    std::string errors;
};

inline Ran run(const std::string& program, const std::string& argument = "",
               const Environment& environment = {}) {
    int pipes[2];
    if (pipe(pipes) != 0) reader::fail("pipe");
    const pid_t child = fork();
    if (child == 0) {
        for (const auto& [name, value] : environment) {
            if (value == "(unset)") {
                unsetenv(name.c_str());
            } else {
                setenv(name.c_str(), value.c_str(), 1);
            }
        }
        dup2(pipes[1], 2);
        execl(beside(program).c_str(), program.c_str(), argument.empty() ? nullptr : argument.c_str(),
              nullptr);
        _exit(126);
    }
    close(pipes[1]);
    Ran ran{child, 0, ""};
    char buffer[512];
    for (ssize_t got; (got = read(pipes[0], buffer, sizeof buffer)) > 0;)
        ran.errors.append(buffer, static_cast<std::size_t>(got));
    close(pipes[0]);
    waitpid(child, &ran.status, 0);
    return ran;
}

inline std::vector<std::string> texts(const reader::Session& session) {
    std::vector<std::pair<std::uint64_t, std::string>> timed;
    for (const auto& record : session.records())
        if (record.site >= 16) timed.emplace_back(record.ticks, session.site(record.site).text);
    std::stable_sort(timed.begin(), timed.end());
    std::vector<std::string> all;
    for (const auto& [ticks, text] : timed)
        if (text != "outlives {}") all.push_back(text);
    return all;
}

}  // namespace life
