//! Existing sessions: dead ones that no collector has stored, and those of other versions.

use std::io::Read;
use std::path::{Path, PathBuf};

use silverpoint_shm::observer::{ObservedSession, SessionName, list};
use silverpoint_shm::root::Root;
use silverpoint_wire::layout::{VERSION_MAJOR, control};

use super::finding::Finding;
use crate::units::show_bytes;

/// Sessions that are examined.
const MAX_SESSIONS: usize = 10_000;

/// A root and its path; `None` when there is no root yet.
type Opened = Option<(PathBuf, Root)>;

/// The same with the names in it.
fn sessions(opened: Opened) -> Option<(PathBuf, Root, Vec<SessionName>)> {
    let (path, root) = opened?;
    let mut names = list(&root).ok()?;
    names.sort_unstable();
    names.truncate(MAX_SESSIONS);
    Some((path, root, names))
}

/// Dead sessions hold memory until their records are stored.
pub fn dead(opened: Opened) -> Vec<Finding> {
    const CHECK: &str = "sessions.dead";
    let Some((path, root, names)) = sessions(opened) else { return vec![Finding::ok(CHECK, "no sessions")] };
    let (mut dead, mut bytes, mut alive) = (Vec::new(), 0u64, 0u64);
    for name in names {
        let Ok(session) = ObservedSession::open(&root, name) else { continue };
        match session.is_alive() {
            Ok(false) => {
                bytes = bytes.saturating_add(session.used_bytes());
                dead.push(name.to_string());
            }
            Ok(true) => alive += 1,
            Err(_) => {}
        }
    }
    vec![if dead.is_empty() {
        Finding::ok(CHECK, format!("{alive} living sessions, no dead ones"))
    } else {
        let first = dead[0].clone();
        Finding::warn(
            CHECK,
            format!(
                "{} dead sessions in {} hold {}: {first}{}",
                dead.len(),
                path.display(),
                show_bytes(bytes),
                if dead.len() > 1 { " …" } else { "" }
            ),
        )
        .means("their programs died without a collector; what they recorded last is still there")
        .change(
            "silverpoint recover --all (stores them), or silverpoint ls (removes empty, old and excess ones)",
        )
    }]
}

/// Sessions of programs that were built with another version.
pub fn versions(opened: Opened) -> Vec<Finding> {
    const CHECK: &str = "sessions.version";
    let own = format!("{VERSION_MAJOR}.{MINOR}");
    let Some((path, root, names)) = sessions(opened) else {
        return vec![Finding::ok(CHECK, format!("this program speaks version {own}"))];
    };
    let mut findings = Vec::new();
    for name in names {
        let Some((major, minor)) = version(&root.path().join(name.to_string()).join("control")) else {
            continue;
        };
        let found = format!("{}/{name} has version {major}.{minor}, this program {own}", path.display());
        if major != VERSION_MAJOR {
            findings.push(
                Finding::fail(CHECK, found)
                    .means("this program refuses it: neither run, attach nor recover reads its records")
                    .change("use a silverpoint of the version that the program was built with"),
            );
        } else if minor > MINOR {
            findings.push(
                Finding::warn(CHECK, found)
                    .means("it is read; what the newer version added is ignored")
                    .change("use a newer silverpoint"),
            );
        }
    }
    if findings.is_empty() {
        findings.push(Finding::ok(CHECK, format!("all sessions have version {own} or an older minor one")));
    }
    findings
}

/// The minor version that this program fully supports.
const MINOR: u16 = 0;

/// The versions in a control file; `None` when it is none.
fn version(path: &Path) -> Option<(u16, u16)> {
    let mut head = [0u8; 12];
    std::fs::File::open(path).ok()?.read_exact(&mut head).ok()?;
    (head[..8] == control::MAGIC)
        .then(|| (u16::from_le_bytes([head[8], head[9]]), u16::from_le_bytes([head[10], head[11]])))
}
