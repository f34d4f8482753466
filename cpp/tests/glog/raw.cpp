// RAW_LOG, containers, and programs that name severities in full.
// run: raw GLOG_log_dir=.
// run: raw GLOG_log_dir=. GLOG_alsologtostderr=1
// run: raw GLOG_logtostderr=1
// run: raw-before
// run: containers GLOG_log_dir=.
// run: full-names GLOG_log_dir=.
#define GLOG_NO_ABBREVIATED_SEVERITIES
#include <glog/logging.h>
#include <glog/raw_logging.h>
#include <glog/stl_logging.h>

#include <deque>
#include <list>
#include <map>
#include <set>
#include <string>
#include <vector>

#define ERROR 0  // as of a system's header

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    if (what != "raw-before") google::InitGoogleLogging(argv[0]);
    if (what == "raw" || what == "raw-before") {
        RAW_LOG(INFO, "information %d", 1);
        RAW_LOG(WARNING, "a warning %s", "of text");
        RAW_LOG_ERROR("an error %5.2f|%-4d|%c", 2.5, 3, 'c');
        RAW_DLOG(INFO, "debug");
        RAW_CHECK(argc > 0, "not shown");
        RAW_DCHECK(argc > 0, "not shown");
        RAW_VLOG(0, "verbose %d", 0);
        RAW_VLOG(1, "not on %d", 1);
        RAW_LOG_ERROR("%s", std::string(2000, 'x').c_str());
        RAW_LOG_ERROR("%s", std::string(5000, 'y').c_str());
    }
    if (what == "containers") {
        LOG(INFO) << std::vector<int>{1, 2, 3};
        LOG(INFO) << "before " << std::list<std::string>{"a", "b"} << " after " << 5;
        LOG(INFO) << std::map<std::string, int>{{"a", 1}, {"b", 2}};
        LOG(INFO) << std::set<double>{1.5, 2.5} << std::deque<int>{};
        LOG(INFO) << std::pair<int, std::string>{1, "x"};
        LOG(INFO) << std::vector<std::vector<int>>{{1, 2}, {3}};
        LOG(INFO) << std::vector<int>(150, 7);
        LOG(INFO) << std::multiset<int>{1, 1} << ' ' << std::multimap<int, int>{{1, 2}, {1, 3}};
    }
    if (what == "full-names") {
        LOG(INFO) << "severities " << google::GLOG_INFO << google::GLOG_WARNING << google::GLOG_ERROR
                  << google::GLOG_FATAL;
        LOG(ERROR) << "as it stands";
        LOG_IF(ERROR, true) << "if";
        CHECK(argc > 0);
    }
}
