// Messages under conditions, limits of a place, and what debug builds have besides.
// run: limits GLOG_log_dir=.
// run: conditions GLOG_log_dir=.
// run: debug GLOG_log_dir=.
// run: levels GLOG_minloglevel=1 GLOG_log_dir=.
// run: levels GLOG_minloglevel=2 GLOG_log_dir=.
// run: levels GLOG_minloglevel=3 GLOG_alsologtostderr=1 GLOG_log_dir=.
// run: strings GLOG_log_dir=.
// run: strings GLOG_minloglevel=1 GLOG_log_dir=.
// run: errors GLOG_log_dir=.
// run: syslog GLOG_log_dir=.
#include <glog/logging.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

static int evaluated = 0;
static int evaluate(int value) {
    ++evaluated;
    return value;
}

static void limits() {
    for (int i = 0; i < 12; ++i) {
        LOG_EVERY_N(INFO, 5) << "every fifth, " << google::COUNTER << " so far";
        LOG_EVERY_N(WARNING, 4) << "counted " << google::COUNTER << " i " << i << std::hex << " " << 255;
        LOG_EVERY_N(ERROR, 1) << "each " << i;
        LOG_FIRST_N(INFO, 3) << "first " << google::COUNTER;
        LOG_FIRST_N(WARNING, 0) << "never";
        LOG_IF_EVERY_N(INFO, i % 2 == 0, 3) << "even, every third, " << google::COUNTER << " i " << i;
        LOG_IF_EVERY_N(INFO, i > 3, 1) << "later " << google::COUNTER;
        LOG_EVERY_T(INFO, 1000) << "once in a long time";
        LOG_EVERY_T(WARNING, 0.0) << "whenever";
        PLOG_EVERY_N(INFO, 6) << "with errno " << google::COUNTER;
        for (int j = 0; j < 2; ++j) {
            LOG_EVERY_N(INFO, 7) << "nested " << google::COUNTER;
        }
    }
    for (int i = 0; i < 3; ++i) {
        if (i != 1) {
            LOG_EVERY_T(INFO, 0.05) << "twentieth " << i;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(70));
    }
}

static void conditions() {
    LOG_IF(INFO, true) << "yes " << evaluate(1);
    LOG_IF(INFO, false) << "no " << evaluate(2);
    LOG_IF(ERROR, evaluated == 1) << "evaluated once";
    if (evaluated > 0)
        LOG_IF(INFO, evaluated == 1) << "then";
    else
        LOG_IF(INFO, true) << "else";
    LOG_ASSERT(evaluated == 1) << "not shown";
    SYSLOG_IF(INFO, false) << "not shown";
    PLOG_IF(INFO, false) << "not shown";
    errno = ENOENT;
    PLOG_IF(ERROR, true) << "opening "
                         << "it";
    CHECK(evaluated == 1) << evaluate(3);
    CHECK_EQ(evaluated, 1) << evaluate(4);
    LOG(INFO) << "evaluated " << evaluated;
    switch (evaluated) {
        case 1:
            LOG(INFO) << "in a switch";
            break;
        default:
            LOG(FATAL) << "not here";
    }
}

static void debug() {
    DLOG(INFO) << "debug " << evaluate(1);
    DLOG(WARNING) << "debug warning";
    DLOG_IF(INFO, evaluate(1) > 0) << "debug if";
    for (int i = 0; i < 4; ++i) {
        DLOG_EVERY_N(INFO, 2) << "debug every second";
        DLOG_IF_EVERY_N(INFO, i > 0, 2) << "debug if every second";
    }
    DLOG_ASSERT(evaluate(1) > 0) << "not shown";
    DVLOG(0) << "debug verbose " << evaluate(1);
    DVLOG(1) << "not on";
    DCHECK(evaluate(1) > 0);
    DCHECK_EQ(evaluate(1), 1);
    DCHECK_NE(evaluate(1), 2);
    DCHECK_LE(evaluate(1), 1);
    DCHECK_LT(evaluate(1), 2);
    DCHECK_GE(evaluate(1), 1);
    DCHECK_GT(evaluate(1), 0);
    DCHECK_STREQ("a", "a");
    DCHECK_STRNE("a", "b");
    DCHECK_STRCASEEQ("a", "A");
    DCHECK_STRCASENE("a", "B");
    int value = 7;
    LOG(INFO) << *DCHECK_NOTNULL(&value) << " evaluated " << evaluated << " debug mode " << google::DEBUG_MODE
              << " " << DCHECK_IS_ON();
    IF_DEBUG_MODE(LOG(INFO) << "in debug mode";)
    if (evaluated == 0) LOG(DFATAL) << "an error in other builds";
}

static void levels() {
    LOG(INFO) << "info " << evaluate(1);
    LOG(WARNING) << "warning " << evaluate(1);
    LOG(ERROR) << "error " << evaluate(1);
    VLOG(0) << "verbose";
    LOG_AT_LEVEL(google::GLOG_INFO) << "info at run time";
    FLAGS_minloglevel = 0;
    LOG(INFO) << "evaluated " << evaluated;
    FLAGS_minloglevel = 1;
    LOG(INFO) << "not shown";
    FLAGS_minloglevel = 0;
    LOG(INFO) << "shown";
}

static void strings() {
    std::string text = "before";
    LOG_TO_STRING(INFO, &text) << "to a string " << 1;
    printf("%s\n", text.c_str());
    LOG_TO_STRING(ERROR, &text) << "an error to a string\n";
    printf("%s\n", text.c_str());
    LOG_TO_STRING(WARNING, static_cast<std::string*>(nullptr)) << "to no string";
    std::vector<std::string> list;
    LOG_STRING(INFO, &list) << "in a list";
    LOG_STRING(ERROR, &list) << "an error in a list";
    LOG_STRING(WARNING, static_cast<std::vector<std::string>*>(nullptr)) << "in no list";
    for (const auto& item : list) printf("%s\n", item.c_str());
    for (int severity = 0; severity < google::NUM_SEVERITIES; ++severity)
        printf("%s %s %d\n", google::LogSeverityNames[severity], google::GetLogSeverityName(severity),
               static_cast<int>(google::LogMessage::num_messages(severity)));
}

static void errors() {
    for (const int error : {0, ENOENT, EACCES, 9999}) {
        errno = error;
        PLOG(INFO) << "with errno";
        printf("%d\n", errno);
        errno = error;
        LOG(INFO) << "errno stays";
        printf("%d\n", errno);
        PLOG(ERROR) << "an error" << ' ' << 5;
    }
    printf("%s\n", google::StrError(ENOENT).c_str());
    char text[100];
    printf("%d", google::posix_strerror_r(EACCES, text, sizeof text));
    printf(" %s\n", text);
    errno = ENOSPC;
    PCHECK(true) << "not shown";
    CHECK_ERR(0) << "not shown";
}

static void to_syslog() {
    SYSLOG(INFO) << "to the system's log";
    SYSLOG(WARNING) << "too";
    SYSLOG(ERROR) << "error";
    for (int i = 0; i < 3; ++i) {
        SYSLOG_EVERY_N(INFO, 2) << "every second " << google::COUNTER;
    }
    SYSLOG_IF(INFO, true) << "if";
    SYSLOG_ASSERT(true) << "not shown";
}

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    google::InitGoogleLogging(argv[0]);
    if (what == "limits") limits();
    if (what == "conditions") conditions();
    if (what == "debug") debug();
    if (what == "levels") levels();
    if (what == "strings") strings();
    if (what == "errors") errors();
    if (what == "syslog") to_syslog();
}
