//! What needs the sessions of programs, their signals or their terminals, which this program has on Linux alone. Each
//! says so.

use crate::exit::{Exit, Failed};

fn absent(what: &str) -> Failed {
    Failed::new(
        Exit::Unfit,
        format!("{what} is not there on Windows: use it on Linux (docs/guide/windows.md)"),
    )
}

/// Commands by their names: each with any words.
macro_rules! commands {
    ($($name:ident),* $(,)?) => { $(
        pub mod $name {
            use std::ffi::OsString;

            use crate::exit::Outcome;

            /// Not there on Windows
            #[derive(clap::Args, Debug)]
            #[command(disable_help_flag = true)]
            pub struct Args {
                #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
                _words: Vec<OsString>,
            }

            pub fn run(_: Args) -> Outcome {
                Err(super::absent(concat!("`silverpoint ", stringify!($name), "`")))
            }
        }
    )* };
}

commands!(config, replay);

/// Loggers within programs: there are none.
pub mod logs {
    use crate::exit::{Exit, Outcome};
    use crate::recover::how::How;
    use crate::sessions::Place;

    /// No session belongs to one.
    pub fn deliver(places: Vec<Place>) -> (Vec<Place>, Outcome) {
        (places, Ok(Exit::Success))
    }

    /// No target is one's spool.
    pub fn of_target(_: &str, _: &How<'_>) -> Option<Outcome> {
        None
    }
}
