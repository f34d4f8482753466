// Every flag as a variable, by the environment, and as an option. One run a line: run.py takes no other.
// clang-format off
// run: print
// run: print GLOG_alsologtostderr=1 GLOG_colorlogtostderr=1 GLOG_log_prefix=0 GLOG_log_utc_time=y GLOG_log_year_in_prefix=no
// run: print GLOG_logtostderr=t GLOG_logtostdout=T GLOG_stop_logging_if_full_disk=Y GLOG_timestamp_in_logfile_name=false GLOG_colorlogtostdout=1
// run: print GLOG_logbuflevel=2 GLOG_logbufsecs=7 GLOG_minloglevel=1 GLOG_v=3 GLOG_logfile_mode=420 GLOG_max_log_size=12
// run: print GLOG_log_dir=d GLOG_log_link=k GLOG_vmodule=a=1
// run: print GOOGLE_LOG_DIR=g GOOGLE_LOGTOSTDERR=1 GOOGLE_LOGTOSTDOUT=1 GOOGLE_ALSOLOGTOSTDERR=1 GOOGLE_TIMESTAMP_IN_LOGFILE_NAME=0
// run: print TEST_TMPDIR=t
// run: print GLOG_log_dir=d GOOGLE_LOG_DIR=g GLOG_logtostderr=0 GOOGLE_LOGTOSTDERR=1 GLOG_v= GLOG_logtostdout= GLOG_minloglevel=x
// run: print --alsologtostderr --colorlogtostderr --nolog_prefix --log_utc_time --nolog_year_in_prefix --logtostderr --logtostdout
// run: print --stop_logging_if_full_disk --notimestamp_in_logfile_name --colorlogtostdout --logbuflevel=2 --logbufsecs=7 --minloglevel=1
// run: print --v=3 --logfile_mode=420 --max_log_size=12 --log_dir=d --log_link=k --vmodule=a=1 --stderrthreshold=1
// run: print --alsologtoemail=a --drop_log_memory=false --logcleansecs=5 --logemaillevel=3 --logmailer=m --nosymbolize_stacktrace --log_backtrace_at=x:1
// run: log GLOG_log_dir=. GLOG_log_prefix=0
// run: log GLOG_log_dir=. GLOG_log_year_in_prefix=0
// run: hours GLOG_log_dir=. TZ=Asia/Tokyo
// run: hours GLOG_log_dir=. GLOG_log_utc_time=1 TZ=Asia/Tokyo
// run: log GLOG_log_dir=. --stderrthreshold=0
// run: log GLOG_log_dir=. --stderrthreshold=1
// run: log GLOG_log_dir=. --stderrthreshold=3
// run: log GLOG_log_dir=. GLOG_alsologtostderr=1
// run: log GLOG_logtostderr=1
// run: log GLOG_logtostdout=1
// run: log GLOG_logtostdout=1 GLOG_logtostderr=1
// run: log GLOG_logtostdout=1 GLOG_alsologtostderr=1 --stderrthreshold=1
// run: log GLOG_log_dir=. GLOG_minloglevel=2
// run: log GLOG_logtostderr=1 GLOG_colorlogtostderr=1 TERM=xterm
// run: log GLOG_logtostderr=1 GLOG_colorlogtostderr=1 TERM=dumb
// run: log GLOG_log_dir=. GLOG_colorlogtostderr=1 TERM=xterm-256color
// run: log GLOG_logtostdout=1 GLOG_colorlogtostdout=1 TERM=linux
// run: log GLOG_log_dir=. GLOG_log_backtrace_at=flags.cpp:@warning
// run: log GLOG_log_dir=. GLOG_log_backtrace_at=flags.cpp:@verbose
// run: log GLOG_log_dir=. GLOG_log_backtrace_at=flags.cpp:@verbose GLOG_v=1
// run: log GLOG_log_dir=. GLOG_log_backtrace_at=flags.cpp:1
// run: log GLOG_logtostderr=1 --log_backtrace_at=flags.cpp:@error
// run: log GLOG_log_dir=. GLOG_drop_log_memory=0 GLOG_symbolize_stacktrace=0 GLOG_logemaillevel=999 GLOG_logbufsecs=0
// run: stack GLOG_logtostderr=1 GLOG_symbolize_stacktrace=0
// run: stack GLOG_logtostderr=1
// run: change GLOG_log_dir=.
// clang-format on
// times: hours
#include <gflags/gflags.h>
#include <glog/logging.h>

#include <cstdio>
#include <string>

static void log_all() {
    LOG(INFO) << "information " << 1;
    LOG(WARNING) << "a warning " << 2;  // @warning
    LOG(ERROR) << "an error " << 3;     // @error
    VLOG(1) << "verbose";               // @verbose
}

// A flag of the program's own beside them.
DEFINE_int32(own, 5, "the program's own");

int main(int argc, char** argv) {
    gflags::ParseCommandLineFlags(&argc, &argv, true);
    const std::string what = argc > 1 ? argv[1] : "";
    if (what == "print") {
        printf("%d %d %d %d %d %d %d %d %d %d\n", FLAGS_alsologtostderr, FLAGS_colorlogtostderr,
               FLAGS_colorlogtostdout, FLAGS_log_prefix, FLAGS_log_utc_time, FLAGS_log_year_in_prefix,
               FLAGS_logtostderr, FLAGS_logtostdout, FLAGS_stop_logging_if_full_disk,
               FLAGS_timestamp_in_logfile_name);
        printf("%d %d %d %d %d %o %u %d\n", FLAGS_logbuflevel, FLAGS_logbufsecs, FLAGS_minloglevel,
               FLAGS_stderrthreshold, FLAGS_v, FLAGS_logfile_mode, FLAGS_max_log_size, FLAGS_own);
        printf("[%s] [%s] [%s]\n", FLAGS_log_dir.c_str(), FLAGS_log_link.c_str(), FLAGS_vmodule.c_str());
        for (const char* name :
             {"alsologtoemail", "drop_log_memory", "logcleansecs", "logemaillevel", "logmailer",
              "symbolize_stacktrace", "log_backtrace_at", "v", "log_dir", "max_log_size"}) {
            std::string value;
            printf("%s %d %s\n", name, gflags::GetCommandLineOption(name, &value), value.c_str());
        }
        return 0;
    }
    google::InitGoogleLogging(argv[0]);
    if (what == "log" || what == "hours") log_all();
    if (what == "stack") LOG(FATAL) << "the end";
    if (what == "change") {
        log_all();
        FLAGS_log_prefix = false;
        log_all();
        FLAGS_log_prefix = true;
        FLAGS_log_year_in_prefix = false;
        log_all();
        FLAGS_stderrthreshold = 0;
        log_all();
        FLAGS_stderrthreshold = 3;
        FLAGS_alsologtostderr = true;
        log_all();
        FLAGS_alsologtostderr = false;
        FLAGS_logtostderr = true;
        log_all();
        FLAGS_logtostderr = false;
        FLAGS_logtostdout = true;
        log_all();
        FLAGS_logtostdout = false;
        FLAGS_minloglevel = 2;
        log_all();
        FLAGS_minloglevel = 0;
        google::SetCommandLineOption("v", "1");
        log_all();
        FLAGS_log_utc_time = true;
        log_all();
    }
}
