// A program of glog without a logger: statements with typed records, and others with text. Its second
// argument says where they go: into files (`files`), or to standard error (`console`).
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iomanip>
#include <silverpoint/glog.hpp>

#include "../no_logger.hpp"

static void one(int i) {
    LOG(INFO) << "order " << i << " at " << i / 4.0;
    // Of the first's width it is typed, else text.
    LOG(WARNING) << std::setw(i % 2 != 0 ? 3 : 5) << i << (i % 2 != 0 ? " odd" : " even");
}

int main(int argc, char** argv) {
    const int times = argc > 1 ? std::atoi(argv[1]) : 3;
    FLAGS_log_dir = ".";
    FLAGS_logtostderr = argc > 2 && std::strcmp(argv[2], "console") == 0;
    google::InitGoogleLogging(argv[0]);
    one(0);
    one(1);
    if (std::getchar() == EOF) return 1;
    for (int i = 2; i <= times; ++i) one(i);
}
