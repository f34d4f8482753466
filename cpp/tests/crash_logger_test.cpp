// Crashes of programs with a logger inside: they are in the log, with names, before the process ends. The
// program that crashes is beside this one (crash_storm.cpp).
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "support/beside.hpp"
#include "support/traced.hpp"

namespace {

std::string log_of(const std::string& way) {
    return std::string(std::getenv("SILVERPOINT_DIR")) + "/" + way + ".log";
}

std::string content(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

// How it ended, and its log. Its standard output is beside it.
std::pair<int, std::string> run(const std::string& way) {
    const std::string file = log_of(way);
    const pid_t child = fork();
    if (child == 0) {
        unsetenv("SILVERPOINT_FILTER");
        if (dup2(open((file + ".out").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600), 1) != 1) _exit(125);
        execl(beside("crash_storm").c_str(), "crash_storm", file.c_str(), way.c_str(), nullptr);
        _exit(126);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return {status, content(file)};
}

void expect(const std::string& way, int signal, const std::string& says, const std::string& function) {
    const auto [status, text] = run(way);
    ASSERT_TRUE(WIFSIGNALED(status)) << way << ": " << status << " " << text;
    EXPECT_EQ(WTERMSIG(status), signal) << way;
    EXPECT_NE(text.find("begun"), std::string::npos) << text;
    const auto crash = text.find("silverpoint.crash");
    ASSERT_NE(crash, std::string::npos) << way << ": " << text;
    EXPECT_EQ(text.find("silverpoint.crash", crash + 1), std::string::npos) << text;
    EXPECT_NE(text.find(says, crash), std::string::npos) << text;
    EXPECT_NE(text.find("    #0 ", crash), std::string::npos) << text;
    const auto at = text.find(function, crash);
    ASSERT_NE(at, std::string::npos) << text;
    EXPECT_NE(text.find("crash_storm.cpp:", at), std::string::npos) << text;
}

TEST(CrashLogger, CrashesAreDeliveredBeforeTheEnd) {
    expect("segv", SIGSEGV, "SIGSEGV (SEGV_MAPERR) at address 0x10 in thread crash_storm", "fault (");
    expect("abort", SIGABRT, "SIGABRT (SI_TKILL) sent by process", "fail (");
    expect("assert", SIGABRT, "Assertion `low_address == 17' failed. in thread crash_storm", "fail (");
    expect("stack", SIGSEGV, "SIGSEGV", "descend (");
    expect("check", SIGABRT, "check failed: low_address == 17 at ", "fail (");
    expect("throw", SIGABRT, "uncaught std::runtime_error: out of luck", "fail (");
}

// A handler that was there before the logger. The crash is in the log before the handler is called. If it
// saves the program, the program goes on logging.
TEST(CrashLogger, TheHandlerBeforeIsCalled) {
    const auto [status, text] = run("chained");
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
    EXPECT_EQ(content(log_of("chained") + ".out"), "chained\n");
    const auto crash = text.find("SIGSEGV (SEGV_MAPERR) at address 0x10");
    ASSERT_NE(crash, text.npos) << text;
    EXPECT_LT(text.find("begun"), crash) << text;

    const auto [saved_status, saved] = run("saved");
    EXPECT_TRUE(WIFEXITED(saved_status) && WEXITSTATUS(saved_status) == 0) << saved_status;
    const auto first = saved.find("SIGSEGV (SEGV_MAPERR) at address 0x10");
    ASSERT_NE(first, saved.npos) << saved;
    EXPECT_NE(saved.find("still here", first), saved.npos) << saved;
    EXPECT_EQ(saved.find("SIGSEGV", saved.find("still here", first)), saved.npos) << saved;
}

// Lines of the console wait for a thread that prints, but not for one that never ends.
TEST(CrashLogger, OfAThreadThatHasStandardOutputToo) {
    expect("printing", SIGSEGV, "SIGSEGV (SEGV_MAPERR) at address 0x10", "fault (");
    const std::string out = content(log_of("printing") + ".out");
    EXPECT_EQ(out.find("half a line"), out.npos) << out;
    EXPECT_NE(out.find("silverpoint.crash"), out.npos) << out;
}

}  // namespace
