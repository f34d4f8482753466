// The beginning and the end of programs and plug-ins. The programs are beside this one.
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

#include "support/scratch.hpp"
#include "support/traced.hpp"

namespace {

using reader::Session;
using Environment = std::map<std::string, std::string>;

std::string beside(const std::string& name) {
    char path[4096] = {};
    [[maybe_unused]] const auto len = readlink("/proc/self/exe", path, sizeof path - 1);
    const std::string self = path;
    return self.substr(0, self.rfind('/') + 1) + name;
}

struct Ran {
    pid_t pid;
    int status;
    std::string errors;
};

Ran run(const std::string& program, const std::string& argument = "", const Environment& environment = {}) {
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

std::vector<std::string> texts(const Session& session) {
    std::vector<std::pair<std::uint64_t, std::string>> timed;
    for (const auto& record : session.records())
        if (record.site >= 16) timed.emplace_back(record.ticks, session.site(record.site).text);
    std::stable_sort(timed.begin(), timed.end());
    std::vector<std::string> all;
    for (const auto& [ticks, text] : timed)
        if (text != "outlives {}") all.push_back(text);
    return all;
}

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

// --- Plug-ins.

bool is_mapped(const std::string& name) {
    std::ifstream maps("/proc/self/maps");
    const std::string all((std::istreambuf_iterator<char>(maps)), std::istreambuf_iterator<char>());
    return all.find(name) != std::string::npos;
}

TEST(Plugins, RecordIntoTheSameSessionAndAreReallyUnloaded) {
    SP_INFO("host");
    traced::take();
    std::size_t sites = 0;
    for (int round = 0; round < 50; ++round) {
        void* plugin = dlopen(beside("libplugin.so").c_str(), RTLD_NOW | RTLD_LOCAL);
        ASSERT_NE(plugin, nullptr) << dlerror();
        const auto run_plugin = reinterpret_cast<void (*)(std::uint64_t)>(dlsym(plugin, "plugin_run"));
        ASSERT_NE(run_plugin, nullptr);
        run_plugin(static_cast<std::uint64_t>(round));
        EXPECT_TRUE(is_mapped("libplugin.so"));
        ASSERT_EQ(dlclose(plugin), 0);
        EXPECT_FALSE(is_mapped("libplugin.so")) << "something keeps it";
        SP_INFO("host between {}", round);
        std::vector<std::string> seen;
        for (const auto& one : traced::take()) {
            seen.push_back(one.site.text);
            if (one.site.text != "host between {}") {
                EXPECT_EQ(one.site.category, "plugin");
            }
        }
        EXPECT_EQ(seen.size(), 9u);
        EXPECT_EQ(std::count(seen.begin(), seen.end(), "plugin destructor"), 1);
        if (round == 0) sites = traced::session().sites().size();
    }
    // Sites are found again, copies have left, slices are used again.
    EXPECT_EQ(traced::session().sites().size(), sites);
    EXPECT_EQ(traced::session().get<std::uint32_t>(528), 1u);
    EXPECT_EQ(traced::session().get<std::uint32_t>(532), 51u);
    EXPECT_LT(traced::session().rings().size(), 20u);
    EXPECT_EQ(traced::session().losses(), 0u);
}

// What follows the properties of ATrace is a thread in the plug-in's own code.
TEST(Plugins, NothingOfAtraceIsLeftWhenTheyAreUnloaded) {
    const std::string place = std::string(std::getenv("SILVERPOINT_DIR")) + "/atrace";
    ASSERT_EQ(mkdir(place.c_str(), 0700), 0);
    const std::string properties = place + "/properties", marker = place + "/marker";
    const auto set_tags = [&](int tags) {
        std::ofstream(properties) << "debug.atrace.tags.enableflags=" << tags << "\n";
    };
    set_tags(0x1000);
    std::ofstream(marker).flush();
    setenv("SILVERPOINT_ATRACE_PROPERTIES", properties.c_str(), 1);
    setenv("SILVERPOINT_ATRACE_MARKER", marker.c_str(), 1);
    const auto in_directory = [](const char* path) {
        return std::distance(std::filesystem::directory_iterator(path), {});
    };
    const auto threads = [&] { return in_directory("/proc/self/task"); };
    // One that was joined may be listed for a moment.
    const auto has_threads = [&](std::ptrdiff_t count) {
        for (int looks = 0; looks < 30'000 && threads() != count; ++looks) usleep(10'000);
        return threads() == count;
    };
    const auto descriptors = [&] { return in_directory("/proc/self/fd"); };
    const auto load = [] {
        void* plugin = dlopen(beside("libplugin.so").c_str(), RTLD_NOW | RTLD_LOCAL);
        const auto trace = reinterpret_cast<std::uint64_t (*)()>(dlsym(plugin, "plugin_trace"));
        EXPECT_EQ(trace(), 0x1001u);
        return plugin;
    };
    ASSERT_EQ(dlclose(load()), 0);  // a session is there, and what it keeps open
    auto threads_before = threads();
    for (int looks = 0; looks < 50; ++looks, usleep(10'000))
        threads_before = std::min(threads_before, threads());
    const auto descriptors_before = descriptors();
    for (int round = 0; round < 20; ++round) {
        void* plugin = load();
        EXPECT_TRUE(has_threads(threads_before + 1)) << threads();
        ASSERT_EQ(dlclose(plugin), 0);
        EXPECT_FALSE(is_mapped("libplugin.so"));
        EXPECT_TRUE(has_threads(threads_before)) << "it would go on in code that is gone";
        EXPECT_EQ(descriptors(), descriptors_before);
        set_tags(0x1000);  // a follower wakes up
    }
    // A forked child does not have that thread: it has nothing to wait for.
    void* plugin = load();
    const pid_t child = fork();
    if (child == 0) {
        alarm(300);
        _exit(dlclose(plugin) == 0 && !is_mapped("libplugin.so") ? 0 : 1);
    }
    int status = 1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    ASSERT_EQ(dlclose(plugin), 0);
    for (const char* name : {"SILVERPOINT_ATRACE_PROPERTIES", "SILVERPOINT_ATRACE_MARKER"}) unsetenv(name);
    std::filesystem::remove_all(place);
}

// A plug-in goes in the middle of its chain, and comes again.
TEST(Plugins, AChainOfAnUnloadedCopyIsWhole) {
    traced::take();
    Session& session = traced::session();
    session.set<std::uint32_t>(768, 1);           // somebody is to collect
    session.set<std::uint32_t>(788, 0xFFFFFFFF);  // and would be waited for without end
    constexpr std::uint64_t kFirst = 15'000, kBoth = 18'000;
    for (const auto& [from, to] : {std::pair{std::uint64_t{0}, kFirst}, std::pair{kFirst, kBoth}}) {
        void* plugin = dlopen(beside("libplugin.so").c_str(), RTLD_NOW | RTLD_LOCAL);
        ASSERT_NE(plugin, nullptr) << dlerror();
        const auto run_plugin = reinterpret_cast<void (*)(std::uint64_t)>(dlsym(plugin, "plugin_run"));
        for (std::uint64_t number = from; number < to; ++number) run_plugin(number);
        ASSERT_EQ(dlclose(plugin), 0);
    }
    const auto rings = session.rings();
    EXPECT_GT(std::count_if(rings.begin(), rings.end(),
                            [](const reader::Ring& ring) { return ring.bytes == 1u << 20; }),
              3)
        << "a chain";
    std::uint64_t expected = 0, others = 0;
    for (const reader::Record& record : session.drain()) {
        if (record.site < 16 || session.site(record.site).text != "plugin {}") continue;
        std::uint64_t number;
        std::memcpy(&number, record.args.data(), sizeof number);
        others += number != expected++;
    }
    EXPECT_EQ(expected, kBoth);
    EXPECT_EQ(others, 0u) << "each once and in order";
    session.set<std::uint32_t>(768, 0);
    session.set<std::uint32_t>(788, 1000);
}

// Mappings of this process; of files below the root of sessions.
struct Mapped {
    std::size_t all = 0, sessions = 0;
};
Mapped mapped() {
    Mapped found;
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line); ++found.all)
        found.sessions += line.find(std::getenv("SILVERPOINT_DIR")) != std::string::npos;
    return found;
}

TEST(Plugins, LeaveNoMappings) {
    SP_INFO("host");
    // A thread that has recorded by every one of them, and lives on.
    std::atomic<void (*)(std::uint64_t)> job{nullptr};
    std::atomic<bool> is_over{false};
    std::thread other([&] {
        for (; !is_over; std::this_thread::yield())
            if (auto* const run_plugin = job.load()) {
                run_plugin(1);
                job = nullptr;
            }
    });
    Mapped first;
    for (int round = 0; round < 30; ++round) {
        void* plugin = dlopen(beside("libplugin.so").c_str(), RTLD_NOW | RTLD_LOCAL);
        ASSERT_NE(plugin, nullptr) << dlerror();
        const auto run_plugin = reinterpret_cast<void (*)(std::uint64_t)>(dlsym(plugin, "plugin_run"));
        job = run_plugin;
        run_plugin(0);
        while (job.load() != nullptr) std::this_thread::yield();
        ASSERT_EQ(dlclose(plugin), 0);
        if (round == 0) first = mapped();
    }
    const Mapped last = mapped();
    EXPECT_EQ(last.sessions, first.sessions);
    EXPECT_LT(last.all, first.all + 10);
    is_over = true;
    other.join();
    std::size_t by_plugins = 0;
    for (const auto& one : traced::take()) by_plugins += one.site.text == "plugin {}";
    EXPECT_EQ(by_plugins, 60u);
    EXPECT_EQ(traced::session().losses(), 0u);
}

// Its threads go on until the last moment, and may record.
TEST(Plugins, AProcessEndsUnderThoseThatRecord) {
    for (int round = 0; round < 10; ++round) {
        const Ran ran = run("life", "plugin");
        EXPECT_EQ(ran.status, 0) << ran.errors;
        const Session session(Session::path_of(ran.pid));
        EXPECT_EQ(session.get<std::uint32_t>(528), 0u) << "both copies have left";
        // A ring that it has outgrown is given back, not the one that it is at.
        std::map<std::uint32_t, reader::Ring> latest;
        for (const reader::Ring& ring : session.rings()) {
            reader::Ring& known = latest[ring.tid()];
            if (known.base == nullptr || ring.stream() > known.stream()) known = ring;
        }
        EXPECT_EQ(latest.size(), 5u) << "the main thread, too";
        for (const auto& [tid, ring] : latest) EXPECT_EQ(ring.state(), 2u);
    }
}

TEST(Plugins, TwoCopiesHaveRingsOfTheirOwn) {
    void* plugin = dlopen(beside("libplugin.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(plugin, nullptr);
    const auto run_plugin = reinterpret_cast<void (*)(std::uint64_t)>(dlsym(plugin, "plugin_run"));
    SP_INFO("host");
    run_plugin(1);
    std::map<std::uint32_t, std::uint32_t> copy_of;
    for (const reader::Ring& ring : traced::session().rings())
        copy_of[ring.stream()] = ring.load<std::uint16_t>(26);
    std::map<std::string, std::uint32_t> copies;
    for (const auto& one : traced::take()) copies[one.site.text] = copy_of[one.record.stream];
    EXPECT_NE(copies["host"], copies["plugin.template"]);
    EXPECT_EQ(copies["plugin {}"], copies["plugin.template"]);
    dlclose(plugin);
}

TEST(Plugins, InAForkedChildAllCopiesShareOneNewSession) {
    void* plugin = dlopen(beside("libplugin.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(plugin, nullptr);
    const auto run_plugin = reinterpret_cast<void (*)(std::uint64_t)>(dlsym(plugin, "plugin_run"));
    run_plugin(1);
    SP_INFO("host");
    traced::take();
    const pid_t child = fork();
    if (child == 0) {
        run_plugin(2);
        for (int i = 0; i < 3; ++i) SP_INFO("host in child {}", i);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    const Session session(Session::path_of(child));  // one
    EXPECT_EQ(session.get<std::uint32_t>(532), 2u);
    const auto seen = texts(session);
    EXPECT_EQ(std::count(seen.begin(), seen.end(), "host in child {}"), 3);
    EXPECT_EQ(std::count(seen.begin(), seen.end(), "plugin {}"), 1);
    dlclose(plugin);
    traced::take();
}

}  // namespace
