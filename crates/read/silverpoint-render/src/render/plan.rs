//! A site's template, ready to be rendered.

use silverpoint_trace::{Keepsake, Site, escape};
use silverpoint_wire::level::Kind;
use silverpoint_wire::percent;
use silverpoint_wire::signature::Type;
use silverpoint_wire::template::{self, Argument, Piece};

use super::value::Quoting;
use crate::format::Spec;

/// What to write for a record of a site, step by step.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) steps: Vec<Step>,
    /// The step at which the arguments without a placeholder begin.
    pub(super) fields: usize,
    /// The arguments occur once each, in their order, so that one walk over the record suffices.
    pub(super) in_order: bool,
    pub(super) quoting: Quoting,
    /// The pieces of a template of the `%` grammar, which has a renderer of its own; the rest is unused then.
    pub(super) percent: Option<Vec<percent::Piece>>,
    /// The only argument is an array of a stream's pieces.
    pub(super) pieces: bool,
}

impl Keepsake for Plan {}

/// One step of a plan.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Text, escaped already.
    Literal(String),
    /// An argument. Plain: nothing is specified.
    Argument { index: usize, spec: Spec, is_plain: bool },
}

impl Plan {
    /// That of a site, made on the first request.
    #[inline]
    pub(super) fn of(site: &Site) -> &Self {
        site.made().get_or_make(|| Self::new(site))
    }

    /// Makes the plan. A template that cannot be read is shown as it stands, with the arguments after it.
    fn new(site: &Site) -> Self {
        let Site { description, types, names, .. } = site;
        let mut steps = Steps { list: Vec::new(), used: vec![false; types.len()], fields: 0 };
        let percent = match description.kind {
            Kind::Log if description.is_percent() => percent::parse(&description.template).ok(),
            _ => None,
        };
        let quoting = match description.kind {
            Kind::Log if description.is_percent() => {
                steps.literal(&description.template);
                Quoting::WhenAmbiguous
            }
            Kind::Log | Kind::Stream => match template::parse(&description.template) {
                Ok(pieces) => {
                    for piece in pieces {
                        match piece {
                            Piece::Literal(text) => steps.literal(&text),
                            Piece::Placeholder { argument, spec } => {
                                steps.placeholder(&argument, &Spec::from(&spec), names)
                            }
                        }
                    }
                    Quoting::Never
                }
                Err(_) => {
                    steps.literal(&description.template);
                    Quoting::WhenAmbiguous
                }
            },
            Kind::Counter if types.len() == 1 => {
                steps.literal(&description.template);
                steps.literal(" = ");
                steps.argument(0, Spec::default());
                Quoting::WhenAmbiguous
            }
            kind => {
                steps.literal(&description.template);
                // A blank separates it from the name, if there is one.
                let word = word_after_name(kind);
                steps.literal(if description.template.is_empty() { word.trim_start() } else { word });
                Quoting::WhenAmbiguous
            }
        };
        // Arguments without a placeholder follow the text: all of an event's arguments, fields beside a
        // message.
        steps.fields = steps.list.len();
        for index in 0..types.len() {
            if !steps.used[index] {
                steps.literal(" ");
                if let Some(name) = names.get(index).filter(|name| !name.is_empty()) {
                    steps.literal(name);
                    steps.literal("=");
                }
                steps.argument(index, Spec::default());
            }
        }
        let pieces = description.kind == Kind::Stream
            && description.template.is_empty()
            && matches!(types.as_slice(), [Type::Any]);
        if pieces {
            steps.list.retain(|step| matches!(step, Step::Argument { .. }));
            // It is all there is.
            steps.fields = steps.list.len();
        }
        let order = steps.list.iter().filter_map(|step| match step {
            Step::Argument { index, .. } => Some(*index),
            Step::Literal(_) => None,
        });
        let in_order = order.eq(0..types.len());
        let Steps { list: steps, fields, .. } = steps;
        Self { steps, fields, in_order, quoting, percent, pieces }
    }
}

/// The word that distinguishes the beginning from the end where both have the same name.
fn word_after_name(kind: Kind) -> &'static str {
    match kind {
        Kind::AsyncBegin => " begin",
        Kind::AsyncEnd => " end",
        Kind::FlowBegin => " flow begin",
        Kind::FlowStep => " flow step",
        Kind::FlowEnd => " flow end",
        Kind::Log
        | Kind::Stream
        | Kind::Event
        | Kind::Span
        | Kind::Counter
        | Kind::Instant
        | Kind::AsyncInstant
        | Kind::Link => "",
    }
}

struct Steps {
    list: Vec<Step>,
    used: Vec<bool>,
    /// Here another part begins.
    fields: usize,
}

impl Steps {
    fn literal(&mut self, text: &str) {
        if let Some(Step::Literal(last)) = self.list[self.fields..].last_mut() {
            escape::push_escaped(last, text);
        } else {
            let mut escaped = String::new();
            escape::push_escaped(&mut escaped, text);
            self.list.push(Step::Literal(escaped));
        }
    }

    fn argument(&mut self, index: usize, spec: Spec) {
        if let Some(used) = self.used.get_mut(index) {
            *used = true;
        }
        self.list.push(Step::Argument { index, spec, is_plain: spec.is_default() });
    }

    fn placeholder(&mut self, argument: &Argument, spec: &Spec, names: &[String]) {
        match argument {
            Argument::Index(index) => self.argument(*index, *spec),
            Argument::Name(name) => match names.iter().position(|known| known == name) {
                Some(index) => self.argument(index, *spec),
                // No such argument: shown as it was written.
                None => self.literal(&format!("{{{name}}}")),
            },
        }
    }
}
