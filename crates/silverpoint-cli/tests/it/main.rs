//! Tests of the program as a whole: processes, signals, sessions, files.

mod attach;
mod backtrace;
#[path = "../../../silverpoint-formats/examples/make_trace/builder.rs"]
mod builder;
mod causes;
mod containers;
mod convert;
mod differential;
mod directives;
mod doctor;
mod few_processes;
mod files;
mod filters;
mod flat;
mod guide;
mod harness;
mod hostile;
mod listed;
mod logs;
mod look;
mod manual;
mod own_types;
mod recover;
mod replay;
mod roots;
mod run;
mod secure;
mod split;
mod sql;
mod storage;
mod systrace;
mod table;
mod tasks;
mod terminal;
mod vectors;
mod whole_life;
