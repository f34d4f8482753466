//! `silverpoint view`: traces in the browser.

use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use silverpoint_read::OpenOptions;
use silverpoint_view::{Options, Source, Views, serve};

use crate::exit::{Exit, Failed, Outcome, at, failure, inform, note, usage};
use crate::live::Targets;
use crate::platform::browser;
use crate::tail::{fail_at_size_limit, stop_at_signals};
use crate::units;

/// Show traces in the browser: a timeline, a table of records, statistics, SQL
///
/// A server of this program shows them, at an address of this machine alone and with a token that opens one
/// browser, once. It changes no trace. Sites of running programs can be switched in the page, as by `ctl`.
/// It ends with Ctrl-C.
///
/// Exit status 0: done. 1: something cannot be read. 2: wrong usage. 4: a file is not a trace file. 6: no such
/// session. What is missing or damaged stands in the page.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Trace files, directories of trace files, process ids, or names of processes (`*` and `?` match)
    #[arg(value_name = "PID|NAME|FILE|DIRECTORY", required_unless_present = "all")]
    targets: Vec<String>,
    /// All living sessions, also those that begin later
    #[arg(long, conflicts_with = "targets")]
    all: bool,
    /// Read exactly the named files, not the other parts of a rotated trace
    #[arg(long)]
    only: bool,
    /// Keep reading as the files grow and rotate
    #[arg(short, long)]
    follow: bool,
    /// Times of day in filters are UTC instead of the local zone
    #[arg(long)]
    utc: bool,
    /// Only print the address that opens the page
    #[arg(long)]
    no_open: bool,
    /// Address to listen at, with a port or without [default: 127.0.0.1, any free port]
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    listen: Option<SocketAddr>,
    /// End when no browser has asked for so long
    #[arg(long, value_name = "DURATION", value_parser = units::duration)]
    idle: Option<Duration>,
}

fn address(text: &str) -> Result<SocketAddr, String> {
    let with_port = text.parse().ok();
    let without = || text.parse::<IpAddr>().ok().map(|ip| SocketAddr::new(ip, 0));
    with_port.or_else(without).ok_or_else(|| format!("'{text}': expected an address such as 127.0.0.1:8080"))
}

/// Runs the command.
pub fn run(args: Args) -> Outcome {
    fail_at_size_limit()?;
    let views = Views::open(args.source()?)?;
    let stop = stop_at_signals()?;
    let listen = args.listen.unwrap_or_else(|| SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0));
    if !listen.ip().is_loopback() {
        note(format_args!(
            "{listen}: others can reach this address; only who has the token sees the trace, but nothing is encrypted"
        ));
    }
    let options = Options { listen, idle: args.idle };
    let mut opening = None;
    let ready = |url: &str| {
        // If standard output is closed, the browser still opens.
        let _ = writeln!(io::stdout().lock(), "{url}");
        if !args.no_open {
            opening = Opening::browser(url);
        }
    };
    serve(views, options, &stop, ready).map_err(at(listen))?;
    drop(opening);
    Ok(Exit::Success)
}

impl Args {
    fn source(&self) -> Result<Source, Failed> {
        let mut paths = Vec::new();
        let mut targets = Vec::new();
        for target in &self.targets {
            if Path::new(target).is_dir() && target.parse::<u32>().is_err() {
                paths.extend(traces_in(Path::new(target))?);
            } else {
                targets.push(target.clone());
            }
        }
        let is_of_files = !paths.is_empty();
        if !targets.is_empty() || self.all {
            let parsed = Targets::parse(&targets)?;
            if parsed.watches_processes() {
                if is_of_files {
                    return Err(usage("either files or processes, not both together"));
                }
                if self.only || self.follow {
                    return Err(usage("--only and --follow concern files; processes are followed anyway"));
                }
                return Ok(Source::Processes { targets, utc: self.utc });
            }
            paths.extend(parsed.files);
        }
        let options = OpenOptions { only: self.only, follow: self.follow, utc: self.utc };
        Ok(Source::Files { paths, options })
    }
}

/// Trace files of a directory, in the order of their names.
fn traces_in(directory: &Path) -> Result<Vec<PathBuf>, Failed> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory).map_err(at(directory.display()))? {
        let path = entry.map_err(at(directory.display()))?.path();
        if path.extension().is_some_and(|extension| extension == "silver") && path.is_file() {
            paths.push(path);
        }
    }
    paths.sort();
    if paths.is_empty() {
        let why = "no trace file (*.silver) is in this directory";
        return Err(failure(format!("{}: {why}", directory.display())));
    }
    Ok(paths)
}

/// A file that leads the browser to the page, and goes with this value. Others see the arguments of a program, but cannot read this file.
struct Opening(PathBuf);

impl Opening {
    /// Opens the browser, if there is a screen for one.
    fn browser(url: &str) -> Option<Self> {
        let opened = browser::has_screen().then(|| Self::spawn(url)).and_then(Result::ok);
        // A browser in a sandbox cannot read the file, and nobody says so.
        inform(match opened {
            Some(_) => "if the browser shows no page, open the address above",
            None => "no browser could be opened: open the address above",
        });
        opened
    }

    fn spawn(url: &str) -> io::Result<Self> {
        let opening = Self::written(&browser::private_directory(), url)?;
        let mut browser = browser::open(&opening.0);
        browser.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = browser.spawn()?;
        // Waited for only so that no zombie is left.
        let _ = thread::Builder::new().name("browser".into()).spawn(move || child.wait());
        Ok(opening)
    }

    fn written(directory: &Path, url: &str) -> io::Result<Self> {
        // A process that was killed leaves its file, and another one may get its number.
        let random = RandomState::new().hash_one(());
        let path = directory.join(format!("silverpoint-view-{random:016x}.html"));
        let mut file = browser::private_file(&path)?;
        let opening = Self(path);
        writeln!(
            file,
            "<!doctype html><title>Silverpoint</title><meta http-equiv=\"refresh\" content=\"0; url={url}\">"
        )?;
        Ok(opening)
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
