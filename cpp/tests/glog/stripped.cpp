// Messages that are left out of the program (built with GOOGLE_STRIP_LOG, see CMakeLists.txt).
// run: all GLOG_log_dir=.
// run: fatal GLOG_log_dir=.
// run: check GLOG_log_dir=.
// run: check-eq GLOG_log_dir=.
#include <glog/logging.h>

#include <cstdio>
#include <string>

static int evaluated = 0;
static int evaluate(int value) {
    ++evaluated;
    return value;
}

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    google::InitGoogleLogging(argv[0]);
    LOG(INFO) << "information " << evaluate(1);
    LOG(WARNING) << "a warning " << evaluate(1);
    LOG(ERROR) << "an error " << evaluate(1);
    LOG_IF(INFO, evaluate(1)) << "if " << evaluate(1);
    LOG_IF(ERROR, evaluate(1)) << "error if " << evaluate(1);
    VLOG(0) << "verbose " << evaluate(1);
    DLOG(INFO) << "debug";
    DCHECK(true) << "not shown";
    std::string text = "unchanged";
    LOG_TO_STRING(INFO, &text) << "to a string";
    CHECK_EQ(1, 1) << evaluate(1);
    printf("%d %s\n", evaluated, text.c_str());
    fflush(stdout);
    if (what == "fatal") LOG(FATAL) << "the end";
    if (what == "check") CHECK(evaluated < 0) << "because";
    if (what == "check-eq") CHECK_EQ(evaluated, -1) << "because";
    return 0;
}
