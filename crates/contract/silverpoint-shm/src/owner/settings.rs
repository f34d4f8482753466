//! What the environment asks for (spec/directives.md). Read once, without allocation; a value that is not understood counts as not given.

use std::ffi::CStr;

use silverpoint_wire::level::Level;
use silverpoint_wire::policy::{self, WhenFull};

use super::at::{self, control::BLOCK_FOR_EVER as BLOCK_FOREVER};
use crate::memory::{self, number_and_unit};
use crate::sys;

/// How many there are.
pub(crate) const LEVELS: usize = Level::ALL.len();

/// The settings of a session at its start.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    /// `SILVERPOINT_FILTER`, when it is set: recording is demanded.
    pub(crate) filter: Option<&'static [u8]>,
    /// By level, trace to fatal.
    pub(crate) policy: [u8; LEVELS],
    pub(crate) block_max_ms: u32,
    /// `SILVERPOINT_MEMORY`: ceiling of the ring file in bytes.
    pub(crate) memory: Option<u64>,
    /// `SILVERPOINT_COLLECTOR=1`.
    pub(crate) collector_expected: bool,
    /// `SILVERPOINT_OFF=1`: no session at all.
    pub(crate) off: bool,
    /// `SILVERPOINT_PROBES`: bits of the system tracers that it names.
    pub(crate) probes: u32,
}

impl Settings {
    pub(crate) fn from_environment() -> Self {
        Self::of(sys::environment)
    }

    fn of(variable: impl Fn(&CStr) -> Option<&'static [u8]>) -> Self {
        let is_one = |name| variable(name) == Some(b"1");
        let mut settings = Self {
            filter: variable(c"SILVERPOINT_FILTER"),
            policy: [WhenFull::Block as u8; LEVELS],
            block_max_ms: 1000,
            memory: variable(c"SILVERPOINT_MEMORY").and_then(memory::asked),
            collector_expected: is_one(c"SILVERPOINT_COLLECTOR"),
            off: is_one(c"SILVERPOINT_OFF"),
            probes: 0,
        };
        if let Some(value) = variable(c"SILVERPOINT_BLOCK_MAX").and_then(milliseconds) {
            settings.block_max_ms = value;
        }
        if let Some(text) = variable(c"SILVERPOINT_POLICY") {
            settings.read_policy(text);
        }
        if let Some(names) = variable(c"SILVERPOINT_PROBES").filter(|_| !settings.off) {
            settings.probes = probes(names);
        }
        settings
    }

    fn read_policy(&mut self, text: &[u8]) {
        for part in policy::parts(text).flatten() {
            part.apply(&mut self.policy);
            if part.is_forever {
                self.block_max_ms = BLOCK_FOREVER;
            }
        }
    }
}

/// Names of system tracers, separated by commas. One that is not known is reported.
fn probes(names: &[u8]) -> u32 {
    let mut found = 0;
    for name in names.split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
        match name {
            b"lttng" => found |= at::probes::LTTNG,
            b"user_events" => found |= at::probes::USER_EVENTS,
            b"trace_marker" => found |= at::probes::TRACE_MARKER,
            b"" => {}
            _ => sys::warn(&[
                b"SILVERPOINT_PROBES: '",
                &name[..name.len().min(100)],
                b"' is ignored: expected lttng, user_events or trace_marker",
            ]),
        }
    }
    found
}

/// A number with `ms` or `s`; without either milliseconds.
fn milliseconds(text: &[u8]) -> Option<u32> {
    let (digits, unit) = number_and_unit(text)?;
    let value = match unit {
        b"ms" | b"" => digits,
        b"s" => digits.checked_mul(1000)?,
        _ => return None,
    };
    Some(u32::try_from(value).ok()?.min(BLOCK_FOREVER - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vectors of settings (`spec/vectors/settings.json`), which C++ reads too.
    #[test]
    fn what_the_environment_asks_for_is_read_as_the_vectors_say() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../spec/vectors/settings.json");
        let all: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let names = ["block", "drop", "overwrite"];
        for vector in all.as_array().unwrap() {
            let given = |name: &CStr| {
                let name = name.to_str().unwrap().strip_prefix("SILVERPOINT_").unwrap();
                let text = vector[name.to_ascii_lowercase()].as_str()?;
                Some(text.to_owned().leak().as_bytes())
            };
            let read = Settings::of(given);
            let levels: Vec<&str> = read.policy.iter().map(|policy| names[usize::from(*policy)]).collect();
            assert_eq!(levels.join(" "), vector["levels"].as_str().unwrap(), "{vector}");
            assert_eq!(u64::from(read.block_max_ms), vector["block_max_ms"].as_u64().unwrap(), "{vector}");
            assert_eq!(read.memory.unwrap_or(0), vector["bytes"].as_u64().unwrap(), "{vector}");
        }
    }
}
