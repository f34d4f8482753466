// The beginning and the end of programs. Plug-ins: life_plugins.cpp.
#include "life.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <silverpoint/silverpoint.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <tuple>

#include "support/beside.hpp"
#include "support/scratch.hpp"
#include "support/traced.hpp"

namespace {

using namespace life;
using reader::Session;

TEST(Life, BeforeMainAndAfterIt) {
    const Ran ran = run("life");
    EXPECT_EQ(ran.status, 0);
    const Session session(Session::path_of(ran.pid));
    EXPECT_FALSE(session.is_alive());
    EXPECT_EQ(texts(session), (std::vector<std::string>{"early constructor", "static constructor", "main",
                                                        "part", "thread destructor", "atexit",
                                                        "static destructor", "late destructor"}));
    EXPECT_EQ(session.get<std::uint32_t>(528), 0u);  // a clean leave, once for both translation units
    EXPECT_GE(session.get<std::uint32_t>(536), 2u);  // with a closing anchor
    EXPECT_EQ(session.get<std::uint32_t>(16), 2u);   // demanded by the environment
}

TEST(Life, ACrashLosesNothing) {
    const Ran ran = run("life", "abort");
    EXPECT_TRUE(WIFSIGNALED(ran.status));
    const Session session(Session::path_of(ran.pid));
    EXPECT_EQ(texts(session),
              (std::vector<std::string>{"early constructor", "static constructor", "before abort"}));
}

TEST(Life, AProgramThatRecordedNothingLeavesNothing) {
    const Ran quiet = run("quiet", "", {{"SILVERPOINT_FILTER", "(unset)"}});
    EXPECT_EQ(quiet.status, 0);
    EXPECT_EQ(quiet.errors, "");
    EXPECT_TRUE(Session::paths_of(quiet.pid).empty());
}

TEST(Life, AStartSweepsWhatDeadSessionsLeft) {
    const std::string root = std::string(std::getenv("SILVERPOINT_DIR")) + "/swept";
    ASSERT_EQ(mkdir(root.c_str(), 0700), 0);
    const Environment here{{"SILVERPOINT_DIR", root}};
    // Killed with nothing recorded; with records; a stranger's directory; one that is being made, and was
    // long ago.
    const Ran empty = run("life", "silent", {{"SILVERPOINT_DIR", root}, {"SILVERPOINT_FILTER", "off"}});
    const Ran full = run("life", "abort", here);
    for (const char* name : {"/1-2", "/notes", "/.new-1-2", "/.new-3-4"}) mkdir((root + name).c_str(), 0700);
    const timespec old[2] = {{1000, 0}, {1000, 0}};
    utimensat(AT_FDCWD, (root + "/.new-3-4").c_str(), old, 0);
    const Ran last = run("life", "abort", here);
    std::string names;
    DIR* directory = opendir(root.c_str());
    while (const dirent* entry = readdir(directory))
        names += std::string(entry->d_name).substr(0, std::string(entry->d_name).rfind('-')) + "|";
    closedir(directory);
    const auto has = [&](pid_t pid) { return names.find(std::to_string(pid) + "-") != std::string::npos; };
    EXPECT_FALSE(has(empty.pid)) << names;
    EXPECT_TRUE(has(full.pid)) << names;
    EXPECT_TRUE(has(last.pid)) << names;
    EXPECT_EQ(access((root + "/notes").c_str(), F_OK), 0);
    EXPECT_EQ(access((root + "/1-2").c_str(), F_OK), 0);
    EXPECT_EQ(access((root + "/.new-1-2").c_str(), F_OK), 0);
    EXPECT_NE(access((root + "/.new-3-4").c_str(), F_OK), 0);
    // Many of them are kept within bounds.
    for (int i = 0; i < 40; ++i) run("life", "abort", here);
    int sessions = 0;
    directory = opendir(root.c_str());
    while (const dirent* entry = readdir(directory)) {
        const std::string name = entry->d_name;
        sessions += name[0] != '.' && std::count(name.begin(), name.end(), '-') == 2;
    }
    closedir(directory);
    EXPECT_LE(sessions, 33);
    EXPECT_GE(sessions, 30);
}

// A collector that comes for it must not find its lock taken, not even for a moment: so the lock is not even
// looked at.
TEST(Life, AStartLeavesTheCollectorsLockOfTheLivingAlone) {
    const std::string root = std::string(std::getenv("SILVERPOINT_DIR")) + "/living";
    const std::string session = root + "/1-2-3";
    ASSERT_EQ(mkdir(root.c_str(), 0700), 0);
    ASSERT_EQ(mkdir(session.c_str(), 0700), 0);
    std::ofstream(session + "/collector") << "";
    const int owner = open((session + "/owner").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_len = 1;
    ASSERT_EQ(fcntl(owner, F_OFD_SETLK, &lock), 0);
    const int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    ASSERT_GE(inotify_add_watch(watch, (session + "/collector").c_str(), IN_OPEN), 0);
    const auto was_opened = [&] {
        inotify_event events[16] = {};
        return read(watch, events, sizeof events) > 0 && (events[0].mask & IN_OPEN) != 0;
    };
    EXPECT_EQ(run("life", "silent", {{"SILVERPOINT_DIR", root}}).status, 0);
    EXPECT_EQ(access(session.c_str(), F_OK), 0);
    EXPECT_FALSE(was_opened());
    close(owner);
    EXPECT_EQ(run("life", "silent", {{"SILVERPOINT_DIR", root}}).status, 0);
    EXPECT_NE(access(session.c_str(), F_OK), 0) << "it is dead now";
    EXPECT_TRUE(was_opened());
    close(watch);
}

TEST(Life, OffMeansNoSession) {
    const Ran ran = run("life", "silent", {{"SILVERPOINT_OFF", "1"}});
    EXPECT_EQ(ran.status, 0);
    EXPECT_TRUE(Session::paths_of(ran.pid).empty());
}

TEST(Life, NoUsableRootNoHarm) {
    const std::string root = std::getenv("SILVERPOINT_DIR");
    // A link to a directory is not followed, a foreign mode is not accepted; the next root is taken.
    const std::string link = root + "/link", open_to_all = root + "/open", file = root + "/file";
    ASSERT_EQ(symlink("/tmp", link.c_str()), 0);
    ASSERT_EQ(mkdir(open_to_all.c_str(), 0700), 0);
    ASSERT_EQ(chmod(open_to_all.c_str(), 0755), 0);
    std::ofstream(file) << "x";
    for (const std::string& bad : {link, open_to_all, file, root + "/no/such/parent"}) {
        const Ran ran = run("life", "silent", {{"SILVERPOINT_DIR", bad}});
        EXPECT_EQ(ran.status, 0) << bad;
        if (bad == open_to_all) {
            EXPECT_TRUE(access((bad + "/control").c_str(), F_OK) != 0);
        }
    }
    unlink(link.c_str());
    rmdir(open_to_all.c_str());
    unlink(file.c_str());
}

TEST(Life, AFileSizeLimitDoesNotKill) {
    // SIGXFSZ would.
    EXPECT_EQ(run("limited_life").status, 0);
}

// A file system of 1 MiB, gone with the test; empty where none may be mounted.
class SmallDisk {
  public:
    SmallDisk() : path_(std::string(std::getenv("SILVERPOINT_DIR")) + "/small") {
        mkdir(path_.c_str(), 0700);
        is_mounted_ = mount("small", path_.c_str(), "tmpfs", 0, "size=1m,mode=0700") == 0;
    }
    ~SmallDisk() {
        if (is_mounted_) umount(path_.c_str());
        rmdir(path_.c_str());
    }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;

    explicit operator bool() const { return is_mounted_; }
    const std::string& path() const { return path_; }
    // A collector is there, so that each loss is counted. No thread waits for it.
    Environment environment() const {
        return {{"SILVERPOINT_DIR", path_},
                {"SILVERPOINT_FILTER", "info"},
                {"SILVERPOINT_COLLECTOR", "1"},
                {"SILVERPOINT_POLICY", "drop"}};
    }
    std::string session_of(const Ran& ran) const {
        std::string found;
        for (const auto& entry : std::filesystem::directory_iterator(path_))
            if (entry.path().filename().string().rfind(std::to_string(ran.pid) + "-", 0) == 0)
                found = entry.path();
        return found;
    }

  private:
    std::string path_;
    bool is_mounted_ = false;
};

constexpr unsigned kNoMemory = 3, kNoSite = 6;

std::uint64_t losses_of(const Session& session, unsigned cause) {
    std::uint64_t sum = session.get<std::uint64_t>(560 + 8 * cause);
    for (const reader::Ring& ring : session.rings()) sum += ring.losses(cause);
    return sum;
}

// Every call is a record or a loss, and a thread without a ring is reported. The number of records.
std::size_t expect_accounted(const Session& session, std::uint64_t calls, const Ran& ran) {
    std::size_t records = 0;
    for (const auto& record : session.records()) records += record.site >= 16;
    std::uint64_t losses = 0;
    for (unsigned cause = 0; cause < 8; ++cause) losses += losses_of(session, cause);
    EXPECT_EQ(records + losses, calls);
    if (losses_of(session, kNoMemory) != 0) {
        EXPECT_NE(ran.errors.find("no memory for another ring"), std::string::npos) << ran.errors;
    }
    return records;
}

// Memory that is not there is found out before it is written to, by either way that kernels have. `memory`:
// asked for by the user, more than there is.
void full_disk(const std::string& crowd, const char* memory = nullptr) {
    const SmallDisk small;
    if (!small) GTEST_SKIP() << "cannot mount";
    Environment environment = small.environment();
    if (memory != nullptr) environment["SILVERPOINT_MEMORY"] = memory;
    int sessions = 0, full = 0;
    for (const char* filler : {"", "500k", "900k", "1000k", "1024k"}) {
        for (const auto& [mode, calls, few] :
             {std::tuple{"many", 100'000, 100U}, std::tuple{"threads", 6'000, 100U},
              std::tuple{"large", 3'000, 5U}}) {
            SCOPED_TRACE(crowd + " " + filler + " " + mode);
            const std::string fill = small.path() + "/fill";
            if (*filler != 0) {
                const int fd = open(fill.c_str(), O_RDWR | O_CREAT, 0600);
                const int kib = std::atoi(filler);
                if (posix_fallocate(fd, 0, kib * 1024) != 0) {
                    EXPECT_GE(kib, 900);
                }
                close(fd);
            }
            const Ran ran = run(crowd, mode, environment);
            EXPECT_EQ(ran.status, 0) << ran.errors;
            EXPECT_LT(std::count(ran.errors.begin(), ran.errors.end(), '\n'), 3);
            unlink(fill.c_str());  // a reader needs memory, too
            if (const std::string path = small.session_of(ran); !path.empty()) {
                ++sessions;
                const std::size_t records =
                    expect_accounted(Session(path), static_cast<std::uint64_t>(calls), ran);
                EXPECT_TRUE(records > few || *filler != 0) << records;
            } else {
                ++full;
                EXPECT_NE(ran.errors.find("no session could be made"), std::string::npos) << ran.errors;
            }
            std::filesystem::remove_all(small.session_of(ran));
        }
    }
    EXPECT_GE(sessions, 2);
    EXPECT_GE(full, 1);
}

TEST(Life, AFullDiskIsNoHarm) { full_disk("crowd"); }
TEST(Life, AFullDiskIsNoHarmWithAnOldKernel) { full_disk("old_kernel"); }
TEST(Life, ADiskThatHoldsNoWholeRingIsNoHarm) { full_disk("crowd", "8M"); }
TEST(Life, ADiskThatHoldsNoWholeRingIsNoHarmWithAnOldKernel) { full_disk("old_kernel", "8M"); }

// A directory that was named is used or refused: sessions are in no other.
TEST(Life, ANamedRootThatOthersMayEnterIsRefused) {
    const std::string root = scratch_directory("wide");
    chmod(root.c_str(), 0755);
    for (const char* filter : {"", "info"}) {
        Environment environment = {{"SILVERPOINT_DIR", root}};
        environment["SILVERPOINT_FILTER"] = *filter != 0 ? filter : "(unset)";
        const Ran ran = run("crowd", "many", environment);
        EXPECT_EQ(ran.status, 0) << ran.errors;
        EXPECT_EQ(std::count(ran.errors.begin(), ran.errors.end(), '\n'), 1) << ran.errors;
        EXPECT_NE(ran.errors.find("SILVERPOINT_DIR names " + root), std::string::npos) << ran.errors;
        EXPECT_NE(ran.errors.find("nothing is recorded"), std::string::npos) << ran.errors;
    }
    EXPECT_TRUE(std::filesystem::is_empty(root));
    std::filesystem::remove_all(root);
}

// A word that is no level is reported, and the rest of the text counts.
TEST(Life, AMalformedDirectiveIsSaid) {
    const std::string root = scratch_directory("filter");
    chmod(root.c_str(), 0700);
    for (const auto& [filter, lines] :
         {std::pair{"inof", 1}, {"warning,c[span]=debug", 2}, {"info,net=debug,*.cpp:8=off", 0}}) {
        const Ran ran = run("crowd", "many", {{"SILVERPOINT_DIR", root}, {"SILVERPOINT_FILTER", filter}});
        EXPECT_EQ(ran.status, 0) << ran.errors;
        std::size_t said = 0;
        for (std::size_t at = 0; (at = ran.errors.find("SILVERPOINT_FILTER: '", at)) != std::string::npos;
             ++at)
            ++said;
        EXPECT_EQ(said, static_cast<std::size_t>(lines)) << filter << ": " << ran.errors;
    }
    std::filesystem::remove_all(root);
}

// An attempt that finds no memory uses nothing up. When there is memory again, sites, slices and slabs are
// there. Every call is accounted for, and a site that is off loses nothing.
void passing_shortage(const std::string& crowd) {
    const SmallDisk small;
    if (!small) GTEST_SKIP() << "cannot mount";
    const Ran ran = run(crowd, "scarce", small.environment());
    ASSERT_EQ(ran.status, 0) << ran.errors;
    const std::string path = small.session_of(ran);
    ASSERT_FALSE(path.empty()) << ran.errors;
    const Session session(path);
    constexpr std::uint64_t calls = 20'000, living = 40;
    expect_accounted(session, calls + 1 + 1 + living + calls + 1, ran);
    EXPECT_EQ(losses_of(session, kNoSite), calls);
    EXPECT_GE(losses_of(session, kNoMemory), calls);
    const auto all = texts(session);
    EXPECT_EQ(std::count(all.begin(), all.end(), "no site {}"), 1);
    EXPECT_EQ(std::count(all.begin(), all.end(), "room again"), 1);
    EXPECT_GT(std::count(all.begin(), all.end(), "no ring {}"), 1);
    EXPECT_EQ(session.get<std::uint32_t>(512), 4u) << "sites, and no entry was wasted";
    EXPECT_LT(session.get<std::uint32_t>(516) * 8, 8u * 1024) << "bytes of descriptions";
    EXPECT_LE(session.get<std::uint32_t>(520), 2u) << "slabs";
}

TEST(Life, AShortageOfMemoryPasses) { passing_shortage("crowd"); }
TEST(Life, AShortageOfMemoryPassesWithAnOldKernel) { passing_shortage("old_kernel"); }

// A program that has the privileges of another user must not write where its caller says.
TEST(Life, ASetuidProgramMakesNoSession) {
    if (geteuid() != 0) GTEST_SKIP() << "a program of another user can be made by root only";
    constexpr uid_t kOther = 65'533;
    char scratch[] = "/tmp/silverpoint-setuid-XXXXXX";
    ASSERT_NE(mkdtemp(scratch), nullptr);
    ASSERT_EQ(chmod(scratch, 0755), 0);
    const std::string root = std::string(scratch) + "/root", program = std::string(scratch) + "/program";
    // The other user gets to the root of sessions, and owns it.
    ASSERT_EQ(mkdir(root.c_str(), 0700), 0);
    ASSERT_EQ(chown(root.c_str(), kOther, kOther), 0);
    ASSERT_EQ(std::system(("cp '" + beside("life") + "' '" + program + "'").c_str()), 0);
    ASSERT_EQ(chown(program.c_str(), kOther, kOther), 0);
    const auto sessions_after = [&](mode_t mode, uid_t user) {
        chmod(program.c_str(), mode);
        const pid_t child = fork();
        if (child == 0) {
            setenv("SILVERPOINT_DIR", root.c_str(), 1);
            if (setgid(user) != 0 || setuid(user) != 0) _exit(125);
            execl(program.c_str(), "program", "abort", nullptr);
            _exit(126);
        }
        int status = 0;
        waitpid(child, &status, 0);
        EXPECT_EQ(WTERMSIG(status), SIGABRT);  // so that a session stays
        return std::distance(std::filesystem::directory_iterator(root), {});
    };
    EXPECT_EQ(sessions_after(04755, 0), 0) << "privileges of another user";
    EXPECT_EQ(sessions_after(0755, kOther), 1) << "none";
    std::filesystem::remove_all(scratch);
}

}  // namespace
