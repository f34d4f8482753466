// What programs written for spdlog call, and how: in templates, with arguments of any type, with sinks of
// their own. The sinks are called before the logging function returns.
#include <fmt/core.h>  // before spdlog's

#include <silverpoint/spdlog.hpp>
// and behind it.
#include <dirent.h>
#include <fmt/chrono.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "spdlog_fixture.hpp"

struct Place {
    int x, y;
};
std::ostream& operator<<(std::ostream& out, const Place& of) { return out << of.x << '/' << of.y; }
struct Money {
    int cents;
};
template <>
struct fmt::formatter<Money> : fmt::formatter<int> {
    auto format(const Money& of, fmt::format_context& out) const {
        return fmt::formatter<int>::format(of.cents, out);
    }
};
enum class Colour { kRed, kBlue };
template <>
struct fmt::formatter<Colour> : fmt::formatter<fmt::string_view> {
    auto format(Colour of, fmt::format_context& out) const {
        return fmt::formatter<fmt::string_view>::format(of == Colour::kRed ? "red" : "blue", out);
    }
};

namespace {

class List : public spdlog::sinks::base_sink<std::mutex> {
  public:
    std::vector<std::string> lines;
    int flushes = 0;
    bool is_failing = false;
    std::thread::id thread;

  protected:
    void sink_it_(const spdlog::details::log_msg& msg) override {
        if (is_failing) throw std::runtime_error("the list is full");
        spdlog::memory_buf_t line;
        formatter_->format(msg, line);
        lines.emplace_back(line.data(), line.size() - 1);
        thread = std::this_thread::get_id();
    }
    void flush_() override {
        if (is_failing) throw std::runtime_error("the list is full");
        ++flushes;
    }
};

// As it is written where nothing of spdlog is at hand.
class Plain : public spdlog::sinks::sink {
  public:
    std::string text;
    void log(const spdlog::details::log_msg& msg) override { text.append(msg.payload).append(";"); }
    void flush() override {}
    void set_pattern(const std::string&) override {}
    void set_formatter(std::unique_ptr<spdlog::formatter>) override {}
};

struct Logged {
    std::shared_ptr<List> list = std::make_shared<List>();
    spdlog::logger log{"logged", list};
    Logged() { log.set_pattern("%v"); }
    std::string last() const { return list->lines.empty() ? "(nothing)" : list->lines.back(); }
};

// Without a default logger.
class SpdlogCalls : public Spdlog {
  protected:
    void SetUp() override {
        Spdlog::SetUp();
        spdlog::shutdown();
    }
};

// A logger whose type is known, with arguments that depend on the template and some that do not.
template <class T>
std::size_t log_in_template(Logged& to, const T& value) {
    spdlog::logger& log = to.log;
    log.info("value {}", value);
    log.info("constant {}", 1);
    log.info("literal");
    log.info(std::string("message"));
    log.log(spdlog::level::warn, "level {}", value);
    log.log(spdlog::level::warn, "level and nothing else");
    const auto again = [&](auto other) {
        log.info("lambda {}", other);
        log.info("lambda and nothing else");
        to.log.error("member {}", 2);
    };
    again(value);
    std::shared_ptr<spdlog::logger> shared(&log, [](auto*) {});
    shared->info("pointer {}", 3);
    spdlog::info("default {}", value);
    spdlog::info("default and nothing else");
    return to.list->lines.size();
}

TEST_F(SpdlogCalls, MembersAreCalledInTemplatesAndGenericLambdas) {
    spdlog::set_default_logger(spdlog::null_logger_mt("none"));
    Logged to;
    EXPECT_EQ(log_in_template(to, 7), 10u);
    EXPECT_EQ(log_in_template(to, std::string("seven")), 20u);
    EXPECT_EQ(to.list->lines[0], "value 7");
    EXPECT_EQ(to.list->lines[10], "value seven");
    EXPECT_EQ(to.list->lines[16], "lambda seven");
    EXPECT_EQ(to.last(), "pointer 3");
}

template <class... Ts>
void wrapped(Logged& to, fmt::format_string<Ts...> text, Ts&&... args) {
    to.log.info(text, std::forward<Ts>(args)...);
}

TEST_F(SpdlogCalls, ArgumentsAreOfAnyTypeThatFmtOrAStreamWrites) {
    Logged to;
    const std::vector<int> numbers{1, 2, 3};
    to.log.info("{} and {:02x}", fmt::join(numbers, ", "), fmt::join(numbers, "-"));
    EXPECT_EQ(to.last(), "1, 2, 3 and 01-02-03");
    to.log.info("{} {:>5} {} {}", Place{1, 2}, Money{7}, Colour::kBlue, 4);
    EXPECT_EQ(to.last(), "1/2     7 blue 4");
    std::ostringstream id;
    id << std::this_thread::get_id();
    to.log.info("thread {}", std::this_thread::get_id());
    EXPECT_EQ(to.last(), "thread " + id.str());
    const spdlog::stopwatch watch;
    to.log.info("{:.0f} {}", watch, watch.elapsed().count() < 1000);
    EXPECT_TRUE(to.last().ends_with(" true")) << to.last();  // after some seconds
    to.log.info("{:{}}|{:%H}", 5, 4, std::chrono::hours(5));
    EXPECT_EQ(to.last(), "   5|05");
    wrapped(to, "wrapped {} {}", 1, "two");
    EXPECT_EQ(to.last(), "wrapped 1 two");
    to.log.info(Money{3});
    EXPECT_EQ(to.last(), "3");
    to.log.info(Place{3, 4});
    EXPECT_EQ(to.last(), "3/4");
    to.log.info("braces {{}} {}", 1);
    EXPECT_EQ(to.last(), "braces {} 1");
    const std::vector<unsigned char> bytes{9, 10, 'A', 255};
    to.log.info("{:Xsna}", spdlog::to_hex(bytes));
    EXPECT_EQ(to.last(), "090A41FF");
    to.log.info("{:a}", spdlog::to_hex(bytes, 3));
    EXPECT_EQ(to.last(), "\n0000: 09 0a 41  ..A\n0003: ff        .");
}

constexpr auto kText = "pointer {}";
constexpr std::string_view kView = "view {}";
constexpr char kArray[] = "array {}";

TEST_F(SpdlogCalls, TextsAreConstantsArraysAndChoices) {
    Logged to;
    to.log.info(kText, 1);
    to.log.info(kView, 2);
    to.log.info(kArray, 3);
    EXPECT_EQ(to.list->lines, (std::vector<std::string>{"pointer 1", "view 2", "array 3"}));
    // What one call says may be another text each time.
    auto file = spdlog::basic_logger_mt("texts", path("texts.log"));
    file->set_pattern("%v");
    struct Named {
        char name[8];
    };
    for (int i = 0; i < 4; ++i) {
        file->info(i % 2 == 0 ? "even" : "odd.");
        char changing[16] = "changing 0";
        changing[9] = static_cast<char>('0' + i);
        file->info(changing);
        const Named named{{'n', static_cast<char>('0' + i)}};
        file->info(named.name);
        file->info("{} {}", changing, i % 2 == 0 ? "a" : "b");
    }
    for (int tries = 0; tries < 12 && !file->flush(); ++tries) {
    }
    EXPECT_EQ(text("texts.log"),
              "even\nchanging 0\nn0\nchanging 0 a\nodd.\nchanging 1\nn1\nchanging 1 b\n"
              "even\nchanging 2\nn2\nchanging 2 a\nodd.\nchanging 3\nn3\nchanging 3 b\n");
}

TEST_F(SpdlogCalls, SinksOfTheProgramHaveALineBeforeTheCallReturns) {
    Logged to;
    const auto plain = std::make_shared<Plain>();
    to.log.sinks().push_back(plain);
    to.log.info("first {}", 1);
    to.log.debug("not shown");
    EXPECT_EQ(to.last(), "first 1");
    EXPECT_EQ(to.list->thread, std::this_thread::get_id());
    EXPECT_EQ(to.list->flushes, 0);
    EXPECT_TRUE(to.log.flush());
    EXPECT_EQ(to.list->flushes, 1);
    to.log.flush_on(spdlog::level::warn);
    to.log.warn("second");
    EXPECT_EQ(to.list->flushes, 2);
    EXPECT_EQ(plain->text, "first 1;second;");
    std::vector<std::string> called;
    auto callback = spdlog::callback_logger_mt(
        "called", [&](const spdlog::details::log_msg& msg) { called.emplace_back(msg.payload); });
    callback->info("by function");
    EXPECT_EQ(called, std::vector<std::string>{"by function"});
    // The time and the place that are given.
    to.log.set_pattern("%E %s:%# %v");
    to.log.log(spdlog::log_clock::time_point(std::chrono::seconds(77)), spdlog::source_loc{"a/b.c", 3, "f"},
               spdlog::level::info, "given");
    EXPECT_EQ(to.last(), "77 b.c:3 given");
    // A line that is not written leaves nothing behind for the next one.
    to.log.log(spdlog::log_clock::time_point(std::chrono::seconds(78)), spdlog::source_loc{"a/b.c", 3, "f"},
               spdlog::level::debug, "not shown");
    to.log.info("now");
    EXPECT_FALSE(to.last().starts_with("78 ")) << to.last();
    EXPECT_NE(to.last().find(" spdlog_calls_test.cpp:"), std::string::npos) << to.last();
}

TEST_F(SpdlogCalls, WhatASinkThrowsGoesToTheProgramsFunction) {
    Logged to;
    std::vector<std::string> errors;
    to.log.set_error_handler([&](const std::string& what) { errors.push_back(what); });
    to.list->is_failing = true;
    to.log.info("lost");
    to.log.flush();
    EXPECT_EQ(errors, (std::vector<std::string>{"the list is full", "the list is full"}));
    to.list->is_failing = false;
    to.log.info(fmt::runtime("{} {}"), 1);
    EXPECT_EQ(errors.size(), 3u);
    EXPECT_EQ(to.last(), "(nothing)");
    to.log.info(fmt::runtime("{} {}"), 1, 2);
    EXPECT_EQ(to.last(), "1 2");
    struct Own {};
    to.log.set_error_handler([](const std::string&) { throw Own(); });
    to.list->is_failing = true;
    EXPECT_THROW(to.log.info("lost"), Own);
    to.list->is_failing = false;
    to.log.info("again");
    EXPECT_EQ(to.last(), "again");
}

TEST_F(SpdlogCalls, ABacktraceComesOutInASinkOfTheProgram) {
    Logged to;
    to.log.enable_backtrace(3);
    to.log.info("shown");
    for (int i = 0; i < 10; ++i) to.log.debug("kept {}", i);
    EXPECT_EQ(to.list->lines, std::vector<std::string>{"shown"});
    to.log.dump_backtrace();
    ASSERT_EQ(to.list->lines.size(), 6u);
    EXPECT_NE(to.list->lines[1].find("Backtrace Start"), std::string::npos);
    EXPECT_EQ(to.list->lines[2], "kept 7");
    EXPECT_EQ(to.list->lines[4], "kept 9");
    to.log.dump_backtrace();
    EXPECT_EQ(to.list->lines.size(), 6u);
}

TEST_F(SpdlogCalls, DailyFilesHaveTheirDateAndTheirTime) {
    spdlog::filename_t name;
    {
        auto log = spdlog::daily_logger_mt("daily", path("daily.txt"), 2, 30);
        log->set_pattern("%v");
        log->info("line {}", 1);
        const auto& sinks = std::as_const(*log).sinks();
        name = std::static_pointer_cast<spdlog::sinks::daily_file_sink_mt>(sinks[0])->filename();
    }
    const std::tm now = spdlog::details::os::localtime();
    char date[32];
    std::strftime(date, sizeof date, "daily_%Y-%m-%d.txt", &now);
    EXPECT_EQ(name, path(date));
    EXPECT_EQ(text(date), "line 1\n");
    // The next ones, of which three stay; and what is there is gone on with.
    spdlog::sinks::daily_file_sink_st sink(path("many.txt"), 0, 0, false, 3);
    sink.set_pattern("%v");
    for (int day = 0; day < 6; ++day) {
        spdlog::details::log_msg msg("daily", spdlog::level::info, "text");
        msg.time = spdlog::log_clock::now() + std::chrono::hours(24 * day);
        sink.log(msg);
    }
    std::size_t files = 0;
    for (const auto& entry : fs::directory_iterator(path("")))
        files += entry.path().filename().string().starts_with("many_");
    EXPECT_EQ(files, 3u);
    EXPECT_THROW(spdlog::daily_logger_mt("none", path("none.txt"), 24, 0), spdlog::spdlog_ex);
    EXPECT_THROW(spdlog::daily_logger_mt("none", path("none.txt"), 0, 60), spdlog::spdlog_ex);
}

TEST_F(SpdlogCalls, AsynchronousLoggersCallSinksInAnotherThread) {
    spdlog::init_thread_pool(128, 1);
    const auto list = std::make_shared<List>();
    {
        const auto log = std::make_shared<spdlog::async_logger>("async", list, spdlog::thread_pool());
        log->set_pattern("%v");
        for (int i = 0; i < 100; ++i) log->info("line {}", i);
        for (int tries = 0; tries < 12 && !log->flush(); ++tries) {
        }
    }
    ASSERT_EQ(list->lines.size(), 100u);
    EXPECT_EQ(list->lines[99], "line 99");
    EXPECT_NE(list->thread, std::this_thread::get_id());
    EXPECT_EQ(list->flushes, 1);
}

TEST_F(SpdlogCalls, PatternsHaveContextAndUtcAndColours) {
    spdlog::mdc::put("key", "value");
    spdlog::mdc::put("other", "one");
    Logged to;
    to.log.set_pattern("[%&] %v");
    to.log.info("text");
    EXPECT_EQ(to.last(), "[key:value other:one] text");
    spdlog::mdc::clear();
    to.log.info("text");
    EXPECT_EQ(to.last(), "[] text");
    spdlog::pattern_formatter form("%H:%M %^%l%$", spdlog::pattern_time_type::utc, "");
    spdlog::details::log_msg msg("name", spdlog::level::info, "text");
    msg.time = spdlog::log_clock::time_point(std::chrono::hours(5));
    spdlog::memory_buf_t line;
    form.format(msg, line);
    EXPECT_EQ(line, "05:00 info");
    EXPECT_EQ(msg.color_range_start, 6u);
    EXPECT_EQ(msg.color_range_end, 10u);
}

TEST_F(SpdlogCalls, LoggersAreNotRegisteredWhenTheProgramSaysSo) {
    spdlog::set_automatic_registration(false);
    const auto log = spdlog::null_logger_mt("hidden");
    spdlog::set_automatic_registration(true);
    EXPECT_EQ(spdlog::get("hidden"), nullptr);
    EXPECT_EQ(spdlog::default_logger(), nullptr);  // shutdown has dropped it
    static_assert(SPDLOG_VERSION >= SPDLOG_TO_VERSION(1, 10, 0));
}

}  // namespace
