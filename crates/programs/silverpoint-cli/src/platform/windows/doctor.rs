//! What `silverpoint doctor` examines on Windows.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use silverpoint_shm::root::{self, Root};

use crate::doctor::finding::Finding;
use crate::doctor::leftovers;
use crate::units::show_bytes;

/// With less, not even one session's first pages fit.
const LEAST_ROOM: u64 = 1 << 20;
/// What the rings of a session take when nothing is tight.
const RINGS: u64 = 32 << 20;
/// In the head of an executable file: x86-64.
const X86_64: u16 = 0x8664;

/// Everything that is found.
pub fn examine(program: Option<&Path>) -> Vec<Finding> {
    let mut findings = vec![sessions()];
    findings.extend(space());
    findings.push(etw(program));
    findings.push(monitor());
    findings.extend(leftovers::dead(opened()));
    findings.extend(leftovers::versions(opened()));
    findings.extend(program.map(kind_of));
    findings
}

/// The directory of sessions and its path, if it is there.
fn opened() -> Option<(PathBuf, Root)> {
    Root::open().ok().map(|root| (root.path().to_owned(), root))
}

/// Where sessions are, and whether that is the user's own directory.
fn sessions() -> Finding {
    const CHECK: &str = "sessions.root";
    match Root::open() {
        Ok(root) => Finding::ok(CHECK, format!("{} holds the sessions", root.path().display())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let place = root::place().unwrap_or_default();
            let shown = place.display();
            if place.parent().is_some_and(Path::is_dir) {
                return Finding::ok(CHECK, format!("{shown} will hold the sessions"))
                    .means("the first traced program makes it");
            }
            Finding::fail(CHECK, format!("{shown} cannot be made: the directory above it is missing"))
                .means("programs record nothing, and collectors find nothing")
                .change("set SILVERPOINT_DIR to a directory of yours")
        }
        Err(error) => Finding::fail(CHECK, root::explained(error).to_string())
            .means("programs record nothing, and collectors find nothing")
            .change("set SILVERPOINT_DIR to a directory of yours"),
    }
}

/// Room for the files of sessions.
fn space() -> Option<Finding> {
    const CHECK: &str = "sessions.space";
    let (path, root) = opened()?;
    let shown = path.display();
    Some(match root.free_bytes() {
        Err(error) => {
            Finding::warn(CHECK, format!("the free space in {shown} cannot be determined: {error}"))
                .means("when there is none, programs lose records with the cause no_memory")
                .change(format!("dir {shown}"))
        }
        Ok(free) => {
            let found = format!("{} free in {shown}", show_bytes(free));
            let change = "make room, or set SILVERPOINT_DIR to a directory on another drive";
            if free < LEAST_ROOM {
                Finding::fail(CHECK, found).means("a program finds no room for a session").change(change)
            } else if free < RINGS {
                Finding::warn(CHECK, found)
                    .means("programs that record much lose records with the cause no_memory")
                    .change(change)
            } else {
                Finding::ok(CHECK, found)
            }
        }
    })
}

/// Events for ETW from tracepoints. Nothing needs them unless they are asked for.
fn etw(program: Option<&Path>) -> Finding {
    const CHECK: &str = "tracers.etw";
    const LIBRARY: &str = "silverpoint_etw.dll";
    let asked = std::env::var("SILVERPOINT_PROBES").unwrap_or_default();
    if !asked.split(',').any(|tracer| tracer.trim() == "etw") {
        return Finding::ok(CHECK, "tracepoints are no events of ETW")
            .means("SILVERPOINT_PROBES=etw, set when a program starts, makes them so");
    }
    let named =
        std::env::var_os("SILVERPOINT_ETW_LIBRARY").filter(|name| !name.is_empty()).map(PathBuf::from);
    let Some(library) = named.or_else(|| Some(program?.with_file_name(LIBRARY))) else {
        return Finding::ok(CHECK, format!("SILVERPOINT_PROBES asks for ETW: {LIBRARY} makes the events"))
            .means("`silverpoint doctor PROGRAM` looks for it beside the program");
    };
    let shown = library.display();
    if library.is_file() {
        return Finding::ok(CHECK, format!("{shown} makes events of ETW"));
    }
    Finding::warn(CHECK, format!("SILVERPOINT_PROBES asks for ETW, and {shown} is missing"))
        .means("tracepoints record, and are no events of ETW")
        .change(format!("put {LIBRARY} beside the program, or name its file in SILVERPOINT_ETW_LIBRARY"))
}

/// Whether somebody takes what programs give to `OutputDebugString`.
fn monitor() -> Finding {
    const CHECK: &str = "debug.monitor";
    if silverpoint_dbwin::is_monitored() {
        Finding::ok(CHECK, "a debug monitor takes what programs give to OutputDebugString")
            .means("debug_output is given to it, too; while it lives, no other monitor can begin")
    } else {
        Finding::ok(CHECK, "no debug monitor takes what programs give to OutputDebugString")
            .means("`silverpoint debug` does")
    }
}

/// Whether this program can record.
fn kind_of(program: &Path) -> Finding {
    const CHECK: &str = "program.kind";
    let shown = program.display();
    let change = "give the path of a 64-bit program's file";
    match machine(program) {
        Ok(Some(X86_64)) => Finding::ok(CHECK, format!("{shown} is a program for x86-64")),
        Ok(Some(other)) => Finding::fail(CHECK, format!("{shown} is a program for machine {other:#06x}"))
            .means("only programs for x86-64 record on Windows")
            .change("build it for x86-64"),
        Ok(None) => Finding::fail(CHECK, format!("{shown} is no program for Windows"))
            .means("no program can be run from it")
            .change(change),
        Err(error) => {
            Finding::fail(CHECK, format!("{shown}: {error}")).means("it cannot be read").change(change)
        }
    }
}

/// The machine in the head of an executable file; `None` where it is none.
fn machine(program: &Path) -> io::Result<Option<u16>> {
    let mut file = File::open(program)?;
    let mut head = Vec::new();
    file.by_ref().take(64).read_to_end(&mut head)?;
    let Some(at) = head.get(60..64).filter(|_| head.starts_with(b"MZ")) else { return Ok(None) };
    file.seek(SeekFrom::Start(u32::from_le_bytes([at[0], at[1], at[2], at[3]]).into()))?;
    let mut begin = Vec::new();
    file.take(6).read_to_end(&mut begin)?;
    Ok(match begin[..] {
        [b'P', b'E', 0, 0, low, high] => Some(u16::from_le_bytes([low, high])),
        _ => None,
    })
}
