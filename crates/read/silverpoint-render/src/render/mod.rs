//! The text of one record, by its site's template (`spec/templates.md`).
//!
//! A site's template is parsed once, into a *plan* that is kept with the site. Rendering a record then walks plan and arguments side
//! by side, and appends to a `String` that the caller reuses. No record allocates, except for texts that are
//! not UTF-8.

mod look;
mod percent;
mod plan;
mod qdebug;
mod value;

use std::convert::Infallible;

use silverpoint_trace::{Site, escape};
use silverpoint_wire::level::{Kind, Language};
use silverpoint_wire::value::{DecodeError, WalkError, skip, walk};

use crate::format::Spec;
use crate::{format, number, time};
use plan::{Plan, Step};
pub use value::{Dialect, Quoting, Stack, TextVisitor, push_uuid};

/// Renders records. Holds only room that is reused: one for each thread that renders.
#[derive(Debug, Default)]
pub struct Renderer {
    stack: Stack,
    /// Where each argument of the record begins.
    offsets: Vec<usize>,
    dialect: Dialect,
}

/// Names of the fields of Python's `logging` that have many lines.
const TRACEBACKS: [&str; 2] = ["exception", "stack"];

/// A part of a record's message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The text of the template.
    Text,
    /// Arguments without a placeholder: ` name=value`, each with a space before it.
    Fields,
}

impl Renderer {
    /// With empty room.
    pub fn new() -> Self {
        Self::default()
    }

    /// With empty room, for values of a dialect.
    pub fn of(dialect: Dialect) -> Self {
        Self { dialect, ..Self::default() }
    }

    /// Appends a part of a record's message. A template of the `%` grammar shows everything.
    ///
    /// # Errors
    /// As [`Renderer::message`].
    pub fn part(
        &mut self,
        out: &mut String,
        site: &Site,
        args: &[u8],
        part: Part,
    ) -> Result<(), DecodeError> {
        let plan = Plan::of(site);
        let steps = match part {
            Part::Text if plan.percent.is_some() => return self.message(out, site, args),
            Part::Fields if plan.percent.is_some() => return Ok(()),
            Part::Text => &plan.steps[..plan.fields],
            Part::Fields => &plan.steps[plan.fields..],
        };
        self.by_offsets(out, site, plan, args, steps)
    }

    /// Appends the message of a record: one line, control characters escaped.
    ///
    /// # Errors
    /// When the arguments contradict the signature. What could be read has been appended, and `<damaged>` where the rest would stand.
    #[inline]
    pub fn message(&mut self, out: &mut String, site: &Site, args: &[u8]) -> Result<(), DecodeError> {
        let plan = Plan::of(site);
        if let Some(pieces) = &plan.percent {
            return percent::push(self, out, site, pieces, args);
        }
        let (text, fields) = plan.steps.split_at(plan.fields);
        let begin = out.len();
        if plan.in_order {
            let at = self.in_order(out, site, plan, args, 0, text)?;
            let fields = without_blank(out, begin, fields);
            self.in_order(out, site, plan, args, at, fields).map(|_| ())
        } else {
            let shown = self.by_offsets(out, site, plan, args, text);
            if fields.is_empty() {
                return shown;
            }
            let fields = without_blank(out, begin, fields);
            shown.and(self.by_offsets(out, site, plan, args, fields))
        }
    }

    /// As [`Renderer::message`], without the tracebacks that a record of Python's `logging` has (its last
    /// fields). Those are appended to `tracebacks`, each as `name=` and its text, escaped, on a line of its
    /// own.
    ///
    /// # Errors
    /// As [`Renderer::message`].
    pub fn message_and_tracebacks(
        &mut self,
        out: &mut String,
        tracebacks: &mut String,
        site: &Site,
        args: &[u8],
    ) -> Result<(), DecodeError> {
        // Most records are of other languages: their plan is asked for once.
        if site.description.language != Language::Python as u16 {
            return self.message(out, site, args);
        }
        let plan = Plan::of(site);
        let steps = &plan.steps;
        let is_one = |at: &usize| {
            let Some([Step::Literal(_), Step::Argument { index, .. }]) = steps.get(*at..*at + 2) else {
                return false;
            };
            site.names.get(*index).is_some_and(|name| TRACEBACKS.contains(&name.as_str()))
        };
        let begins: Vec<usize> = match plan.percent {
            None => (plan.fields..steps.len()).filter(is_one).collect(),
            Some(_) => Vec::new(),
        };
        let Some(first) = begins.first() else { return self.message(out, site, args) };
        self.by_offsets(out, site, plan, args, &steps[..*first])?;
        for (number, begin) in begins.iter().enumerate() {
            let end = begins.get(number + 1).copied().unwrap_or(steps.len());
            let start = tracebacks.len();
            self.by_offsets(tracebacks, site, plan, args, &steps[*begin..end])?;
            // (A field has a space before it.)
            if tracebacks[start..].starts_with(' ') {
                tracebacks.remove(start);
            }
            tracebacks.push('\n');
        }
        Ok(())
    }

    /// Appends the message of a span's end.
    pub fn span_end(&self, out: &mut String, site: &Site, duration_ns: Option<u64>) {
        escape::push_escaped(out, &site.description.template);
        out.push_str(" done");
        if let Some(ns) = duration_ns {
            out.push(' ');
            time::push_duration(out, ns);
        }
    }

    /// Shows arguments in sequence, the first at an offset; gives the offset after the last.
    #[inline]
    fn in_order(
        &mut self,
        out: &mut String,
        site: &Site,
        plan: &Plan,
        args: &[u8],
        mut at: usize,
        steps: &[Step],
    ) -> Result<usize, DecodeError> {
        for step in steps {
            match step {
                Step::Literal(text) => out.push_str(text),
                Step::Argument { index, spec, is_plain } => match site.types.get(*index) {
                    Some(ty) => {
                        // A fraction looks otherwise in other dialects.
                        if *is_plain {
                            if let Some((value, end)) = number::read(ty, args, at) {
                                if self.dialect == Dialect::Plain || value.is_whole() {
                                    format::number(out, value);
                                    at = end;
                                    continue;
                                }
                            }
                        }
                        let start = out.len();
                        let quoting = quoting(site, plan, self.dialect);
                        let mut visitor =
                            TextVisitor::new(out, &mut self.stack, *spec, quoting).dialect(self.dialect);
                        if plan.pieces {
                            visitor = visitor.pieces();
                        }
                        match walk(ty, args, at, &mut visitor) {
                            Ok(end) => at = end,
                            Err(error) => return Err(damaged(out, start, error)),
                        }
                    }
                    None => out.push_str("<no argument>"),
                },
            }
        }
        Ok(at)
    }

    fn by_offsets(
        &mut self,
        out: &mut String,
        site: &Site,
        plan: &Plan,
        args: &[u8],
        steps: &[Step],
    ) -> Result<(), DecodeError> {
        self.offsets.clear();
        let mut at = 0;
        let mut broken = None;
        for ty in &site.types {
            self.offsets.push(at);
            match skip(ty, args, at) {
                Ok(end) => at = end,
                Err(error) => {
                    broken = Some(error);
                    break;
                }
            }
        }
        for step in steps {
            match step {
                Step::Literal(text) => out.push_str(text),
                Step::Argument { index, spec, .. } => {
                    match (site.types.get(*index), self.offsets.get(*index)) {
                        (Some(ty), Some(&at)) => {
                            let start = out.len();
                            let quoting = quoting(site, plan, self.dialect);
                            let mut visitor =
                                TextVisitor::new(out, &mut self.stack, *spec, quoting).dialect(self.dialect);
                            if plan.pieces {
                                visitor = visitor.pieces();
                            }
                            if let Err(error) = walk(ty, args, at, &mut visitor) {
                                broken = Some(damaged(out, start, error));
                            }
                        }
                        (Some(_), None) => out.push_str(DAMAGED),
                        (None, _) => out.push_str("<no argument>"),
                    }
                }
            }
        }
        broken.map_or(Ok(()), Err)
    }

    /// Appends one argument as text, as an event shows it.
    ///
    /// # Errors
    /// When the bytes contradict the type; `out` ends with `<damaged>` then.
    pub fn argument(
        &mut self,
        out: &mut String,
        site: &Site,
        index: usize,
        args: &[u8],
        at: usize,
    ) -> Result<usize, DecodeError> {
        let Some(ty) = site.types.get(index) else { return Ok(at) };
        let start = out.len();
        let mut visitor = TextVisitor::new(out, &mut self.stack, Spec::default(), Quoting::WhenAmbiguous)
            .dialect(self.dialect);
        walk(ty, args, at, &mut visitor).map_err(|error| damaged(out, start, error))
    }
}

/// Texts that stand alone are quoted where Qt's debug stream would quote them: in streams, not where a
/// template places them.
#[inline]
fn quoting(site: &Site, plan: &Plan, dialect: Dialect) -> Quoting {
    match dialect {
        Dialect::QDebug if site.kind() == Kind::Stream => Quoting::Always,
        _ => plan.quoting,
    }
}

/// The steps of fields. The blank before the first separates it from the text: where there is none, it is left out.
#[inline]
fn without_blank<'s>(out: &mut String, begin: usize, fields: &'s [Step]) -> &'s [Step] {
    match fields {
        [Step::Literal(first), rest @ ..] if out.len() == begin => {
            out.push_str(first.strip_prefix(' ').unwrap_or(first));
            rest
        }
        _ => fields,
    }
}

const DAMAGED: &str = "<damaged>";

/// Puts the mark where the argument would stand.
#[cold]
fn damaged(out: &mut String, start: usize, error: WalkError<Infallible>) -> DecodeError {
    out.truncate(start);
    out.push_str(DAMAGED);
    match error {
        WalkError::Decode(error) => error,
        WalkError::Visitor(never) => match never {},
    }
}
