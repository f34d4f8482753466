//! Records as columns, for engines that read tables: which columns there are, and of which types.
//!
//! Parquet and Arrow files and the tables of Python have this schema, which docs/formats.md tells users. Every engine reads its types: there is no unsigned integer of 64 bits and no point in time finer than microseconds.

use silverpoint_trace::Site;
use silverpoint_wire::level::Kind as SiteKind;
use silverpoint_wire::signature::Type;

/// The key of a table's metadata that says which schema it has.
pub const SCHEMA_KEY: &str = "silverpoint.schema";
/// The schema of today. Another number: a column has another name, type or meaning.
pub const SCHEMA_VERSION: &str = "2";

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Truth values.
    Bool,
    /// Signed integers of 64 bits: numbers, counts, nanoseconds.
    Int,
    /// Unsigned integers of 32 bits: numbers of threads and processes, lines.
    Small,
    /// Floats of 64 bits.
    Float,
    /// Microseconds since 1970 in UTC.
    Time,
    /// Bytes.
    Bytes,
    /// Texts.
    Text,
    /// Texts that repeat.
    Word,
    /// A value with parts, as JSON.
    Json,
}

/// A column that every row has, or may have.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub kind: Kind,
    /// A row may have none.
    pub is_nullable: bool,
}

const fn column(name: &'static str, kind: Kind) -> Column {
    Column { name, kind, is_nullable: false }
}

const fn optional(name: &'static str, kind: Kind) -> Column {
    Column { name, kind, is_nullable: true }
}

/// The columns of a record. A table of one event has the first [`OF_EVENT`] and its arguments.
pub const RECORD: [Column; 21] = [
    column("time", Kind::Time),
    column("time_ns", Kind::Int),
    column("level", Kind::Word),
    column("severity", Kind::Small),
    column("process", Kind::Word),
    column("pid", Kind::Small),
    column("tid", Kind::Small),
    column("thread", Kind::Word),
    column("kind", Kind::Word),
    optional("category", Kind::Word),
    optional("name", Kind::Word),
    optional("file", Kind::Word),
    optional("line", Kind::Small),
    optional("function", Kind::Word),
    optional("template", Kind::Word),
    column("message", Kind::Text),
    optional("args", Kind::Json),
    optional("duration_ns", Kind::Int),
    optional("context", Kind::Json),
    optional("cause", Kind::Word),
    optional("count", Kind::Int),
];

/// So many columns of records stand before the arguments of an event.
pub const OF_EVENT: usize = 8;

/// What a column of [`Kind::Time`] has in nanoseconds.
pub fn micros(unix_ns: i64) -> i64 {
    unix_ns.div_euclid(1000)
}

/// The name of a site's records; messages have none.
pub fn name_of(site: &Site) -> Option<&str> {
    let is_named = !matches!(site.kind(), SiteKind::Log | SiteKind::Stream);
    is_named.then_some(site.description.template.as_str())
}

/// The column of an argument of this type. A point in time has a second one beside it: see [`ns_of`].
pub fn kind_of(ty: &Type) -> Kind {
    match ty {
        Type::Meta(_, _, inner) | Type::Optional(inner) => kind_of(inner),
        Type::Bool => Kind::Bool,
        Type::Int { bits: ..=64, .. } | Type::Duration => Kind::Int,
        Type::Float32 | Type::Float64 => Kind::Float,
        Type::Time => Kind::Time,
        Type::Bytes => Kind::Bytes,
        Type::Char8
        | Type::Char16
        | Type::Char32
        | Type::Text8
        | Type::Text16
        | Type::Text32
        | Type::Uuid
        // An address is no number that anybody counts with, and may have its highest bit set.
        | Type::Pointer => Kind::Text,
        Type::Enumeration(_) => Kind::Word,
        Type::Int { .. }
        | Type::Null
        | Type::Any
        | Type::Sequence(_)
        | Type::Set(_)
        | Type::Array(..)
        | Type::Map(..)
        | Type::Tuple(_)
        | Type::Record(_)
        | Type::Variant(_) => Kind::Json,
    }
}

/// The name of the column with the nanoseconds of a time.
pub fn ns_of(time: &str) -> String {
    format!("{time}_ns")
}

/// The name of the column of an argument, where these are taken. Engines do not tell `Id` from `id`.
pub fn name_beside(argument: &str, kind: Kind, is_taken: impl Fn(&str) -> bool) -> String {
    let is_free = |name: &str| !is_taken(name) && (kind != Kind::Time || !is_taken(&ns_of(name)));
    if is_free(argument) {
        return argument.to_owned();
    }
    let mut name = format!("arg_{argument}");
    while !is_free(&name) {
        name.push('_');
    }
    name
}

/// Why a column of [`Kind::Int`] does not hold a value.
pub fn too_large(name: &str, value: u64) -> String {
    format!("the column '{name}' holds integers up to {}, not {value}", i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_before_1970_is_rounded_down() {
        assert_eq!((micros(1_999), micros(-1), micros(i64::MIN)), (1, -1, i64::MIN.div_euclid(1000)));
    }

    #[test]
    fn a_name_that_is_taken_gets_another() {
        let taken = ["time", "time_ns", "at_ns", "arg_level", "LEVEL"];
        let is_taken = |name: &str| taken.iter().any(|taken| taken.eq_ignore_ascii_case(name));
        assert_eq!(name_beside("px", Kind::Float, is_taken), "px");
        assert_eq!(name_beside("Time", Kind::Int, is_taken), "arg_Time");
        assert_eq!(name_beside("level", Kind::Text, is_taken), "arg_level_");
        assert_eq!(name_beside("at", Kind::Time, is_taken), "arg_at");
        assert_eq!(name_beside("at", Kind::Int, is_taken), "at");
    }
}
