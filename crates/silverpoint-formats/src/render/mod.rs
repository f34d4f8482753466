//! The text of one record, by its site's template (`spec/templates.md`).
//!
//! A site's template is parsed once, into a [`Plan`]; rendering a record then walks plan and arguments side by side and appends to a `String`
//! that the caller reuses. No allocation a record, but for texts that are not UTF-8.

mod percent;
mod plan;
mod value;

use std::convert::Infallible;

use silverpoint_wire::value::{DecodeError, WalkError, skip, walk};

use crate::format::Spec;
use crate::site::Site;
use crate::{escape, time};
pub use plan::Plan;
use plan::Step;
pub use value::{Quoting, Stack, TextVisitor, push_uuid};

/// Renders records. Holds only room that is reused: one for each thread that renders.
#[derive(Debug, Default)]
pub struct Renderer {
    stack: Stack,
    /// Where each argument of the record begins.
    offsets: Vec<usize>,
}

impl Renderer {
    /// With empty room.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends the message of a record: one line, control characters escaped.
    ///
    /// # Errors
    /// When the arguments contradict the signature. What could be read has been appended, and `<damaged>` where the rest would stand.
    #[inline]
    pub fn message(&mut self, out: &mut String, site: &Site, args: &[u8]) -> Result<(), DecodeError> {
        if let Some(pieces) = &site.plan.percent {
            return percent::push(self, out, site, pieces, args);
        }
        if site.plan.in_order { self.in_order(out, site, args) } else { self.by_offsets(out, site, args) }
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

    fn in_order(&mut self, out: &mut String, site: &Site, args: &[u8]) -> Result<(), DecodeError> {
        let plan = &site.plan;
        let mut at = 0;
        for step in &plan.steps {
            match step {
                Step::Literal(text) => out.push_str(text),
                Step::Argument { index, spec } => match site.types.get(*index) {
                    Some(ty) => {
                        let start = out.len();
                        let mut visitor = TextVisitor::new(out, &mut self.stack, *spec, plan.quoting);
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
        Ok(())
    }

    fn by_offsets(&mut self, out: &mut String, site: &Site, args: &[u8]) -> Result<(), DecodeError> {
        let plan = &site.plan;
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
        for step in &plan.steps {
            match step {
                Step::Literal(text) => out.push_str(text),
                Step::Argument { index, spec } => match (site.types.get(*index), self.offsets.get(*index)) {
                    (Some(ty), Some(&at)) => {
                        let start = out.len();
                        let mut visitor = TextVisitor::new(out, &mut self.stack, *spec, plan.quoting);
                        if let Err(error) = walk(ty, args, at, &mut visitor) {
                            broken = Some(damaged(out, start, error));
                        }
                    }
                    (Some(_), None) => out.push_str(DAMAGED),
                    (None, _) => out.push_str("<no argument>"),
                },
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
        let mut visitor = TextVisitor::new(out, &mut self.stack, Spec::default(), Quoting::WhenAmbiguous);
        walk(ty, args, at, &mut visitor).map_err(|error| damaged(out, start, error))
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
