// A program that logs with spdlog, compiled twice: with spdlog, and with silverpoint/instead before it. What
// it writes is compared (compare.sh), so it shows nothing that must differ: no two lines may change places.
//
//   program PART DIRECTORY
#include <arpa/inet.h>
#include <netinet/in.h>
#include <spdlog/async.h>
#include <spdlog/cfg/argv.h>
#include <spdlog/cfg/env.h>
#include <spdlog/details/log_msg_buffer.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/dist_sink.h>
#include <spdlog/sinks/dup_filter_sink.h>
#include <spdlog/sinks/null_sink.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/sinks/ringbuffer_sink.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/sinks/tcp_sink.h>
#include <spdlog/sinks/udp_sink.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace {

// Until all is written: on a busy machine longer than the five seconds of one call here. spdlog says nothing.
template <class Logger>
void flush(Logger& log) {
    if constexpr (std::is_void_v<decltype(log.flush())>) {
        log.flush();
    } else {
        for (int tries = 0; tries < 12 && !log.flush(); ++tries) {
        }
    }
}

void formats(const std::string&) {
    spdlog::trace("not shown {}", 0);
    spdlog::debug("not shown {}", 0);
    spdlog::info("integers {} {} {} {}", -7, 7u, std::int64_t{1} << 40,
                 std::numeric_limits<std::uint64_t>::max());
    spdlog::info("bases {:x} {:#x} {:X} {:b} {:#b} {:o} {:+d} {:08}", 255, 255, 255, 5, 5, 8, 42, 42);
    spdlog::warn("floats {} {} {:.2f} {:8.3f}| {:e} {:g} {}", 0.1, 1e30, 2.0 / 3, 3.14159, 12345.678, 1e-7,
                 0.1f);
    spdlog::error("texts {} {} {:>8}|{:<8}|{:^8}|{:*^9}| {:.3}", "literal", std::string("string"),
                  std::string_view("right"), "left", "mid", "fill", "truncated");
    spdlog::critical("others {} {} {} {:s}", true, 'c', static_cast<void*>(nullptr), false);
    spdlog::info("order {1} {0} {1}", "a", "b");
    spdlog::info("{{}} braces {{{}}}", 1);
    spdlog::info("a literal alone {} {x} }{");
    spdlog::info(std::string("made elsewhere {} {}"));
    const char* text = "pointed to {}";
    spdlog::info(text);
    spdlog::warn(42);
    spdlog::warn(2.5);
    spdlog::log(spdlog::level::err, "by level {}", 1);
    for (const auto level : {spdlog::level::info, spdlog::level::warn, spdlog::level::critical})
        spdlog::log(level, "level in a variable {}", static_cast<int>(level));
    spdlog::log(spdlog::source_loc{}, spdlog::level::info, "with a place {}", 1);
    spdlog::info(fmt::runtime(std::string("made when it runs {} {:.1f}")), 1, 2.5);
    spdlog::warn(fmt::runtime("{1} {0}"), "a", "b");
    spdlog::info("");
    spdlog::info("{}", "");
    spdlog::info("ünïcödé {} {:>6}|", "日本", "äö");
}

void levels(const std::string&) {
    auto log = spdlog::default_logger();
    for (int level = spdlog::level::trace; level <= spdlog::level::off; ++level) {
        spdlog::set_level(static_cast<spdlog::level::level_enum>(level));
        log->trace("trace at {}", level);
        log->debug("debug at {}", level);
        log->info("info at {}", level);
        log->warn("warn at {}", level);
        log->error("error at {}", level);
        log->critical("critical at {} {} {}", level, spdlog::should_log(spdlog::level::warn),
                      log->should_log(spdlog::level::trace));
    }
    spdlog::set_level(spdlog::level::info);
    spdlog::info("{} {} {}", std::string(spdlog::level::to_string_view(spdlog::level::err).data()),
                 spdlog::level::to_short_c_str(spdlog::level::warn),
                 static_cast<int>(spdlog::level::from_str("debug")));
    setenv("SPDLOG_LEVEL", "error,chatty=trace", 1);
    spdlog::cfg::load_env_levels();
    spdlog::warn("not shown");
    spdlog::error("shown");
    auto chatty = spdlog::stdout_logger_mt("chatty");
    chatty->trace("chatty {}", 1);
}

void loggers(const std::string& directory) {
    auto net = spdlog::stdout_color_mt("net");
    net->info("first {}", 1);
    spdlog::get("net")->warn("second");
    if (spdlog::get("missing") == nullptr) net->info("missing is missing");
    try {
        spdlog::stdout_color_mt("net");
    } catch (const spdlog::spdlog_ex& error) {
        net->error("refused: {}", error.what());
    }
    auto file = std::make_shared<spdlog::sinks::basic_file_sink_mt>(directory + "/warnings.log", true);
    file->set_level(spdlog::level::warn);
    auto both = std::make_shared<spdlog::logger>(
        "both", spdlog::sinks_init_list{std::make_shared<spdlog::sinks::stdout_color_sink_mt>(), file});
    both->set_level(spdlog::level::debug);
    both->debug("console alone {}", 1);
    both->error("console and file {}", 2);
    spdlog::register_logger(both);
    auto copy = both->clone("copy");
    copy->warn("of the copy");
    spdlog::get("both")->info("{} sinks of {}", both->sinks().size(), both->name());
    spdlog::null_logger_mt("nothing")->critical("nowhere");
    spdlog::set_default_logger(net);
    spdlog::info("by the new default");
    spdlog::drop("both");
    if (spdlog::get("both") == nullptr) spdlog::info("both is gone");
    both->error("but may still be used");
    int count = 0;
    spdlog::apply_all([&](const std::shared_ptr<spdlog::logger>& one) { count += one->name() == "net"; });
    spdlog::info("{} of that name", count);
}

void files(const std::string& directory) {
    auto log = spdlog::basic_logger_mt("basic", directory + "/made/on/the/way/basic.log");
    log->info("line {}", 1);
    flush(*log);
    auto other = spdlog::basic_logger_st<spdlog::async_factory>("async", directory + "/async.log", true);
    other->warn("line {}", 2);
    auto rotating = spdlog::rotating_logger_mt("rotating", directory + "/rotating.txt", 1 << 20, 3);
    rotating->flush_on(spdlog::level::err);
    rotating->error("line {}", 3);
    try {
        spdlog::basic_logger_mt("bad", "/proc/nowhere/x.log");
    } catch (const spdlog::spdlog_ex&) {
        spdlog::info("refused");
    }
    spdlog::shutdown();
}

// As spdlog's documentation has it.
template <typename Mutex>
class my_sink : public spdlog::sinks::base_sink<Mutex> {
  public:
    explicit my_sink(const std::string& path) : file_(path) {}

  protected:
    void sink_it_(const spdlog::details::log_msg& msg) override {
        spdlog::memory_buf_t formatted;
        spdlog::sinks::base_sink<Mutex>::formatter_->format(msg, formatted);
        file_ << fmt::to_string(formatted) << "raw: " << std::string(msg.payload.data(), msg.payload.size())
              << " of " << std::string(msg.logger_name.data(), msg.logger_name.size()) << " at "
              << static_cast<int>(msg.level) << std::endl;
    }
    void flush_() override { file_ << std::flush; }

  private:
    std::ofstream file_;
};

void customs(const std::string& directory) {
    auto mine = std::make_shared<my_sink<std::mutex>>(directory + "/mine.log");
    std::ofstream out(directory + "/stream.log");
    auto stream = std::make_shared<spdlog::sinks::ostream_sink_mt>(out);
    spdlog::logger log("custom", {mine, stream});
    log.info("before {}", 1);
    flush(log);
    log.set_pattern("%n %l [%v]");
    stream->set_level(spdlog::level::warn);
    for (int i = 0; i < 10; ++i) log.info("line {} of {:>4}", i, 10);
    log.warn("a literal {}");
    log.error(std::string(500, 'x'));
    flush(log);
    spdlog::shutdown();
}

void patterns(const std::string&) {
    auto log = spdlog::stdout_logger_mt("some.name");
    for (const char* pattern :
         {"%v", "[%n] [%l] %v", "%L %8l| %-8l| %=9l| %3!l| %-3!n|", "%Y-%m-%d %H:%M:%S.%e %v",
          "%a %A %b %B %v", "%D %x %v", "%C %y|%v", "%I %p %r %v", "%R %T %X %v", "%f %F %v", "%z %v",
          "%E %v", "%P %t %v", "100%% %v", "%^%l%$ %v", "%q%v", "no flags", "%+"}) {
        log->set_pattern(pattern);
        log->info("message {}", 1);
        log->critical("message {}", 2);
    }
    spdlog::set_pattern("all: %v");
    log->info("message {}", 3);
    spdlog::info("message {}", 4);
}

// Sinks before others: files and consoles, streams, and one within another.
void combined(const std::string& directory) {
    auto console = std::make_shared<spdlog::sinks::stdout_sink_mt>();
    auto file = std::make_shared<spdlog::sinks::basic_file_sink_mt>(directory + "/dist.log");
    auto rotating =
        std::make_shared<spdlog::sinks::rotating_file_sink_mt>(directory + "/turning.log", 1 << 20, 3);
    auto inner = std::make_shared<spdlog::sinks::dist_sink_st>();
    inner->add_sink(rotating);
    inner->set_level(spdlog::level::warn);
    auto dist = std::make_shared<spdlog::sinks::dist_sink_mt>(
        std::vector<std::shared_ptr<spdlog::sinks::sink>>{console, file});
    dist->add_sink(inner);
    spdlog::logger log("dist", dist);
    log.info("to two {}", 1);
    log.warn("to three {}", 2);
    flush(log);
    log.set_pattern("%l|%v");
    file->set_level(spdlog::level::err);
    log.info("another pattern {}", 3);
    log.error("for all {}", 4);
    flush(log);
    dist->remove_sink(console);
    log.error("{} sinks", dist->sinks().size());
    flush(log);
    dist->set_sinks({});
    log.critical("to none");
    flush(log);

    std::ofstream out(directory + "/filtered.log");
    auto stream = std::make_shared<spdlog::sinks::ostream_sink_mt>(out);
    auto filtered = std::make_shared<spdlog::sinks::basic_file_sink_mt>(directory + "/filtered2.log");
    auto filter = std::make_shared<spdlog::sinks::dup_filter_sink_mt>(std::chrono::hours(1));
    filter->add_sink(stream);
    filter->add_sink(filtered);
    spdlog::logger dup("dup", filter);
    for (const int number : {1, 1, 1, 2, 1, 3, 3}) dup.warn("line {}", number);
    dup.info("line {}", 3);
    dup.error("line {}", 4);
    flush(dup);
    dup.set_pattern("%n/%L/%-9l/%v");
    filtered->set_level(spdlog::level::err);
    for (int round = 0; round < 3; ++round) dup.warn("again");
    dup.error("the end");
    flush(dup);
}

// A flag of one's own, as spdlog's documentation has it; it counts its lines, and knows its width.
class my_flag : public spdlog::custom_flag_formatter {
  public:
    void format(const spdlog::details::log_msg& msg, const std::tm&, spdlog::memory_buf_t& dest) override {
        const std::string text = "<" + std::to_string(msg.payload.size()) + " " + std::to_string(++lines_) +
                                 " " + std::to_string(padinfo_.width_) + ">";
        dest.append(text.data(), text.data() + text.size());
    }
    std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<my_flag>(); }

  private:
    int lines_ = 0;
};

void kept(const std::string& directory) {
    auto ring = std::make_shared<spdlog::sinks::ringbuffer_sink_mt>(4);
    spdlog::logger log("ring", ring);
    log.set_level(spdlog::level::trace);
    for (int number = 0; number < 7; ++number) log.debug("number {}", number);
    flush(log);
    std::ofstream out(directory + "/ring.log");
    for (const std::string& line : ring->last_formatted()) out << line;
    for (const std::string& line : ring->last_formatted(2)) out << line;
    log.set_pattern("%n %l %v");
    log.critical("another {}", 7.5);
    flush(log);
    for (const std::string& line : ring->last_formatted(3)) out << line;
    for (const auto& msg : ring->last_raw())
        out << std::string(msg.logger_name.data(), msg.logger_name.size()) << ' '
            << static_cast<int>(msg.level) << ' ' << std::string(msg.payload.data(), msg.payload.size())
            << '\n';
    // A record that is gone, by all flags whose text is known.
    std::time_t some = 1700000000;
    spdlog::details::log_msg made(spdlog::log_clock::from_time_t(some) + std::chrono::microseconds(7008),
                                  spdlog::source_loc{"/a/b/file.cpp", 17, "function"}, "name",
                                  spdlog::level::warn, "text");
    for (const char* pattern :
         {"%v", "%n %l %L", "%a %A %b %h %B", "%c", "%C %Y %D %x %m %d %H %I %M %S", "%e %f %F %E",
          "%p %r %R %T %X %z", "%8l|%-8l|%=8l|%3!l|%-3!l|%=3!n|", "%^%l%$ 100%%", "%s %g %# %! %@", "%q %",
          "%-v|%=v", "%99v|", "%64n|", "%9s|%-6#|"}) {
        spdlog::memory_buf_t line;
        spdlog::pattern_formatter(pattern).format(made, line);
        out << fmt::to_string(line);
    }
    auto own = std::make_unique<spdlog::pattern_formatter>();
    own->add_flag<my_flag>('*').set_pattern("%n [%*] %8*|%-6!* %v");
    log.set_formatter(std::move(own));
    for (int number = 0; number < 3; ++number) log.info("with a flag of its own");
    flush(log);
    for (const std::string& line : ring->last_formatted(3)) out << line;
    char program[] = "program", levels[] = "SPDLOG_LEVEL=off,spoken=debug";
    char* words[] = {program, levels, nullptr};
    auto spoken = spdlog::stdout_logger_mt("spoken");
    spdlog::cfg::load_argv_levels(2, words);
    spdlog::info("not shown");
    spoken->debug("by an argument");
}

// A socket of this machine's, and its port. What does not come within half a minute does not come.
int listening(int type, std::uint16_t& port) {
    const int fd = socket(AF_INET, type, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    if (fd < 0 || bind(fd, reinterpret_cast<sockaddr*>(&at), sizeof at) != 0 ||
        (type == SOCK_STREAM && listen(fd, 1) != 0) ||
        getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size) != 0)
        std::exit(3);
    port = ntohs(at.sin_port);
    const timeval most{300, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
    return fd;
}

void network(const std::string& directory) {
    std::ofstream out(directory + "/network.log");
    char buffer[1000];
    std::uint16_t port = 0;
    const int datagrams = listening(SOCK_DGRAM, port);
    auto udp = spdlog::udp_logger_mt("udp", spdlog::sinks::udp_sink_config("127.0.0.1", port));
    udp->set_pattern("[%n] [%l] %v");
    udp->info("datagram {}", 1);
    udp->warn("datagram {}", 2);
    flush(*udp);
    for (int number = 0; number < 2; ++number) {
        const ssize_t size = recv(datagrams, buffer, sizeof buffer, 0);
        if (size < 0) std::exit(4);
        out.write(buffer, size) << '.';
    }
    const int server = listening(SOCK_STREAM, port);
    auto sink = std::make_shared<spdlog::sinks::tcp_sink_mt>(
        spdlog::sinks::tcp_sink_config("127.0.0.1", static_cast<int>(port)));
    spdlog::logger tcp("tcp", sink);
    tcp.set_pattern("%v");
    tcp.info("stream {}", 1);
    tcp.error("stream {}", 2);
    flush(tcp);
    const int one = accept(server, nullptr, nullptr);
    if (one < 0) std::exit(5);
    const timeval most{300, 0};
    setsockopt(one, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
    std::string got;
    while (got.size() < 18) {
        const ssize_t size = recv(one, buffer, sizeof buffer, 0);
        if (size <= 0) break;
        got.append(buffer, static_cast<std::size_t>(size));
    }
    out << got;
    close(one);
    close(server);
    close(datagrams);
    try {
        spdlog::sinks::tcp_sink_mt refused(spdlog::sinks::tcp_sink_config("127.0.0.1", 1));
    } catch (const spdlog::spdlog_ex&) {
        out << "refused\n";
    }
    spdlog::shutdown();
}

}  // namespace

int main(int argc, char** argv) {
    const std::map<std::string, void (*)(const std::string&)> parts{
        {"formats", formats},   {"levels", levels},   {"loggers", loggers},
        {"files", files},       {"customs", customs}, {"patterns", patterns},
        {"combined", combined}, {"kept", kept},       {"network", network}};
    if (argc != 3 || !parts.contains(argv[1])) return 2;
    parts.at(argv[1])(argv[2]);
}
