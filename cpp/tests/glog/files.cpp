// Which files arise, and what becomes of them.
// run: temporary
// run: directory GLOG_log_dir=logs
// run: nowhere GLOG_log_dir=/nonexistent/logs
// run: destination GLOG_log_dir=.
// run: no-destination GLOG_log_dir=.
// run: extension GLOG_log_dir=.
// run: links GLOG_log_dir=.
// run: link-directory GLOG_log_dir=. GLOG_log_link=links
// run: size GLOG_log_dir=. GLOG_max_log_size=1 GLOG_log_prefix=0
// run: no-stamp GLOG_log_dir=. GLOG_timestamp_in_logfile_name=0
// run: no-stamp-again GLOG_log_dir=. GLOG_timestamp_in_logfile_name=0
// run: mode GLOG_log_dir=. GLOG_logfile_mode=384
// run: flush GLOG_log_dir=.
// run: unbuffered GLOG_log_dir=. GLOG_logbuflevel=-1
// run: buffered GLOG_log_dir=. GLOG_logbuflevel=2
// run: fingerprint GLOG_log_dir=.
// run: to-stderr GLOG_log_dir=.
// run: stderr-logging GLOG_log_dir=.
// run: again GLOG_log_dir=.
// run: truncate GLOG_log_dir=.
// run: cleaner
// run: full GLOG_log_dir=. GLOG_stop_logging_if_full_disk=1 GLOG_timestamp_in_logfile_name=0
// run: exit GLOG_log_dir=.
// run: static GLOG_log_dir=.
// run: directories GLOG_log_dir=elsewhere
// run: mail GLOG_log_dir=.
// The thread that writes reports what cannot be made.
// unordered: nowhere
// unordered: directories
// Messages of glog's own, at places of its own.
// skip: truncate Unable to open
// skip: truncate Truncating
#include <glog/logging.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utime.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

static void print(const char* path) {
    std::ifstream file(path);
    std::string line;
    while (std::getline(file, line))
        if (line.size() > 2 && line[1] == '2') printf("%s\n", line.substr(line.find(']')).c_str());
    fflush(stdout);
}

struct Late {
    ~Late() {
        if (is_wanted) LOG(INFO) << "in a static destructor";
        if (is_wanted) LOG(ERROR) << "an error in a static destructor";
    }
    bool is_wanted = false;
};
static Late late;

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    if (what == "directory") mkdir("logs", 0755);
    if (what == "link-directory") mkdir("links", 0755);
    google::InitGoogleLogging(argv[0]);
    if (what == "nowhere" || what == "directories") FLAGS_stderrthreshold = 3;
    if (what == "extension") google::SetLogFilenameExtension(".txt.");
    if (what == "destination") {
        google::SetLogDestination(google::GLOG_INFO, "./information-");
        google::SetLogDestination(google::GLOG_ERROR, "./errors.");
    }
    if (what == "no-destination") {
        google::SetLogDestination(google::GLOG_INFO, "");
        google::SetLogDestination(google::GLOG_WARNING, "warnings");
    }
    if (what == "links") {
        google::SetLogSymlink(google::GLOG_INFO, "newest");
        google::SetLogSymlink(google::GLOG_WARNING, "");
    }
    if (what == "fingerprint") google::SetApplicationFingerprint("version 7");
    if (what == "to-stderr") google::LogToStderr();
    if (what == "stderr-logging") google::SetStderrLogging(google::GLOG_INFO);
    if (what == "static") late.is_wanted = true;
    if (what == "full") {
        // The device that is always full.
        google::SetLogSymlink(google::GLOG_INFO, "");
        google::SetLogDestination(google::GLOG_INFO, "/dev/full");
    }
    if (what == "mail") google::SetEmailLogging(google::GLOG_FATAL, "nobody");
    if (what == "cleaner") {
        // Two that are overdue by name and time, and two that are not.
        char host[256];
        gethostname(host, sizeof host);
        const std::string name = std::string("files.") + host + ".somebody.log.INFO.20200101-000000.";
        const utimbuf old{1577836800, 1577836800};
        for (const std::string& path : {name + "1", name + "x", std::string("other")}) {
            std::ofstream(path) << "old\n";
            utime(path.c_str(), &old);
        }
        std::ofstream(name + "2") << "new\n";
        google::EnableLogCleaner(3);
    }
    LOG(INFO) << "information";
    if (what == "nowhere")
        for (int i = 0; i < 40; ++i) LOG(INFO) << "lost " << i;
    LOG(WARNING) << "a warning";
    if (what != "exit") LOG(ERROR) << "an error";
    if (what == "cleaner") {
        google::FlushLogFiles(google::GLOG_INFO);
        google::DisableLogCleaner();
    }
    if (what == "size") {
        // The name of the next file is another one a second later.
        for (int i = 0; i < 2000; ++i) LOG(INFO) << std::string(500, 'x');
        google::FlushLogFiles(google::GLOG_INFO);
        usleep(1'100'000);
        for (int i = 0; i < 200; ++i) LOG(INFO) << std::string(500, 'y');
    }
    if (what == "no-stamp-again") {
        google::ShutdownGoogleLogging();
        google::InitGoogleLogging(argv[0]);
        LOG(INFO) << "again";
    }
    if (what == "flush" || what == "unbuffered" || what == "buffered") {
        LOG(INFO) << "before the flush";
        google::FlushLogFiles(google::GLOG_INFO);
        print("files.INFO");
        LOG(INFO) << "after the flush";
        google::FlushLogFilesUnsafe(google::GLOG_WARNING);
        google::FlushLogFiles(google::GLOG_INFO);
        print("files.INFO");
    }
    if (what == "again") {
        google::ShutdownGoogleLogging();
        printf("%d\n", google::IsGoogleLoggingInitialized());
        LOG(INFO) << "in between";
        sleep(1);
        google::InitGoogleLogging("program/again");
        printf("%d\n", google::IsGoogleLoggingInitialized());
        LOG(INFO) << "again";
        google::SetLogDestination(google::GLOG_INFO, "./changed.");
        LOG(INFO) << "elsewhere";
        google::SetLogFilenameExtension("late.");
        LOG(INFO) << "with an extension";
    }
    if (what == "truncate") {
        std::ofstream("long") << std::string(1000, 'a') << std::string(1000, 'b');
        google::TruncateLogFile("long", 1500, 300);
        std::ofstream("short") << std::string(1000, 'a');
        google::TruncateLogFile("short", 1500, 300);
        google::TruncateLogFile("none", 1500, 300);
        google::TruncateStdoutStderr();
    }
    if (what == "directories")
        for (const auto& directory : google::GetLoggingDirectories()) printf("%s\n", directory.c_str());
    if (what == "exit") exit(3);
}
