//! What members are called by the logging libraries of the world. `docs/formats.md` has the table for people.

/// What a member may mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    Time,
    Level,
    Message,
    Process,
    Pid,
    Thread,
    Tid,
    Category,
    Line,
    File,
    Function,
    TraceId,
    SpanId,
}

/// How its value is written, where its name says so, or what else the record must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// The value says it.
    Any,
    /// Numbers count this many nanoseconds.
    Unit(i64),
    /// Severities of OpenTelemetry, 1 to 24.
    OtlpLevel,
    /// Severities of syslog, 0 to 7.
    SyslogLevel,
    /// Levels of Python, 10 to 50.
    PythonLevel,
    /// Holds only beside this sign.
    Beside(Sign),
    /// A template whose holes are filled.
    Template,
    /// Only if it is text.
    Text,
}

/// What other members say of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub(super) enum Sign {
    /// `hostname` or `v` beside a level that is a number: pino, bunyan.
    Bunyan = 1,
    /// `levelname`: Python.
    Python = 2,
    /// `t.$date`: MongoDB.
    Mongo = 4,
    /// `short_message`: GELF.
    Gelf = 8,
    /// A line number.
    Line = 16,
    /// `timeUnixNano`: OpenTelemetry.
    Otlp = 32,
    /// `__REALTIME_TIMESTAMP`: journald.
    Journal = 64,
    /// `L` and `M`: zap's development encoder.
    Zap = 128,
    /// A file's name.
    File = 256,
}

/// A known name: what it means, how much it is preferred (less is more), and how its value is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub role: Role,
    pub rank: u8,
    pub how: How,
}

/// Maps whose members are looked at, too.
pub(super) fn is_container(path: &str) -> bool {
    matches!(
        path,
        "log"
            | "log.origin"
            | "log.origin.file"
            | "process"
            | "process.thread"
            | "service"
            | "event"
            | "fields"
            | "jsonpayload"
            | "protopayload"
            | "source"
            | "sourcelocation"
            | "logging.googleapis.com/sourcelocation"
            | "record"
            | "record.time"
            | "record.level"
            | "record.process"
            | "record.thread"
            | "record.file"
            | "resource"
            | "scope"
            | "t"
            | "caller"
            | "thread"
            | "attributes"
    )
}

/// The sign that a name gives.
pub(super) fn sign(path: &str) -> u16 {
    let sign = match path {
        "hostname" | "v" => Sign::Bunyan,
        "levelname" => Sign::Python,
        "t.$date" => Sign::Mongo,
        "short_message" => Sign::Gelf,
        "line" | "lineno" | "line_number" | "linenumber" | "source.line" | "func" | "funcname"
        | "function" => Sign::Line,
        "timeunixnano" | "observedtimeunixnano" | "starttimeunixnano" => Sign::Otlp,
        "__realtime_timestamp" => Sign::Journal,
        "M" => Sign::Zap,
        "file" | "filename" | "pathname" | "file_name" => Sign::File,
        _ => return 0,
    };
    sign as u16
}

/// What a name means, in lower case; of one letter as it is.
pub(super) fn known(path: &str) -> Option<Known> {
    use How::{Any, Beside, Text, Unit};
    use Role::{
        Category, File, Function, Level, Line, Message, Pid, Process, SpanId, Thread, Tid, Time, TraceId,
    };
    const MS: How = Unit(1_000_000);
    let (role, rank, how) = match path {
        "time" => (Time, 0, Any),
        "timestamp" => (Time, 1, Any),
        "@timestamp" => (Time, 2, Any),
        "ts" => (Time, 3, Any),
        "@t" => (Time, 4, Any),
        "timeunixnano" | "starttimeunixnano" => (Time, 5, Unit(1)),
        "observedtimeunixnano" => (Time, 6, Unit(1)),
        "__realtime_timestamp" => (Time, 7, Unit(1000)),
        "instant" => (Time, 8, Any),
        "timemillis" | "timestamp_ms" | "time_ms" | "epochmillis" => (Time, 9, MS),
        "timestamp_us" | "time_us" => (Time, 9, Unit(1000)),
        "timestamp_ns" | "time_ns" => (Time, 9, Unit(1)),
        "datetime" | "date_time" | "time_iso8601" => (Time, 10, Any),
        "eventtime" | "event_time" | "event.created" => (Time, 11, Any),
        "record.time.repr" => (Time, 12, Any),
        "record.time.timestamp" => (Time, 13, Any),
        "t.$date" => (Time, 14, Any),
        "asctime" => (Time, 16, Any),
        "created" => (Time, 15, Any),
        "date" | "log_time" | "logtime" | "utc_time" | "@time" | "start_time" | "msec" | "epoch" => {
            (Time, 17, Any)
        }
        "time_local" => (Time, 18, Any),
        "T" => (Time, 19, Beside(Sign::Zap)),
        "observedtimestamp" | "receivetimestamp" | "requestreceivedtimestamp" => (Time, 20, Any),

        "level" => (Level, 0, Any),
        "severity" | "@l" | "log.level" | "loglevel" | "log_level" | "levelname" | "level_name" | "lvl"
        | "@level" => (Level, 1, Any),
        "severitynumber" | "severity_number" => (Level, 2, How::OtlpLevel),
        "severitytext" | "severity_text" | "record.level.name" => (Level, 3, Any),
        "PRIORITY" => (Level, 4, How::SyslogLevel),
        "levelno" => (Level, 5, How::PythonLevel),
        "level_value" => (Level, 6, Any),
        "s" => (Level, 7, Beside(Sign::Mongo)),
        "L" => (Level, 8, Beside(Sign::Zap)),

        "message" => (Message, 0, Any),
        "msg" => (Message, 1, Any),
        "@m"
        | "@message"
        | "fields.message"
        | "jsonpayload.message"
        | "record.message"
        | "formattedmessage"
        | "renderedmessage"
        | "rendered_message" => (Message, 2, Any),
        "short_message" | "textpayload" => (Message, 3, Any),
        "@mt" | "messagetemplate" => (Message, 4, How::Template),
        "M" => (Message, 5, Beside(Sign::Zap)),
        "body" => (Message, 6, Any),
        "event" | "log" | "text" => (Message, 7, Text),

        "process.name" | "resource.process.executable.name" | "record.process.name" => (Process, 0, Any),
        "process" => (Process, 1, Any),
        "_comm" | "processname" | "process_name" => (Process, 2, Any),
        "syslog_identifier" => (Process, 3, Any),
        "resource.service.name" | "service.name" => (Process, 4, Any),

        "pid" => (Pid, 0, Any),
        "process.pid"
        | "resource.process.pid"
        | "_pid"
        | "process_id"
        | "processid"
        | "record.process.id" => (Pid, 1, Any),

        "thread.name"
        | "attributes.thread.name"
        | "thread_name"
        | "threadname"
        | "process.thread.name"
        | "record.thread.name" => (Thread, 0, Any),
        "thread" => (Thread, 1, Any),
        "ctx" => (Thread, 2, Beside(Sign::Mongo)),

        "tid"
        | "thread.id"
        | "attributes.thread.id"
        | "thread_id"
        | "threadid"
        | "process.thread.id"
        | "_tid" => (Tid, 0, Any),
        "record.thread.id" => (Tid, 1, Any),

        "category" => (Category, 0, Any),
        "logger" | "logger_name" | "loggername" | "log.logger" | "target" | "@module" | "channel"
        | "sourcecontext" | "scope.name" | "record.name" => (Category, 1, Any),
        "name" => (Category, 2, Beside(Sign::Bunyan)),
        "c" => (Category, 3, Beside(Sign::Mongo)),
        "N" => (Category, 4, Beside(Sign::Zap)),

        "line" | "lineno" | "line_number" | "linenumber" => (Line, 0, Beside(Sign::File)),
        "log.origin.file.line"
        | "source.line"
        | "sourcelocation.line"
        | "code_line"
        | "code.line.number"
        | "attributes.code.line.number"
        | "logging.googleapis.com/sourcelocation.line"
        | "record.line"
        | "caller.line" => (Line, 1, Any),

        "log.origin.file.name"
        | "source.file"
        | "sourcelocation.file"
        | "code_file"
        | "code.file.path"
        | "attributes.code.file.path"
        | "logging.googleapis.com/sourcelocation.file"
        | "record.file.path"
        | "caller.file" => (File, 0, Any),
        "pathname" => (File, 1, Beside(Sign::Line)),
        "file" | "filename" | "file_name" => (File, 2, Beside(Sign::Line)),
        "caller" | "C" => (File, 3, Any),

        "log.origin.function"
        | "source.function"
        | "sourcelocation.function"
        | "code_func"
        | "code.function.name"
        | "attributes.code.function.name"
        | "logging.googleapis.com/sourcelocation.function"
        | "record.function"
        | "caller.function" => (Function, 0, Any),
        "function" | "func" | "funcname" => (Function, 1, Beside(Sign::File)),

        "traceid" => (TraceId, 0, Beside(Sign::Otlp)),
        "spanid" => (SpanId, 0, Beside(Sign::Otlp)),
        _ => return None,
    };
    Some(Known { role, rank, how })
}

/// The longest known name.
pub(super) const PATH_MAX: usize = 64;
