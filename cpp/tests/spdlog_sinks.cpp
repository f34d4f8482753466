// Sinks of spdlog's interface: the program's own, those that stand before others, and the network's. Part of
// spdlog_test.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <silverpoint/spdlog.hpp>
#include <silverpoint/spdlog/network.hpp>
#include <sstream>
#include <thread>

#include "spdlog_fixture.hpp"

namespace {

// As in spdlog's own documentation.
template <class Mutex>
class ListSink : public spdlog::sinks::base_sink<Mutex> {
  public:
    std::vector<std::string> lines, payloads;
    spdlog::details::log_msg last;
    std::atomic<int> flushes{0};
    bool is_failing = false;

  protected:
    void sink_it_(const spdlog::details::log_msg& msg) override {
        if (is_failing) throw std::runtime_error("no more room");
        spdlog::memory_buf_t formatted;
        spdlog::sinks::base_sink<Mutex>::formatter_->format(msg, formatted);
        lines.push_back(fmt::to_string(formatted));
        payloads.emplace_back(msg.payload.data(), msg.payload.size());
        last = msg;
        function = msg.source.funcname;
    }
    void flush_() override { ++flushes; }

  public:
    std::string function;
};

TEST_F(Spdlog, SinksOfTheProgramGetLinesInItsOrder) {
    auto sink = std::make_shared<ListSink<std::mutex>>();
    auto log = std::make_shared<spdlog::logger>("custom", sink);
    spdlog::register_logger(log);
    log->set_pattern("[%n] [%l] %v");
    const auto before = std::chrono::system_clock::now();
    for (int i = 0; i < 100; ++i) log->info("line {}", i);
    const std::string large(1000, 'x');
    log->error("{}", large);
    EXPECT_TRUE(log->flush());
    ASSERT_EQ(sink->lines.size(), 101u);
    EXPECT_EQ(sink->lines[99], "[custom] [info] line 99\n");
    EXPECT_EQ(sink->payloads[7], "line 7");
    EXPECT_EQ(sink->lines[100], "[custom] [error] " + large + "\n");
    EXPECT_EQ(sink->payloads[100], large);
    EXPECT_EQ(sink->last.level, spdlog::level::err);
    EXPECT_EQ(sink->last.thread_id, static_cast<std::size_t>(gettid()));
    EXPECT_GE(sink->last.time + std::chrono::milliseconds(100), before);
    EXPECT_GT(sink->last.source.line, 0);
    EXPECT_NE(sink->function.find("TestBody"), std::string::npos) << sink->function;
    EXPECT_GE(sink->flushes, 1);
    // Beside a file, with its own level; and one that fails keeps nobody else from his lines.
    auto failing = std::make_shared<ListSink<spdlog::details::null_mutex>>();
    failing->is_failing = true;
    auto file = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path("beside.log"));
    spdlog::logger both("both", {failing, sink, file});
    sink->set_level(spdlog::level::warn);
    both.set_pattern("%v");
    both.info("for the file");
    both.warn("for both");
    EXPECT_TRUE(both.flush());
    EXPECT_EQ(text("beside.log"), "for the file\nfor both\n");
    ASSERT_EQ(sink->lines.size(), 102u);
    EXPECT_EQ(sink->lines[101], "for both\n");
}

TEST_F(Spdlog, AForkedChildHasItsSinksToo) {
    auto sink = std::make_shared<ListSink<std::mutex>>();
    spdlog::logger log("forking", sink);
    log.set_pattern("%v");
    log.info("parent");
    EXPECT_TRUE(log.flush());
    const pid_t child = fork();
    if (child == 0) {
        log.info("child");
        const bool is_out = log.flush();
        _exit(is_out && sink->lines.size() == 2 && sink->lines[1] == "child\n" ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    log.info("parent again");
    EXPECT_TRUE(log.flush());
    EXPECT_EQ(sink->lines, (std::vector<std::string>{"parent\n", "parent again\n"}));
}

TEST_F(Spdlog, StreamsAndFunctionsAreSinks) {
    std::ostringstream out;
    auto stream = std::make_shared<spdlog::sinks::ostream_sink_mt>(out);
    std::vector<std::string> called;
    auto function = std::make_shared<spdlog::sinks::callback_sink_mt>(
        [&](const spdlog::details::log_msg& msg) { called.emplace_back(msg.payload); });
    spdlog::logger log("stream", {stream, function});
    log.set_pattern("%l: %v");
    log.warn("slow {}", 7);
    log.info("a literal {}");
    EXPECT_TRUE(log.flush());
    EXPECT_EQ(out.str(), "warning: slow 7\ninfo: a literal {}\n");
    EXPECT_EQ(called, (std::vector<std::string>{"slow 7", "a literal {}"}));
    spdlog::shutdown();
}

// The logger writes their lines, once, even if the process dies. The filter does not hold them.
TEST_F(Spdlog, AFilterRefusesSinksThatOnlyTheLoggerCanWrite) {
    spdlog::sinks::dup_filter_sink_mt filter(std::chrono::seconds(1));
    const auto rotating =
        std::make_shared<spdlog::sinks::rotating_file_sink_mt>(path("rotating.log"), 1 << 20, 3);
    EXPECT_THROW(filter.add_sink(rotating), spdlog::spdlog_ex);
    EXPECT_THROW(filter.set_sinks({nullptr, rotating}), spdlog::spdlog_ex);
    EXPECT_TRUE(filter.sinks().empty());
    spdlog::sinks::dist_sink_mt dist;
    EXPECT_NO_THROW(dist.add_sink(rotating));
}

TEST_F(Spdlog, WhatTheLoggerWritesTakesAFormatterThatIsAPattern) {
    const auto file = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path("formatted.log"));
    spdlog::logger log("formatted", file);
    log.set_formatter(std::make_unique<spdlog::pattern_formatter>("<%v>"));
    log.info("text {}", 1);
    log.flush();
    EXPECT_EQ(text("formatted.log"), "<text 1>\n");
    EXPECT_THROW(log.set_formatter(std::make_unique<spdlog::pattern_formatter>(
                     "%v", spdlog::pattern_time_type::local, "\r\n")),
                 spdlog::spdlog_ex);
}

// One that derives from dist_sink sees each line itself.
TEST_F(Spdlog, ADistSinkOfTheProgramsOwnIsAsked) {
    struct Odd : spdlog::sinks::dist_sink_mt {
        void sink_it_(const spdlog::details::log_msg& msg) override {
            if (++seen % 2 != 0) dist_sink::sink_it_(msg);
        }
        int seen = 0;
    };
    const auto odd = std::make_shared<Odd>();
    const auto file = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path("odd.log"));
    file->set_pattern("%v");
    odd->add_sink(file);
    spdlog::logger log("odd", odd);
    for (int number = 1; number <= 4; ++number) log.info("{}", number);
    log.flush();
    EXPECT_EQ(odd->seen, 4);
    EXPECT_EQ(text("odd.log"), "1\n3\n");
}

TEST_F(Spdlog, ADistSinkWithinItselfEnds) {
    const auto dist = std::make_shared<spdlog::sinks::dist_sink_mt>();
    dist->add_sink(dist);
    const auto file = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path("within.log"));
    file->set_pattern("%v");
    dist->add_sink(file);
    spdlog::logger log("within", dist);
    log.info("once");
    log.flush();
    dist->set_sinks({});
    EXPECT_EQ(text("within.log"), "once\n");
}

spdlog::details::log_msg message(std::string_view text) {
    return {spdlog::source_loc{"file", 1, "function"}, std::string_view("name"), spdlog::level::info, text};
}

TEST_F(Spdlog, ALineThatAFullDiskRefusesCostsNoDescriptor) {
    const auto open_now = [] {
        const fs::directory_iterator all("/proc/self/fd");
        return std::distance(begin(all), end(all));
    };
    spdlog::sinks::basic_file_sink_mt full("/dev/full");
    const auto before = open_now();
    for (int round = 0; round < 50; ++round) EXPECT_THROW(full.log(message("text")), spdlog::spdlog_ex);
    EXPECT_LT(open_now() - before, 25);
}

TEST_F(Spdlog, APatternThatChangesMeanwhileIsWholeInEachLine) {
    spdlog::sinks::basic_file_sink_mt file(path("changing.log"));
    const std::string one = "%v " + std::string(100, '1'), other = "%v " + std::string(300, '2');
    file.set_pattern(one);
    std::atomic<bool> done{false};
    std::thread changing([&] {
        while (!done) {
            file.set_pattern(other);
            file.set_pattern(one);
        }
    });
    for (int round = 0; round < 500; ++round) file.log(message("text"));
    done = true;
    changing.join();
    std::istringstream lines(text("changing.log"));
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count)
        ASSERT_TRUE(line == "text" + one.substr(2) || line == "text" + other.substr(2)) << line;
    EXPECT_EQ(count, 500);
}

// Each logger has the levels of its own ways to a sink, and a line takes one of them.
TEST_F(Spdlog, LevelsOfADistSinkAreOfTheLoggersThatHaveIt) {
    const auto file = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path("shared.log"));
    const auto list = std::make_shared<ListSink<std::mutex>>();
    const auto dist =
        std::make_shared<spdlog::sinks::dist_sink_mt>(std::vector<spdlog::sink_ptr>{file, list});
    dist->set_level(spdlog::level::err);
    spdlog::logger direct("direct", {file, list}), behind("behind", dist), both("a=b", {file, dist, list});
    for (auto* log : {&direct, &behind, &both}) {
        log->set_pattern("%n %l");
        log->info("x");
        log->error("x");
    }
    EXPECT_TRUE(flushed(both));
    const std::string expected = "direct info\ndirect error\nbehind error\na=b info\na=b error\n";
    EXPECT_EQ(text("shared.log"), expected);
    std::string listed;
    for (const auto& line : list->lines) listed += line;
    EXPECT_EQ(listed, expected);
}

TEST_F(Spdlog, ARefusedFormatterChangesNothing) {
    const auto list = std::make_shared<ListSink<std::mutex>>();
    const auto file = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path("first.log"));
    const auto first = std::make_shared<spdlog::logger>("first", spdlog::sinks_init_list{list, file});
    spdlog::initialize_logger(first);
    first->set_pattern("<%v>");
    const auto strange = [] {
        return std::make_unique<spdlog::pattern_formatter>("%v", spdlog::pattern_time_type::local, "\r\n");
    };
    EXPECT_THROW(spdlog::set_formatter(strange()), spdlog::spdlog_ex);
    EXPECT_THROW(spdlog::sinks::dist_sink_mt({list, file}).set_formatter(strange()), spdlog::spdlog_ex);
    first->info("1");
    EXPECT_TRUE(flushed(*first));
    EXPECT_EQ(text("first.log"), "<1>\n");
    EXPECT_EQ(list->lines, std::vector<std::string>{"<1>\n"});
    EXPECT_NO_THROW(spdlog::basic_logger_mt("second", path("second.log")));
    // Where all take it, sinks that come later and do not keep their pattern.
    spdlog::drop_all();
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("list", list));
    spdlog::set_formatter(strange());
    EXPECT_NO_THROW(spdlog::basic_logger_mt("third", path("third.log")));
    spdlog::set_pattern("%+");
}

TEST_F(Spdlog, ASinkThatAsksForLinesDoesNotWaitForItself) {
    const auto ring = std::make_shared<spdlog::sinks::ringbuffer_sink_mt>(100);
    std::vector<std::size_t> seen;
    spdlog::logger* inner = nullptr;
    const auto asking =
        std::make_shared<spdlog::sinks::callback_sink_mt>([&](const spdlog::details::log_msg& msg) {
            seen.push_back(ring->last_raw().size());
            // The logger cannot be started again here, either.
            if (seen.size() == 1) {
                inner->set_pattern("%v");
                inner->info("of a sink");
            }
            if (msg.level == spdlog::level::err) inner->flush();
        });
    spdlog::logger log("asking", {ring, asking});
    spdlog::logger other("inner", std::make_shared<spdlog::sinks::basic_file_sink_mt>(path("inner.log")));
    inner = &other;
    for (int number = 0; number < 30; ++number) log.error("{}", number);
    EXPECT_TRUE(flushed(log));
    ASSERT_EQ(seen.size(), 30u);
    for (std::size_t at = 0; at < seen.size(); ++at) EXPECT_EQ(seen[at], at + 1);
}

TEST_F(Spdlog, AFilterRefusesAlsoWhatStandsBehindOthers) {
    const auto rotating =
        std::make_shared<spdlog::sinks::rotating_file_sink_mt>(path("rotating.log"), 1 << 20, 3);
    const auto dist = std::make_shared<spdlog::sinks::dist_sink_mt>(std::vector<spdlog::sink_ptr>{rotating});
    spdlog::sinks::dup_filter_sink_mt filter(std::chrono::seconds(1));
    EXPECT_THROW(filter.add_sink(dist), spdlog::spdlog_ex);
    // Nor later.
    dist->set_sinks({dist});
    filter.add_sink(dist);
    EXPECT_THROW(dist->add_sink(rotating), spdlog::spdlog_ex);
    dist->set_sinks({});
    struct Own : spdlog::sinks::dist_sink_mt {};
    EXPECT_THROW(Own().add_sink(rotating), spdlog::spdlog_ex);
}

TEST_F(Spdlog, ASinkThatFailsKeepsNoLineFromThoseBesideIt) {
    const auto failing = std::make_shared<ListSink<std::mutex>>(),
               list = std::make_shared<ListSink<std::mutex>>();
    failing->is_failing = true;
    spdlog::sinks::dup_filter_sink_mt filter(std::chrono::hours(1));
    filter.set_sinks({failing, nullptr, list});
    filter.log(message("text"));
    EXPECT_EQ(list->payloads, std::vector<std::string>{"text"});
}

// A socket of this machine's, and its port: one that nobody has, or that of another such socket, too.
int bound(int type, std::uint16_t& port) {
    const int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);
    const auto share = [fd, yes = 1] {
        EXPECT_EQ(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes), 0);
    };
    if (port != 0) share();
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    at.sin_port = htons(port);
    socklen_t size = sizeof at;
    EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
    share();
    EXPECT_EQ(getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size), 0);
    port = ntohs(at.sin_port);
    return fd;
}

TEST_F(Spdlog, ADatagramIsSentAlthoughNobodyTookTheOneBefore) {
    std::uint16_t port = 0;
    // It keeps the port from others, and receives only from a peer that is not there.
    const int keeper = bound(SOCK_DGRAM, port);
    sockaddr_in peer{};
    peer.sin_family = AF_INET;
    peer.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    peer.sin_port = htons(1);
    ASSERT_EQ(connect(keeper, reinterpret_cast<sockaddr*>(&peer), sizeof peer), 0);
    spdlog::sinks::udp_sink_mt sink(spdlog::sinks::udp_sink_config("127.0.0.1", port));
    sink.set_pattern("%v");
    sink.log(message("to nobody"));
    const int fd = bound(SOCK_DGRAM, port);
    const timeval most{300, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
    EXPECT_NO_THROW(sink.log(message("to us")));
    char buffer[100];
    const ssize_t size = recv(fd, buffer, sizeof buffer, 0);
    close(fd);
    close(keeper);
    ASSERT_GT(size, 0);
    EXPECT_EQ(std::string_view(buffer, static_cast<std::size_t>(size)), "to us\n");
}

TEST_F(Spdlog, APeerThatReadsNothingHoldsNobodyForLong) {
    std::uint16_t port = 0;
    const int server = bound(SOCK_STREAM, port);
    ASSERT_EQ(listen(server, 1), 0);
    spdlog::sinks::tcp_sink_mt sink(spdlog::sinks::tcp_sink_config("127.0.0.1", port));
    const std::string much(16 << 20, 'x');
    auto sending = std::async(std::launch::async, [&] {
        // More than the system keeps for a peer.
        for (int round = 0; round < 64; ++round) sink.log(message(much));
    });
    const bool is_back = sending.wait_for(std::chrono::seconds(300)) == std::future_status::ready;
    close(server);  // what still hangs comes back
    EXPECT_TRUE(is_back);
    EXPECT_THROW(sending.get(), spdlog::spdlog_ex);
    // The next line is refused, or counted and reported when no more wait.
    const auto next = [&] {
        sink.log(message("lost"));
        sink.flush();
    };
    EXPECT_THROW(next(), spdlog::spdlog_ex);
}

}  // namespace
