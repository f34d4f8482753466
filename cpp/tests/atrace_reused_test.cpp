// A program closes the descriptor of ATrace's marker, and has files of its own: none of them gets a message.
#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <silverpoint/atrace.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace {

// Descriptors that the program may have.
constexpr int kLimit = 256;

// With true the marker's number is beyond the limit; with false there is no room beyond it.
class AtraceReused : public testing::TestWithParam<bool> {
  protected:
    // Calls `body` in a forked child, with the state of ATrace, whose marker is a file. It returns 0, or the
    // line that failed. Compares what was written.
    template <class Body>
    void run(Body body, const std::string& expected) {
        const std::string base = std::string(std::getenv("SILVERPOINT_DIR")) + "-reused";
        (void)mkdir(base.c_str(), 0700);
        marker_ = base + "/marker", own_ = base + "/own";
        std::ofstream(marker_).flush();
        std::ofstream(own_).flush();
        const pid_t child = fork();
        if (child == 0) {
            const rlimit limit{kLimit, static_cast<rlim_t>(GetParam() ? kLimit + 200 : kLimit)};
            if (setrlimit(RLIMIT_NOFILE, &limit) != 0) _exit(1);
            setenv("SILVERPOINT_ATRACE_MARKER", marker_.c_str(), 1);
            setenv("debug.atrace.tags.enableflags", "0x1000", 1);
            silverpoint::detail::AtraceState state;
            state.update();
            state.write("first\n");
            rlimit after{};
            getrlimit(RLIMIT_NOFILE, &after);
            if (after.rlim_cur != limit.rlim_cur || after.rlim_max != limit.rlim_max) _exit(2);
            _exit(body(state));
        }
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
        EXPECT_EQ(text_of(marker_), expected);
        EXPECT_EQ(text_of(own_), "");
    }
    static std::string text_of(const std::string& path) {
        std::stringstream text;
        text << std::ifstream(path).rdbuf();
        return text.str();
    }
    // The number of the marker's descriptor; -1 if it is closed.
    int number() const {
        struct stat marker, found;
        if (stat(marker_.c_str(), &marker) != 0) return -1;
        for (int fd = 0; fd < kLimit + 200; ++fd)
            if (fstat(fd, &found) == 0 && found.st_dev == marker.st_dev && found.st_ino == marker.st_ino)
                return fd;
        return -1;
    }
    // Puts the program's file under that number, closed before or not. False: the system does otherwise than
    // the limit lets expect.
    bool put_under_number(int own, bool is_closed_before) const {
        const int under = number();
        if (under < 0 || (under >= kLimit) != GetParam()) return false;
        if (is_closed_before && close(under) != 0) return false;
        return (dup2(own, under) == under) != GetParam();
    }
    int open_own() const { return open(own_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC); }

    std::string marker_, own_;
};

TEST_P(AtraceReused, AFileUnderTheMarkersNumberGetsNoMessage) {
    run(
        [&](auto& state) {
            const int own = open_own();
            if (!put_under_number(own, true)) return __LINE__ & 0xFF;
            state.write("second\n");
            if (!put_under_number(own, false)) return __LINE__ & 0xFF;
            state.write("third\n");
            return 0;
        },
        "first\nsecond\nthird\n");
}

TEST_P(AtraceReused, APipeAndASocketUnderTheMarkersNumberGetNoMessage) {
    run(
        [&](auto& state) {
            char byte;
            int pipes[2], sockets[2];
            if (pipe2(pipes, O_NONBLOCK) != 0) return __LINE__ & 0xFF;
            if (!put_under_number(pipes[1], true)) return __LINE__ & 0xFF;
            state.write("second\n");
            if (read(pipes[0], &byte, 1) != -1 || errno != EAGAIN) return __LINE__ & 0xFF;
            if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sockets) != 0) return __LINE__ & 0xFF;
            if (!put_under_number(sockets[1], true)) return __LINE__ & 0xFF;
            state.write("third\n");
            if (read(sockets[0], &byte, 1) != -1 || errno != EAGAIN) return __LINE__ & 0xFF;
            return 0;
        },
        "first\nsecond\nthird\n");
}

// A forked child closes all descriptors, and opens as many files as it may. Its parent goes on.
TEST_P(AtraceReused, FilesOfAForkedDaemonGetNoMessage) {
    run(
        [&](auto& state) {
            const int before = number();
            const pid_t child = fork();
            if (child == 0) {
                if (syscall(SYS_close_range, 3u, ~0u, 0u) != 0) _exit(1);
                bool has_number = false;
                int last = -1;
                for (int own; (own = open_own()) >= 0; last = own) has_number = has_number || own == before;
                if (has_number == GetParam()) _exit(2);
                // No descriptor is left to open the marker: the message is lost. The program's errno stays.
                errno = EDOM;
                state.write("lost\n");
                if (errno != EDOM || close(last) != 0) _exit(3);
                state.write("child\n");
                _exit(0);
            }
            int status = 1;
            waitpid(child, &status, 0);
            state.write("second\n");
            return status == 0 ? 0 : __LINE__ & 0xFF;
        },
        "first\nchild\nsecond\n");
}

INSTANTIATE_TEST_SUITE_P(Limits, AtraceReused, testing::Bool());

}  // namespace
