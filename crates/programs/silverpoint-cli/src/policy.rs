//! What `--policy` accepts (spec/directives.md). It is checked before anything starts, because a frontend
//! ignores what it does not understand.

use silverpoint_wire::policy::Policy;

/// A policy for all levels, then `level=policy` for single ones. Gives the text.
pub fn parse(text: &str) -> Result<String, String> {
    Policy::parse(text).map(|_| text.to_owned())
}
