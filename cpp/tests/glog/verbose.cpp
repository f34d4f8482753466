// Verbose messages, for all files or by file.
// run: off GLOG_log_dir=.
// run: two GLOG_log_dir=. GLOG_v=2
// run: less GLOG_log_dir=. GLOG_v=-1
// run: module GLOG_log_dir=. GLOG_vmodule=verbose=3,other=9
// run: pattern GLOG_log_dir=. GLOG_vmodule=ver*=1,verbose=3
// run: question GLOG_log_dir=. GLOG_vmodule=v?rbose=2 GLOG_v=1
// run: broken GLOG_log_dir=. GLOG_vmodule=verbose,=,x=y,verbose=,verbo=5
// run: quiet-module GLOG_log_dir=. GLOG_v=2 GLOG_vmodule=verbose=0
// run: set GLOG_log_dir=.
// run: stderr GLOG_logtostderr=1 GLOG_v=2
// run: minimum GLOG_log_dir=. GLOG_v=2 GLOG_minloglevel=1
#include <glog/logging.h>
#include <glog/raw_logging.h>
#include <glog/vlog_is_on.h>

#include <cstdio>
#include <string>

static int evaluated = 0;
static int evaluate(int value) {
    ++evaluated;
    return value;
}

static void verbose() {
    VLOG(0) << "none";
    VLOG(1) << "one " << evaluate(1);
    VLOG(2) << "two " << evaluate(1) << std::hex << ' ' << 255;
    VLOG(3) << "three " << evaluate(1);
    VLOG(-1) << "less than none";
    for (int n = 0; n < 4; ++n) {
        VLOG(n) << "number " << n;
        VLOG_IF(n, n % 2 == 1) << "odd " << n;
        VLOG_IF(1, n == 3) << "last";
        VLOG_EVERY_N(1, 2) << "every second " << google::COUNTER;
        VLOG_IF_EVERY_N(1, n > 0, 2) << "every second if " << google::COUNTER;
        DVLOG(1) << "debug " << n;
    }
    if (VLOG_IS_ON(2)) LOG(INFO) << "two is on";
    RAW_VLOG(1, "raw %d", 1);
    LOG(INFO) << "evaluated " << evaluated << " flag " << FLAGS_v;
}

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    google::InitGoogleLogging(argv[0]);
    verbose();
    if (what == "set") {
        FLAGS_v = 1;
        verbose();
        printf("%d\n", google::SetVLOGLevel("verbose", 3));
        verbose();
        printf("%d\n", google::SetVLOGLevel("verbose", 2));
        verbose();
        printf("%d\n", google::SetVLOGLevel("verb*", 0));
        verbose();
        printf("%d\n", google::SetVLOGLevel("nothing", 0));
        FLAGS_v = 3;
        verbose();
    }
}
