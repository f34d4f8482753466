// ATrace into the kernel's own trace_marker. Part of atrace_test.
#include <errno.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "atrace_fixture.hpp"

namespace {

// A buffer of its own in the kernel, where this machine lets a test have one; tracefs is mounted if it is
// nowhere yet.
class Instance {
  public:
    Instance() {
        std::string root;
        for (const char* known : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"})
            if (root.empty() && access((std::string(known) + "/trace_marker").c_str(), F_OK) == 0)
                root = known;
        if (root.empty()) {
            root = mounted = ::place() + "/tracefs";
            (void)mkdir(root.c_str(), 0700);
            if (mount("nodev", root.c_str(), "tracefs", 0, nullptr) != 0) {
                why = std::string("mount: ") + strerror(errno);
                (void)rmdir(root.c_str());
                mounted.clear();
                return;
            }
        }
        const std::string own = root + "/instances/silverpoint-cpp-" + std::to_string(getpid());
        if (mkdir(own.c_str(), 0700) != 0) {
            why = own + ": " + strerror(errno);
            return;
        }
        path = own;
        std::ofstream(path + "/tracing_on") << "1";
    }
    ~Instance() {
        if (!path.empty()) (void)rmdir(path.c_str());
        if (mounted.empty()) return;
        (void)umount2(mounted.c_str(), MNT_DETACH);
        (void)rmdir(mounted.c_str());
    }
    Instance(const Instance&) = delete;
    Instance& operator=(const Instance&) = delete;
    // What the kernel has been given, in order.
    std::vector<std::string> messages() const {
        const std::string before = ": tracing_mark_write: ";
        std::vector<std::string> all;
        for (const std::string& line : lines_of(read_file(path + "/trace"))) {
            const std::size_t at = line.find(before);
            if (at != line.npos) all.push_back(line.substr(at + before.size()));
        }
        return all;
    }
    std::string path, why;  // empty: there is none, and why
  private:
    std::string mounted;
};

// By another process, which has opened nothing else yet.
TEST_F(Atrace, TheKernelHasWhatWasWritten) {
    if (std::getenv("TEST_RUNNER") != nullptr) GTEST_SKIP() << "an emulator does not start programs";
    const Instance instance;
    if (instance.path.empty()) GTEST_SKIP() << "there is no tracefs: " << instance.why;
    const pid_t child = fork();
    if (child == 0) {
        setenv("SILVERPOINT_ATRACE_MARKER", (instance.path + "/trace_marker").c_str(), 1);
        unsetenv("SILVERPOINT_ATRACE_PROPERTIES");
        setenv("debug.atrace.tags.enableflags", "0x1000", 1);
        setenv("SILVERPOINT_FILTER", "off", 1);
        // Room for the marker beyond the limit of descriptors.
        rlimit limit{};
        getrlimit(RLIMIT_NOFILE, &limit);
        limit.rlim_cur = std::min<rlim_t>(256, limit.rlim_cur);
        setrlimit(RLIMIT_NOFILE, &limit);
        execl("/proc/self/exe", "atrace_test", "--gtest_filter=AtraceKernel.DISABLED_Calls",
              "--gtest_also_run_disabled_tests", nullptr);
        _exit(2);
    }
    int status = 1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
    std::vector<std::string> expected = messages(child);
    expected.push_back("I|" + std::to_string(child) + "|all descriptors were closed");
    EXPECT_EQ(instance.messages(), expected);
}
// What that process does.
TEST(AtraceKernel, DISABLED_Calls) {
    call_everything();
    for (int descriptor = 3; descriptor < 512; ++descriptor) close(descriptor);
    errno = EDOM;
    atrace::instant(atrace::kApp, "all descriptors were closed");
    EXPECT_EQ(errno, EDOM);
}

}  // namespace
