//! Names in SQL: what may stand there without quotes, and names made of what programs call their events and arguments.

use std::collections::HashSet;

/// The words of SQLite's grammar, in lower case and in order.
pub const KEYWORDS: [&str; 147] = [
    "abort",
    "action",
    "add",
    "after",
    "all",
    "alter",
    "always",
    "analyze",
    "and",
    "as",
    "asc",
    "attach",
    "autoincrement",
    "before",
    "begin",
    "between",
    "by",
    "cascade",
    "case",
    "cast",
    "check",
    "collate",
    "column",
    "commit",
    "conflict",
    "constraint",
    "create",
    "cross",
    "current",
    "current_date",
    "current_time",
    "current_timestamp",
    "database",
    "default",
    "deferrable",
    "deferred",
    "delete",
    "desc",
    "detach",
    "distinct",
    "do",
    "drop",
    "each",
    "else",
    "end",
    "escape",
    "except",
    "exclude",
    "exclusive",
    "exists",
    "explain",
    "fail",
    "filter",
    "first",
    "following",
    "for",
    "foreign",
    "from",
    "full",
    "generated",
    "glob",
    "group",
    "groups",
    "having",
    "if",
    "ignore",
    "immediate",
    "in",
    "index",
    "indexed",
    "initially",
    "inner",
    "insert",
    "instead",
    "intersect",
    "into",
    "is",
    "isnull",
    "join",
    "key",
    "last",
    "left",
    "like",
    "limit",
    "match",
    "materialized",
    "natural",
    "no",
    "not",
    "nothing",
    "notnull",
    "null",
    "nulls",
    "of",
    "offset",
    "on",
    "or",
    "order",
    "others",
    "outer",
    "over",
    "partition",
    "plan",
    "pragma",
    "preceding",
    "primary",
    "query",
    "raise",
    "range",
    "recursive",
    "references",
    "regexp",
    "reindex",
    "release",
    "rename",
    "replace",
    "restrict",
    "returning",
    "right",
    "rollback",
    "row",
    "rows",
    "savepoint",
    "select",
    "set",
    "table",
    "temp",
    "temporary",
    "then",
    "ties",
    "to",
    "transaction",
    "trigger",
    "unbounded",
    "union",
    "unique",
    "update",
    "using",
    "vacuum",
    "values",
    "view",
    "virtual",
    "when",
    "where",
    "window",
    "with",
    "without",
];

/// Whether a word, in upper or lower case, belongs to SQLite's grammar.
pub fn is_keyword(word: &str) -> bool {
    KEYWORDS.binary_search(&word.to_ascii_lowercase().as_str()).is_ok()
}

/// Longest name that is made, in characters.
const LONGEST: usize = 120;

/// Gives names that can stand without quotes, each once: SQLite does not look at the case of ASCII letters.
#[derive(Default)]
pub(crate) struct Names {
    reserved: HashSet<String>,
    given: HashSet<String>,
}

impl Names {
    /// Takes names that others must not get.
    pub(crate) fn without<'a>(reserved: impl IntoIterator<Item = &'a str>) -> Self {
        Self { reserved: reserved.into_iter().map(str::to_ascii_lowercase).collect(), given: HashSet::new() }
    }

    /// A name like this one. Letters, digits and `_` stay; other characters in a row become one `_`. Where
    /// that cannot stand alone, `other` comes before it. A number follows a name that is used already.
    pub(crate) fn make(&mut self, wanted: &str, other: &str) -> String {
        let mut name = String::new();
        for c in wanted.chars().take(LONGEST) {
            match c {
                c if c.is_alphanumeric() || c == '_' => name.push(c),
                _ if name.ends_with('_') || name.is_empty() => {}
                _ => name.push('_'),
            }
        }
        let name = name.trim_end_matches('_');
        let cannot_stand = name.is_empty()
            || name.starts_with(|c: char| !c.is_alphabetic() && c != '_')
            || name.to_ascii_lowercase().starts_with("sqlite_")
            || is_keyword(name)
            || self.reserved.contains(&name.to_ascii_lowercase());
        let name = match (cannot_stand, name.is_empty()) {
            (false, _) => name.to_owned(),
            (true, false) => format!("{other}_{name}"),
            (true, true) => other.to_owned(),
        };
        let mut unique = name.clone();
        let mut number = 1;
        while self.reserved.contains(&unique.to_ascii_lowercase())
            || !self.given.insert(unique.to_ascii_lowercase())
        {
            number += 1;
            unique = format!("{name}_{number}");
        }
        unique
    }
}

/// A name in double quotes.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A text in single quotes. SQLite's parser ends at a zero byte: it is put together of what is before and behind it.
pub(crate) fn literal(text: &str) -> String {
    let parts = text.split('\0').map(|part| format!("'{}'", part.replace('\'', "''")));
    let parts: Vec<_> = parts.collect();
    if parts.len() == 1 { parts.concat() } else { format!("({})", parts.join("||char(0)||")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_can_be_searched() {
        assert!(KEYWORDS.is_sorted());
        assert!(is_keyword("SELECT") && is_keyword("without") && !is_keyword("records"));
    }

    #[test]
    fn names_can_stand_alone_and_are_unique() {
        let mut names = Names::without(["records"]);
        let cases = [
            ("file.indexed", "file_indexed"),
            ("FILE indexed", "FILE_indexed_2"),
            ("file:indexed", "file_indexed_3"),
            ("select", "event_select"),
            ("Records", "event_Records"),
            ("7up", "event_7up"),
            ("", "event"),
            ("\"'; drop", "event_drop"),
            ("größe", "größe"),
            ("sqlite_x", "event_sqlite_x"),
        ];
        for (wanted, made) in cases {
            assert_eq!(names.make(wanted, "event"), made, "{wanted}");
        }
    }

    #[test]
    fn texts_stay_texts() {
        assert_eq!(literal("it's"), "'it''s'");
        assert_eq!(literal("a\0b"), "('a'||char(0)||'b')");
        assert_eq!(quoted("a\"b"), "\"a\"\"b\"");
    }
}
