//! What a query wants of a virtual table, as far as reading can be narrowed for it: constraints of SQLite in, [`Picked`] out.
//!
//! Constraints are only ever used to leave out what cannot match; SQLite tests every row again. What is not understood (another collation, another
//! type than the column's) narrows nothing.

use std::cmp::Ordering;

use rusqlite::fallible_iterator::FallibleIterator as _;
use rusqlite::types::ValueRef;
use rusqlite::vtab::{Filters, IndexConstraintOp, IndexInfo};
use silverpoint_render::time::TimeText;
use silverpoint_trace::{Picked, Session, Site, Trace};
use silverpoint_wire::level::{Kind, Level};

/// What a column of a virtual table is, for narrowing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    /// Nothing can be narrowed by it.
    Other,
    /// Where it is used, everything that tells of spans must be read.
    Nesting,
    /// Time of the record, or of the end of a span, in nanoseconds: a bound on both sides.
    TimeNs,
    /// The same as text.
    Time,
    /// Time of the beginning of a span: only a lower bound narrows what must be read.
    BeginNs,
    /// The same as text.
    Begin,
    /// Time of the end of a span: only an upper bound does.
    EndNs,
    /// The same as text.
    End,
    Level,
    Severity,
    Kind,
    Category,
    Name,
    Template,
    File,
    Line,
    Function,
    Site,
    Process,
    Pid,
    Tid,
}

/// How a column is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Equal,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
}

impl Operator {
    const ALL: [(Operator, char); 5] = [
        (Self::Equal, '='),
        (Self::Greater, '>'),
        (Self::GreaterOrEqual, 'g'),
        (Self::Less, '<'),
        (Self::LessOrEqual, 'l'),
    ];

    fn of(op: &IndexConstraintOp) -> Option<Self> {
        Some(match op {
            IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_EQ => Self::Equal,
            IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_GT => Self::Greater,
            IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_GE => Self::GreaterOrEqual,
            IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_LT => Self::Less,
            IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_LE => Self::LessOrEqual,
            _ => return None,
        })
    }

    fn holds(self, ordering: Ordering) -> bool {
        match self {
            Self::Equal => ordering.is_eq(),
            Self::Greater => ordering.is_gt(),
            Self::GreaterOrEqual => ordering.is_ge(),
            Self::Less => ordering.is_lt(),
            Self::LessOrEqual => ordering.is_le(),
        }
    }

    fn letter(self) -> char {
        Self::ALL.iter().find(|(op, _)| *op == self).map_or('=', |(_, letter)| *letter)
    }

    fn of_letter(letter: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| letter.chars().eq([*known])).map(|(op, _)| *op)
    }
}

/// Reports to SQLite which constraints are used, and what that saves. The text of the plan states the used
/// columns. For each argument of the scan it has the number of the column, the operator, and `i` when the
/// argument is a list.
pub(crate) fn choose(info: &mut IndexInfo, columns: &[Column]) -> rusqlite::Result<()> {
    let constraints: Vec<_> =
        info.constraints().map(|c| (c.column(), Operator::of(&c.operator()), c.is_usable())).collect();
    let mut text = String::new();
    let mut argument = 0;
    // Of a trace of unknown length: only the proportions matter.
    let mut rows = 1e6f64;
    for (at, (column, operator, is_usable)) in constraints.into_iter().enumerate() {
        let Some(operator) = operator.filter(|_| is_usable) else { continue };
        let Some((number, column)) = usize::try_from(column).ok().and_then(|at| Some((at, columns.get(at)?)))
        else {
            continue;
        };
        if matches!(column, Column::Other | Column::Nesting) || info.collation(at)? != "BINARY" {
            continue;
        }
        let is_list = operator == Operator::Equal && info.set_in_constraint(at, true)?;
        argument += 1;
        info.constraint_usage(at).set_argv_index(argument);
        text.push_str(&format!("{number} {} {};", operator.letter(), if is_list { "i" } else { "v" }));
        rows /= if operator == Operator::Equal { 10.0 } else { 3.0 };
    }
    info.set_idx_num(0);
    info.set_idx_str(&format!("{};{text}", info.col_used()));
    info.set_estimated_cost(rows.max(1.0) * 2.0);
    info.set_estimated_rows(rows.max(1.0) as i64);
    Ok(())
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Plan {
    /// What can match at all.
    pub(crate) picked: Picked,
    /// Nothing can.
    pub(crate) is_empty: bool,
    /// Which columns are used, a bit each.
    used: u64,
    /// Which spans are open must be followed.
    pub(crate) is_nesting_used: bool,
}

/// One of the values that a column is compared with.
enum Bound {
    Integer(i64),
    Real(f64),
    Text(String),
    /// Not narrowed by.
    Any,
}

impl Bound {
    /// `None` for a null: nothing equals it.
    fn new(value: ValueRef<'_>) -> Option<Self> {
        Some(match value {
            ValueRef::Null => return None,
            ValueRef::Integer(value) => Self::Integer(value),
            ValueRef::Real(value) => Self::Real(value),
            ValueRef::Text(text) => std::str::from_utf8(text).map_or(Self::Any, |t| Self::Text(t.to_owned())),
            ValueRef::Blob(_) => Self::Any,
        })
    }
}

/// One constraint with its values: any of them may match.
struct Test {
    operator: Operator,
    bounds: Vec<Bound>,
}

impl Test {
    fn integer(&self, value: i64) -> bool {
        self.bounds.iter().any(|bound| match bound {
            Bound::Integer(bound) => self.operator.holds(value.cmp(bound)),
            // Rounding may make equal what is not: SQLite compares exactly, and again.
            Bound::Real(bound) => {
                let ordering = (value as f64).partial_cmp(bound);
                ordering.is_none_or(|ordering| ordering.is_eq() || self.operator.holds(ordering))
            }
            Bound::Text(_) | Bound::Any => true,
        })
    }

    fn text(&self, value: &str) -> bool {
        self.bounds.iter().any(|bound| match bound {
            Bound::Text(bound) => self.operator.holds(value.as_bytes().cmp(bound.as_bytes())),
            _ => true,
        })
    }

    fn any_text(&self, values: &[&str]) -> bool {
        values.iter().any(|value| self.text(value))
    }

    /// The least and the greatest time that may match.
    fn times(&self, is_text: bool) -> (i64, i64) {
        let ranges = self.bounds.iter().map(|bound| match (bound, is_text) {
            (Bound::Integer(ns), false) => self.range(*ns, *ns),
            // A float near a time is exact to some hundreds of nanoseconds.
            (Bound::Real(ns), false) if ns.is_finite() => {
                self.range((ns - 1024.0) as i64, (ns + 1024.0) as i64)
            }
            (Bound::Text(text), true) => match self.operator {
                Operator::Equal => (first_at(text), first_at(text)),
                Operator::Greater | Operator::GreaterOrEqual => (first_at(text), i64::MAX),
                Operator::Less | Operator::LessOrEqual => (i64::MIN, first_at(text)),
            },
            _ => (i64::MIN, i64::MAX),
        });
        ranges.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or((i64::MIN, i64::MAX))
    }

    fn range(&self, low: i64, high: i64) -> (i64, i64) {
        match self.operator {
            Operator::Equal => (low, high),
            Operator::Greater | Operator::GreaterOrEqual => (low, i64::MAX),
            Operator::Less | Operator::LessOrEqual => (i64::MIN, high),
        }
    }
}

/// The least time whose text is not less than this one: texts of times are in the order of the times.
fn first_at(text: &str) -> i64 {
    let mut time = TimeText::rfc3339_utc();
    let (mut low, mut high) = (i64::MIN, i64::MAX);
    let mut shown = String::new();
    while low < high {
        // Halves of a distance that no i64 holds.
        let middle = low.wrapping_add(((high as u64).wrapping_sub(low as u64) / 2) as i64);
        shown.clear();
        time.push(&mut shown, middle);
        if shown.as_bytes() < text.as_bytes() {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

impl Plan {
    /// What `choose` has decided, with the values of one scan.
    pub(crate) fn new(
        trace: &Trace,
        columns: &[Column],
        text: &str,
        args: &Filters<'_>,
    ) -> rusqlite::Result<Self> {
        let mut parts = text.split_terminator(';');
        let used = parts.next().and_then(|used| used.parse().ok()).unwrap_or(u64::MAX);
        let mut plan = Self { picked: Picked::all(trace), is_empty: false, used, is_nesting_used: false };
        let nesting = columns.iter().position(|column| *column == Column::Nesting);
        plan.is_nesting_used = nesting.is_some_and(|at| plan.uses(at));
        for (at, (part, value)) in parts.zip(args.iter()).enumerate() {
            let mut words = part.split(' ');
            let column = words.next().and_then(|word| word.parse::<usize>().ok());
            let Some(column) = column.and_then(|column| columns.get(column)) else { continue };
            let Some(operator) = words.next().and_then(Operator::of_letter) else { continue };
            let bounds = match words.next() {
                Some("i") => args.in_values(at)?.filter_map(|value| Ok(Bound::new(value))).collect()?,
                _ => Bound::new(value).into_iter().collect(),
            };
            plan.narrow(trace, *column, &Test { operator, bounds });
        }
        Ok(plan)
    }

    /// Whether a column is used.
    pub(crate) fn uses(&self, column: usize) -> bool {
        self.used >> column.min(63) & 1 == 1
    }

    fn narrow(&mut self, trace: &Trace, column: Column, test: &Test) {
        if test.bounds.is_empty() {
            self.is_empty = true;
            return;
        }
        match column {
            Column::Other | Column::Nesting => {}
            Column::TimeNs | Column::Time => self.times(test.times(column == Column::Time)),
            Column::BeginNs | Column::Begin => self.times((test.times(column == Column::Begin).0, i64::MAX)),
            Column::EndNs | Column::End => self.times((i64::MIN, test.times(column == Column::End).1)),
            Column::Level => {
                let levels = [Level::Warn, Level::Info, Level::Trace].map(Level::name);
                self.sites(trace, test.any_text(&levels), |_, site| test.text(site.level().name()));
            }
            Column::Severity => {
                let levels = [Level::Warn, Level::Info, Level::Trace];
                let others = levels.iter().any(|level| test.integer(*level as i64));
                self.sites(trace, others, |_, site| test.integer(site.level() as i64));
            }
            Column::Kind => {
                let others = test.any_text(&["loss", "stall", "unknown", "span_end"]);
                self.sites(trace, others, |_, site| match site.kind() {
                    Kind::Span => test.any_text(&["span", "span_end"]),
                    kind => test.text(kind.name()),
                });
            }
            Column::Category => {
                self.sites(trace, false, |_, site| test.text(&site.description.category));
            }
            Column::Name => {
                self.sites(trace, false, |_, site| event_name(site).is_some_and(|name| test.text(name)));
            }
            Column::Template => {
                self.sites(trace, false, |_, site| test.text(&site.description.template));
            }
            Column::File => self.sites(trace, false, |_, site| test.text(&site.description.file)),
            Column::Line => {
                self.sites(trace, false, |_, site| test.integer(site.description.line.into()));
            }
            Column::Function => self.sites(trace, false, |_, site| test.text(site.function())),
            Column::Site => self.sites(trace, false, |number, _| test.integer(number as i64)),
            Column::Process => self.sessions(trace, |session| test.text(&session.name)),
            Column::Pid => self.sessions(trace, |session| test.integer(session.pid.into())),
            Column::Tid => {
                let known = trace.sessions.iter().flat_map(|session| &session.threads);
                let mut tids: Vec<u32> = match &self.picked.tids {
                    Some(tids) => tids.clone(),
                    None => known.map(|thread| thread.tid).collect(),
                };
                tids.retain(|tid| test.integer((*tid).into()));
                tids.sort_unstable();
                tids.dedup();
                self.picked.tids = Some(tids);
            }
        }
    }

    fn times(&mut self, (from_ns, until_ns): (i64, i64)) {
        self.picked.from_ns = self.picked.from_ns.max(from_ns);
        self.picked.until_ns = self.picked.until_ns.min(until_ns);
    }

    fn sites(&mut self, trace: &Trace, others: bool, test: impl Fn(usize, &Site) -> bool) {
        self.picked.others &= others;
        for (number, (wanted, site)) in self.picked.sites.iter_mut().zip(&trace.sites).enumerate() {
            *wanted = *wanted && test(number, site);
        }
    }

    fn sessions(&mut self, trace: &Trace, test: impl Fn(&Session) -> bool) {
        for (wanted, session) in self.picked.sessions.iter_mut().zip(&trace.sessions) {
            *wanted = *wanted && test(session);
        }
    }
}

/// The name of an event, span, counter …; messages have none.
pub(crate) fn event_name(site: &Site) -> Option<&str> {
    let has_name = !matches!(site.kind(), Kind::Log | Kind::Stream);
    has_name.then_some(site.description.template.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_time_of_a_text() {
        assert_eq!(first_at(""), i64::MIN);
        assert_eq!(first_at("1970-01-01T00:00:00.000000000Z"), 0);
        assert_eq!(first_at("2026-11-20"), 1_795_132_800_000_000_000);
        assert_eq!(first_at("2026-11-20T19:02:11.123456789Z"), 1_795_201_331_123_456_789);
        assert_eq!(first_at("x"), i64::MAX);
    }

    #[test]
    fn a_float_leaves_out_no_time_that_may_match() {
        let test = |operator, ns: f64| Test { operator, bounds: vec![Bound::Real(ns)] };
        let ns = 1_795_201_331_123_456_789i64;
        let (from, until) = test(Operator::Equal, ns as f64).times(false);
        assert!(from <= ns && ns <= until);
        assert_eq!(test(Operator::Greater, f64::INFINITY).times(false), (i64::MIN, i64::MAX));
        assert!(test(Operator::Less, 7.5).integer(7) && !test(Operator::Less, 6.5).integer(7));
    }
}
