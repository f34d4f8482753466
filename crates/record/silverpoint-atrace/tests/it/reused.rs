//! A program closes the marker's descriptor, and has files of its own: none of them gets a message.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::fd::{AsRawFd, IntoRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::Path;

use silverpoint_atrace::{self as atrace, Tag};

use crate::{Place, check, is_role};

/// Descriptors that the program may have.
const LIMIT: u64 = 256;

/// Each test twice: the marker's number is beyond the limit, or there is no room beyond it.
fn limits() -> [(&'static str, u64); 2] {
    [("beyond", LIMIT + 200), ("below", LIMIT)]
}

fn set_limit() -> bool {
    let maximum: u64 = std::env::var("TEST_MAXIMUM").unwrap().parse().unwrap();
    let limit = libc::rlimit { rlim_cur: LIMIT, rlim_max: maximum };
    // SAFETY: a plain system call.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) }, 0);
    maximum > LIMIT
}

fn limit() -> (u64, u64) {
    let mut found = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the kernel fills it.
    assert_eq!(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut found) }, 0);
    (found.rlim_cur, found.rlim_max)
}

/// The number of the marker's descriptor.
fn number() -> RawFd {
    let marker = fs::canonicalize(std::env::var_os("SILVERPOINT_ATRACE_MARKER").unwrap()).unwrap();
    let entries = fs::read_dir("/proc/self/fd").unwrap().map(|entry| entry.unwrap().path());
    let found = entries.into_iter().find(|path| fs::read_link(path).is_ok_and(|to| to == marker));
    found.expect("the marker is open").file_name().unwrap().to_str().unwrap().parse().unwrap()
}

/// Puts the program's file under that number, closed before or not. Says whether the system has done it.
fn put_under(number: RawFd, own: RawFd, is_closed_before: bool) -> bool {
    // SAFETY: of what is closed, the library finds out.
    unsafe {
        if is_closed_before {
            assert_eq!(libc::close(number), 0);
        }
        libc::dup2(own, number) == number
    }
}

fn has_nothing(mut from: impl Read) -> bool {
    matches!(from.read(&mut [0; 64]), Err(error) if error.kind() == ErrorKind::WouldBlock)
}

fn run(name: &str) {
    for (what, maximum) in limits() {
        let place = Place::new();
        let mut command = place.command(name);
        command.env("debug.atrace.tags.enableflags", "0x1000").env("TEST_MAXIMUM", maximum.to_string());
        command.env("TEST_OWN", place.at("own"));
        let pid = check(&command.output().unwrap());
        let text = place.text("marker").replace(&format!("|{pid}|"), "|P|");
        assert_eq!(text.lines().collect::<Vec<_>>(), ["I|P|first", "I|P|second", "I|P|third"], "{what}");
        assert_eq!(place.text("own"), "", "{what}");
    }
}

fn own_file() -> RawFd {
    let path = std::env::var_os("TEST_OWN").unwrap();
    OpenOptions::new().append(true).create(true).open(Path::new(&path)).unwrap().into_raw_fd()
}

#[test]
fn a_file_under_the_markers_number_gets_no_message() {
    let name = "reused::a_file_under_the_markers_number_gets_no_message";
    if is_role(name) {
        println!("\npid={}", std::process::id());
        let (is_beyond, before) = (set_limit(), limit());
        atrace::instant(Tag::APP, "first");
        assert_eq!(limit(), before, "the limit is as it was");
        assert_eq!(number() >= LIMIT as RawFd, is_beyond);
        let own = own_file();
        // Neither under a number that is closed, nor over one that is open.
        assert_eq!(put_under(number(), own, true), !is_beyond);
        atrace::instant(Tag::APP, "second");
        assert_eq!(number() >= LIMIT as RawFd, is_beyond);
        assert_eq!(put_under(number(), own, false), !is_beyond);
        return atrace::instant(Tag::APP, "third");
    }
    run(name);
}

#[test]
fn a_pipe_and_a_socket_under_the_markers_number_get_no_message() {
    let name = "reused::a_pipe_and_a_socket_under_the_markers_number_get_no_message";
    if is_role(name) {
        println!("\npid={}", std::process::id());
        let is_beyond = set_limit();
        own_file();
        atrace::instant(Tag::APP, "first");
        let mut pipe = [0; 2];
        // SAFETY: two descriptors are filled.
        assert_eq!(unsafe { libc::pipe2(pipe.as_mut_ptr(), libc::O_NONBLOCK | libc::O_CLOEXEC) }, 0);
        assert_eq!(put_under(number(), pipe[1], true), !is_beyond);
        atrace::instant(Tag::APP, "second");
        assert!(has_nothing(File::open(format!("/proc/self/fd/{}", pipe[0])).map(nonblocking).unwrap()));
        let (own, other) = UnixStream::pair().unwrap();
        other.set_nonblocking(true).unwrap();
        assert_eq!(put_under(number(), own.as_raw_fd(), true), !is_beyond);
        atrace::instant(Tag::APP, "third");
        return assert!(has_nothing(&other));
    }
    run(name);
}

fn nonblocking(file: File) -> File {
    // SAFETY: a plain system call.
    assert_eq!(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) }, 0);
    file
}

/// A daemon: a forked child closes all descriptors, and opens as many files as it may. Its parent goes on.
#[test]
fn files_of_a_forked_daemon_get_no_message() {
    let name = "reused::files_of_a_forked_daemon_get_no_message";
    if is_role(name) {
        println!("\npid={}", std::process::id());
        let is_beyond = set_limit();
        atrace::instant(Tag::APP, "first");
        let number = number();
        // SAFETY: the child calls what is as simple, and ends.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: of what is closed, the library finds out.
            unsafe { libc::syscall(libc::SYS_close_range, 3, u32::MAX, 0) };
            let path = std::env::var_os("TEST_OWN").unwrap();
            let open =
                || OpenOptions::new().append(true).create(true).open(&path).map(IntoRawFd::into_raw_fd);
            let own: Vec<RawFd> = std::iter::from_fn(|| open().ok()).collect();
            // No descriptor is left to open the marker: the message is lost.
            atrace::instant(Tag::APP, "lost");
            // SAFETY: one of the child's own.
            let is_right = own.contains(&number) != is_beyond && unsafe { libc::close(own[9]) } == 0;
            atrace::instant(Tag::APP, "of the child");
            // SAFETY: it has nothing to clean up.
            unsafe { libc::_exit(i32::from(!is_right)) };
        }
        let mut status = 1;
        // SAFETY: of the child above.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 0);
        return atrace::instant(Tag::APP, "second");
    }
    for (what, maximum) in limits() {
        let place = Place::new();
        let mut command = place.command(name);
        command.env("debug.atrace.tags.enableflags", "0x1000").env("TEST_MAXIMUM", maximum.to_string());
        command.env("TEST_OWN", place.at("own"));
        let _ = check(&command.output().unwrap());
        let text = place.text("marker");
        let names: Vec<_> = text.lines().map(|line| line.rsplit('|').next().unwrap()).collect();
        assert_eq!(names, ["first", "of the child", "second"], "{what}");
        assert_eq!(place.text("own"), "", "{what}");
    }
}
