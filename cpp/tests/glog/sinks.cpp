// Functions of the program's that are given messages.
// run: sinks GLOG_log_dir=.
// run: to GLOG_log_dir=.
// run: before GLOG_log_dir=.
// run: waiting GLOG_log_dir=.
// run: old GLOG_log_dir=.
// run: logger GLOG_log_dir=.
// run: numbers GLOG_log_dir=.
// run: time GLOG_log_dir=.
// run: stderr GLOG_logtostderr=1
#include <glog/logging.h>

#include <atomic>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

struct Printing : google::LogSink {
    explicit Printing(const char* the_name) : name(the_name) {}
    void send(google::LogSeverity severity, const char* full, const char* base, int line,
              const google::LogMessageTime& time, const char* message, size_t size) override {
        printf("%s: %d %d %s %d [%.*s]\n", name, severity, std::string(full).find(base) != std::string::npos,
               base, line, static_cast<int>(size), message);
        puts(ToString(severity, base, line, time, message, size).c_str());
        fflush(stdout);
        ++count;
    }
    void WaitTillSent() override { printf("%s waits\n", name); }
    const char* name;
    int count = 0;
};

struct Old : google::LogSink {
    void send(google::LogSeverity severity, const char*, const char* base, int line, const std::tm* time,
              const char* message, size_t size) override {
        printf("old: %d %s %d %d %.*s\n", severity, base, line, time->tm_year > 100, static_cast<int>(size),
               message);
    }
    using google::LogSink::send;
};

// Logs in its own thread what it is given, and lets nobody go on before that.
struct Forwarding : google::LogSink {
    void send(google::LogSeverity, const char*, const char*, int, const google::LogMessageTime&,
              const char* message, size_t size) override {
        if (std::string(message, size).find("forwarded") == 0) return;
        waiting = std::string(message, size);
        is_waiting = true;
    }
    void WaitTillSent() override {
        if (!is_waiting.exchange(false)) return;
        std::thread([this] { LOG(WARNING) << "forwarded: " << waiting; }).join();
    }
    std::string waiting;
    std::atomic<bool> is_waiting{false};
};

struct OwnLogger : google::base::Logger {
    void Write(bool at_once, time_t, const char* message, size_t size) override {
        lines.push_back(std::string(at_once ? "at once " : "later ") + std::string(message, size));
    }
    void Flush() override { ++flushed; }
    uint32_t LogSize() override { return static_cast<uint32_t>(lines.size()); }
    std::vector<std::string> lines;
    int flushed = 0;
};

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    Printing one("one"), two("two");
    if (what == "before") {
        google::AddLogSink(&one);
        LOG(INFO) << "before the beginning";
        LOG(ERROR) << "an error before";
    }
    google::InitGoogleLogging(argv[0]);
    if (what == "sinks" || what == "stderr") {
        google::AddLogSink(&one);
        LOG(INFO) << "for one " << 1;
        google::AddLogSink(&two);
        LOG(WARNING) << "for both\n";
        LOG(ERROR) << "";
        google::RemoveLogSink(&one);
        LOG(INFO) << "for two " << std::hex << 255;
        google::RemoveLogSink(&two);
        google::RemoveLogSink(&two);
        LOG(INFO) << "for none";
    }
    if (what == "to") {
        LOG_TO_SINK(&one, INFO) << "to one";
        LOG_TO_SINK(&two, ERROR) << "to two\n";
        LOG_TO_SINK(nullptr, WARNING) << "to none";
        LOG_TO_SINK_BUT_NOT_TO_LOGFILE(&one, INFO) << "to one only";
        LOG_TO_SINK_BUT_NOT_TO_LOGFILE(nullptr, INFO) << "to nobody";
        google::AddLogSink(&one);
        LOG_TO_SINK(&one, INFO) << "twice to one";
        google::RemoveLogSink(&one);
    }
    if (what == "waiting") {
        Forwarding sink;
        google::AddLogSink(&sink);
        for (int i = 0; i < 5; ++i) LOG(INFO) << "message " << i;
        google::RemoveLogSink(&sink);
    }
    if (what == "old") {
        Old sink;
        google::AddLogSink(&sink);
        LOG(INFO) << "to an old sink";
        google::RemoveLogSink(&sink);
    }
    if (what == "logger") {
        static OwnLogger own;
        google::base::Logger* before = google::base::GetLogger(google::GLOG_INFO);
        google::base::SetLogger(google::GLOG_INFO, &own);
        printf("%d\n", google::base::GetLogger(google::GLOG_INFO) == &own);
        LOG(INFO) << "to the program's own";
        LOG(WARNING) << "and to a file";
        google::FlushLogFiles(google::GLOG_INFO);
        printf("%d\n", own.flushed > 0);
        google::base::SetLogger(google::GLOG_INFO, before);
        LOG(INFO) << "to the file again";
        for (const auto& line : own.lines) printf("%s\n", line.substr(line.find(']')).c_str());
    }
    if (what == "numbers") {
        for (int i = 0; i < 3; ++i) LOG(INFO) << i;
        for (int i = 0; i < 2; ++i) LOG(WARNING) << i;
        LOG(ERROR) << "one";
        for (int severity = 0; severity < google::NUM_SEVERITIES; ++severity)
            printf("%d\n", static_cast<int>(google::LogMessage::num_messages(severity)));
    }
    if (what == "time") {
        const google::LogMessageTime time(86400 * 365, 86400 * 365 + 0.25);
        printf("%ld %d %d %d %d %d %d %d %d %d %d %ld\n", static_cast<long>(time.timestamp()), time.usec(),
               time.sec(), time.min(), time.hour(), time.day(), time.month(), time.year(), time.dayOfWeek(),
               time.dayInYear(), time.dst(), time.gmtoff());
        google::LogMessage message(__FILE__, __LINE__, google::GLOG_INFO);
        message.stream() << "now";
        printf("%d %d\n", message.getLogMessageTime().timestamp() > 1700000000, message.preserved_errno());
    }
    return one.count + two.count;
}
