//! Which call of a victim a record is of: the judge's side of [`Facade`].

use std::collections::HashMap;
use std::convert::Infallible;

use silverpoint_killtest::counts::{Counts, text_of};
use silverpoint_killtest::facade::{Facade, Turn};
use silverpoint_trace::{Event, Site, What};
use silverpoint_wire::leaf::{Container, Leaf, Pieces};
use silverpoint_wire::level::Kind;
use silverpoint_wire::value::walk;

/// Thread and sequence number of a call.
pub type Call = (u32, u64);

/// Where a span began: kernel's thread and ticks.
type Begun = (u32, u64);

/// What a span that has not ended is.
enum Open {
    /// That of a thread's call.
    Call(u32),
    /// A stretch of the task with this id.
    Stretch(u64),
}

/// What is there of a task.
#[derive(Default)]
struct Task {
    call: Call,
    begun: u32,
    left: u32,
    is_closed: bool,
}

/// Tells calls of a facade from its records, in their order.
pub struct Calls {
    facade: Facade,
    open: HashMap<Begun, Open>,
    tasks: HashMap<u64, Task>,
    arguments: Arguments,
    expected: String,
}

impl Calls {
    pub fn new(facade: Facade) -> Self {
        Self {
            facade,
            open: HashMap::new(),
            tasks: HashMap::new(),
            arguments: Arguments::default(),
            expected: String::new(),
        }
    }

    /// The call that this is the record of, if it is one; `due` is the next call of each thread.
    pub fn of(&mut self, event: &Event<'_>, due: &[u64]) -> Result<Option<Call>, String> {
        let next = |thread: u32| due.get(thread as usize).copied().unwrap_or(0);
        match event.what {
            What::Record { site, args, truncated, .. } => {
                if truncated {
                    return Err(format!("a record of {:?} is cut", site.description.template));
                }
                self.record(event, site, args, &next)
            }
            What::SpanEnd { begin_ticks, .. } => match self.open.remove(&(event.tid, begin_ticks)) {
                Some(Open::Call(thread)) => {
                    self.check(Turn::End, (thread, next(thread)))?;
                    Ok(Some((thread, next(thread))))
                }
                Some(Open::Stretch(id)) => {
                    self.change(id, |task| task.left += 1);
                    Ok(None)
                }
                None => Err("a span ends that has not begun".to_owned()),
            },
            What::Unknown { .. } => Err("a record of a site that nobody describes".to_owned()),
            _ => Ok(None),
        }
    }

    fn record(
        &mut self,
        event: &Event<'_>,
        site: &Site,
        args: &[u8],
        next: &dyn Fn(u32) -> u64,
    ) -> Result<Option<Call>, String> {
        self.arguments.read(site, args)?;
        let (kind, name) = (site.description.kind, site.description.template.as_str());
        let first = self.arguments.numbers.first().copied();
        let said = self.arguments.texts.iter().find_map(|text| call_in(text));
        let begun = (event.tid, event.ticks);
        // Of a task, what its begin has not said.
        if matches!(self.facade, Facade::Subscriber | Facade::Layer)
            && said.is_none()
            && let Some(id) = first
        {
            match kind {
                Kind::Span => {
                    self.open.insert(begun, Open::Stretch(id));
                    self.change(id, |task| task.begun += 1);
                }
                Kind::AsyncEnd => self.change(id, |task| task.is_closed = true),
                _ => {}
            }
            return Ok(None);
        }
        let (turn, call) = match (kind, self.facade) {
            (Kind::Span, Facade::Atrace) => (Turn::Begin, named(name, next)),
            (Kind::Counter, _) => (Turn::Counter, numbered(name, first)),
            (Kind::AsyncBegin, Facade::Atrace) if said.is_none() => (Turn::AsyncBegin, numbered(name, first)),
            (Kind::AsyncBegin, Facade::Atrace) => (Turn::TrackBegin, said),
            (Kind::AsyncEnd, _) if name == "kill" => {
                (Turn::TrackEnd, first.map(|thread| (thread as u32, next(thread as u32))))
            }
            (Kind::AsyncEnd, _) => (Turn::AsyncEnd, numbered(name, first.map(|begun| begun + 2))),
            (Kind::Instant, _) => (Turn::TrackInstant, said),
            (Kind::Span, _) => (Turn::Begin, said),
            (Kind::AsyncBegin, _) => (Turn::Task, said),
            _ if self.arguments.numbers.is_empty() => (Turn::Text, said),
            _ => (Turn::Event, said),
        };
        let Some(call) = call else {
            let is_begin = self.arguments.texts.iter().any(|text| text == "not counted");
            return if is_begin { Ok(None) } else { Err(format!("what is this {kind:?} {name:?}?")) };
        };
        self.check(turn, call)?;
        match turn {
            Turn::Begin => {
                self.open.insert(begun, Open::Call(call.0));
            }
            Turn::Task => {
                let id = first.ok_or("a task has no id")?;
                self.tasks.insert(id, Task { call, ..Task::default() });
            }
            _ => {}
        }
        if let Some(text) = self.arguments.texts.iter().find(|text| call_in(text).is_some()) {
            text_of(call.0, call.1, &mut self.expected);
            if *text != self.expected {
                return Err(format!("thread {}, record {}: the text is {text:?}", call.0, call.1));
            }
        }
        // Events and spans say it a second time.
        let numbers = &self.arguments.numbers;
        if matches!(turn, Turn::Event | Turn::Task) && !numbers.ends_with(&[u64::from(call.0), call.1]) {
            return Err(format!("thread {}, record {}: the numbers are {numbers:?}", call.0, call.1));
        }
        Ok(Some(call))
    }

    /// The call of this number is to be what its record is.
    fn check(&self, turn: Turn, (thread, sequence): Call) -> Result<(), String> {
        let planned = (sequence > 0).then(|| self.facade.turn(sequence));
        if planned == Some(turn) {
            return Ok(());
        }
        Err(format!("thread {thread}: call {sequence} was to be {planned:?}, its record is {turn:?}"))
    }

    fn change(&mut self, id: u64, change: impl FnOnce(&mut Task)) {
        // (That of the beginning is not counted.)
        let Some(task) = self.tasks.get_mut(&id) else { return };
        change(task);
        if task.begun == 2 && task.left == 2 && task.is_closed {
            self.tasks.remove(&id);
        }
    }

    /// At the end: of calls that returned everything is there.
    pub fn finish(&self, counts: &Counts) -> Result<(), String> {
        for task in self.tasks.values() {
            let (thread, sequence) = task.call;
            if sequence <= counts.get(thread as usize) {
                return Err(format!(
                    "thread {thread}: of the task of call {sequence} {} begins, {} ends are stored, closed: {}",
                    task.begun, task.left, task.is_closed
                ));
            }
        }
        Ok(())
    }
}

/// The call that a text says it is of.
fn call_in(text: &str) -> Option<Call> {
    let mut parts = text.splitn(3, '/');
    let call = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    parts.next().map(|_| call)
}

/// A thread by the name of a site that is its own.
fn thread_in(name: &str) -> Option<u32> {
    name.strip_prefix("kill.")?.parse().ok()
}

fn named(name: &str, next: &dyn Fn(u32) -> u64) -> Option<Call> {
    thread_in(name).map(|thread| (thread, next(thread)))
}

fn numbered(name: &str, sequence: Option<u64>) -> Option<Call> {
    Some((thread_in(name)?, sequence?))
}

/// Numbers and texts among the arguments.
#[derive(Default)]
struct Arguments {
    numbers: Vec<u64>,
    texts: Vec<String>,
}

impl Arguments {
    fn read(&mut self, site: &Site, args: &[u8]) -> Result<(), String> {
        self.numbers.clear();
        self.texts.clear();
        let mut at = 0;
        for ty in &site.types {
            at = walk(ty, args, at, self)
                .map_err(|error| format!("{:?}: {error:?}", site.description.template))?;
        }
        Ok(())
    }
}

impl Pieces for Arguments {
    type Error = Infallible;

    fn leaf(&mut self, leaf: Leaf<'_>) -> Result<(), Infallible> {
        match leaf {
            Leaf::U64(value) => self.numbers.push(value),
            Leaf::I64(value) => self.numbers.push(value.cast_unsigned()),
            Leaf::Text(text, _) => self.texts.push(text.chars().collect()),
            _ => {}
        }
        Ok(())
    }

    fn begin(&mut self, _: Container<'_>) -> Result<(), Infallible> {
        Ok(())
    }

    fn end(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}
