// Signals that end a program: what is on stderr besides the stack, and how it ends.
// run: segv GLOG_log_dir=.
// run: abort GLOG_log_dir=.
// run: term GLOG_log_dir=.
// run: fpe GLOG_log_dir=.
// run: fatal GLOG_log_dir=.
// run: writer GLOG_log_dir=.
// run: plain GLOG_log_dir=.
// run: at-once GLOG_log_dir=.
// run: twice GLOG_log_dir=.
// Addresses, threads and names differ.
// skip: * ^PC: @
// skip: * ^\*\*\* (Aborted|SIG)
#include <glog/logging.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

static std::size_t written = 0;
static void count(const char* data, size_t size) {
    if (written == 0) printf("%.*s\n", static_cast<int>(std::string(data, size).find(" at ")), data);
    fflush(stdout);
    written += size;
}

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    google::InitGoogleLogging(argv[0]);
    if (what != "plain") google::InstallFailureSignalHandler();
    if (what == "writer") google::InstallFailureWriter(&count);
    printf("%d\n", google::glog_internal_namespace_::IsFailureSignalHandlerInstalled());
    fflush(stdout);
    LOG(INFO) << "begins";
    LOG(WARNING) << "warns";
    if (what == "at-once" || what == "twice") {
        // What is written at once is in the files, even if the program ends next.
        if (what == "twice") google::InstallFailureSignalHandler();
        LOG(ERROR) << "fails";
        raise(SIGSEGV);
    }
    google::FlushLogFiles(google::GLOG_INFO);
    if (what == "segv" || what == "writer" || what == "plain") raise(SIGSEGV);
    if (what == "abort") std::abort();
    if (what == "term") raise(SIGTERM);
    if (what == "fpe") raise(SIGFPE);
    if (what == "fatal") LOG(FATAL) << "fatal";
}
