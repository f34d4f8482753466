// Loggers whose names are made while the program runs: their number exhausts nothing, and no line loses its
// logger's name.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <set>
#include <silverpoint/silverpoint.hpp>
#include <silverpoint/spdlog.hpp>
#include <utility>

#include "support/traced.hpp"

// What this thread's allocations log.
static thread_local constinit spdlog::logger* on_new = nullptr;
[[gnu::noinline]] static void* allocate(std::size_t size) {
    if (spdlog::logger* const log = on_new; log != nullptr) {
        log->info("allocates {}", size);
        log->info(size % 2 == 0 ? "even" : "odds");
        log->info(spdlog::fmt_lib::runtime("{} bytes"), size);
    }
    return std::malloc(size);
}
[[gnu::noinline]] static void release(void* memory) { std::free(memory); }
void* operator new(std::size_t size) { return allocate(size); }
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }

namespace {

namespace fs = std::filesystem;
namespace detail = silverpoint::detail;

class SpdlogNames : public testing::Test {
  protected:
    void SetUp() override {
        std::string name = fs::temp_directory_path() / "silverpoint-names-XXXXXX";
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        directory_ = name;
        spdlog::shutdown();
        spdlog::set_default_logger(nullptr);
    }
    void TearDown() override {
        unsetenv("SILVERPOINT");
        spdlog::shutdown();
        silverpoint::stop();
        fs::remove_all(directory_);
    }
    [[nodiscard]] std::string path(const std::string& name) const { return directory_ / name; }
    [[nodiscard]] std::shared_ptr<spdlog::sinks::sink> file(const std::string& name) const {
        auto made = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path(name));
        made->set_pattern("%n %v");
        return made;
    }
    // The lines, once everything recorded is in them.
    [[nodiscard]] std::vector<std::string> lines(const std::string& name) const {
        for (int tries = 0; tries < 12 && silverpoint_flush(5000) != SILVERPOINT_DONE; ++tries) continue;
        return lines_now(name);
    }
    [[nodiscard]] std::vector<std::string> lines_now(const std::string& name) const {
        std::ifstream in(path(name));
        std::vector<std::string> all;
        for (std::string line; std::getline(in, line);) all.push_back(line);
        return all;
    }
    // Names that are categories are, in this process, as many as there can be.
    static void use_up_categories(std::size_t but = 0) {
        for (std::size_t i = 0; i + but < spdlog::kLoggerCategories_; ++i)
            spdlog::logger("first-" + std::to_string(i), spdlog::sinks_init_list{});
    }
    static std::string beyond(const std::string& name, const std::string& text) {
        return text + " logger=" + name;
    }
    // Without the category, which says which sinks it was for.
    static std::string without_category(const std::string& line) { return line.substr(line.find(' ') + 1); }

  private:
    fs::path directory_;
};

std::uint64_t session_losses() {
    std::uint64_t sum = 0;
    for (unsigned cause = 0; cause < 8; ++cause) sum += traced::session().session_losses(cause);
    return sum;
}
std::size_t site_count() { return traced::session().sites().size(); }

// How many steps a search takes at most.
std::size_t longest_search() {
    std::size_t longest = 0;
    for (const auto& place : detail::more_sites) {
        std::size_t steps = 0;
        for (const auto* one = place.load(); one != nullptr; one = one->next) ++steps;
        longest = std::max(longest, steps);
    }
    return longest;
}

// A native error is recorded, and nothing is lost.
void expect_native_errors() {
    const std::uint64_t before = session_losses();
    SP_ERROR("native {}", 7);
    bool is_there = false;
    for (const reader::Site& site : traced::session().sites())
        is_there |= site.stage == 3 && site.text == "native {}" && site.signature == "i";
    EXPECT_TRUE(is_there);
    EXPECT_EQ(session_losses(), before);
}

TEST_F(SpdlogNames, AHundredThousandLoggersLogThroughOneLine) {
    constexpr int kLoggers = 100'000;
    use_up_categories(20);
    const std::size_t sites_before = site_count();
    const auto sink = file("all.log");
    for (int i = 0; i < kLoggers; ++i) {
        spdlog::logger log("connection-" + std::to_string(i), sink);
        log.info("says {}", i);
    }
    const auto found = lines("all.log");
    ASSERT_EQ(found.size(), kLoggers);
    int as_categories = 0;
    for (int i = 0; i < kLoggers; ++i) {
        const std::string name = "connection-" + std::to_string(i), text = "says " + std::to_string(i);
        if (found[i] == name + " " + text) {
            ++as_categories;
        } else {
            ASSERT_EQ(without_category(found[i]), beyond(name, text));
        }
    }
    EXPECT_EQ(as_categories, 20);
    EXPECT_LE(site_count() - sites_before, 22);
    EXPECT_LE(longest_search(), 4);
    EXPECT_EQ(session_losses(), 0);
    expect_native_errors();
}

TEST_F(SpdlogNames, LoggersThatLiveTogetherDoNotRestartTheLogger) {
    use_up_categories();
    const auto sink = file("living.log");
    std::vector<std::unique_ptr<spdlog::logger>> living;
    for (int i = 0; i < 20'000; ++i) {
        living.push_back(std::make_unique<spdlog::logger>("living-" + std::to_string(i), sink));
        living.back()->warn("here");
        // A start goes through all that live.
        if (i > 0) continue;
        const spdlog::logger another("another", sink);
        ASSERT_FALSE(spdlog::stale_);
    }
    const auto found = lines("living.log");
    ASSERT_EQ(found.size(), living.size());
    for (std::size_t i = 0; i < living.size(); ++i)
        ASSERT_EQ(without_category(found[i]), beyond(living[i]->name(), "here"));
}

TEST_F(SpdlogNames, EveryWayToLogHasTheNameAndTheSinks) {
    use_up_categories();
    const auto left = file("left.log"), right = file("right.log");
    // These sinks' loggers live on, so that the next one restarts nothing.
    const spdlog::logger of_left("left", left), of_right("right", right);
    std::vector<std::string> expected[2];
    for (int i = 0; i < 200; ++i) {
        const std::string name = "way-" + std::to_string(i);
        spdlog::logger log(name, i % 2 == 0 ? left : right);
        log.info("a literal");
        log.info(i % 4 < 2 ? "one" : "other");
        log.info(std::string("message ") + std::to_string(i));
        log.info("typed {} {}", i, 2.5);
        log.log(spdlog::level::err, "level {}", i);
        log.info(spdlog::fmt_lib::runtime("runtime {}"), i);
        for (const std::string& text : {std::string("a literal"), std::string(i % 4 < 2 ? "one" : "other"),
                                        "message " + std::to_string(i), "typed " + std::to_string(i) + " 2.5",
                                        "level " + std::to_string(i), "runtime " + std::to_string(i)})
            expected[i % 2].push_back(beyond(name, text));
    }
    for (const int side : {0, 1}) {
        const auto found = lines(side == 0 ? "left.log" : "right.log");
        ASSERT_EQ(found.size(), expected[side].size());
        std::set<std::string> categories;
        for (std::size_t i = 0; i < found.size(); ++i) {
            EXPECT_EQ(without_category(found[i]), expected[side][i]);
            categories.insert(found[i].substr(0, found[i].find(' ')));
        }
        EXPECT_EQ(categories.size(), 1);
    }
}

// What is made for each logger's first lines is not asked of operator new.
TEST_F(SpdlogNames, LoggersMayLogInOperatorNew) {
    use_up_categories(4);
    const auto sink = file("new.log");
    std::vector<std::unique_ptr<spdlog::logger>> all;
    for (const char* name : {"new-1", "new-2", "new-3", "new-4", "new-5", "new-6"})
        all.push_back(std::make_unique<spdlog::logger>(name, sink));
    all[0]->info("started");
    for (const auto& log : all) {
        on_new = log.get();
        for (const std::size_t size : {47, 48}) ::operator delete(::operator new(size));
        on_new = nullptr;
    }
    EXPECT_EQ(lines("new.log").size(), 1 + all.size() * 6);
}

TEST_F(SpdlogNames, DirectivesHoldForTheNameItself) {
    use_up_categories();
    std::ofstream(path("log.toml")) << "record = \"warn,loud-*=trace\"\n[[sink]]\nto = \"file\"\npath = \""
                                    << path("directed.log") << "\"\npattern = \"{text}{fields}\"\n";
    setenv("SILVERPOINT", path("log.toml").c_str(), 1);
    const auto sink = file("unused.log");
    for (const char* name : {"quiet-1", "loud-1", "quiet-2", "loud-2"}) {
        spdlog::logger log(name, sink);
        log.info("said");
        log.warn("warned");
    }
    const std::vector<std::string> expected{"warned logger=quiet-1", "said logger=loud-1",
                                            "warned logger=loud-1",  "warned logger=quiet-2",
                                            "said logger=loud-2",    "warned logger=loud-2"};
    EXPECT_EQ(lines("directed.log"), expected);
}

// More sets of sinks than there are shared categories: each line is in its logger's file alone.
TEST_F(SpdlogNames, LinesGoToTheirLoggersFileHoweverManyThereAre) {
    use_up_categories();
    constexpr int kLoggers = 72;
    const auto both = file("both.log");
    std::vector<std::unique_ptr<spdlog::logger>> all;
    const auto name_of = [](int i) { return "own-" + std::to_string(i) + (i % 3 == 0 ? " \"\\'" : "\xFE"); };
    const auto make = [&](int i) {
        all[i] = std::make_unique<spdlog::logger>(
            name_of(i), spdlog::sinks_init_list{file("own-" + std::to_string(i) + ".log"), both});
    };
    all.resize(kLoggers);
    for (int i = 0; i < kLoggers; ++i) make(i);
    std::vector<std::string> expected[kLoggers];
    const auto log_from_all = [&] {
        for (int i = 0; i < kLoggers; ++i) {
            all[i]->info("line {}", i);
            all[i]->info("a literal");
            all[i]->info(spdlog::fmt_lib::runtime("runtime {}"), i);
            for (const std::string& text :
                 {"line " + std::to_string(i), std::string("a literal"), "runtime " + std::to_string(i)})
                expected[i].push_back(text);
        }
    };
    log_from_all();
    // Numbers and files of some that are gone are others' now.
    for (int i = 0; i < kLoggers; i += 24) {
        all[i].reset();
        make(i);
    }
    log_from_all();
    // Of the same sinks, with a new name.
    spdlog::logger late("late", {std::as_const(*all[71]).sinks()[0], both});
    late.info("late");
    expected[71].push_back("late");
    std::size_t count = 0, by_number = 0;
    const std::size_t in_both = lines("both.log").size();
    for (int i = 0; i < kLoggers; ++i) {
        const auto found = lines_now("own-" + std::to_string(i) + ".log");
        ASSERT_EQ(found.size(), expected[i].size()) << i;
        count += found.size();
        for (std::size_t line = 0; line < found.size(); ++line) {
            const bool has_number = !found[line].starts_with("spdlog-0 ");
            by_number += has_number;
            const std::string name = expected[i][line] == "late" ? "late" : spdlog::in_utf8_(name_of(i));
            EXPECT_EQ(without_category(found[line]),
                      expected[i][line] + (has_number ? " logger=" : " spdlog_logger=") + name);
        }
    }
    EXPECT_EQ(in_both, count);
    EXPECT_EQ(by_number, 63 * 6);
    EXPECT_LT(by_number, count);
    EXPECT_EQ(session_losses(), 0);
}

// The category of others is no name.
TEST_F(SpdlogNames, LoggersNamedAsSharedCategoriesGetTheirOwnLinesOnly) {
    // As in a process that begins: earlier names are kept, as sites have them.
    auto& names_now = spdlog::registry_::the().names;
    auto& names_here = *new std::set<std::string>;
    names_now.swap(names_here);
    const auto shared = file("shared.log");
    std::vector<std::unique_ptr<spdlog::logger>> all;
    const std::vector<std::string> names{"spdlog", "spdlog-1", "spdlog-0",

                                         "spdlog*",
                                         "\xFF"
                                         "byte"};
    for (std::size_t i = 0; i < names.size(); ++i)
        all.push_back(std::make_unique<spdlog::logger>(names[i], file("named-" + std::to_string(i))));
    use_up_categories();
    spdlog::logger first("beyond-1", shared), second("beyond-2", file("other.log"));
    first.info("shared");
    second.info("shared");
    for (const auto& log : all) log->info("own");
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto found = lines("named-" + std::to_string(i));
        ASSERT_EQ(found.size(), 1) << names[i] << ": " << testing::PrintToString(found);
        EXPECT_NE(found[0].find(" own"), std::string::npos);
    }
    EXPECT_EQ(lines("shared.log").size(), 1);
    EXPECT_EQ(lines("other.log").size(), 1);
    names_now.swap(names_here);
}

// Another shared object has another copy of the sentinel.
TEST_F(SpdlogNames, TheSentinelIsKnownByItsContent) {
    const std::string copy(detail::kShared);
    static constinit detail::CallSite call;
    const auto at = std::source_location::current();
    EXPECT_EQ(detail::site_of(call, copy.c_str(), silverpoint::Level::kInfo, at), nullptr);
    EXPECT_FALSE(detail::record_plain(call, copy.c_str(), silverpoint::Level::kInfo, "text"));
    EXPECT_EQ(call.category.load(), nullptr);
}

TEST_F(SpdlogNames, LoggersWithoutSinksRecordNothing) {
    use_up_categories();
    const spdlog::logger before("sinkless", spdlog::sinks_init_list{});
    spdlog::logger("starts", spdlog::sinks_init_list{}).info("nowhere");
    traced::take();
    for (int i = 0; i < 10; ++i)
        spdlog::logger("sinkless-" + std::to_string(i), spdlog::sinks_init_list{}).info("nowhere {}", i);
    EXPECT_FALSE(spdlog::stale_);
    EXPECT_TRUE(traced::take().empty());
}

// The last of this process: it takes what there is.
template <int kLine>
void log_from(spdlog::logger& log, int which) {
    for (int level = spdlog::level::trace; level < spdlog::level::off; ++level)
        log.log(static_cast<spdlog::level::level_enum>(level), "line {} of {}", kLine, which);
}
template <int... kLines>
void log_from_all(std::integer_sequence<int, kLines...>, spdlog::logger& log, int which) {
    (log_from<kLines>(log, which), ...);
}
TEST_F(SpdlogNames, ManyLinesOfManyLoggersLeaveHalfOfTheTable) {
    constexpr int kLines = 22, kLevels = spdlog::level::off;
    use_up_categories();
    ASSERT_GT(spdlog::kLoggerCategories_ * kLines * kLevels, detail::session.sites_cap / 2);
    // This test collects them.
    traced::session().set<std::uint32_t>(768, static_cast<std::uint32_t>(getpid()));
    traced::take();
    int as_arguments = 0, which = 0;
    for (const std::string& name : spdlog::registry_::the().names) {
        spdlog::logger log(name, spdlog::sinks_init_list{});
        log.set_level(spdlog::level::trace);
        log_from_all(std::make_integer_sequence<int, kLines>(), log, ++which);
        const auto all = traced::take();
        ASSERT_EQ(all.size(), kLines * kLevels);
        for (std::size_t i = 0; i < all.size(); ++i) {
            const std::string arguments = std::to_string(i / kLevels) + ' ' + std::to_string(which);
            ASSERT_EQ(all[i].site.level, i % kLevels);
            if (all[i].site.category == name) {
                ASSERT_EQ(all[i].text, arguments);
                continue;
            }
            ++as_arguments;
            ASSERT_EQ(all[i].site.names, "\n\nspdlog_logger\n");
            ASSERT_EQ(all[i].text, arguments + " \"" + name + '"');
        }
    }
    traced::session().set<std::uint32_t>(768, 0);
    EXPECT_GT(as_arguments, 0);
    EXPECT_LE(site_count(), detail::session.sites_cap / 2 + 400);
    EXPECT_LE(longest_search(), 24);
    EXPECT_EQ(session_losses(), 0);
    expect_native_errors();
}

// As above, with files of their own: such a line says by the logger's name where it goes.
TEST_F(SpdlogNames, LoggersThatFindNoRoomForSitesKeepTheirFiles) {
    use_up_categories();
    auto& next = detail::session.header().sites_next;
    if (next.load() < detail::session.sites_cap / 2) next.store(detail::session.sites_cap / 2);
    std::vector<std::unique_ptr<spdlog::logger>> all;
    for (int i = 0; i < 5; ++i)
        all.push_back(std::make_unique<spdlog::logger>("first-" + std::to_string(i),
                                                       file("full-" + std::to_string(i))));
    // Sinks of the program, too.
    std::vector<std::string> given[2];
    for (int i = 0; i < 2; ++i)
        all.push_back(std::make_unique<spdlog::async_logger>(
            "first-" + std::to_string(5 + i),
            std::make_shared<spdlog::sinks::callback_sink_mt>(
                [&given, i](const spdlog::details::log_msg& msg) {
                    given[i].push_back(std::string(msg.logger_name) + ' ' + std::string(msg.payload));
                }),
            spdlog::thread_pool()));
    for (int round = 0; round < 3; ++round)
        for (int i = 0; i < 7; ++i) all[i]->info("line {} {}", i, round);
    for (int i = 0; i < 2; ++i) {
        ASSERT_TRUE(all[5 + i]->flush());
        std::vector<std::string> expected;
        for (int round = 0; round < 3; ++round) {
            const std::string number = std::to_string(5 + i);
            expected.push_back("first-" + number + " line " + number + ' ' + std::to_string(round) +
                               " spdlog_logger=first-" + number);
        }
        EXPECT_EQ(given[i], expected);
    }
    for (int i = 0; i < 5; ++i) {
        const auto found = lines_now("full-" + std::to_string(i));
        ASSERT_EQ(found.size(), 3);
        for (int round = 0; round < 3; ++round) {
            const std::string name = "first-" + std::to_string(i),
                              text = "line " + std::to_string(i) + ' ' + std::to_string(round);
            EXPECT_EQ(found[round],
                      i == 0 ? name + ' ' + text : "spdlog-0 " + text + " spdlog_logger=" + name);
        }
    }
    EXPECT_EQ(session_losses(), 0);
}

// Where there is no room at all, what directives want by its own name is counted.
TEST_F(SpdlogNames, WhatFindsNoRoomIsCountedByItsOwnName) {
    const std::string directives = "warn,loud=trace";
    char* const text = detail::session.control + detail::session.directives_at;
    auto& size = detail::session.header().directives_len;
    auto& next = detail::session.header().sites_next;
    const std::string text_before(text, size.load());
    const std::uint32_t next_before = next.load();
    directives.copy(text, directives.size());
    size.store(directives.size());
    next.store(detail::session.sites_cap);
    static constinit detail::CallSite call;
    const auto at = std::source_location::current();
    const std::uint64_t before = session_losses();
    for (const char* name : {"quiet", "loud", "quiet", "loud"})
        detail::record_shared(call, {"spdlog-7", name}, silverpoint::Level::kInfo, "{}", at, 1);
    EXPECT_EQ(session_losses(), before + 2);
    text_before.copy(text, text_before.size());
    size.store(text_before.size());
    next.store(next_before);
}

}  // namespace
