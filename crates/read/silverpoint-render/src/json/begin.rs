//! The part of an object between time and message. It is kept, because the next record of a site is usually
//! of the same thread.

use silverpoint_trace::Record;
use silverpoint_wire::json::push_string;
use silverpoint_wire::level::Level;

use super::line::{ProcessJson, SiteJson, key};

/// Before each message.
pub(super) const MESSAGE: &str = ",\"message\":";

/// Sites whose beginnings are kept.
const KEPT: usize = 64;

/// Beginnings of the objects that were written last, by the number of the site.
pub(super) struct Begins([Option<Box<Begin>>; KEPT]);

#[derive(Default)]
struct Begin {
    site: u64,
    process: u64,
    tid: u32,
    thread_name: String,
    json: String,
}

impl Default for Begins {
    fn default() -> Self {
        Self([const { None }; KEPT])
    }
}

impl Begins {
    /// Appends what stands in a record's object from its level to the key of its message.
    #[inline]
    pub(super) fn push(
        &mut self,
        out: &mut String,
        record: &Record<'_>,
        process: &ProcessJson,
        site: &SiteJson,
    ) {
        let kept = &mut self.0[site.number as usize % KEPT];
        match kept {
            Some(begin)
                if begin.site == site.number
                    && begin.process == process.number
                    && begin.tid == record.tid
                    && begin.thread_name == record.thread =>
            {
                out.push_str(&begin.json);
            }
            _ => {
                let start = out.len();
                push_begin(out, record, Some(process));
                for part in [&site.place, &site.kind, MESSAGE] {
                    out.push_str(part);
                }
                let begin = kept.get_or_insert_default();
                (begin.site, begin.process, begin.tid) = (site.number, process.number, record.tid);
                record.thread.clone_into(&mut begin.thread_name);
                out[start..].clone_into(&mut begin.json);
            }
        }
    }
}

/// Appends level, process and thread.
pub(super) fn push_begin(out: &mut String, record: &Record<'_>, process: Option<&ProcessJson>) {
    out.push_str(level_json(record.what.level()));
    out.push_str(process.map_or("\"process\":null", |process| process.json.as_str()));
    key(out, "tid", u64::from(record.tid));
    out.push_str(",\"thread\":");
    push_string(out, record.thread);
}

fn level_json(level: Level) -> &'static str {
    match level {
        Level::Trace => ",\"level\":\"trace\",",
        Level::Debug => ",\"level\":\"debug\",",
        Level::Info => ",\"level\":\"info\",",
        Level::Warn => ",\"level\":\"warn\",",
        Level::Error => ",\"level\":\"error\",",
        Level::Fatal => ",\"level\":\"fatal\",",
    }
}
