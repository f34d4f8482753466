// A program as glog's users write them: severities, conditions, checks, verbose lines, a sink, own types.
#include <cstdlib>
#include <memory>
#include <ostream>
#include <silverpoint/glog.hpp>
#include <string>
#include <vector>

namespace {

struct Money {
    long cents;
    friend std::ostream& operator<<(std::ostream& out, const Money& m) {
        return out << m.cents / 100 << '.' << m.cents % 100;
    }
};

class Counter : public google::LogSink {
  public:
    void send(google::LogSeverity, const char*, const char*, int, const google::LogMessageTime&, const char*,
              std::size_t) override {
        ++lines;
    }
    int lines = 0;
};

int* of(int& n) { return CHECK_NOTNULL(&n); }

}  // namespace

int main(int, char** argv) {
    FLAGS_alsologtostderr = false;
    FLAGS_v = 1;
    google::SetLogDestination(google::GLOG_INFO, std::getenv("ADOPT_LOG"));
    google::InitGoogleLogging(argv[0]);
    google::InstallFailureSignalHandler();
    Counter counter;
    google::AddLogSink(&counter);

    LOG(INFO) << "the answer " << 42;
    LOG_IF(WARNING, argv[0] != nullptr) << "low on " << Money{1250};
    for (int i = 0; i < 25; ++i) {
        LOG_EVERY_N(INFO, 10) << "the " << google::COUNTER << "th cookie";
        LOG_FIRST_N(WARNING, 2) << "at most twice";
        LOG_IF_EVERY_N(ERROR, i > 20, 2) << "big " << i;
    }
    VLOG(1) << "verbose";
    VLOG_IF(2, true) << "not shown";
    if (VLOG_IS_ON(1)) DLOG(INFO) << "in debug builds";
    PLOG_IF(ERROR, argv[0] == nullptr) << "not shown";
    LOG_STRING(INFO, static_cast<std::vector<std::string>*>(nullptr)) << "a string";

    int n = 2;
    CHECK(n == 2) << "sums";
    CHECK_EQ(1 + 1, *of(n)) << "arithmetic";
    CHECK_LT(1, 2);
    CHECK_STREQ("a", "a");
    CHECK_NEAR(0.1 + 0.2, 0.3, 1e-9);
    DCHECK_GE(n, 0);
    google::RemoveLogSink(&counter);
    google::FlushLogFiles(google::GLOG_INFO);
    google::ShutdownGoogleLogging();
    return counter.lines > 5 ? 0 : 1;
}
