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

commands!(attach, collect, config, ctl, debug, doctor, ls, replay, run, tail, top, view);

/// Dead sessions.
pub mod dead {
    use crate::exit::Outcome;
    use crate::recover::How;

    const WHAT: &str = "recovering sessions";

    pub fn all(_: &How<'_>) -> Outcome {
        Err(super::absent(WHAT))
    }

    pub fn of_target(target: &str, _: &How<'_>) -> Option<Outcome> {
        target.parse::<u32>().is_ok().then(|| Err(super::absent(WHAT)))
    }
}

/// Records of processes that live.
pub mod live {
    use std::cell::Cell;
    use std::rc::Rc;

    use silverpoint_convert::silver::FollowReader;
    use silverpoint_query::filter::Filter;
    use silverpoint_trace::Verdict;

    use crate::exit::Failed;

    type Reading = (FollowReader<'static>, Rc<Cell<Verdict>>);

    pub fn reader(names: &[String], _: Filter, _: u32, _: bool, _: bool) -> Result<Reading, Failed> {
        Err(super::absent(&format!("reading running programs ({})", names.join(", "))))
    }
}

/// Sites of a process that lives.
pub mod living {
    use silverpoint_trace::Site;

    use crate::exit::Failed;

    type Sites = Vec<(u32, Site, bool)>;

    pub fn sites(_: u32) -> Result<Vec<(String, Sites)>, Failed> {
        Err(super::absent("reading running programs"))
    }
}
