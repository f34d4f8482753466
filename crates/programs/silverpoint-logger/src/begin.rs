//! What a logger does before it collects: it opens everything, attaches the process and starts the sinks.

use std::io;
use std::sync::Arc;

use silverpoint_collect::{CollectError, Collector, Existing, Filter, OutputConfig, sessions_of};
use silverpoint_shm::observer::{ObservedSession, SessionName};
use silverpoint_shm::owner::Absence;
use silverpoint_shm::root::Root;

use crate::collecting::{Collecting, note, tell};
use crate::config::Config;
use crate::control::Control;
use crate::deliver::Delivery;
use crate::error::{LoggerError, NoSession, say};
use crate::process::Process;
use crate::quota::Quota;
use crate::spool::Spool;

/// A part of the spool; those that all sinks have read are removed.
const PART_BYTES: u64 = 16 << 20;
/// The quota is kept by whole parts.
const SPOOL_BYTES_MIN: u64 = 4 * PART_BYTES;

/// Whether to wait until threads of sinks run, or to hold their work until they do.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sinks {
    Run,
    Hold,
}

/// What the collector's thread does before it collects: opens everything, attaches the process if requested,
/// and starts the sinks.
pub(crate) fn begin(
    config: &Config,
    control: &Arc<Control>,
    root: Option<Root>,
    own: Option<Process>,
    sinks: Sinks,
) -> Result<Collecting, LoggerError> {
    let (spool, shared) = (&control.spool, &control.shared);
    let quota = Quota::new(config.spool_bytes.max(SPOOL_BYTES_MIN));
    let collector = collector(config, spool, root, own)?;
    let mut collecting = Collecting::new(collector, quota, Arc::clone(spool), Arc::clone(shared));
    // Before anything is attached: if the start fails, the program must be as before.
    let mut deliveries = Vec::new();
    for (number, sink) in config.sinks.iter().enumerate() {
        deliveries.push(Delivery::open(number, sink.clone(), spool, Arc::clone(shared))?);
    }
    if let Some(own) = own {
        // Attached when the start returns: the caller's next tracepoint records. A forked child of a Rust
        // program has no session before its first record; children in other languages have made one.
        if sessions_of(|name| own.has(name)).is_empty() {
            silverpoint_shm::owner::start();
            // An error for the caller: otherwise records would be lost, and every flush succeed.
            match silverpoint_shm::owner::absence() {
                Some(Absence::Privileged) => return Err(LoggerError::NoSession(NoSession::Privileged)),
                Some(Absence::Failed(error)) => {
                    let error = io::Error::from_raw_os_error(error);
                    return Err(LoggerError::NoSession(NoSession::Failed(Arc::new(error))));
                }
                Some(Absence::Off) | None => {}
            }
        }
        // Written down before anything is collected: if the process dies meanwhile, the next logger finds the
        // rest.
        note(spool, &sessions_of(|name| own.has(name) && !is_collected_by_another(name)));
        collecting.pass();
        let is_taken = collecting.sessions.iter().any(|name| own.has(*name));
        if !is_taken && sessions_of(|name| own.has(name)).into_iter().any(is_collected_by_another) {
            say(
                "another collector already has this process (`silverpoint run`, another logger?): it gets all records, and this logger's sinks get none",
            );
        }
    }
    for delivery in deliveries {
        match sinks {
            Sinks::Run => control.spawn("sp-sink", move || delivery.run())?,
            Sinks::Hold => {
                let (number, of) = (delivery.number(), Arc::clone(control));
                control.held.hold_delivery(delivery);
                control.spawn("sp-sink", move || {
                    let delivery = of.held.take_delivery(number);
                    drop(of);
                    if let Some(delivery) = delivery {
                        delivery.run();
                    }
                })?
            }
        };
    }
    Ok(collecting)
}

/// A collector of a process's sessions, and of those that an earlier logger left.
fn collector(
    config: &Config,
    spool: &Spool,
    root: Option<Root>,
    own: Option<Process>,
) -> Result<Collector, LoggerError> {
    let left_behind = root.as_ref().map(|root| spool.left_behind(root));
    let mode = config.mode()?;
    let new = || {
        let output = OutputConfig {
            existing: Existing::Continue,
            // The spool's lock ensures it.
            is_owned: true,
            rotate_bytes: Some(PART_BYTES),
            // Enforced here (module quota): records that a sink did not get are counted.
            quota_bytes: None,
            ..OutputConfig::new(spool.file())
        };
        let left_behind = left_behind.clone();
        Collector::new(silverpoint_collect::Config {
            roots: Vec::new(),
            filter: Filter::by(move |name| {
                own.is_some_and(|own| own.has(name))
                    || left_behind.as_ref().is_some_and(|left| left.holds(name))
            }),
            output,
            // The dead record nothing more.
            attach: own.map(|_| mode.clone()),
            backtrace: None,
            remove_dead: true,
            is_eager: true,
        })
    };
    let mut collector = match new() {
        // A file system may have lost what it had not written yet: a logger must start all the same.
        Err(error @ CollectError::NotATraceFile(_)) => {
            let kept = spool.put_away().map_err(LoggerError::io(spool.file(), "putting it away"))?;
            say(format_args!("{error}; it is kept as {}", kept.display()));
            new()?
        }
        made => made?,
    };
    if let Some(root) = root {
        collector.add_root(root);
    }
    tell(collector.take_messages());
    Ok(collector)
}

fn is_collected_by_another(name: SessionName) -> bool {
    Root::open().is_ok_and(|root| {
        ObservedSession::open_read_only(&root, name)
            .and_then(|session| session.is_collected())
            .unwrap_or(false)
    })
}
