//! Which messages are shown.

use silverpoint_wire::glob;

/// What the user has asked for. Without words, everything.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Process ids, or patterns of names in which `*` and `?` match.
    pub processes: Vec<String>,
    /// What the text must contain; `*` and `?` match.
    pub text: Option<String>,
}

impl Filter {
    /// Whether a process of this name and id is wanted. Windows's names know no case.
    pub fn wants_process(&self, name: &str, pid: u32) -> bool {
        let (name, pid) = (name.to_lowercase(), pid.to_string());
        self.processes.is_empty()
            || self.processes.iter().any(|wanted| *wanted == pid || matches(&wanted.to_lowercase(), &name))
    }

    /// Whether a text is wanted.
    pub fn wants_text(&self, text: &str) -> bool {
        self.text.as_ref().is_none_or(|part| glob::matches(&*format!("*{part}*"), text))
    }
}

/// Whether a name with or without `.exe` is as the pattern says.
fn matches(pattern: &str, name: &str) -> bool {
    glob::matches(pattern, name) || name.strip_suffix(".exe").is_some_and(|name| glob::matches(pattern, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_are_named_by_id_or_pattern() {
        let filter = |words: &[&str]| Filter {
            processes: words.iter().map(ToString::to_string).collect(),
            text: None,
        };
        assert!(filter(&[]).wants_process("app.exe", 7));
        for wanted in ["7", "app", "App.EXE", "a*", "*p.exe", "a?p", "*a*p*", "*"] {
            assert!(filter(&["other", wanted]).wants_process("app.exe", 7), "{wanted}");
        }
        for other in ["77", "ap", "pp*", "a?", "app.ex", "", "a*b"] {
            assert!(!filter(&[other]).wants_process("app.exe", 7), "{other}");
        }
    }

    #[test]
    fn texts_contain_what_is_asked_for() {
        let filter = Filter { processes: Vec::new(), text: Some("t?o".to_string()) };
        assert!(filter.wants_text("one two three") && !filter.wants_text("Two") && !filter.wants_text(""));
        assert!(Filter::default().wants_text(""));
    }
}
