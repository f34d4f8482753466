//! One record, decoded.

use std::fmt;
use std::ops::Index;
use std::sync::Arc;

use silverpoint_render::Renderer;
use silverpoint_trace::Site;
use silverpoint_wire::level::{Kind, Level};
use silverpoint_wire::value::walk;

use crate::brief::brief;
use crate::value::Builder;
use crate::{Value, types};

/// What one execution of a tracepoint recorded. Cheap to clone.
#[derive(Clone)]
pub struct Record {
    data: Arc<Data>,
    within: Arc<[String]>,
}

struct Data {
    site: Arc<Site>,
    fields: Vec<Field>,
    message: String,
    ticks: u64,
    thread: u32,
    thread_name: String,
    truncated: bool,
}

/// One argument of a record.
#[derive(Clone, Debug)]
pub struct Field {
    name: String,
    value: Value,
    shown: String,
    type_name: String,
    /// Keys and texts, the outermost first.
    meta: Vec<(String, String)>,
}

impl Field {
    /// Its name, empty when it has none.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its value.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Its value as readers show it, units included: of a text the text itself.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Its type as messages show it: `i32`, `text`, `[f64]`, `Order`.
    pub fn type_name(&self) -> &str {
        &self.type_name
    }

    /// The text of its metadata with this key (`unit`, `flags`, `hex`, `secret`): `record.field("took")?.meta("unit")` is `ms`.
    pub fn meta(&self, key: &str) -> Option<&str> {
        self.meta.iter().find(|(known, _)| known == key).map(|(_, text)| text.as_str())
    }

    /// What stands behind the value: `ms`.
    pub fn unit(&self) -> Option<&str> {
        self.meta("unit")
    }

    /// Whether it is a secret: nothing of it was recorded, and its value is nothing.
    pub fn is_secret(&self) -> bool {
        self.meta("secret").is_some()
    }

    /// The value as a failure message shows it.
    pub(crate) fn in_words(&self) -> String {
        match &self.value {
            Value::Text(_) | Value::Char(_) => self.value.to_string(),
            Value::Cut(kept, missing) if kept.as_str().is_some() => format!("{kept}…(+{missing})"),
            // A whole float is distinguished from an integer.
            Value::F32(_) | Value::F64(_) if self.shown.parse::<f64>().is_ok() => self.value.to_string(),
            _ => self.shown.clone(),
        }
    }
}

/// What the first argument of a counter is called.
pub(crate) const VALUE: &str = "value";

/// Whose record it is, and when it was made.
pub(crate) struct Origin {
    pub(crate) ticks: u64,
    pub(crate) thread: u32,
    pub(crate) thread_name: String,
    pub(crate) truncated: bool,
}

impl Record {
    /// Decodes the arguments. The error says what they contradict.
    pub(crate) fn decode(site: &Arc<Site>, args: &[u8], origin: Origin) -> Result<Self, String> {
        if let (Some(fault), true) = (&site.fault, site.types.is_empty()) {
            return Err(format!("{}: {fault}", site.place()));
        }
        let damaged = |error: &dyn fmt::Display| format!("{}: {error}", site.place());
        let mut renderer = Renderer::new();
        let mut fields = Vec::with_capacity(site.types.len());
        let mut at = 0;
        for (index, ty) in site.types.iter().enumerate() {
            let mut builder = Builder::default();
            walk(ty, args, at, &mut builder).map_err(|error| damaged(&format!("{error:?}")))?;
            let value = builder.finish().ok_or_else(|| damaged(&"a value has no end"))?;
            let mut shown = String::new();
            at = renderer.argument(&mut shown, site, index, args, at).map_err(|error| damaged(&error))?;
            if let Value::Text(text) = &value {
                shown.clone_from(text);
            }
            let name = site.names.get(index).cloned().unwrap_or_default();
            fields.push(Field {
                name,
                value,
                shown,
                type_name: types::name_of(ty),
                meta: types::meta_of(ty),
            });
        }
        let mut message = String::new();
        renderer.message(&mut message, site, args).map_err(|error| damaged(&error))?;
        let Origin { ticks, thread, thread_name, truncated } = origin;
        let data = Data { site: site.clone(), fields, message, ticks, thread, thread_name, truncated };
        Ok(Self { data: Arc::new(data), within: Arc::default() })
    }

    pub(crate) fn inside(&self, spans: &Arc<[String]>) -> Self {
        Self { data: self.data.clone(), within: spans.clone() }
    }

    /// The name of an event, span, counter …; of a log the template as it is recorded. That is the template
    /// of the source, with formats in the spelling that all languages share (`{:.2f}`).
    pub fn name(&self) -> &str {
        &self.data.site.description.template
    }

    /// What it is: a log, an event, the begin of a span, a counter …
    pub fn kind(&self) -> Kind {
        self.data.site.kind()
    }

    /// Its level.
    pub fn level(&self) -> Level {
        self.data.site.level()
    }

    /// Its category: the module, or the target that was given.
    pub fn category(&self) -> &str {
        &self.data.site.description.category
    }

    /// The source file as the compiler had it.
    pub fn file(&self) -> &str {
        &self.data.site.description.file
    }

    /// The line in it.
    pub fn line(&self) -> u32 {
        self.data.site.description.line
    }

    /// The function, without its arguments.
    pub fn function(&self) -> &str {
        self.data.site.function()
    }

    /// What `silverpoint cat` shows: the template with its values, `order 7 at 1.50`; of an event its name and values.
    pub fn message(&self) -> &str {
        &self.data.message
    }

    /// The arguments, in order.
    pub fn fields(&self) -> &[Field] {
        &self.data.fields
    }

    /// An argument by its name, or its number from 0; what a counter shows is also called `value`.
    pub fn field(&self, name: &str) -> Option<&Field> {
        if name == VALUE && self.kind() == Kind::Counter {
            return self.fields().first();
        }
        let by_name = self.fields().iter().find(|field| !field.name.is_empty() && field.name == name);
        by_name.or_else(|| name.parse::<usize>().ok().and_then(|number| self.fields().get(number)))
    }

    /// The value of an argument. `record["id"]` is the same, and panics when there is none.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.field(name).map(Field::value)
    }

    /// The kernel's id of the thread that recorded it.
    pub fn thread(&self) -> u32 {
        self.data.thread
    }

    /// That thread's name (15 bytes at most), as it was at its first record.
    pub fn thread_name(&self) -> &str {
        &self.data.thread_name
    }

    /// When, in the session's clock: only good for comparing with other records.
    pub fn ticks(&self) -> u64 {
        self.data.ticks
    }

    /// Whether an argument was cut because no ring can have it whole.
    pub fn is_truncated(&self) -> bool {
        self.data.truncated
    }

    /// The names of the spans of its thread that were open, the outermost first. (Those that had begun when the capture did are not known.)
    pub fn within(&self) -> &[String] {
        &self.within
    }

    pub(crate) fn site(&self) -> &Arc<Site> {
        &self.data.site
    }

    /// Kind and name, as failure messages begin a line: a log by its message.
    pub(crate) fn title(&self) -> String {
        match self.kind() {
            Kind::Log | Kind::Stream => {
                format!("{} {} {}", self.kind(), self.level(), brief(format!("{:?}", self.message())))
            }
            kind => format!("{kind} {}", brief(self.name().to_owned())),
        }
    }

    /// The whole line of a failure message, with `!` before the arguments of which it is true.
    pub(crate) fn line_marked(&self, is_marked: impl Fn(usize) -> bool) -> String {
        let mut line = self.title();
        for (number, field) in self.fields().iter().enumerate() {
            let number_text = number.to_string();
            let name = match field.name.as_str() {
                _ if self.kind() == Kind::Counter && number == 0 => VALUE,
                "" => &number_text,
                name => name,
            };
            let mark = if is_marked(number) { "!" } else { "" };
            line.push_str(&format!(" {mark}{name}={} ({})", brief(field.in_words()), field.type_name));
        }
        line.push_str("  ");
        line.push_str(&self.site().place());
        line
    }
}

/// `event order.filled id=7 (i32) venue="XETR" (text)  orders.rs:12`
impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.line_marked(|_| false))
    }
}

impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Record({self})")
    }
}

impl Index<&str> for Record {
    type Output = Value;

    #[track_caller]
    fn index(&self, name: &str) -> &Value {
        self.value(name).unwrap_or_else(|| panic!("no argument `{name}` in: {self}"))
    }
}
