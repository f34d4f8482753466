// Many threads, and programs that end at once.
// run: threads GLOG_log_dir=.
// run: stderr GLOG_logtostderr=1
// run: ends GLOG_log_dir=.
// unordered: threads
// unordered: stderr
#include <glog/logging.h>

#include <string>
#include <thread>
#include <vector>

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    google::InitGoogleLogging(argv[0]);
    if (what == "ends") {
        std::thread([] { LOG(INFO) << "a thread that ends"; }).join();
        LOG(INFO) << "and so does the program";
        return 0;
    }
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 8; ++thread) {
        threads.emplace_back([thread] {
            for (int i = 0; i < 500; ++i) {
                LOG(INFO) << "thread " << thread << " line " << i;
                if (i % 100 == 0) LOG(WARNING) << "thread " << thread << " warns at " << i;
                // In one thread: glog's own counter may reach a round number twice when several count.
                if (thread == 0) {
                    LOG_EVERY_N(INFO, 100) << "every hundredth";
                }
            }
        });
    }
    for (auto& thread : threads) thread.join();
    LOG(INFO) << "all have ended";
}
