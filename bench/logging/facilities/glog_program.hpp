// A program written for glog, with any header of that name.
#include <iomanip>

#include "facility.hpp"

static void begin(const Run& run) {
    google::InitGoogleLogging("driver");
    google::SetStderrLogging(google::GLOG_FATAL);
    google::SetLogDestination(google::GLOG_INFO, run.file.c_str());
    google::SetLogFilenameExtension("");
    FLAGS_timestamp_in_logfile_name = false;
}
static void flush() { google::FlushLogFiles(google::GLOG_INFO); }
static void end() { google::ShutdownGoogleLogging(); }
#define STATEMENT(title, count, pointer, string, real)                                \
    LOG(INFO) << (title) << " iteration #" << (count) << " " << (pointer) << (string) \
              << " and a float: " << std::setprecision(6) << (real)
#define LITERAL() LOG(INFO) << "bench literal"
#define THREE(id, index, fraction) LOG(INFO) << "bench three " << (id) << ' ' << (index) << ' ' << (fraction)
#define TEXT(id, fraction, path) LOG(INFO) << "bench text " << (id) << ' ' << (fraction) << ' ' << (path)
#define OFF(id, path) VLOG(1) << "bench off " << (id) << ' ' << (path)
