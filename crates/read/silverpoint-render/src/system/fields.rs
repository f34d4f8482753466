//! The named arguments of a record and the fields of its context, one after the other.

use silverpoint_trace::{Event, Site, What};

use crate::json::{Stack, push_plain, push_plain_item};

/// Room that is reused.
#[derive(Debug, Default)]
pub(super) struct Fields {
    stack: Stack,
    value: String,
}

impl Fields {
    /// Gives each name with its value as plain text: the record's own first, then those of its context. An
    /// unreadable value and those after it are left out: the message has `<damaged>` there.
    pub(super) fn each(&mut self, event: &Event<'_>, mut take: impl FnMut(&str, &str)) {
        if let What::Record { site, args, .. } = event.what {
            let mut at = 0;
            for (ty, name) in site.types.iter().zip(&site.names) {
                self.value.clear();
                let Some(end) = push_plain(&mut self.value, &mut self.stack, ty, args, at) else { break };
                at = end;
                if !name.is_empty() {
                    take(name, &self.value);
                }
            }
        }
        for (name, value) in event.context.iter().flat_map(|context| context.fields()) {
            self.value.clear();
            push_plain_item(&mut self.value, &mut self.stack, value);
            take(name, &self.value);
        }
    }
}

/// The site of an event, if it has one.
pub(super) fn site<'e>(event: &Event<'e>) -> Option<&'e Site> {
    match event.what {
        What::Record { site, .. } => Some(site),
        What::SpanEnd { site, .. } => site,
        _ => None,
    }
}
