//! What `--policy` accepts (spec/directives.md): checked before anything is started, since a frontend passes over what it does not understand.

use silverpoint_wire::policy::Policy;

/// A policy for all levels, then `level=policy` for single ones. Gives the text.
pub fn parse(text: &str) -> Result<String, String> {
    Policy::parse(text).map(|_| text.to_owned())
}
