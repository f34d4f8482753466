// Functions of the program's that are given its records, in the logger's thread or before a tracepoint
// returns.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "silverpoint/silverpoint.hpp"
#include "support/logged.hpp"

namespace {

TEST_F(LoggerTest, AFunctionOfTheProgramsIsGivenRecordsUnformatted) {
    struct Seen {
        std::vector<std::string> records;
        int ends = 0;
    };
    static Seen seen;
    const auto text = [](const silverpoint_text& of) { return std::string(of.data, of.size); };
    static const auto as_text = text;
    const auto take = [](const silverpoint_event* event, void* data) {
        auto& to = *static_cast<Seen*>(data);
        if (event == nullptr) {
            ++to.ends;
            return;
        }
        int number = 0;
        if (event->args_size >= sizeof number) std::memcpy(&number, event->args, sizeof number);
        to.records.push_back(
            as_text(event->category) + "|" + as_text(event->text) + "|" + as_text(event->signature) + "|" +
            std::to_string(number) + "|" + std::to_string(event->level) + "|" +
            std::to_string(event->tid == static_cast<unsigned>(getpid())) + "|" + as_text(event->context));
    };
    EXPECT_EQ(silverpoint_add_handler(nullptr, "", take, nullptr), SILVERPOINT_INVALID);
    ASSERT_EQ(silverpoint_add_handler("handled", "handled=debug", take, &seen), SILVERPOINT_DONE);
    ASSERT_TRUE(silverpoint::start(logger_config("warn").to(sink::file(path("app.log")))));
    {
        SP_CONTEXT("user", "ada");
        SP_LOG(debug, "handled", "order {}", 7);
    }
    SP_LOG(debug, "other", "order {}", 8);
    SP_LOG(warn, "other", "order {}", 9);
    ASSERT_TRUE(silverpoint::flush());
    EXPECT_EQ(seen.records, std::vector<std::string>{"handled|order {}|i|7|1|1|{\"user\":\"ada\"}"});
    EXPECT_GE(seen.ends, 1);
    ASSERT_TRUE(silverpoint::stop());
    // A sink has what is recorded because of a handler too: its own level decides.
    EXPECT_EQ(lines("app.log").size(), 2u);
}

// As programs of glog have it, whose records go to such a function.
TEST_F(LoggerTest, WhatAFunctionIsGivenIsRecordedAfterAReloadToo) {
    const auto configure = [&](const char* record) {
        std::ofstream(path("log.toml")) << "record = '" << record << "'\n";
    };
    configure("warn");
    const auto child = [&] {
        static std::atomic<int> seen{0};
        const auto take = [](const silverpoint_event* event, void*) { seen += event != nullptr; };
        if (silverpoint_add_handler("handled", "handled=debug", take, nullptr) != SILVERPOINT_DONE) return 1;
        if (!silverpoint::start_file(path("log.toml"))) return 2;
        SP_LOG(debug, "handled", "one");
        if (!silverpoint::flush(std::chrono::seconds(60)) || seen != 1) return 3;
        configure("error");
        if (!silverpoint::reload()) return 4;
        SP_LOG(debug, "handled", "two");
        return silverpoint::flush(std::chrono::seconds(60)) && seen == 2 ? 0 : 5;
    };
    EXPECT_EQ(in_child(child), 0);
}

// What a handler is given of a record, but for the time.
std::string told(const silverpoint_event& event) {
    std::ostringstream out;
    for (const auto& text : {event.category, event.file, event.function, event.thread, event.text,
                             event.names, event.signature, event.context})
        out << std::string_view(text.data, text.size) << '|';
    out << event.tid << '|' << event.line << '|' << event.level << '|' << event.kind << '|'
        << std::string_view(reinterpret_cast<const char*>(event.args), event.args_size);
    return out.str();
}

TEST_F(LoggerTest, ASynchronousHandlerIsGivenWhatAnotherIsBeforeTheTracepointReturns) {
    const auto child = [&] {
        static std::vector<std::string> later, at_once;
        static pid_t by = 0;
        static std::string line;
        const auto take_later = [](const silverpoint_event* event, void*) {
            if (event != nullptr) later.push_back(told(*event));
        };
        const auto take_at_once = [](const silverpoint_event* event, void*) {
            at_once.push_back(told(*event));
            by = gettid();
            char text[100];
            const std::size_t size = silverpoint_event_line(event, "{text}{fields}", text, sizeof text);
            line.assign(text, size < sizeof text ? size : sizeof text);
            SP_LOG(debug, "sync", "within {}", at_once.size());  // recorded, and given to the other alone
        };
        if (silverpoint_add_handler("sync", "sync=debug", take_later, nullptr) != SILVERPOINT_DONE) return 1;
        silverpoint::synchronous_handler handler("sync", "sync=debug", take_at_once, nullptr);
        if (!silverpoint::start(logger_config("off"))) return 2;
        std::size_t due = 0;
        const auto is_there = [&] { return at_once.size() == ++due && by == gettid(); };
        const auto record_all = [&](int number) {
            SP_LOG(debug, "sync", "plain");
            if (!is_there()) return 3;
            SP_LOG(info, "sync", "number {} of {}", number, 2.5);
            if (!is_there() || line != "number " + std::to_string(number) + " of 2.5") return 4;
            SP_LOG(warn, "sync.below", "text {}", "x" + std::string(100, 'y'));
            if (!is_there()) return 5;
            SP_TO(warn, "sync") << "stream" << number << "text";
            if (!is_there()) return 6;
            SP_LOG(debug, "other", "not for it");
            SP_CONTEXT("user", "ada", "number", number);
            SP_LOG(error, "sync", "large {}", std::string(20'000, 'z'));
            if (!is_there()) return 7;
            SP_LOG(error, "sync", "cut {}", std::string(1'000'000, 'c'));
            return is_there() ? 0 : 8;
        };
        for (int number = 0; number < 3; ++number)
            if (const int failed = record_all(number)) return failed;
        int in_thread = 0;
        std::thread([&] { in_thread = record_all(7); }).join();
        if (in_thread != 0) return 100 + in_thread;
        if (!silverpoint::flush(std::chrono::seconds(60))) return 9;
        std::erase_if(
            later, [](const std::string& record) { return record.find("|within {}|") != std::string::npos; });
        if (later.size() != due) return 10;
        // The logger names a thread as it was when its ring was made.
        for (std::size_t i = 0; i < due; ++i)
            if (later[i] != at_once[i]) return 200 + static_cast<int>(i);
        handler.remove();
        SP_LOG(debug, "sync", "one more");
        return at_once.size() == due ? 0 : 11;
    };
    EXPECT_EQ(in_child(child), 0);
}

TEST_F(LoggerTest, SynchronousHandlersAreCalledInTheirOrderAndTakenAway) {
    static std::string calls;
    const auto take = [](const silverpoint_event*, void* data) { calls += static_cast<const char*>(data); };
    const auto handler = [&](const char* name) {
        return silverpoint::synchronous_handler("chain", "chain=info", take, const_cast<char*>(name));
    };
    EXPECT_THROW(silverpoint::synchronous_handler("chain=loud", "", take, nullptr), std::invalid_argument);
    auto first = handler("1");
    auto second = handler("2");
    ASSERT_TRUE(silverpoint::start(logger_config("off").to(sink::file(path("app.log")))));
    auto third = handler("3");  // while a logger runs
    const auto called = [&] {
        calls.clear();
        SP_LOG(info, "chain", "one");
        return calls;
    };
    EXPECT_EQ(called(), "123");
    second.remove();
    EXPECT_EQ(called(), "13");
    third.remove();
    EXPECT_EQ(called(), "1");
    auto fourth = handler("4");  // in the place of the third
    EXPECT_EQ(called(), "14");
    first.remove();
    EXPECT_EQ(called(), "4");
    fourth = handler("5");
    EXPECT_EQ(called(), "5");
    fourth.remove();
    EXPECT_EQ(called(), "");
    auto last = handler("6");
    // A forked child has them, and takes them away for itself.
    EXPECT_EQ(in_child([&] {
                  if (called() != "6") return 1;
                  last.remove();
                  return called().empty() ? 0 : 2;
              }),
              0);
    EXPECT_EQ(called(), "6");
    ASSERT_TRUE(silverpoint::stop());
    EXPECT_EQ(lines("app.log").size(), 8u);
}

// Each thread takes the hot path when the handler comes. The handler gets each record that begins after that,
// and gets none twice. The log has everything.
TEST_F(LoggerTest, ASynchronousHandlerThatComesWhileThreadsRecordMissesNothing) {
    constexpr int kThreads = 4;
    static std::vector<std::uint64_t> given[kThreads];
    const auto take = [](const silverpoint_event* event, void*) {
        std::uint64_t words[2];
        std::memcpy(words, event->args, sizeof words);
        given[words[0]].push_back(words[1]);
    };
    ASSERT_TRUE(silverpoint::start(
        logger_config("off,rush=debug").policy("block=forever").to(sink::file(path("app.log")))));
    std::uint64_t all = 0;
    for (int round = 0; round < 3; ++round) {
        for (auto& numbers : given) numbers.clear();
        std::atomic<bool> is_there{false};
        std::atomic<int> running{0};
        std::uint64_t due[kThreads] = {};
        std::vector<std::thread> threads;
        for (std::uint64_t thread = 0; thread < kThreads; ++thread) {
            threads.emplace_back([&, thread] {
                std::uint64_t number = 0;
                const auto record = [&] { SP_LOG(debug, "rush", "{} {}", thread, number); };
                for (bool is_first = true; !is_there.load(); ++number, is_first = false) {
                    record();
                    if (is_first) running.fetch_add(1);
                }
                due[thread] = number;
                for (int i = 0; i < 3000; ++i, ++number) record();
            });
        }
        while (running.load() != kThreads) std::this_thread::yield();
        silverpoint::synchronous_handler handler("rush", "", take, nullptr);
        is_there.store(true);
        for (auto& thread : threads) thread.join();
        handler.remove();
        for (int thread = 0; thread < kThreads; ++thread) {
            const auto& numbers = given[thread];
            ASSERT_FALSE(numbers.empty());
            EXPECT_LE(numbers.front(), due[thread]);
            EXPECT_EQ(numbers.back(), due[thread] + 2999);
            all += due[thread] + 3000;
            for (std::size_t i = 1; i < numbers.size(); ++i) ASSERT_EQ(numbers[i], numbers[i - 1] + 1);
        }
    }
    EXPECT_TRUE(silverpoint::stop(std::chrono::seconds(60)));
    // The log also says of each thread how long it had to wait for room, if it had.
    const auto found = lines("app.log");
    const auto is_record = [](const std::string& line) { return line.find(" waited ") == std::string::npos; };
    EXPECT_EQ(static_cast<std::uint64_t>(std::count_if(found.begin(), found.end(), is_record)), all);
}

}  // namespace
