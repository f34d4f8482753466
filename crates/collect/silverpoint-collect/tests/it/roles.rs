//! What other tests start in a process of its own, because it is to be killed there.

use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::Duration;

use silverpoint_collect::{Collector, Config, Encoding, OutputConfig};

/// A collector in a child process.
pub struct Role {
    command: Command,
}

impl Role {
    pub fn new(root: PathBuf, output: PathBuf) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["roles::role_of_a_child_process", "--exact", "--ignored", "--nocapture"]);
        command.env("SP_ROOT", root).env("SP_OUTPUT", output).env_remove("SILVERPOINT_FAULT");
        command.stdout(std::process::Stdio::null());
        Self { command }
    }

    pub fn fault(&mut self, name: &str, nth: u32) -> &mut Self {
        self.command.env("SILVERPOINT_FAULT", format!("{name}:{nth}"));
        self
    }

    pub fn rotate_bytes(&mut self, bytes: u64) -> &mut Self {
        self.command.env("SP_ROTATE", bytes.to_string());
        self
    }

    pub fn compact(&mut self) -> &mut Self {
        self.command.env("SP_COMPACT", "1");
        self
    }

    pub fn start(&mut self) -> Child {
        self.command.spawn().unwrap()
    }
}

/// Collects until every session that it has had is gone.
#[test]
#[ignore = "a role that other tests start in a child process"]
fn role_of_a_child_process() {
    let (Some(root), Some(output)) = (std::env::var_os("SP_ROOT"), std::env::var_os("SP_OUTPUT")) else {
        return;
    };
    let mut output = OutputConfig::new(output);
    output.rotate_bytes = std::env::var("SP_ROTATE").ok().map(|text| text.parse().unwrap());
    if std::env::var_os("SP_COMPACT").is_some() {
        output.encoding = Encoding::Compact;
    }
    let config = Config { remove_dead: true, ..Config::new(root, output) };
    let collector = Collector::new(config).unwrap();
    let start = std::time::Instant::now();
    collector.run_until(|collector, pass| {
        for message in collector.take_messages() {
            eprintln!("{message:?}");
        }
        assert!(start.elapsed() < Duration::from_secs(300), "the producers do not come to an end");
        pass.sessions == 0 && collector.stats().sessions > 0
    });
}

/// A real program: the Rust frontend in a child process.
pub fn program(root: PathBuf, threads: u64, records: u64, end: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["roles::role_of_a_program", "--exact", "--ignored", "--nocapture"]);
    command.env("SILVERPOINT_DIR", root).env("SILVERPOINT_FILTER", "trace").env("SILVERPOINT_COLLECTOR", "1");
    // On a loaded machine a collector may stand still for long, or die before it has drained anything: the program waits.
    command.env("SILVERPOINT_POLICY", "block=forever");
    command.env("SP_THREADS", threads.to_string()).env("SP_RECORDS", records.to_string()).env("SP_END", end);
    command.stdout(std::process::Stdio::null());
    command
}

/// Logs from several threads, then ends as requested: `exit`, or `kill` itself.
#[test]
#[ignore = "a role that other tests start in a child process"]
fn role_of_a_program() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (Some(threads), Some(records)) = (number("SP_THREADS"), number("SP_RECORDS")) else { return };
    // It may wait for ever for a test that has failed.
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    let work: Vec<_> = (0..threads)
        .map(|thread| {
            std::thread::spawn(move || {
                for value in 0..records {
                    silverpoint::info!("{} of {} at {}", value, thread, 0.5 * value as f64);
                }
            })
        })
        .collect();
    work.into_iter().for_each(|thread| thread.join().unwrap());
    if std::env::var("SP_END").as_deref() == Ok("kill") {
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    }
}
