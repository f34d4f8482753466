//! Journal and syslog, with a receiver of the test's own.

use std::io::{BufRead, BufReader, ErrorKind, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::net::{TcpListener, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::path::Path;
use std::process::Child;
use std::time::Duration;

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

use crate::harness::{Scratch, numbers, wait_until};

const GENEROUS: Duration = Duration::from_secs(300);

fn receiver(path: &Path) -> UnixDatagram {
    let socket = UnixDatagram::bind(path).unwrap();
    socket.set_read_timeout(Some(GENEROUS)).unwrap();
    socket
}

/// One message, be it in the datagram or in a sealed file beside it. None at the end of a time.
fn receive(socket: &UnixDatagram) -> Option<Vec<u8>> {
    let mut bytes = vec![0; 512 << 10];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received =
        recvmsg(socket, &mut [IoSliceMut::new(&mut bytes)], &mut control, RecvFlags::CMSG_CLOEXEC).ok()?;
    let passed: Vec<OwnedFd> = control
        .drain()
        .filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(files) => Some(files),
            _ => None,
        })
        .flatten()
        .collect();
    bytes.truncate(received.bytes);
    if let Some(file) = passed.into_iter().next() {
        assert_eq!(bytes, b"", "the message is in the file alone");
        let file = std::fs::File::from(file);
        let seals = rustix::fs::fcntl_get_seals(&file).unwrap();
        use rustix::fs::SealFlags;
        assert!(seals.contains(SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW), "{seals:?}");
        bytes = vec![0; file.metadata().unwrap().len() as usize];
        file.read_exact_at(&mut bytes, 0).unwrap();
    }
    Some(bytes)
}

/// The fields of a message of the journal's protocol, as the journal reads it.
fn fields(mut bytes: &[u8]) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let end = bytes.iter().position(|byte| *byte == b'\n').expect("a field ends");
        let line = &bytes[..end];
        bytes = &bytes[end + 1..];
        if let Some(at) = line.iter().position(|byte| *byte == b'=') {
            fields.push((text(&line[..at]), text(&line[at + 1..])));
        } else {
            let len = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
            fields.push((text(line), text(&bytes[8..8 + len])));
            assert_eq!(bytes[8 + len], b'\n');
            bytes = &bytes[9 + len..];
        }
    }
    fields
}

fn field<'f>(fields: &'f [(String, String)], name: &str) -> &'f str {
    let mut found = fields.iter().filter(|(key, _)| key == name);
    let value = found.next().map(|(_, value)| value.as_str());
    assert!(found.next().is_none(), "{name} stands once");
    value.unwrap_or_else(|| panic!("no {name} in {fields:?}"))
}

/// What a program says that logs by this configuration.
fn configured(scratch: &Scratch, sinks: &str, words: &[&str]) -> Child {
    std::fs::write(scratch.path("log.toml"), sinks).unwrap();
    let words = ["from", "log.toml"].into_iter().chain(words.iter().copied());
    scratch.logging(words).spawn().unwrap()
}

/// It ends well; gives standard error.
fn ended(mut child: Child) -> String {
    drop(child.stdin.take());
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{}: {err}", output.status);
    err
}

fn journald(scratch: &Scratch) -> String {
    format!(
        "[[sink]]\nto = 'journald'\naddress = '{}'\nidentity = 'app'\n",
        scratch.path("journal").display()
    )
}

#[test]
fn the_journal_gets_each_field_by_itself() {
    let scratch = Scratch::new();
    let socket = receiver(&scratch.path("journal"));
    let child = configured(&scratch, &journald(&scratch), &["fields"]);
    let pid = child.id().to_string();
    let first = fields(&receive(&socket).unwrap());
    assert_eq!(field(&first, "MESSAGE"), "hello user=7 text=two\\nlines priority=1");
    assert_eq!((field(&first, "PRIORITY"), field(&first, "SYSLOG_IDENTIFIER")), ("4", "app"));
    assert_eq!((field(&first, "SYSLOG_PID"), field(&first, "TID")), (pid.as_str(), pid.as_str()));
    assert_eq!((field(&first, "USER"), field(&first, "TEXT")), ("7", "two\nlines"));
    assert_eq!(field(&first, "FIELD_PRIORITY"), "1");
    assert!(field(&first, "CODE_FILE").ends_with("logging.rs"), "{first:?}");
    assert!(field(&first, "CODE_LINE").parse::<u32>().unwrap() > 0);
    assert!(field(&first, "CODE_FUNC").contains("main"), "{first:?}");
    assert_eq!(field(&first, "CATEGORY"), "logging");
    assert!(field(&first, "TIMESTAMP").ends_with('Z'));
    // What no datagram holds.
    let second = fields(&receive(&socket).unwrap());
    assert_eq!(field(&second, "LONG").len(), 250_000);
    assert_eq!(ended(child), "");
}

/// Without a receiver everything is accepted and waits; then it is delivered, each record once and in order,
/// without a restart.
#[test]
fn a_journal_that_is_gone_and_comes_back_gets_everything() {
    let number = |message: &[u8]| {
        let message = fields(message);
        numbers(field(&message, "MESSAGE"))[0]
    };
    gone_and_back("journald", number);
}

#[test]
fn a_syslog_that_is_gone_and_comes_back_gets_everything() {
    gone_and_back("syslog", |message| numbers(std::str::from_utf8(message).unwrap())[0]);
}

fn gone_and_back(kind: &str, number: impl Fn(&[u8]) -> u64) {
    let scratch = Scratch::new();
    let path = scratch.path("socket");
    let sink = format!("[[sink]]\nto = '{kind}'\naddress = '{}'\n", path.display());
    let mut child = configured(&scratch, &sink, &["steps", "500"]);
    let mut err = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut seen = Vec::new();
    for round in 0..3 {
        // First it is not there at all, later it was there and has been closed.
        child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
        child.stdout.as_mut().unwrap().read_exact(&mut [0; 5]).unwrap();
        if round > 0 {
            let line = err.next().unwrap().unwrap();
            assert!(line.ends_with("it can be written again"), "{line}");
            std::fs::remove_file(&path).unwrap();
        }
        let line = err.next().unwrap().unwrap();
        let label = format!("{kind} at ");
        assert!(line.contains(&label) && line.contains("wait in the spool"), "{line}");
        let socket = receiver(&path);
        while seen.len() < (round + 1) * 500 {
            seen.push(number(&receive(&socket).expect("in time")));
        }
    }
    assert_eq!(seen, (0..1500).collect::<Vec<_>>());
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}

/// A receiver that does not read fills its queue: the program goes on at once all the same, and what did not fit comes later.
#[test]
fn a_journal_that_is_behind_holds_up_nobody() {
    let scratch = Scratch::new();
    let socket = receiver(&scratch.path("journal"));
    let mut child = configured(&scratch, &journald(&scratch), &["steps", "5000"]);
    child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    // All 5000 are recorded before a single one has been received.
    child.stdout.as_mut().unwrap().read_exact(&mut [0; 5]).unwrap();
    for expected in 0..5000 {
        let message = fields(&receive(&socket).expect("in time"));
        assert_eq!(numbers(field(&message, "MESSAGE")), [expected]);
    }
    ended(child);
}

/// With a spool that a successor finds, what a killed process could not deliver is delivered by the next.
#[test]
fn what_a_killed_process_left_for_the_journal_is_delivered_by_the_next() {
    let scratch = Scratch::new();
    let config = format!("spool = 'spools'\n{}", journald(&scratch));
    let mut child = configured(&scratch, &config, &["steps", "300"]);
    child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    child.stdout.as_mut().unwrap().read_exact(&mut [0; 5]).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let socket = receiver(&scratch.path("journal"));
    let next = configured(&scratch, &config, &["steps", "0"]);
    for expected in 0..300 {
        let message = fields(&receive(&socket).expect("in time"));
        assert_eq!(numbers(field(&message, "MESSAGE")), [expected]);
    }
    ended(next);
    socket.set_nonblocking(true).unwrap();
    assert_eq!(receive(&socket), None, "each once");
    assert!(wait_until(|| std::fs::read_dir(scratch.path("spools")).unwrap().count() == 0));
}

#[test]
fn syslog_here_is_what_every_receiver_understands() {
    let scratch = Scratch::new();
    let socket = receiver(&scratch.path("log"));
    let sink = format!(
        "[[sink]]\nto = 'syslog'\naddress = '{}'\nfacility = 'daemon'\n",
        scratch.path("log").display()
    );
    let child = configured(&scratch, &sink, &["fields"]);
    let message = String::from_utf8(receive(&socket).unwrap()).unwrap();
    // 3 * 8 + 4.
    let (head, text) = message.split_once(": ").unwrap();
    assert!(head.starts_with("<28>") && head.ends_with(&format!(" logging[{}]", child.id())), "{message}");
    assert_eq!(&head[7..8], " ", "{message}");
    assert_eq!(text, "hello user=7 text=two\\nlines priority=1");
    let long = receive(&socket).unwrap();
    assert_eq!(long.len(), 8192, "cut");
    assert_eq!(ended(child), "");
}

#[test]
fn syslog_by_udp_has_structured_data_and_is_cut() {
    let scratch = Scratch::new();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(GENEROUS)).unwrap();
    let address = socket.local_addr().unwrap();
    let sink = format!(
        "[[sink]]\nto = 'syslog'\naddress = 'udp://{address}'\nidentity = 'app'\nmessage-size = '600'\n"
    );
    let child = configured(&scratch, &sink, &["fields"]);
    let receive = || {
        let mut bytes = vec![0; 64 << 10];
        let len = socket.recv(&mut bytes).unwrap();
        String::from_utf8(bytes[..len].to_vec()).unwrap()
    };
    let message = receive();
    let words: Vec<&str> = message.splitn(7, ' ').collect();
    assert_eq!((words[0], words[3], words[5]), ("<12>1", "app", "logging"), "{message}");
    assert!(words[1].ends_with('Z') && words[1].len() == "2026-11-20T19:02:11.123456Z".len(), "{message}");
    assert_eq!(words[4], child.id().to_string());
    assert!(
        words[6].contains("[fields@32473 user=\"7\" text=\"two\\\\nlines\" priority=\"1\"] hello"),
        "{message}"
    );
    assert!(words[6].starts_with(&format!("[silverpoint@32473 tid=\"{}\"", child.id())), "{message}");
    let long = receive();
    assert!(long.len() == 600 && !long.contains("long=\"x") && long.ends_with("xxx"), "{long}");
    assert_eq!(ended(child), "");
}

/// A stream that breaks within a message: the message is sent again whole on the next one.
#[test]
fn syslog_by_tcp_counts_octets_and_connects_again() {
    let scratch = Scratch::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let sink = format!("[[sink]]\nto = 'syslog'\naddress = 'tcp://{address}'\n");
    let mut child = configured(&scratch, &sink, &["steps", "20"]);
    let read = |stream: &mut dyn Read| {
        let mut digits = String::new();
        loop {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            if byte == *b" " {
                break;
            }
            digits.push(char::from(byte[0]));
        }
        let mut message = vec![0; digits.parse().unwrap()];
        stream.read_exact(&mut message).unwrap();
        numbers(&String::from_utf8(message).unwrap())[0]
    };
    child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    let (mut first, _) = listener.accept().unwrap();
    let seen: Vec<u64> = (0..20).map(|_| read(&mut first)).collect();
    assert_eq!(seen, (0..20).collect::<Vec<_>>());
    drop(first);
    // Data in a connection that is closed at the other end is lost, as the page says; the rest is sent by the
    // next connection.
    listener.set_nonblocking(true).unwrap();
    let mut second = None;
    assert!(wait_until(|| {
        child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
        match listener.accept() {
            Ok((stream, _)) => second = Some(stream),
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
        }
        second.is_some()
    }));
    let mut second = second.unwrap();
    second.set_nonblocking(false).unwrap();
    let (first, next) = (read(&mut second), read(&mut second));
    assert!(first >= 20 && next == first + 1, "{first} {next}");
    drop(second);
    drop(listener);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_stream_in_the_file_system_is_taken_too() {
    let scratch = Scratch::new();
    let listener = UnixListener::bind(scratch.path("log")).unwrap();
    let sink = format!("[[sink]]\nto = 'syslog'\naddress = '{}'\n", scratch.path("log").display());
    let mut child = configured(&scratch, &sink, &["steps", "3"]);
    child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    let (mut stream, _) = listener.accept().unwrap();
    ended(child);
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let messages: Vec<&str> = text.split_terminator('\0').collect();
    assert_eq!(messages.iter().map(|message| numbers(message)[0]).collect::<Vec<_>>(), [0, 1, 2], "{text}");
}
