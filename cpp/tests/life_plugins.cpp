// The beginning and the end of plug-ins. Part of life_test.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <silverpoint/silverpoint.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "life.hpp"
#include "support/traced.hpp"

namespace {

using namespace life;
using reader::Session;

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
