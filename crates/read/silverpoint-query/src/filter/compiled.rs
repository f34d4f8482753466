//! An expression of a filter, whose paths have been looked up in the sites.

use silverpoint_render::Renderer;
use silverpoint_trace::{Context, Site};
use silverpoint_wire::level::Kind;
use silverpoint_wire::value::skip;

use super::evaluate;
use super::expression::{Expression, Test};

/// See the module.
pub(super) struct Compiled {
    tree: Node,
    tests: Vec<Test>,
    /// By site number; made when the site first occurs.
    places: Vec<Option<Box<[Place]>>>,
    renderer: Renderer,
    message: String,
}

enum Node {
    And(Box<Node>, Box<Node>),
    Or(Box<Node>, Box<Node>),
    Not(Box<Node>),
    Test(usize),
}

/// Where the first step of a path leads in a site.
#[derive(Clone, Copy)]
enum Place {
    Argument(usize),
    /// The rendered text, for sites without an argument called `message`.
    Message,
    /// No argument: a field of the context perhaps.
    Nowhere,
}

/// Before the name of a field of the context, when an argument has the same name.
const CONTEXT_STEP: &str = "context";

impl Compiled {
    pub(super) fn new(expression: &Expression, sites: usize) -> Self {
        let mut tests = Vec::new();
        let tree = Node::new(expression, &mut tests);
        Self { tree, tests, places: vec![None; sites], renderer: Renderer::new(), message: String::new() }
    }

    pub(super) fn passes(
        &mut self,
        site: &Site,
        number: usize,
        context: Option<&Context>,
        args: &[u8],
    ) -> bool {
        let tests = &self.tests;
        if number >= self.places.len() {
            self.places.resize(number + 1, None);
        }
        let places =
            self.places[number].get_or_insert_with(|| tests.iter().map(|test| place(test, site)).collect());
        let mut evaluation = Evaluation {
            tests,
            places,
            site,
            args,
            context,
            renderer: &mut self.renderer,
            message: &mut self.message,
        };
        evaluation.passes(&self.tree)
    }
}

impl Node {
    fn new(expression: &Expression, tests: &mut Vec<Test>) -> Self {
        let mut sub = |inner: &Expression| Box::new(Self::new(inner, tests));
        match expression {
            Expression::And(a, b) => Self::And(sub(a), sub(b)),
            Expression::Or(a, b) => Self::Or(sub(a), sub(b)),
            Expression::Not(inner) => Self::Not(sub(inner)),
            Expression::Test(test) => {
                tests.push(test.clone());
                Self::Test(tests.len() - 1)
            }
        }
    }
}

fn place(test: &Test, site: &Site) -> Place {
    let first = test.path.first().map_or("", String::as_str);
    // The id of an async span or a flow is its first argument, which may have any name. An argument that the
    // program named `id` takes precedence.
    let has_id = (Kind::AsyncBegin as u8..=Kind::FlowEnd as u8).contains(&(site.kind() as u8));
    let is_first = |name: &String| name == first;
    let own = site.names.iter().skip(1).position(is_first).filter(|_| has_id).map(|index| index + 1);
    if let Some(index) = own.or_else(|| site.names.iter().position(is_first)) {
        return Place::Argument(index);
    }
    // `arg0` is what tables call an argument without a name; `0` is left of `args[0]`.
    match first.strip_prefix("arg").unwrap_or(first).parse::<usize>() {
        Ok(index) if index < site.types.len() => Place::Argument(index),
        _ if first == "value" && site.kind() == Kind::Counter && site.types.len() == 1 => Place::Argument(0),
        _ if first == "message" && test.path.len() == 1 => Place::Message,
        _ => Place::Nowhere,
    }
}

struct Evaluation<'a> {
    tests: &'a [Test],
    places: &'a [Place],
    site: &'a Site,
    args: &'a [u8],
    context: Option<&'a Context>,
    renderer: &'a mut Renderer,
    message: &'a mut String,
}

impl Evaluation<'_> {
    fn passes(&mut self, node: &Node) -> bool {
        match node {
            Node::And(a, b) => self.passes(a) && self.passes(b),
            Node::Or(a, b) => self.passes(a) || self.passes(b),
            Node::Not(inner) => !self.passes(inner),
            Node::Test(number) => self.test(*number),
        }
    }

    fn test(&mut self, number: usize) -> bool {
        let test = &self.tests[number];
        match self.places[number] {
            Place::Nowhere => {
                let explicit = test.path.first().is_some_and(|first| first == CONTEXT_STEP);
                let path = &test.path[usize::from(explicit && test.path.len() > 1)..];
                let Some((name, rest)) = path.split_first() else { return false };
                let value = self.context.and_then(|context| context.get(name));
                value.is_some_and(|value| evaluate::item_passes(test, rest, value))
            }
            Place::Message => {
                self.message.clear();
                let _ = self.renderer.message(self.message, self.site, self.args);
                evaluate::text_passes(test, self.message)
            }
            Place::Argument(index) => {
                let types = &self.site.types;
                let at = types[..index].iter().try_fold(0, |at, ty| skip(ty, self.args, at));
                at.is_ok_and(|at| evaluate::passes(test, &test.path[1..], &types[index], self.args, at))
            }
        }
    }
}
