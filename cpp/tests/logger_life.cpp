// A program with a logger from its beginning to its end and beyond; run by logger_life_test.
//
// logger_life MODE LOG. The modes:
// - whole: records at every moment;
// - never: no logger is started;
// - daemon: it is started before and after the program becomes a daemon that closes all descriptors;
// - bare: it starts without any descriptor, standard streams too;
// - plugin: one is loaded and unloaded while the logger runs.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <silverpoint/logger.hpp>
#include <silverpoint/silverpoint.hpp>
#include <string>
#include <string_view>

namespace {

struct Static {
    Static() { SP_INFO("static constructor"); }
    ~Static() { SP_INFO("static destructor"); }
} object;

[[gnu::destructor(200)]] void late() { SP_INFO("late destructor"); }

void start(const std::string& log) {
    using silverpoint::logger_config, silverpoint::sink;
    silverpoint::start(logger_config("debug").to(sink::file(log)));
}

void whole(const std::string& log) {
    SP_INFO("before start");
    SP_DEBUG("is not kept: below info");
    start(log);
    SP_DEBUG("first logger");
    silverpoint::stop();
    SP_INFO("between");
    start(log);
    SP_DEBUG("second logger");
    silverpoint::stop();
    SP_INFO("after stop");
}

void daemon(const std::string& log) {
    start(log);
    SP_INFO("parent");
    const pid_t parent = getpid();
    if (fork() != 0) _exit(0);
    setsid();
    // Its standard output is the test's pipe, which stays open until the daemon ends.
    for (int fd = 3; fd < 1024; ++fd) close(fd);
    while (getppid() == parent) usleep(1000);
    // What gets the numbers that were closed does not concern the logger.
    for (int i = 0; i < 20; ++i) open("/dev/null", O_RDONLY);
    start(log);
    SP_INFO("child");
}

// What the program prints must not come into files that were opened in the places of standard streams.
void bare(const std::string& log) {
    for (int fd = 0; fd < 1024; ++fd) close(fd);
    for (const char* message : {"parent", "child"}) {
        start(log);
        for (const char* stream : {"/proc/self/fd/0", "/proc/self/fd/1", "/proc/self/fd/2"})
            if (std::filesystem::read_symlink(stream) != "/dev/null") std::abort();
        SP_INFO("{}", message);
        for (int i = 0; i < 100; ++i)
            for (int fd = 0; fd < 3; ++fd)
                if (write(fd, "stray\n", 6) != 6) std::abort();
        if (!silverpoint::flush(std::chrono::seconds(300)) || !silverpoint::stop(std::chrono::seconds(300)))
            std::abort();
    }
}

// A plug-in that records, and is unloaded before a sink has seen any of it.
void plugin(const std::string& log) {
    start(log);
    const std::string self = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libplugin.so";
    for (int round = 0; round < 3; ++round) {
        void* const object = dlopen(self.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (object == nullptr) std::abort();
        reinterpret_cast<void (*)(std::uint64_t)>(dlsym(object, "plugin_run"))(41);
        if (dlclose(object) != 0 || dlopen(self.c_str(), RTLD_NOW | RTLD_NOLOAD) != nullptr) std::abort();
        SP_INFO("unloaded");
    }
}

}  // namespace

int main(int argc, char** argv) {
    const std::string_view mode = argc > 2 ? argv[1] : "";
    if (mode == "whole") whole(argv[2]);
    if (mode == "never") SP_INFO("this is not wanted");
    if (mode == "daemon") daemon(argv[2]);
    if (mode == "bare") bare(argv[2]);
    if (mode == "plugin") plugin(argv[2]);
    return 0;
}
