//! Lines by a pattern.

use silverpoint_trace::{Event, Site, What, escape};
use silverpoint_wire::level::Level;

use super::Pattern;
use super::item::{Field, Item};
use crate::ShowContext;
use crate::format::{Align, Spec, columns, pad_written};
use crate::render::{Part, Renderer};
use crate::text::level;
use crate::text::message::{message, push_backtrace};
use crate::text::options::Options;
use crate::time::TimeText;

/// Keeps a time's text from line to line.
pub(in crate::text) struct PatternWriter {
    pattern: Pattern,
    /// One for each item; only those of times are used.
    times: Vec<Option<TimeText>>,
    zone: jiff::tz::TimeZone,
    colour: bool,
    /// Of the line before.
    before_ns: Option<i64>,
}

impl PatternWriter {
    pub(in crate::text) fn new(pattern: &Pattern, options: &Options) -> Self {
        let time = |item: &Item| match item {
            Item::Field(Field::Time(style), spec) => {
                let digits = spec.precision.map_or(options.digits, |digits| digits.min(9) as u8);
                Some(TimeText::new(*style, options.zone.clone(), digits))
            }
            _ => None,
        };
        let times = pattern.items.iter().map(time).collect();
        let (zone, colour) = (options.zone.clone(), options.colour);
        Self { pattern: pattern.clone(), times, zone, colour, before_ns: None }
    }

    pub(in crate::text) fn line(&mut self, renderer: &mut Renderer, out: &mut String, event: &Event<'_>) {
        let site = match event.what {
            What::Record { site, .. } => Some(site),
            What::SpanEnd { site, .. } => site,
            _ => None,
        };
        let (mut is_left_out, mut painted) = (false, None);
        for (item, time) in self.pattern.items.iter().zip(&mut self.times) {
            match item {
                Item::EndIf => is_left_out = false,
                _ if is_left_out => {}
                Item::If(condition) => is_left_out = !condition.holds(event, site),
                Item::Literal(text) => out.push_str(text),
                Item::Clock(clock) => clock.push(out, event.wall_ns, &self.zone),
                Item::Moment(moment, spec) => {
                    let start = out.len();
                    moment.push(out, event.wall_ns, self.before_ns, &self.zone);
                    if !spec.is_default() {
                        fit(out, start, spec, Field::Category);
                    }
                }
                Item::Paint(true) => painted = Some(out.len()),
                Item::Paint(false) => {
                    if let (true, Some(start)) = (self.colour, painted.take()) {
                        paint(out, start, event.what.level());
                    }
                }
                Item::OfContext(name, spec) => {
                    let start = out.len();
                    let value = event.context.and_then(|context| context.text_of_field(name));
                    out.push_str(&value.unwrap_or_default());
                    if !spec.is_default() {
                        fit(out, start, spec, Field::Context);
                    }
                }
                Item::Field(field, spec) => {
                    let start = out.len();
                    match (field, time) {
                        (Field::Time(_), Some(time)) => drop(time.push(out, event.wall_ns)),
                        (field, _) => push(renderer, out, event, site, *field),
                    }
                    if !spec.is_default() {
                        fit(out, start, spec, *field);
                    }
                    if self.colour && matches!(field, Field::Level | Field::LevelLetter) {
                        paint(out, start, event.what.level());
                    }
                }
            }
        }
        if let (true, Some(start)) = (self.colour, painted) {
            paint(out, start, event.what.level());
        }
        self.before_ns = Some(event.wall_ns);
        out.push('\n');
    }
}

fn push(renderer: &mut Renderer, out: &mut String, event: &Event<'_>, site: Option<&Site>, field: Field) {
    let number = |out: &mut String, number: u32| out.push_str(itoa::Buffer::new().format(number));
    let level = event.what.level();
    let text = |of: fn(&Site) -> &str| site.map_or("", of);
    match field {
        Field::Time(_) => {}
        Field::Level => out.push_str(level::name(level)),
        Field::LevelLetter => out.push_str(&level::name(level)[..1]),
        Field::Category => escape::push_escaped(out, text(|site| &site.description.category)),
        Field::Message => {
            push_backtrace(out, event);
            message(renderer, out, event);
        }
        Field::Text | Field::Fields => match &event.what {
            What::Record { site, args, .. } => {
                let part = if field == Field::Text { Part::Text } else { Part::Fields };
                // What cannot be read is marked in the text.
                let _ = renderer.part(out, site, args, part);
            }
            _ if field == Field::Text => message(renderer, out, event),
            _ => {}
        },
        Field::QtCategory => match text(|site| &site.description.category) {
            "" => out.push_str("default"),
            name => escape::push_escaped(out, name),
        },
        Field::QtType => out.push_str(level::qt_name(level)),
        Field::SpdlogLevel => out.push_str(level::spdlog_name(level)),
        Field::SpdlogLetter => out.push_str(level::spdlog_letter(level)),
        Field::Process => escape::push_escaped(out, &event.session.name),
        Field::Pid => number(out, event.session.pid),
        Field::Thread if !event.thread_name.is_empty() => escape::push_escaped(out, event.thread_name),
        Field::Thread | Field::Tid => number(out, event.tid),
        Field::File => escape::push_escaped(out, text(Site::file_name)),
        Field::Path => escape::push_escaped(out, text(|site| &site.description.file)),
        Field::Line => number(out, site.map_or(0, |site| site.description.line)),
        Field::Function => escape::push_escaped(out, text(Site::function)),
        Field::Context => out.push_str(event.context.map_or("", |context| context.text())),
    }
}

/// Cuts and fills what was written since `start`.
fn fit(out: &mut String, start: usize, spec: &Spec, field: Field) {
    let is_time = matches!(field, Field::Time(_));
    let mut wide = columns(&out[start..]);
    if let Some(most) = spec.precision.map(usize::from).filter(|most| !is_time && wide > *most) {
        let mut kept = 0;
        let end = out[start..].char_indices().find(|(at, c)| {
            kept = columns(&out[start..start + at + c.len_utf8()]);
            kept > most
        });
        if let Some((at, _)) = end {
            out.truncate(start + at);
        }
        wide = columns(&out[start..]);
    }
    let is_number = matches!(field, Field::Pid | Field::Tid | Field::Line);
    pad_written(out, start, wide, spec, if is_number { Align::Right } else { Align::Left });
}

fn paint(out: &mut String, start: usize, level: Level) {
    out.insert_str(start, level::colour(level));
    out.push_str(level::PLAIN);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_and_filled_by_columns() {
        let fitted = |text: &str, pattern: &str| {
            let Pattern { items, .. } = Pattern::parse(pattern).unwrap();
            let [Item::Field(field, spec)] = items[..] else { panic!("{pattern}") };
            let mut out = format!(">{text}");
            fit(&mut out, 1, &spec, field);
            out[1..].to_owned()
        };
        assert_eq!(fitted("net", "{category:5}"), "net  ");
        assert_eq!(fitted("net", "{category:*>5}"), "**net");
        assert_eq!(fitted("network", "{category:.3}"), "net");
        assert_eq!(fitted("network", "{category:^5.3}"), " net ");
        // A wide character that does not fit is left out whole.
        assert_eq!(fitted("日本語", "{category:5.5}"), "日本 ");
        assert_eq!(fitted("7", "{line:3}"), "  7");
        // Of a time it is the digits.
        assert_eq!(fitted("19:02:11.123", "{time:.3}"), "19:02:11.123");
    }
}
