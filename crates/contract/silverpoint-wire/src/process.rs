//! Text lines `key=value` (spec/wire.md section 3.6), as in process texts and file blocks.

/// Appends a line; control characters and `\` of the value become `\xHH`. The key must be free of `=` and control characters.
pub fn push_line(out: &mut String, key: &str, value: &str) {
    out.push_str(key);
    out.push('=');
    for c in value.chars() {
        if c.is_ascii_control() || c == '\\' {
            out.push_str(&format!("\\x{:02X}", u32::from(c)));
        } else {
            out.push(c);
        }
    }
    out.push('\n');
}

/// The lines, unescaped. Bytes that are not UTF-8 become U+FFFD; a line without `=` is passed over.
pub fn lines(text: &[u8]) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(text);
    text.split('\n')
        .filter_map(|line| line.split_once('='))
        .map(|(key, value)| (key.to_owned(), unescape(value)))
        .collect()
}

/// The value of the first line with this key.
pub fn value<'a>(lines: &'a [(String, String)], key: &str) -> Option<&'a str> {
    lines.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
}

/// The name of the program at the path `exe`. On Windows a path begins with a drive, and backslashes separate its parts too.
pub fn name_of_program(exe: &str) -> &str {
    let is_of_windows = exe.as_bytes().get(1) == Some(&b':');
    exe.rsplit(|c| c == '/' || (is_of_windows && c == '\\')).next().unwrap_or_default()
}

fn unescape(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(at) = rest.find("\\x") {
        out.push_str(&rest[..at]);
        let hex = rest.get(at + 2..at + 4).filter(|hex| hex.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let byte = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()).filter(u8::is_ascii);
        match byte {
            Some(byte) => {
                out.push(char::from(byte));
                rest = &rest[at + 4..];
            }
            None => {
                out.push_str("\\x");
                rest = &rest[at + 2..];
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_named_by_the_end_of_its_path() {
        for (exe, name) in [
            ("/usr/bin/app", "app"),
            ("app", "app"),
            ("", ""),
            ("/tmp/a\\b", "a\\b"),
            ("Z:\\bin\\app.exe", "app.exe"),
            ("C:/bin\\x/app.exe", "app.exe"),
        ] {
            assert_eq!(name_of_program(exe), name, "{exe}");
        }
    }

    #[test]
    fn values_with_controls_come_back() {
        let mut text = String::new();
        push_line(&mut text, "cmdline", "a\nb\\x41\u{1}é");
        push_line(&mut text, "cwd", "/tmp");
        let lines = lines(text.as_bytes());
        assert_eq!(value(&lines, "cmdline"), Some("a\nb\\x41\u{1}é"));
        assert_eq!(value(&lines, "cwd"), Some("/tmp"));
    }

    #[test]
    fn what_is_no_escape_stays() {
        let lines = lines(b"a=\\x+1\\xZZ\\x4\\x80\\x41\nno line\nb=");
        assert_eq!(value(&lines, "a"), Some("\\x+1\\xZZ\\x4\\x80A"));
        assert_eq!(value(&lines, "b"), Some(""));
    }
}
