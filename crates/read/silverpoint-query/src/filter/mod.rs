//! Which records are wanted: a [`Filter`] as the user gave it, which selects events of a trace.
//!
//! Questions about a site alone are decided once for each site. Blocks whose summaries (levels, sites, times)
//! exclude them are not even read.

mod compiled;
mod evaluate;
mod expression;
mod line;
mod records;
mod selected;

use silverpoint_render::time::TimeZone;
use silverpoint_trace::Site;
use silverpoint_wire::glob;
use silverpoint_wire::level::Level;

pub use expression::{Expression, ExpressionError, Literal, Operator, Test};
pub use line::LineError;
pub use records::RecordFilter;

use silverpoint_render::time::{When, local_zone};

/// What is wanted. Of several patterns of one sort any may match; different sorts must all match.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// The least level.
    pub level: Option<Level>,
    /// Patterns of categories; one matches the categories below it too. A level may follow after `=`: records
    /// of those categories must have at least that level (`net=warn`). Text after `=` that is no level
    /// belongs to the pattern, and is most probably a mistake ([`category`]).
    pub categories: Vec<String>,
    /// Files, each with an optional line.
    pub files: Vec<FilePattern>,
    /// Patterns of functions: the qualified name, or its end at `::`.
    pub functions: Vec<String>,
    /// Threads by id or by a pattern of the name.
    pub threads: Vec<WhoPattern>,
    /// Processes by id or by a pattern of the name.
    pub processes: Vec<WhoPattern>,
    /// From this time on.
    pub since: Option<When>,
    /// Up to this time.
    pub until: Option<When>,
    /// The zone of times of day; the local one when absent.
    pub zone: Option<TimeZone>,
    /// What the arguments must satisfy.
    pub expression: Option<Expression>,
}

impl Filter {
    /// Whether everything is wanted.
    pub fn is_empty(&self) -> bool {
        !self.concerns_sites()
            && self.level.is_none()
            && self.threads.is_empty()
            && self.processes.is_empty()
            && self.since.is_none()
            && self.until.is_none()
    }

    /// Whether it asks for something that only records of sites have.
    fn concerns_sites(&self) -> bool {
        !self.categories.is_empty()
            || !self.files.is_empty()
            || !self.functions.is_empty()
            || self.expression.is_some()
    }

    /// Whether records of a site may be wanted.
    pub fn site(&self, site: &Site) -> bool {
        let any =
            |list: &[String], test: &dyn Fn(&str) -> bool| list.is_empty() || list.iter().any(|p| test(p));
        self.level.is_none_or(|least| site.level() >= least)
            && any(&self.categories, &|p| wants_category(p, site))
            && any(&self.functions, &|p| glob::matches_end(p.trim_end_matches("()"), site.function(), "::"))
            && (self.files.is_empty() || self.files.iter().any(|p| p.matches(site)))
    }

    /// Whether records of a process may be wanted.
    pub fn process(&self, pid: u32, name: &str) -> bool {
        any_matches(&self.processes, pid, name)
    }

    pub(crate) fn zone(&self) -> TimeZone {
        self.zone.clone().unwrap_or_else(local_zone)
    }
}

/// Reads one of [`Filter::categories`] as people give it.
///
/// # Errors
/// The text after the last `=` is no level; the error lists the levels.
pub fn category(pattern: &str) -> Result<String, String> {
    match pattern.rsplit_once('=') {
        Some((_, level)) if level.parse::<Level>().is_err() => {
            let names: Vec<_> = Level::ALL.into_iter().map(Level::name).collect();
            Err(format!(
                "'{pattern}': '{level}' after = is no level; valid are {} (for a category with = in its name: '{}')",
                names.join(", "),
                pattern.replace('=', "?")
            ))
        }
        _ => Ok(pattern.to_owned()),
    }
}

/// As of [`Filter::categories`].
fn wants_category(pattern: &str, site: &Site) -> bool {
    let with_level = pattern.rsplit_once('=').and_then(|(name, level)| Some((name, level.parse().ok()?)));
    let (name, least) = with_level.unwrap_or((pattern, Level::Trace));
    site.level() >= least && glob::matches_category(name, &*site.description.category)
}

/// A file's path or its end at a `/`, with `*` and `?`, and an optional line: `pump.cpp:88`, `src/*.rs`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePattern {
    /// The path's pattern.
    pub path: String,
    /// The line.
    pub line: Option<u32>,
}

impl FilePattern {
    /// Reads `path` or `path:line`.
    pub fn parse(text: &str) -> Self {
        match text.rsplit_once(':').and_then(|(path, line)| Some((path, line.parse().ok()?))) {
            Some((path, line)) => Self { path: path.to_owned(), line: Some(line) },
            None => Self { path: text.to_owned(), line: None },
        }
    }

    fn matches(&self, site: &Site) -> bool {
        self.line.is_none_or(|line| line == site.description.line)
            && glob::matches_end(&*self.path, &*site.description.file, "/")
    }
}

/// A thread or process, by id or by a pattern of its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhoPattern {
    /// When the text is a number.
    id: Option<u32>,
    pattern: String,
}

impl WhoPattern {
    /// A number means the id or that name; all else is a pattern of the name.
    pub fn parse(text: &str) -> Self {
        Self { id: text.parse().ok(), pattern: text.to_owned() }
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.pattern
    }

    /// Whether it means the one with this id and name.
    pub fn matches(&self, id: u32, name: &str) -> bool {
        self.id == Some(id) || glob::matches(&*self.pattern, name)
    }
}

fn any_matches(patterns: &[WhoPattern], id: u32, name: &str) -> bool {
    patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches(id, name))
}
