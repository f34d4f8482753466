// The beginning and the end of programs and plug-ins. The programs are beside this one.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <silverpoint/silverpoint.hpp>
#include <sstream>
#include <string>

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

// Memory that is not there is found out before it is written to, by either way that kernels have.
void full_disk(const std::string& crowd) {
    const std::string small = std::string(std::getenv("SILVERPOINT_DIR")) + "/small";
    ASSERT_EQ(mkdir(small.c_str(), 0700), 0);
    if (mount("small", small.c_str(), "tmpfs", 0, "size=1m,mode=0700") != 0) {
        rmdir(small.c_str());
        GTEST_SKIP() << "cannot mount";
    }
    for (const char* filler : {"", "500k", "900k", "1000k", "1024k"}) {
        const std::string fill = small + "/fill";
        if (*filler != 0) {
            const int fd = open(fill.c_str(), O_RDWR | O_CREAT, 0600);
            const int kib = std::atoi(filler);
            if (posix_fallocate(fd, 0, kib * 1024) != 0) {
                EXPECT_GE(kib, 900);
            }
            close(fd);
        }
        for (const char* mode : {"many", "threads"}) {
            const Ran ran = run(crowd, mode, {{"SILVERPOINT_DIR", small}});
            EXPECT_EQ(ran.status, 0) << crowd << " " << filler << " " << mode << ": " << ran.errors;
            EXPECT_LT(std::count(ran.errors.begin(), ran.errors.end(), '\n'), 3);
        }
        std::ignore = std::system(("rm -rf '" + small + "'/*-*-*").c_str());
        unlink(fill.c_str());
    }
    umount(small.c_str());
    rmdir(small.c_str());
}

TEST(Life, AFullDiskIsNoHarm) { full_disk("crowd"); }
TEST(Life, AFullDiskIsNoHarmWithAnOldKernel) { full_disk("old_kernel"); }

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
    const auto descriptors = [&] { return in_directory("/proc/self/fd"); };
    const auto load = [] {
        void* plugin = dlopen(beside("libplugin.so").c_str(), RTLD_NOW | RTLD_LOCAL);
        const auto trace = reinterpret_cast<std::uint64_t (*)()>(dlsym(plugin, "plugin_trace"));
        EXPECT_EQ(trace(), 0x1001u);
        return plugin;
    };
    ASSERT_EQ(dlclose(load()), 0);  // a session is there, and what it keeps open
    const auto threads_before = threads(), descriptors_before = descriptors();
    for (int round = 0; round < 20; ++round) {
        void* plugin = load();
        EXPECT_EQ(threads(), threads_before + 1);
        ASSERT_EQ(dlclose(plugin), 0);
        EXPECT_FALSE(is_mapped("libplugin.so"));
        EXPECT_EQ(threads(), threads_before) << "it would go on in code that is gone";
        EXPECT_EQ(descriptors(), descriptors_before);
        set_tags(0x1000);  // whoever follows wakes up
    }
    // A forked child does not have that thread: it has nothing to wait for.
    void* plugin = load();
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        _exit(dlclose(plugin) == 0 && !is_mapped("libplugin.so") ? 0 : 1);
    }
    int status = 1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    ASSERT_EQ(dlclose(plugin), 0);
    for (const char* name : {"SILVERPOINT_ATRACE_PROPERTIES", "SILVERPOINT_ATRACE_MARKER"}) unsetenv(name);
    std::filesystem::remove_all(place);
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
