//! Which messages are shown.

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
        self.text.as_ref().is_none_or(|part| {
            let pattern: Vec<char> = format!("*{part}*").chars().collect();
            is_like(&pattern, &text.chars().collect::<Vec<_>>())
        })
    }
}

/// Whether a name with or without `.exe` is as the pattern says.
fn matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    [name, name.strip_suffix(".exe").unwrap_or(name)]
        .iter()
        .any(|name| is_like(&pattern, &name.chars().collect::<Vec<_>>()))
}

/// Goes back to the last `*` alone: an earlier one can stay as it is.
fn is_like(pattern: &[char], name: &[char]) -> bool {
    let (mut at, mut in_name, mut star) = (0, 0, None);
    while in_name < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, in_name));
                at += 1;
            }
            Some(c) if *c == '?' || *c == name[in_name] => {
                at += 1;
                in_name += 1;
            }
            _ => {
                let Some((star_at, from)) = star else { return false };
                star = Some((star_at, from + 1));
                (at, in_name) = (star_at + 1, from + 1);
            }
        }
    }
    pattern[at..].iter().all(|c| *c == '*')
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
