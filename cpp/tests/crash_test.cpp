// What crashes leave behind. The program that crashes is beside this one (crash.cpp).
#include "silverpoint/crash.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include "support/beside.hpp"
#include "support/traced.hpp"

namespace {

using reader::Session;

struct Ran {
    pid_t pid = 0;
    int status = 0;
    std::string out;
};

Ran run(const std::string& way, const std::string& program = "crash") {
    int pipes[2];
    if (pipe(pipes) != 0) reader::fail("pipe");
    const pid_t child = fork();
    if (child == 0) {
        dup2(pipes[1], 1);
        if (way == "nothing") unsetenv("SILVERPOINT_FILTER");
        execl(beside(program).c_str(), program.c_str(), way.c_str(), nullptr);
        _exit(126);
    }
    close(pipes[1]);
    Ran ran{child, 0, ""};
    char buffer[512];
    for (ssize_t got; (got = read(pipes[0], buffer, sizeof buffer)) > 0;)
        ran.out.append(buffer, static_cast<std::size_t>(got));
    close(pipes[0]);
    waitpid(child, &ran.status, 0);
    return ran;
}

// The arguments of a process's crash records as text, in order of time; the numbers of all others.
struct Left {
    std::vector<std::string> crashes;
    std::vector<std::uint32_t> tids;
    std::size_t others = 0;
};

Left left_by(pid_t pid) {
    const Session session(Session::path_of(pid));
    Left left;
    for (const auto& record : session.records()) {
        if (record.site < 16) continue;
        const auto& site = session.site(record.site);
        if (site.category != "silverpoint.crash") {
            ++left.others;
            continue;
        }
        EXPECT_EQ(site.level, 5);
        EXPECT_EQ(record.lane, 4u);
        left.crashes.push_back(reader::text_of(record, site));
        left.tids.push_back(record.tid);
    }
    return left;
}

// A run that ends by a signal and leaves one crash record that says these things.
void expect_crash(const std::string& way, int signal, const std::vector<std::string>& says,
                  std::size_t others = 1, const std::string& program = "crash") {
    SCOPED_TRACE(way);
    const Ran ran = run(way, program);
    ASSERT_TRUE(WIFSIGNALED(ran.status)) << ran.status << " " << ran.out;
    EXPECT_EQ(WTERMSIG(ran.status), signal);
    const Left left = left_by(ran.pid);
    EXPECT_EQ(left.others, others);
    ASSERT_EQ(left.crashes.size(), 1u);
    for (const auto& part : says)
        EXPECT_NE(left.crashes[0].find(part), std::string::npos) << part << " in " << left.crashes[0];
    // The program is among the modules, with a build id if it has one.
    EXPECT_NE(left.crashes[0].find('/' + program + '"'), std::string::npos) << left.crashes[0];
}

TEST(Crash, SignalsAreRecordedAndHaveTheirDefaultAction) {
    expect_crash("segv", SIGSEGV,
                 {"\"SIGSEGV (SEGV_MAPERR) at address 0x10\" \"signal\" \"\" 11 \"SIGSEGV\" 1"});
    expect_crash("null", SIGSEGV, {"at address 0x0"});
    expect_crash("bus", SIGBUS, {"SIGBUS (BUS_ADRERR)"});
    expect_crash("abort", SIGABRT, {"SIGABRT (SI_TKILL) sent by process"});
    expect_crash("term", SIGTERM, {"SIGTERM (SI_TKILL) sent by process"});
#if defined(__x86_64__)
    expect_crash("trap", SIGILL, {"SIGILL (ILL_ILLOPN)"});
#endif
}

TEST(Crash, AStackThatIsUsedUp) {
    expect_crash("stack", SIGSEGV, {"SIGSEGV"});
    expect_crash("stack-of-thread", SIGSEGV, {"SIGSEGV"}, 2);
    expect_crash("stack-of-prepared-thread", SIGSEGV, {"SIGSEGV"});
}

TEST(Crash, ChecksAndExceptions) {
    expect_crash("check", SIGABRT, {"\"check failed: low_address == 17\" \"check\"", "crash.cpp:"});
    expect_crash("check-with-text", SIGABRT, {"\"check failed: low_address == 17\" \"check\""}, 2);
    const Ran passed = run("check-passed");
    EXPECT_EQ(passed.status, 0);
    EXPECT_EQ(passed.out, "end\n");
    expect_crash("throw", SIGABRT, {"\"uncaught std::runtime_error: out of luck\" \"exception\""});
    expect_crash("throw-number", SIGABRT, {"\"uncaught int\" \"exception\""});
    expect_crash("terminate", SIGABRT, {"\"std::terminate was called\" \"terminate\""});
}

// glibc's text of an abort. Its variable is read as memory that may not exist.
TEST(Crash, WhatTheCLibraryPrintsBeforeItAborts) {
#if !defined(__GLIBC__)
    GTEST_SKIP() << "another C library keeps no text";
#elif !defined(__x86_64__)
    GTEST_SKIP() << "an emulator of user space has no process_vm_readv";
#else
    expect_crash("assert", SIGABRT,
                 {"\"SIGABRT: crash: ", ": Assertion `low_address == 17' failed.\" \"signal\""});
    expect_crash("assert-in-long-function", SIGABRT,
                 {"\"SIGABRT: crash: ", " … ", ": Assertion `low_address == 18' failed.\" \"signal\""});
    expect_crash("assert", SIGABRT, {"\"SIGABRT: crash_c: ", "Assertion `low_address == 17' failed.\""}, 1,
                 "crash_c");
    expect_crash("heap", SIGABRT, {"\"SIGABRT: free(): invalid pointer\" \"signal\""});
    for (const char* way : {"message-nowhere", "message-within-nothing", "message-too-short",
                            "message-of-nothing", "message-kept-out"})
        expect_crash(way, SIGABRT, {"\"SIGABRT (SI_TKILL) sent by process"});
    expect_crash("message-too-long", SIGABRT, {"\"SIGABRT: text\" \"signal\""});
    // Each message is that of one abort.
    const Left left = left_by(run("assert-and-abort").pid);
    ASSERT_EQ(left.crashes.size(), 2u);
    EXPECT_NE(left.crashes[0].find("SIGABRT: crash: "), std::string::npos) << left.crashes[0];
    EXPECT_NE(left.crashes[1].find("SIGABRT (SI_TKILL)"), std::string::npos) << left.crashes[1];
#endif
}

TEST(Crash, WhateverTheThreadWasAt) {
    expect_crash("within-record", SIGSEGV, {"SIGSEGV (SEGV_MAPERR) at address 0x10"}, 4);
#if defined(__x86_64__)
    expect_crash("lost-stack", SIGSEGV, {"SIGSEGV (SEGV_MAPERR) at address 0x10"});
#endif
}

TEST(Crash, AForkedChildHasItsOwn) {
    const Ran ran = run("forked");
    EXPECT_EQ(ran.status, 0);
    int child = 0, status = 0;
    ASSERT_EQ(std::sscanf(ran.out.c_str(), "%d %d", &child, &status), 2) << ran.out;
    EXPECT_EQ(WTERMSIG(status), SIGSEGV);
    EXPECT_TRUE(left_by(ran.pid).crashes.empty());
    const Left left = left_by(child);
    EXPECT_EQ(left.crashes.size(), 1u);
    EXPECT_EQ(left.tids, std::vector<std::uint32_t>{static_cast<std::uint32_t>(child)});
}

// Of such a file the dynamic linker tells the part alone that the address is in.
TEST(Crash, AFileWhoseSegmentsLieApartHasItsBuildId) {
#ifndef __x86_64__
    GTEST_SKIP() << "an emulator of user space has no process_vm_readv";
#endif
    using namespace silverpoint::detail;
    static StackTrace room;
    prepare_stack(room);
    const auto id = [](const Module& module) {
        return std::string(reinterpret_cast<const char*>(module.build_id), module.build_id_size);
    };
    const auto address = reinterpret_cast<std::uint64_t>(&getpid);
    Module whole;
    ASSERT_TRUE(find_module(address, whole));
    find_build_id(whole);
    ASSERT_NE(id(whole), "") << "the C library has none";
    Module part = whole;
    part.build_id_size = 0;
    part.begin = address & ~std::uint64_t{4095};
    part.end = part.begin + 4096;
    find_build_id(part);
    EXPECT_EQ(id(part), id(whole));
    // A file that is nowhere has none.
    part.build_id_size = 0;
    part.base = 0;
    find_build_id(part);
    EXPECT_EQ(id(part), "");
}

TEST(Crash, TwoThreadsAtOnce) {
    for (int round = 0; round < 20; ++round) {
        const Ran ran = run("two-threads");
        ASSERT_TRUE(WIFSIGNALED(ran.status));
        EXPECT_EQ(WTERMSIG(ran.status), SIGSEGV);
        const Left left = left_by(ran.pid);
        EXPECT_TRUE(left.crashes.size() == 1 || left.crashes.size() == 2) << left.crashes.size();
    }
}

TEST(Crash, TheHandlerBeforeIsCalled) {
    const Ran plain = run("chained-plain");
    EXPECT_TRUE(WIFEXITED(plain.status) && WEXITSTATUS(plain.status) == 7) << plain.status;
    EXPECT_EQ(plain.out, "chained\n");
    EXPECT_EQ(left_by(plain.pid).crashes.size(), 1u);
    // One that is reset by its own first call: then the default.
    const Ran info = run("chained-info");
    EXPECT_TRUE(WIFSIGNALED(info.status) && WTERMSIG(info.status) == SIGSEGV) << info.status;
    EXPECT_EQ(info.out, "chained\n");
    // One that saves the program.
    const Ran jump = run("chained-jump");
    EXPECT_EQ(jump.status, 0);
    EXPECT_EQ(jump.out, "end\n");
    EXPECT_EQ(left_by(jump.pid).crashes.size(), 2u);
    // One that fails itself, and one that aborts.
    expect_crash("chained-fault", SIGSEGV, {"SIGSEGV"});
    expect_crash("chained-abort", SIGABRT, {"SIGSEGV"});
    expect_crash("chained-terminate", SIGABRT, {"out of luck"});
}

TEST(Crash, OfAProgramInC) {
    expect_crash("segv", SIGSEGV, {"\"SIGSEGV (SEGV_MAPERR) at address 0x10\" \"signal\""}, 1, "crash_c");
    expect_crash("abort", SIGABRT, {"SIGABRT (SI_TKILL) sent by process"}, 1, "crash_c");
    expect_crash("term", SIGTERM, {"SIGTERM (SI_TKILL) sent by process"}, 1, "crash_c");
    // As it stands in the source.
    expect_crash("check", SIGABRT, {"\"check failed: (int)low_address == EOF\" \"check\"", "crash_c.c:"}, 1,
                 "crash_c");
    expect_crash("check-with-text", SIGABRT,
                 {"check failed: (low_address < 17 ? 1 : 0) == (int)strlen(\"a, b\")\" \"check\""}, 2,
                 "crash_c");
    const Ran passed = run("passed", "crash_c");
    EXPECT_EQ(passed.status, 0);
    EXPECT_EQ(passed.out, "end\n");
    EXPECT_EQ(run("nothing", "crash_c").status, 0);
}

// What is kept for a crash that never comes is nothing that others should keep.
TEST(Crash, AProgramThatRecordedNothingLeavesNothing) {
    const Ran ran = run("nothing");
    EXPECT_EQ(ran.status, 0);
    EXPECT_TRUE(Session::paths_of(ran.pid).empty());
}

TEST(Crash, WhatIsIgnoredStaysIgnored) {
    const Ran ran = run("ignored");
    EXPECT_EQ(ran.out, "alive\n");
    EXPECT_TRUE(WIFSIGNALED(ran.status) && WTERMSIG(ran.status) == SIGABRT) << ran.status;
    EXPECT_EQ(left_by(ran.pid).crashes.size(), 1u);
}

}  // namespace
