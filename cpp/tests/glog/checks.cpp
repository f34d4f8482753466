// Checks and fatal messages, each in a run of its own.
// run: check GLOG_log_dir=.
// run: eq GLOG_log_dir=.
// run: ne GLOG_log_dir=.
// run: le GLOG_log_dir=.
// run: lt GLOG_log_dir=.
// run: ge GLOG_log_dir=.
// run: gt GLOG_log_dir=.
// run: eq-text GLOG_log_dir=.
// run: eq-characters GLOG_log_dir=.
// run: eq-control GLOG_log_dir=.
// run: eq-bytes GLOG_log_dir=.
// run: eq-signed GLOG_log_dir=.
// run: eq-null GLOG_log_dir=.
// run: ne-null GLOG_log_dir=.
// run: eq-double GLOG_log_dir=.
// run: eq-constant GLOG_log_dir=.
// run: eq-long GLOG_log_dir=.
// run: eq-bool GLOG_log_dir=.
// run: eq-own GLOG_log_dir=.
// run: notnull GLOG_log_dir=.
// run: notnull-message GLOG_log_dir=.
// run: streq GLOG_log_dir=.
// run: strne GLOG_log_dir=.
// run: strcaseeq GLOG_log_dir=.
// run: strcasene GLOG_log_dir=.
// run: streq-null GLOG_log_dir=.
// run: index GLOG_log_dir=.
// run: bound GLOG_log_dir=.
// run: double-eq GLOG_log_dir=.
// run: near GLOG_log_dir=.
// run: near-below GLOG_log_dir=.
// run: pcheck GLOG_log_dir=.
// run: check-err GLOG_log_dir=.
// run: assert GLOG_log_dir=.
// run: dcheck GLOG_log_dir=.
// run: dcheck-eq GLOG_log_dir=.
// run: dcheck-ne GLOG_log_dir=.
// run: dcheck-le GLOG_log_dir=.
// run: dcheck-lt GLOG_log_dir=.
// run: dcheck-ge GLOG_log_dir=.
// run: dcheck-gt GLOG_log_dir=.
// run: dcheck-notnull GLOG_log_dir=.
// run: dcheck-streq GLOG_log_dir=.
// run: dcheck-strne GLOG_log_dir=.
// run: dcheck-strcaseeq GLOG_log_dir=.
// run: dcheck-strcasene GLOG_log_dir=.
// run: dlog-assert GLOG_log_dir=.
// run: dlog-fatal GLOG_log_dir=.
// run: fatal GLOG_log_dir=.
// run: fatal-if GLOG_log_dir=.
// run: dfatal GLOG_log_dir=.
// run: fatal-every GLOG_log_dir=.
// run: fatal-level GLOG_log_dir=.
// run: fatal-stderr GLOG_log_dir=.
// run: fatal-min GLOG_log_dir=.
// run: fatal-sink GLOG_log_dir=.
// run: fatal-function GLOG_log_dir=.
// run: check-function GLOG_log_dir=.
// run: fatal-thread GLOG_log_dir=.
// run: fatal-much GLOG_log_dir=.
// run: syslog-fatal GLOG_log_dir=.
// run: plog-fatal GLOG_log_dir=.
// run: twice GLOG_log_dir=.
// run: shutdown-twice GLOG_log_dir=.
// run: raw-fatal GLOG_log_dir=.
// run: raw-check GLOG_log_dir=.
// run: all-hold GLOG_log_dir=.
// run: before GLOG_log_dir=.
// Where glog checks itself.
// skip: twice You called
// skip: shutdown-twice You called
#include <glog/logging.h>
#include <glog/raw_logging.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>
#include <thread>

struct Limits {
    static const int kMost = 5;  // without a definition
};

struct Money {
    int value;
    bool operator==(const Money& other) const { return value == other.value; }
};
std::ostream& operator<<(std::ostream& out, const Money& money) { return out << money.value << " crowns"; }

struct Sink : google::LogSink {
    void send(google::LogSeverity severity, const char*, const char* file, int, const google::LogMessageTime&,
              const char* message, size_t size) override {
        printf("sink %d %s [%.*s]\n", severity, file, static_cast<int>(size), message);
        fflush(stdout);
    }
    void WaitTillSent() override {
        puts("waited");
        fflush(stdout);
    }
};

[[noreturn]] static void leave() {
    google::ReprintFatalMessage();
    _exit(7);
}

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    int one = 1, two = 2;
    const int array[] = {1, 2, 3};
    char character = 'a';
    int* pointer = nullptr;
    const char* text = "text";
    if (what == "before") LOG(FATAL) << "before the beginning";
    google::InitGoogleLogging(argv[0]);
    LOG(INFO) << "begins";
    if (what == "check") {
        CHECK(one == two) << "because " << one;
    }
    if (what == "eq") {
        CHECK_EQ(one, two) << "because";
    }
    if (what == "ne") {
        CHECK_NE(one, 1);
    }
    if (what == "le") {
        CHECK_LE(two, one);
    }
    if (what == "lt") {
        CHECK_LT(two, one) << 5;
    }
    if (what == "ge") {
        CHECK_GE(one, two);
    }
    if (what == "gt") {
        CHECK_GT(one, 2u - 1);
    }
    if (what == "eq-text") {
        CHECK_EQ(std::string("left"), "right");
    }
    if (what == "eq-characters") {
        CHECK_EQ(character, 'b');
    }
    if (what == "eq-control") {
        CHECK_EQ(character, '\n');
    }
    if (what == "eq-bytes") {
        CHECK_EQ(static_cast<unsigned char>(65), static_cast<unsigned char>(1));
    }
    if (what == "eq-signed") {
        CHECK_EQ(static_cast<signed char>(65), static_cast<signed char>(-1));
    }
    if (what == "eq-null") {
        CHECK_EQ(pointer, &one);
    }
    if (what == "ne-null") {
        CHECK_NE(pointer, nullptr);
    }
    if (what == "eq-double") {
        CHECK_EQ(0.1 + 0.2, 0.3);
    }
    if (what == "eq-constant") {
        CHECK_EQ(Limits::kMost, one);
    }
    if (what == "eq-long") {
        CHECK_EQ(1LL << 40, 2ULL);
    }
    if (what == "eq-bool") {
        CHECK_EQ(one == 1, false);
    }
    if (what == "eq-own") {
        CHECK_EQ(Money{1}, Money{2}) << "of the rich";
    }
    if (what == "notnull") {
        CHECK_NOTNULL(pointer);
    }
    if (what == "notnull-message") {
        LOG(INFO) << *CHECK_NOTNULL(&one);
        CHECK_NOTNULL(std::unique_ptr<int>());
    }
    if (what == "streq") {
        CHECK_STREQ(text, "other") << "because";
    }
    if (what == "strne") {
        CHECK_STRNE(text, "text");
    }
    if (what == "strcaseeq") {
        CHECK_STRCASEEQ(text, "OTHER");
    }
    if (what == "strcasene") {
        CHECK_STRCASENE(text, "TEXT");
    }
    if (what == "streq-null") {
        CHECK_STREQ(text, nullptr);
    }
    if (what == "index") {
        CHECK_INDEX(3u, array);
    }
    if (what == "bound") {
        CHECK_BOUND(4u, array);
    }
    if (what == "double-eq") {
        CHECK_DOUBLE_EQ(0.1 + 0.2, 0.31);
    }
    if (what == "near") {
        CHECK_NEAR(1.0, 1.2, 0.1);
    }
    if (what == "near-below") {
        CHECK_NEAR(0.8, 1.0, 0.1);
    }
    if (what == "pcheck") {
        errno = ENOENT;
        PCHECK(one == two) << "opening";
    }
    if (what == "check-err") {
        errno = EACCES;
        CHECK_ERR(-1) << "closing";
    }
    if (what == "assert") {
        LOG_ASSERT(one == two) << " more";
    }
    if (what == "dcheck") {
        DCHECK(one == two) << "in debug";
    }
    if (what == "dcheck-eq") {
        DCHECK_EQ(one, two) << "in debug";
    }
    if (what == "dcheck-ne") {
        DCHECK_NE(one, 1);
    }
    if (what == "dcheck-le") {
        DCHECK_LE(two, one);
    }
    if (what == "dcheck-lt") {
        DCHECK_LT(two, one);
    }
    if (what == "dcheck-ge") {
        DCHECK_GE(one, two);
    }
    if (what == "dcheck-gt") {
        DCHECK_GT(one, two);
    }
    if (what == "dcheck-notnull") {
        pointer = DCHECK_NOTNULL(pointer);
    }
    if (what == "dcheck-streq") {
        DCHECK_STREQ(text, "other");
    }
    if (what == "dcheck-strne") {
        DCHECK_STRNE(text, "text");
    }
    if (what == "dcheck-strcaseeq") {
        DCHECK_STRCASEEQ(text, "other");
    }
    if (what == "dcheck-strcasene") {
        DCHECK_STRCASENE(text, "TEXT");
    }
    if (what == "dlog-assert") {
        DLOG_ASSERT(one == two) << " more";
    }
    if (what == "dlog-fatal") {
        DLOG(FATAL) << "in debug";
    }
    if (what == "fatal") {
        LOG(FATAL) << "the end " << 1;
    }
    if (what == "fatal-if") {
        LOG_IF(FATAL, one != two) << "the end";
    }
    if (what == "dfatal") {
        LOG(DFATAL) << "in debug " << 1;
        LOG(INFO) << "after";
    }
    if (what == "fatal-every") {
        LOG_EVERY_N(FATAL, 2) << "the end " << google::COUNTER;
    }
    if (what == "fatal-level") {
        LOG_AT_LEVEL(google::GLOG_FATAL) << "at run time";
    }
    if (what == "fatal-stderr") {
        FLAGS_logtostderr = true;
        LOG(FATAL) << "on stderr";
    }
    if (what == "fatal-min") {
        FLAGS_minloglevel = 4;
        LOG(ERROR) << "not shown";
        LOG_AT_LEVEL(google::GLOG_FATAL) << "not even this";
    }
    if (what == "fatal-sink") {
        Sink sink;
        google::AddLogSink(&sink);
        LOG(FATAL) << "to a sink";
    }
    if (what == "fatal-function") {
        google::InstallFailureFunction(&leave);
        LOG(FATAL) << "with an end of its own";
    }
    if (what == "check-function") {
        google::InstallFailureFunction(&leave);
        CHECK(one == two) << "with an end of its own";
    }
    if (what == "fatal-thread") {
        std::thread([] { LOG(FATAL) << "in a thread"; }).join();
    }
    if (what == "fatal-much") {
        for (int i = 0; i < 5000; ++i) LOG(INFO) << "line " << i;
        LOG(FATAL) << "everything is written";
    }
    if (what == "syslog-fatal") {
        SYSLOG(FATAL) << "to the system";
    }
    if (what == "plog-fatal") {
        errno = EPERM;
        PLOG(FATAL) << "not permitted";
    }
    if (what == "twice") {
        google::InitGoogleLogging("again");
    }
    if (what == "shutdown-twice") {
        google::ShutdownGoogleLogging();
        google::ShutdownGoogleLogging();
    }
    if (what == "raw-fatal") {
        RAW_LOG(FATAL, "raw %d", 1);
    }
    if (what == "raw-check") {
        RAW_CHECK(one == two, "raw message");
    }
    if (what == "all-hold") {
        CHECK(one) << two;
        CHECK_EQ(one, 1);
        CHECK_NE(one, 2);
        CHECK_LE(1, 1);
        CHECK_LT(one, 2);
        CHECK_GE(two, 1);
        CHECK_GT(two, 1);
        CHECK_STREQ("a", "a");
        CHECK_STRNE("a", nullptr);
        CHECK_STRCASEEQ(nullptr, nullptr);
        CHECK_STRCASENE("a", "b");
        CHECK_DOUBLE_EQ(1, 1.0);
        CHECK_NEAR(1, 1.05, 0.1);
        CHECK_INDEX(2u, array);
        CHECK_BOUND(3u, array);
        PCHECK(one);
        CHECK_ERR(0);
        RAW_CHECK(one, "fine");
        if (one)
            CHECK(two) << 1;
        else
            CHECK(one);
        google::ReprintFatalMessage();
        LOG(INFO) << "all hold";
    }
    LOG(INFO) << "ends";
    return one + two + array[0] + character == 0 || text == nullptr || pointer != nullptr;
}
