// Runs the tests with a session root of their own, which is removed afterwards.
//
// Sessions are made before main, so that the environment must be right when the program is executed: it
// executes itself once more.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

// The kernel's answer for memory files: one that is not on a disk.
std::string make_root() {
    for (const char* place : {"/dev/shm/silverpoint-test-XXXXXX", "/tmp/silverpoint-test-XXXXXX"}) {
        std::string root = place;
        if (mkdtemp(root.data()) != nullptr) return root;
    }
    std::perror("mkdtemp");
    std::exit(2);
}

// Tests that run one by one, or not here: the environment names them, and they count beside every filter.
void leave_out() {
    for (const char* name : {"SILVERPOINT_TEST_WITHOUT", "GTEST_FILTER"}) {
        const char* value = std::getenv(name);
        if (value == nullptr || *value == 0) continue;
        std::string without = value, filter = GTEST_FLAG_GET(filter);
        if (name == std::string("GTEST_FILTER")) {
            // (Where nothing is asked for by an argument, it is the filter.)
            if (without[0] != '-' || filter.find(without) != filter.npos) continue;
            without.erase(0, 1);
        }
        filter += (filter.find('-') == filter.npos ? "-" : ":") + without;
        GTEST_FLAG_SET(filter, filter);
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (std::getenv("SILVERPOINT_TEST_CHILD") != nullptr) {
        testing::InitGoogleTest(&argc, argv);
        leave_out();
        return RUN_ALL_TESTS();
    }
    const std::string root = make_root();
    setenv("SILVERPOINT_TEST_CHILD", "1", 1);
    setenv("SILVERPOINT_DIR", root.c_str(), 1);
    if (std::getenv("SILVERPOINT_FILTER") == nullptr) setenv("SILVERPOINT_FILTER", "trace", 1);
    const pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that is given up ends whole
        if (std::getenv("TEST_RUNNER") !=
            nullptr) {  // an emulator, which does not emulate programs that it starts
            const char* script = "exec $TEST_RUNNER \"$0\" \"$@\"";
            std::vector<char*> words = {const_cast<char*>("sh"), const_cast<char*>("-c"),
                                        const_cast<char*>(script)};
            words.insert(words.end(), argv, argv + argc + 1);
            execvp("sh", words.data());
        }
        execv("/proc/self/exe", argv);
        std::perror("execv");
        _exit(2);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) return 2;
    const std::string command = "rm -rf '" + root + "'";
    if (std::system(command.c_str()) != 0) return 2;
    if (WIFSIGNALED(status)) {
        std::fprintf(stderr, "killed by signal %d\n", WTERMSIG(status));
        return 1;
    }
    return WEXITSTATUS(status);
}
