//! Spans around functions.

use std::fmt::Display;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use silverpoint::{Trace, async_span, info, instrument};

use crate::{Role, Scene, Test, reader};

pub const TESTS: &[Test] = &[
    ("functions_are_spans", functions_are_spans),
    ("async_functions_are_async_spans", async_functions_are_async_spans),
    ("what_is_off_costs_no_argument", what_is_off_costs_no_argument),
];
pub const ROLES: &[Role] = &[("instrumented", instrumented), ("waiting", waiting), ("instrumented_off", off)];

#[derive(Debug)]
struct Opaque(u8);

#[derive(Debug, Trace)]
struct Refused(u8);

impl Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "refused {}", self.0)
    }
}

impl std::error::Error for Refused {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        (self.0 > 9).then_some(&std::fmt::Error)
    }
}

impl From<std::num::ParseIntError> for Refused {
    fn from(_: std::num::ParseIntError) -> Self {
        Self(0)
    }
}

#[instrument]
fn plain(id: u64, name: &str) -> usize {
    info!("inside");
    name.len() + id as usize
}

/// Nothing but a name.
#[instrument]
fn nothing() {}

#[instrument(level = "warn", name = "other", target = "net::tcp", skip(opaque, r#type), fields(len = list.len(), ?shown, twice = id * 2))]
#[inline(never)]
pub(crate) fn options(id: u32, list: &[u8], opaque: Opaque, shown: Opaque, r#type: Opaque) -> u32 {
    #![allow(clippy::let_and_return)]
    let sum = id + u32::from(opaque.0 + shown.0 + r#type.0) + list.len() as u32;
    sum
}

#[instrument(skip_all, fields(%name))]
fn all_skipped(name: impl Display, opaque: Opaque, _: Opaque) -> String {
    format!("{name}{}", opaque.0)
}

#[instrument]
fn patterns(
    (a, [b, ..]): (u8, [u8; 2]),
    Pair { x, y: (y, _) }: Pair,
    mut r#type: u8,
    &reference: &bool,
) -> u8 {
    r#type += 1;
    a + b + x + y + r#type + u8::from(reference)
}

struct Pair {
    x: u8,
    y: (u8, Opaque),
}

#[instrument(ret)]
fn returned(n: u8) -> Option<u8> {
    if n > 1 {
        return Some(n);
    }
    let n = n.checked_sub(1)?;
    Some(n)
}

#[instrument(err, level = Debug)]
fn failing(text: &str) -> Result<u8, Refused> {
    let n: u8 = text.parse()?;
    if n > 4 { Err(Refused(n)) } else { Ok(n) }
}

#[instrument(ret(Debug), err(Causes))]
fn both(n: u8) -> Result<Opaque, Refused> {
    if n > 4 { Err(Refused(n)) } else { Ok(Opaque(n)) }
}

#[instrument(err(Debug))]
fn shown_errors<E>(error: Option<E>) -> Result<impl Iterator<Item = u8>, Opaque>
where
    E: Trace + std::fmt::Debug,
{
    match error {
        None => Ok(0..3u8),
        Some(_) => Err(Opaque(9)),
    }
}

struct Pump {
    id: u8,
    level: u8,
}

trait Run {
    fn run(&mut self, by: u8) -> &mut u8;
    #[instrument(ret, skip(self))]
    fn by_default(&self, n: u8) -> u8 {
        n
    }
}

impl Run for Pump {
    // What it returns is borrowed from what it captured.
    #[instrument(fields(id = self.id), ret)]
    fn run(&mut self, by: u8) -> &mut u8 {
        self.level += by;
        &mut self.level
    }
}

impl Pump {
    #[instrument(ret)]
    async fn fill(&mut self, by: u8) -> u8 {
        std::future::ready(()).await;
        self.level += by;
        self.level
    }
}

#[instrument(fields(all = values.len()))]
fn generic<T: Trace, const N: usize>(values: [T; N]) -> usize {
    N
}

fn instrumented() {
    assert_eq!(plain(7, "four"), 11);
    nothing();
    assert_eq!(options(1, &[5], Opaque(2), Opaque(3), Opaque(4)), 11);
    assert_eq!(all_skipped("n", Opaque(1), Opaque(2)), "n1");
    assert_eq!(patterns((1, [2, 3]), Pair { x: 4, y: (5, Opaque(0)) }, 6, &true), 20);
    assert_eq!((returned(5), returned(1), returned(0)), (Some(5), Some(0), None));
    assert_eq!(failing("3").unwrap(), 3);
    assert!(failing("x").is_err() && failing("5").is_err());
    assert!(both(1).is_ok() && both(5).is_err() && both(10).is_err());
    assert_eq!(shown_errors(None::<u8>).unwrap_or_else(|_| panic!()).sum::<u8>(), 3);
    assert!(shown_errors(Some(1u8)).is_err());
    let mut pump = Pump { id: 3, level: 1 };
    *pump.run(4) += 1;
    assert_eq!((pump.level, pump.by_default(2)), (6, 2));
    assert_eq!(generic([1.5f32, 2.5]) + generic(["a"]), 3);
}

fn functions_are_spans() {
    let scene = Scene::new();
    scene.run("instrumented", &[("SILVERPOINT_FILTER", "debug")]);
    let session = reader::only_session(scene.root());
    let records: Vec<_> = session.records().into_iter().collect();
    // Every span has its end, but for the last thing's the order is that of the calls.
    let mut told = Vec::new();
    let mut open = Vec::new();
    for record in &records {
        match record.what.as_str() {
            "end" => {
                let (site, ticks) = open.pop().unwrap();
                assert_eq!(
                    record.args,
                    format!("{site}, {ticks}"),
                    "spans are closed in the order of their ends"
                );
                told.push(("/".to_owned(), String::new()));
            }
            what => {
                let site = &session.sites[&record.site];
                if site.kind as u8 == 3 {
                    open.push((record.site, record.ticks));
                }
                told.push((what.to_owned(), format!("{}{}", site.names.replace('\n', "="), record.args)));
            }
        }
    }
    assert!(open.is_empty());
    let expected = [
        ("plain", "id=name=7, \"four\""),
        ("inside", ""),
        ("/", ""),
        ("nothing", ""),
        ("/", ""),
        ("other", "id=list=len=shown=twice=1, [5], 1, \"Opaque(3)\", 2"),
        ("/", ""),
        ("all_skipped", "name=\"n\""),
        ("/", ""),
        ("patterns", "a=b=x=y=type=reference=1, 2, 4, 5, 6, true"),
        ("/", ""),
        ("returned", "n=5"),
        ("returned.return", "value=5"),
        ("/", ""),
        ("returned", "n=1"),
        ("returned.return", "value=0"),
        ("/", ""),
        ("returned", "n=0"),
        ("returned.return", "value=none"),
        ("/", ""),
        ("failing", "text=\"3\""),
        ("/", ""),
        ("failing", "text=\"x\""),
        ("failing.error", "error=\"refused 0\""),
        ("/", ""),
        ("failing", "text=\"5\""),
        ("failing.error", "error=\"refused 5\""),
        ("/", ""),
        ("both", "n=1"),
        ("both.return", "value=\"Opaque(1)\""),
        ("/", ""),
        ("both", "n=5"),
        ("both.error", "error=[\"refused 5\"]"),
        ("/", ""),
        ("both", "n=10"),
        ("both.error", "error=[\"refused 10\", \"an error occurred when formatting an argument\"]"),
        ("/", ""),
        ("shown_errors", "error=none"),
        ("/", ""),
        ("shown_errors", "error=1"),
        ("shown_errors.error", "error=\"Opaque(9)\""),
        ("/", ""),
        ("run", "by=id=4, 3"),
        ("run.return", "value=5"),
        ("/", ""),
        ("by_default", "n=2"),
        ("by_default.return", "value=2"),
        ("/", ""),
        ("generic", "values=all=[1.5f, 2.5f], 2"),
        ("/", ""),
        ("generic", "values=all=[\"a\"], 1"),
        ("/", ""),
    ];
    let told: Vec<_> = told.iter().map(|(what, args)| (what.as_str(), args.as_str())).collect();
    for (told, expected) in told.iter().zip(&expected) {
        assert_eq!(told, expected);
    }
    assert_eq!(told.len(), expected.len());
    let level = |what: &str| session.site(what).level as u8;
    assert_eq!(
        (level("plain"), level("other"), level("failing"), level("failing.error"), level("returned.return")),
        (1, 3, 1, 4, 1)
    );
    let site = session.site("other");
    assert_eq!((site.category.as_str(), site.function.as_str()), ("net::tcp", "it::instrument::options"));
    assert!(site.file.ends_with("tests/it/instrument.rs") && site.line > 0);
    assert_eq!(session.site("run").function, "it::instrument::Pump::run");
    assert_eq!(session.site("returned.return").function, "it::instrument::returned");
}

/// Records when it is dropped.
struct Held(&'static str);

impl Drop for Held {
    fn drop(&mut self) {
        info!("released {}", self.0);
    }
}

#[instrument(level = "error", ret)]
async fn waits(id: u8, text: &str) -> Result<u8, Refused> {
    let _held = Held("in time");
    let mut polls = 0;
    std::future::poll_fn(|context| {
        polls += 1;
        context.waker().wake_by_ref();
        if polls == 3 { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    info!("waited {}", polls);
    Ok(u8::try_from(text.len()).map_err(|_| Refused(1))? + id)
}

#[instrument]
async fn never(n: u8) -> ! {
    std::future::pending::<()>().await;
    panic!("{n}")
}

#[instrument(err)]
async fn fails() -> Result<(), Refused> {
    Err(Refused(7))?;
    unreachable!()
}

#[instrument(skip_all)]
async fn holds(first: Held, second: Held, #[cfg(any())] absent: Held) {
    std::future::pending::<()>().await;
}

/// Done at once, and what it has is dropped with it.
struct KeepsHeld(#[allow(dead_code)] Held);

impl Future for KeepsHeld {
    type Output = ();

    fn poll(self: std::pin::Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return value;
        }
    }
}

/// Values become what the function gives, as they do without the attribute.
#[allow(clippy::ptr_arg)]
#[instrument(level = "trace", skip_all)]
async fn boxed(name: &String, is_some: bool) -> Result<Box<dyn std::fmt::Display + '_>, Refused> {
    if is_some {
        return Ok(Box::new(7));
    }
    Ok(Box::new(name))
}

#[allow(clippy::ptr_arg)]
#[instrument(level = "trace", skip_all, ret)]
async fn shortened(name: &String) -> Option<&str> {
    Some(name)
}

#[instrument]
async fn deep() -> u8 {
    let held = [1_u8; 1024];
    std::future::ready(()).await;
    held[held.len() / 2]
}

#[instrument]
async fn deeper() -> u8 {
    deep().await
}

#[instrument(ret)]
async fn deepest() -> u8 {
    deeper().await
}

fn waiting() {
    // (Their level is off here.)
    typed();
    // Futures within futures grow by what each level has itself, not by powers of two.
    let sizes = (size_of_val(&deep()), size_of_val(&deeper()), size_of_val(&deepest()));
    assert!(sizes.0 < 1400 && sizes.1 < sizes.0 + 128 && sizes.2 < sizes.1 + 128, "{sizes:?}");
    // The future goes to another thread after its first poll.
    let mut future = Box::pin(waits(1, "four"));
    assert!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    let other = std::thread::spawn(move || block_on(future));
    assert_eq!(other.join().unwrap().unwrap(), 5);
    assert!(block_on(fails()).is_err());
    // One that is dropped before it is done ends there; one that was never polled never began.
    let mut dropped = Box::pin(waits(2, ""));
    assert!(dropped.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    drop(dropped);
    drop(waits(3, ""));
    // What is dropped before its end is dropped within its span, and what is done is not entered again.
    drop(async_span!("unpolled").with(std::future::ready(Held("unpolled"))));
    // Its arguments are within, too: the last one is dropped first, as those of any function.
    let mut holding = Box::pin(holds(Held("first"), Held("second")));
    assert!(holding.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    drop(holding);
    // One whose poll panics is dropped within, and once.
    let panics = std::panic::catch_unwind(|| {
        let held = Held("unwound");
        block_on(async_span!("panics").with(async move {
            let _held = held;
            std::panic::resume_unwind(Box::new(()));
        }))
    });
    assert!(panics.is_err());
    let done = async_span!("done").with(KeepsHeld(Held("late")));
    let mut done = Box::pin(done);
    assert!(done.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
    drop(done);
    drop(never(4));
    let mut pump = Pump { id: 1, level: 1 };
    assert_eq!(block_on(pump.fill(2)), 3);
}

fn typed() {
    let name = "n".to_owned();
    assert_eq!(block_on(boxed(&name, false)).map(|shown| shown.to_string()).ok(), Some(name.clone()));
    assert_eq!(block_on(boxed(&name, true)).map(|shown| shown.to_string()).ok().as_deref(), Some("7"));
    assert_eq!(block_on(shortened(&name)), Some("n"));
}

fn async_functions_are_async_spans() {
    let scene = Scene::new();
    // The end is recorded where the begin is, at any level.
    scene.run("waiting", &[("SILVERPOINT_FILTER", "error, it::instrument=debug")]);
    let session = reader::only_session(scene.root());
    let mut ids = Vec::new();
    let mut told = Vec::new();
    for record in session.records() {
        if record.what == "end" {
            told.push("end".to_owned());
            continue;
        }
        let kind = session.sites[&record.site].kind as u8;
        let mut args = record.args.clone();
        if [3, 6, 7].contains(&kind) {
            let (id, rest) = args.split_once(", ").unwrap_or((&args, ""));
            if !ids.contains(&id.to_owned()) {
                ids.push(id.to_owned());
            }
            let number = ids.iter().position(|known| known == id).unwrap();
            args = format!("#{number} {rest}");
        }
        told.push(format!("{kind} {} {args}", record.what));
    }
    let expected = [
        r#"6 waits #0 1, "four""#,
        // Each poll is a stretch of it; the second one is in another thread.
        "3 waits #0 ",
        "end",
        "3 waits #0 ",
        "end",
        "3 waits #0 ",
        "0 waited {} 3",
        "0 released {} \"in time\"",
        r#"2 waits.return #0 Ok{0: 5}"#,
        "end",
        "7 waits #0 ",
        "6 fails #1 ",
        "3 fails #1 ",
        r#"2 fails.error "refused 7""#,
        "end",
        "7 fails #1 ",
        r#"6 waits #2 2, """#,
        "3 waits #2 ",
        "end",
        "3 waits #2 ",
        "0 released {} \"in time\"",
        "end",
        "7 waits #2 ",
        "6 unpolled #3 ",
        "3 unpolled #3 ",
        "0 released {} \"unpolled\"",
        "end",
        "7 unpolled #3 ",
        "6 holds #4 ",
        "3 holds #4 ",
        "end",
        "3 holds #4 ",
        "0 released {} \"second\"",
        "0 released {} \"first\"",
        "end",
        "7 holds #4 ",
        "6 panics #5 ",
        "3 panics #5 ",
        "0 released {} \"unwound\"",
        "end",
        "3 panics #5 ",
        "end",
        "7 panics #5 ",
        "6 done #6 ",
        "3 done #6 ",
        "end",
        "0 released {} \"late\"",
        "7 done #6 ",
        "6 fill #7 2",
        "3 fill #7 ",
        "2 fill.return 3",
        "end",
        "7 fill #7 ",
    ];
    assert_eq!(told, expected);
    assert!(session.sites.values().any(|site| site.template == "waits" && site.names == "span.id\n"));
    let levels: Vec<u8> =
        session.sites.values().filter(|site| site.template == "waits").map(|site| site.level as u8).collect();
    assert_eq!(levels, [4, 4, 4], "begin, stretches and end");
}

thread_local! {
    static ASKED: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

fn asked() -> u32 {
    ASKED.set(ASKED.get() + 1);
    ASKED.get()
}

#[instrument(level = "trace", fields(asked = asked()), ret)]
fn silent(n: u8) -> u8 {
    n
}

fn off() {
    assert_eq!(silent(3), 3);
    assert_eq!(ASKED.get(), 0);
}

fn what_is_off_costs_no_argument() {
    let scene = Scene::new();
    scene.run("instrumented_off", &[("SILVERPOINT_FILTER", "debug")]);
    let session = reader::only_session(scene.root());
    assert_eq!(session.records().len(), 0);
}
