//! What a check found.

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// As it should be.
    Ok,
    /// It works, but less well than it could.
    Warn,
    /// Tracing does not work, or not where it is needed.
    Fail,
}

impl State {
    /// `ok`, `warn`, `fail`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which check: a name that does not change, such as `shm.space`.
    pub check: &'static str,
    /// How bad.
    pub state: State,
    /// What is there.
    pub found: String,
    /// What that means; empty when it needs no words.
    pub means: String,
    /// What to change: a command where there is one; empty when nothing is to be changed.
    pub change: String,
}

impl Finding {
    /// As it should be.
    pub fn ok(check: &'static str, found: impl Into<String>) -> Self {
        Self { check, state: State::Ok, found: found.into(), means: String::new(), change: String::new() }
    }

    /// Less good.
    pub fn warn(check: &'static str, found: impl Into<String>) -> Self {
        Self { state: State::Warn, ..Self::ok(check, found) }
    }

    /// Bad.
    pub fn fail(check: &'static str, found: impl Into<String>) -> Self {
        Self { state: State::Fail, ..Self::ok(check, found) }
    }

    /// What it means.
    pub fn means(mut self, text: impl Into<String>) -> Self {
        self.means = text.into();
        self
    }

    /// What to change.
    pub fn change(mut self, text: impl Into<String>) -> Self {
        self.change = text.into();
        self
    }
}
