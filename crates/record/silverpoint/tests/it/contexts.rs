//! Contexts: what is stated in the rings, and that it is right for every record.

use std::future::Future;
use std::pin::pin;
use std::task::{Context as TaskContext, Poll, Waker};
use std::thread;

use silverpoint::{Context, ContextScope, InContext, TraceContext, context, event, info};

use crate::{Role, Scene, Test, reader};

pub const TESTS: &[Test] = &[
    ("each_record_has_the_fields_of_its_scopes", scopes),
    ("contexts_are_taken_along", taken_along),
    ("a_history_that_is_cut_short_states_its_context", history),
    ("scopes_are_bounded", bounds),
    ("signal_handlers_have_the_thread_s_context_and_their_own", handlers),
    ("a_forked_child_begins_without_fields", forks),
    ("losses_leave_no_wrong_context", losses),
    ("trace_contexts_are_fields_of_the_context", traces),
];
pub const ROLES: &[Role] = &[
    ("context_scopes", in_scopes),
    ("context_taken", take_along),
    ("context_history", make_history),
    ("context_bounds", beyond_bounds),
    ("context_handler", in_handler),
    ("context_fork", fork_in_scope),
    ("context_losses", lose),
    ("context_traces", trace),
];

/// Of each record that is none itself: what it is, and the last context of its stream before it, as the reader shows it.
fn with_contexts(session: &reader::Session) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for stream in session.streams.values() {
        let mut context = String::new();
        for record in &stream.records {
            match record.what.as_str() {
                "context" => context = record.args.clone(),
                _ => all.push((record.ticks, record.what.clone(), context.clone())),
            }
        }
    }
    // Two of one stream may have the same ticks: they stay in its order.
    all.sort_by_key(|(ticks, ..)| *ticks);
    all.into_iter().map(|(_, what, context)| (what, context)).collect()
}

/// The pairs of a context as the reader shows them.
fn shown(pairs: &[u8]) -> String {
    crate::cbor::text(&[b"\xBF", pairs, b"\xFF"].concat())
}

fn record_of(role: &str) -> reader::Session {
    let scene = Scene::new();
    scene.run(role, &[("SILVERPOINT_FILTER", "info")]);
    reader::only_session(scene.root())
}

fn in_scopes() {
    info!("outside");
    {
        let request = 7u32;
        let _request = context!(request);
        info!("in");
        let (peer, tags) = ("ada".to_owned(), ["x"]);
        {
            let _user = context!(%peer, tags = ?tags, "user.id" = -1i8,);
            info!("deeper");
        }
        info!("in again");
        info!("twice");
    }
    info!("outside again");
    drop(context!(nobody = 1));
    info!("still outside");
    let (a, b) = (context!(a = 1), context!(b = 2));
    drop(a);
    info!("b alone");
    drop(b);
    info!("nothing");
}

fn scopes() {
    let session = record_of("context_scopes");
    let none = || shown(b"");
    let request = b"\x67request\x07".as_slice();
    // A text that is formatted has a length of four bytes.
    let user =
        b"\x64peer\x7A\x00\x00\x00\x03ada\x64tags\x7A\x00\x00\x00\x05[\"x\"]\x67user.id\x20".as_slice();
    let expected = [
        ("outside", String::new()),
        ("in", shown(request)),
        ("deeper", shown(&[request, user].concat())),
        ("in again", shown(request)),
        ("twice", shown(request)),
        ("outside again", none()),
        ("still outside", none()),
        ("b alone", shown(b"\x61b\x02")),
        ("nothing", none()),
    ];
    assert_eq!(with_contexts(&session), expected.map(|(what, context)| (what.to_owned(), context)));
    // Scopes without records have left nothing.
    assert_eq!(session.records().iter().filter(|record| record.what == "context").count(), 6);
}

fn take_along() {
    let _request = context!(request = 1);
    let taken = Context::current();
    assert!(!taken.is_empty() && Context::default().is_empty());
    let (again, other) = (taken.clone(), taken.clone());
    thread::spawn(move || {
        let _own = context!(own = 2);
        {
            let scope: ContextScope = other.enter();
            assert!(scope.is_recorded());
            info!("in another thread");
        }
        info!("without");
    })
    .join()
    .unwrap();
    drop(_request);
    // Each poll of the future, and nothing between.
    let mut polls = 0;
    let future = std::future::poll_fn(|_| {
        polls += 1;
        info!("polled");
        if polls == 2 { Poll::Ready(polls) } else { Poll::Pending }
    });
    let mut future = pin!(future.in_context(taken));
    let mut task = TaskContext::from_waker(Waker::noop());
    assert!(future.as_mut().poll(&mut task).is_pending());
    info!("between");
    assert_eq!(future.poll(&mut task), Poll::Ready(2));
    // One that is dropped before its end.
    struct Held;
    impl Drop for Held {
        fn drop(&mut self) {
            info!("dropped");
        }
    }
    drop(std::future::ready(Held).in_context(again));
}

fn taken_along() {
    let (own, request) = (b"\x63own\x02".as_slice(), b"\x67request\x01".as_slice());
    let expected = [
        ("in another thread", shown(&[own, request].concat())),
        ("without", shown(own)),
        ("polled", shown(request)),
        ("between", shown(b"")),
        ("polled", shown(request)),
        ("dropped", shown(request)),
    ];
    let session = record_of("context_taken");
    assert_eq!(with_contexts(&session), expected.map(|(what, context)| (what.to_owned(), context)));
}

/// Rings of every size, overwritten several times.
fn make_history() {
    let _scope = context!(request = 1);
    for n in 0..200_000u64 {
        event!("many", n);
    }
}

fn history() {
    let session = record_of("context_history");
    let all = with_contexts(&session);
    let request = shown(b"\x67request\x01");
    assert!(all.len() > 10_000, "{}", all.len());
    assert!(all.iter().all(|(_, context)| *context == request));
    let states = session.records().iter().filter(|record| record.what == "context").count();
    assert!(states <= 8 * session.streams.len() + 8, "{states} statements");
}

fn beyond_bounds() {
    let scopes: Vec<ContextScope> = (0..30).map(|n| context!(n)).collect();
    assert_eq!(scopes.iter().filter(|scope| scope.is_recorded()).count(), 24);
    info!("deep");
    // The outermost first.
    drop(scopes);
    info!("out");
    let long = "é".repeat(5000);
    let _long = context!(first = 1, long = long.as_str(), then = 2);
    info!("long");
    let _full = context!(more = long.as_str(), last = 3u64);
    info!("full");
}

fn bounds() {
    let session = record_of("context_bounds");
    let contexts: Vec<_> = session.records().into_iter().filter(|record| record.what == "context").collect();
    let all = with_contexts(&session);
    let deep: Vec<u8> = (0..24u8).flat_map(|n| [0x61, b'n', n]).collect();
    assert_eq!(all[0], ("deep".to_owned(), shown(&deep)));
    assert_eq!(all[1], ("out".to_owned(), shown(b"")));
    assert!(!contexts[0].truncated && !contexts[1].truncated);
    for context in &contexts[2..] {
        assert!(context.truncated && context.bytes.len() < 1500, "{}", context.bytes.len());
    }
    let long = &all[2].1;
    assert!(long.contains("\"first\": 1") && long.contains("éé…") && long.contains("\"then\": 2"), "{long}");
    assert!(contexts.len() >= 4);
    assert_eq!(session.losses(), [0; 8]);
}

extern "C" fn on_signal(_: i32) {
    let _handler = context!(handler = true);
    info!("handler");
}

fn in_handler() {
    // SAFETY: the handler does what handlers may do: tracepoints.
    unsafe { libc::signal(libc::SIGUSR1, on_signal as *const () as libc::sighandler_t) };
    let _scope = context!(request = 1);
    for _ in 0..3 {
        info!("before");
        // SAFETY: interrupts this thread here.
        unsafe { libc::raise(libc::SIGUSR1) };
        info!("after");
    }
}

fn handlers() {
    let session = record_of("context_handler");
    let request = b"\x67request\x01".as_slice();
    let expected = [
        ("before", shown(request)),
        ("handler", shown(&[request, b"\x67handler\xF5"].concat())),
        ("after", shown(request)),
    ]
    .map(|(what, context)| (what.to_owned(), context));
    assert_eq!(with_contexts(&session), [&expected[..], &expected, &expected].concat());
}

fn fork_in_scope() {
    let scope = context!(request = 1);
    info!("parent");
    // SAFETY: the child records and ends.
    match unsafe { libc::fork() } {
        0 => {
            info!("child");
            drop(scope);
            let _own = context!(own = 2);
            info!("child's own");
            // SAFETY: ends the child without the parent's exit handlers.
            unsafe { libc::_exit(0) }
        }
        pid => {
            let mut status = 0;
            // SAFETY: waits for the child just made.
            unsafe { libc::waitpid(pid, &mut status, 0) };
            assert_eq!(status, 0);
        }
    }
    info!("parent again");
}

fn forks() {
    let scene = Scene::new();
    scene.run("context_fork", &[("SILVERPOINT_FILTER", "info")]);
    let mut sessions = reader::sessions(scene.root());
    sessions.sort_by_key(|session| session.records()[0].ticks);
    let all: Vec<_> = sessions.iter().map(with_contexts).collect();
    let request = shown(b"\x67request\x01");
    let own = |texts: [(&str, &str); 2]| texts.map(|(what, context)| (what.to_owned(), context.to_owned()));
    assert_eq!(all[0], own([("parent", &request), ("parent again", &request)]));
    assert_eq!(all[1], own([("child", ""), ("child's own", &shown(b"\x63own\x02"))]));
}

/// A collector is expected, but never comes: the ring is full, and everything is dropped until the policy
/// changes.
fn lose() {
    let mut kept = 0;
    for round in 0..2000u64 {
        let _scope = context!(round);
        event!("said", round);
        kept += 1;
    }
    assert_eq!(kept, 2000);
}

fn losses() {
    let scene = Scene::new();
    scene.run(
        "context_losses",
        &[
            ("SILVERPOINT_FILTER", "info"),
            ("SILVERPOINT_COLLECTOR", "1"),
            ("SILVERPOINT_POLICY", "drop"),
            ("SILVERPOINT_MEMORY", "64K"),
        ],
    );
    let session = reader::only_session(scene.root());
    let lost: u64 = session.losses().iter().sum();
    let all = with_contexts(&session);
    let said: Vec<_> = all.iter().filter(|(what, _)| what == "said").collect();
    assert!(lost > 0 && said.len() as u64 + lost == 2000, "{} and {lost} lost", said.len());
    let mut args = session.args_of("said").into_iter();
    for (_, context) in said {
        let round: u64 = args.next().unwrap().parse().unwrap();
        let bytes: &[u8] = &match round {
            0..24 => vec![round as u8],
            24..256 => vec![0x18, round as u8],
            _ => [&[0x19][..], &(round as u16).to_be_bytes()].concat(),
        };
        assert_eq!(*context, shown(&[b"\x65round".as_slice(), bytes].concat()));
    }
}

fn trace() {
    assert_eq!(TraceContext::current(), None);
    let caller = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let accepted = TraceContext::accept(Some(caller), Some("a=1"));
    {
        let _scope = accepted.enter();
        let _other = context!(request = 1);
        assert_eq!(TraceContext::current().as_ref(), Some(&accepted));
        event!("inside", header = TraceContext::current().unwrap().header());
        let taken = Context::current();
        let outside = thread::spawn(move || {
            let _scope = taken.enter();
            TraceContext::current().unwrap()
        });
        assert_eq!(outside.join().unwrap(), accepted);
        {
            // Another trace within: nothing of the outer one shows through.
            let own = TraceContext::new();
            let _scope = own.enter();
            assert_eq!(TraceContext::current(), Some(own));
            info!("own");
        }
        assert_eq!(TraceContext::current(), Some(accepted));
    }
    assert_eq!(TraceContext::current(), None);
}

fn traces() {
    let session = record_of("context_traces");
    let all = with_contexts(&session);
    let header = &session.args_of("inside")[0];
    let span = &header[37..53];
    let expected = format!(
        "\"trace_id\": \"4bf92f3577b34da6a3ce929d0e0e4736\", \"span_id\": \"{span}\", \"parent_id\": \"00f067aa0ba902b7\", \
         \"trace_flags\": \"01\", \"tracestate\": \"a=1\", \"request\": 1"
    );
    assert!(all[0].1.contains(&expected), "{}\n{expected}", all[0].1);
    assert!(
        all[1].1.contains("\"parent_id\": null, \"trace_flags\": \"03\", \"tracestate\": \"\""),
        "{}",
        all[1].1
    );
}
