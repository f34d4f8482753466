//! What `--policy` accepts (spec/directives.md): checked before anything is started, since a frontend passes over what it does not understand.

use silverpoint_wire::level::Level;

const EXPECTED: &str = "block, block=forever, drop or overwrite";

/// A policy for all levels, then `level=policy` for single ones. Gives the text.
pub fn parse(text: &str) -> Result<String, String> {
    for (number, part) in text.split(',').map(str::trim).enumerate() {
        let (level, policy) = match part.split_once('=') {
            Some(("block", _)) | None => (None, part),
            Some((level, policy)) => (Some(level.trim()), policy.trim()),
        };
        if !matches!(policy, "block" | "block=forever" | "drop" | "overwrite") {
            return Err(format!("'{part}': expected {EXPECTED}"));
        }
        match level {
            None if number > 0 => {
                return Err(format!(
                    "'{part}': only the first is for all levels; expected a level before it, as in debug=drop"
                ));
            }
            Some(level) if level.parse::<Level>().is_err() => {
                return Err(format!("'{level}': expected a level: trace, debug, info, warn, error or fatal"));
            }
            _ => {}
        }
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn policies_are_checked() {
        for good in
            ["block", "block=forever", "drop", "overwrite,error=block", "debug=drop, Fatal=block=forever"]
        {
            assert!(parse(good).is_ok(), "{good}");
        }
        for bad in ["", "wait", "block=2s", "drop,drop", "drop,loud=block", "error=", "debug=drop,"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
