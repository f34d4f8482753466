//! What an event says, without its time, thread and place.

use silverpoint_trace::{Event, What, cause_name, escape};

use crate::crash;
use crate::render::Renderer;
use crate::time;

/// Appends what an event says, in one line.
pub fn message(renderer: &mut Renderer, out: &mut String, event: &Event<'_>) {
    say(renderer, out, &event.what, event.thread_name);
}

/// As [`message`], of something that is in no trace file. `thread_name` is the thread's name from now on.
pub fn say(renderer: &mut Renderer, out: &mut String, what: &What<'_>, thread_name: &str) {
    match what {
        What::Record { site, args, .. } if site.is_crash() && crash::push_summary(out, args) => {}
        What::Record { site, args, .. } => {
            // What cannot be read is marked in the text.
            let _ = renderer.message(out, site, args);
        }
        What::SpanEnd { site: Some(site), duration_ns, .. } => renderer.span_end(out, site, *duration_ns),
        What::SpanEnd { site: None, duration_ns, .. } => {
            out.push_str("a span without description done");
            if let Some(ns) = duration_ns {
                out.push(' ');
                time::push_duration(out, *ns);
            }
        }
        What::Unknown { site_id, args } => {
            out.push_str("record of a site without description, id ");
            out.push_str(itoa::Buffer::new().format(*site_id));
            out.push_str(", ");
            out.push_str(itoa::Buffer::new().format(args.len()));
            out.push_str(" bytes");
        }
        What::Loss { cause, count, span_ns } => {
            out.push_str("lost ");
            out.push_str(itoa::Buffer::new().format(*count));
            out.push_str(" records (");
            out.push_str(cause_name(*cause));
            out.push_str(") within ");
            time::push_duration(out, *span_ns);
        }
        What::Stall { cause, duration_ns } => {
            out.push_str("waited ");
            time::push_duration(out, *duration_ns);
            out.push_str(" for room in the ring (");
            out.push_str(cause_name(*cause));
            out.push(')');
        }
        What::ThreadName => {
            out.push_str("thread is called ");
            escape::push_escaped(out, thread_name);
        }
        What::ThreadEnd => out.push_str("thread ends"),
        What::Context => out.push_str("context"),
        What::OtherControl { site_id } => {
            out.push_str("control record ");
            out.push_str(itoa::Buffer::new().format(*site_id));
        }
    }
}

/// Marks the message of a record that was kept back.
pub(super) fn push_backtrace(out: &mut String, event: &Event<'_>) {
    if event.is_backtrace {
        out.push_str("[backtrace] ");
    }
}
