//! Expectations, and what they say when they are not met.

use std::panic::{AssertUnwindSafe, catch_unwind};

use silverpoint::{counter, event, info, span, warn};
use silverpoint_testing::{Capture, Kind, Level, is};

use crate::{alone, message_of};

fn fill(id: u64, px: f64) {
    event!("order.filled", id, px, venue = "XETR");
}

/// The line of the tracepoint in [`fill`].
fn fill_line() -> u32 {
    let capture = Capture::start();
    fill(0, 0.0);
    capture.records()[0].line()
}

#[test]
fn an_event_by_name_and_values() {
    let capture = Capture::start();
    fill(7, 1.5);
    capture.expect_event("order.filled").once();
    let filled =
        capture.expect_event("order.filled").with("id", 7).with("px", 1.5).with("venue", "XETR").once();
    assert_eq!(filled["id"], 7);
    capture.expect("order.filled").with("0", 7_u8).with("1", 1.5_f32).once();
    capture.expect_event("order.filled").with("0", is(|id| id.as_i128() > Some(6))).once();
    capture.expect_event("order.filled").with("0", is(|id| id.as_i128() > Some(7))).never();
    capture.expect_event("order.filled").with("id", 8).never();
    capture.expect_event("order.filled").with("id", "7").never();
    capture.expect_event("order.filled").with("price", 1.5).never();
    capture.expect_event("order").never();
    capture.expect_counter("order.filled").never();
    fill(8, 1.5);
    assert_eq!(capture.expect_event("order.filled").times(2).len(), 2);
    assert_eq!(capture.expect_event("order.filled").with("id", 8).at_least(1).len(), 1);
    assert_eq!(capture.expect_event("order.filled").with("id", 9).at_least(0).len(), 0);
    assert_eq!(capture.expect_event("order.filled").found().len(), 2);
    assert!(capture.losses().is_none());
}

#[test]
fn of_every_kind() {
    let capture = Capture::start();
    let load = span!("load", path = "a.xml");
    info!(target: "net", "order {} at {:.2}", 7, 1.5);
    drop(load);
    counter!("queue", 3);
    counter!("queue", 4);
    silverpoint::instant!("frame", number = 12);
    silverpoint::async_begin!("fetch", 9);
    capture.expect_message("order 7 at 1.50").level(Level::Info).category("net").within("load").once();
    capture.expect("order {} at {:.2}").with("0", 7).with("1", 1.5).once();
    capture.expect_span("load").with("path", "a.xml").once();
    capture.expect_counter("queue").value(4).once();
    capture.expect("frame").kind(Kind::Instant).with("number", 12).once();
    capture.expect("fetch").kind(Kind::AsyncBegin).with("id", 9).once();
    assert_eq!(capture.counter("queue"), [3, 4]);
    assert_eq!(capture.messages(), ["order 7 at 1.50"]);
    assert_eq!(capture.records().len(), 6);
    capture.none_of(Level::Warn..);
    capture.none_of(..=Level::Trace);
}

#[test]
fn what_differs_is_marked() {
    let (capture, line) = (Capture::start(), fill_line());
    capture.clear();
    fill(8, 1.5);
    fill(7, 2.5);
    assert_eq!(
        message_of(capture.expect_event("order.filled").with("id", 7).with("px", 1.5).with("qty", 3)),
        format!(
            "expected once, recorded not at all: event order.filled id=7 px=1.5 qty=3
with that name there is, what differs marked !:
  event order.filled !id=8 (u64) px=1.5 (f64) venue=\"XETR\" (text)  expect.rs:{line}
      id is 8, not 7
      there is no qty
  event order.filled id=7 (u64) !px=2.5 (f64) venue=\"XETR\" (text)  expect.rs:{line}
      px is 2.5, not 1.5
      there is no qty
"
        )
    );
    assert_eq!(
        message_of(
            capture.expect("order.filled").with("venue", 5).with("id", "8").level(Level::Warn).within("load")
        ),
        format!(
            "expected once, recorded not at all: order.filled venue=5 id=\"8\" at level warn within load
with that name there is, what differs marked !:
  event order.filled !id=8 (u64) px=1.5 (f64) !venue=\"XETR\" (text)  expect.rs:{line}
      the level is info, not warn
      it is not within load, nor within any span
      venue is \"XETR\", not 5
      id is 8, not \"8\"
  event order.filled !id=7 (u64) px=2.5 (f64) !venue=\"XETR\" (text)  expect.rs:{line}
      the level is info, not warn
      it is not within load, nor within any span
      venue is \"XETR\", not 5
      id is 7, not \"8\"
"
        )
    );
    assert_eq!(
        message_of(capture.expect_event("order.filled")),
        format!(
            "expected once, recorded 2 times: event order.filled
these are:
  event order.filled id=8 (u64) px=1.5 (f64) venue=\"XETR\" (text)  expect.rs:{line}
  event order.filled id=7 (u64) px=2.5 (f64) venue=\"XETR\" (text)  expect.rs:{line}
"
        )
    );
}

#[test]
fn the_nearest_are_listed() {
    let (capture, line) = (Capture::start(), fill_line());
    capture.clear();
    for id in 0..30 {
        fill(id, if id == 3 { 1.5 } else { 9.5 });
    }
    let message = message_of(capture.expect_event("order.filled").with("id", 50).with("px", 1.5));
    let lines: Vec<&str> = message.lines().collect();
    assert_eq!(lines.len(), 2 + 20 + 39 + 1, "{message}");
    assert!(message.contains("(and 10 less like it)\n"), "{message}");
    // The one with the fewest differences is among them, in order of time.
    assert_eq!(
        lines[2 + 3 * 3],
        format!("  event order.filled !id=3 (u64) px=1.5 (f64) venue=\"XETR\" (text)  expect.rs:{line}")
    );
    assert_eq!(lines[2 + 3 * 3 + 1], "      id is 3, not 50");
    let message = message_of(capture.expect_event("market.closed"));
    assert!(message.starts_with("expected once, recorded not at all: event market.closed\nnothing is called that; what was recorded:\n  (10 before)\n  event order.filled id=10 "), "{message}");
    assert_eq!(message.lines().count(), 3 + 20);
}

#[test]
fn names_that_are_nearly_right() {
    let (capture, line) = (Capture::start(), fill_line());
    capture.clear();
    fill(1, 2.0);
    assert_eq!(
        message_of(capture.expect_event("order.filed").with("id", 1)),
        format!(
            "expected once, recorded not at all: event order.filed id=1
nothing is called that (is it order.filled?); what was recorded:
  event order.filled id=1 (u64) px=2.0 (f64) venue=\"XETR\" (text)  expect.rs:{line}
"
        )
    );
}

#[test]
fn messages_that_differ() {
    let capture = Capture::start();
    assert_eq!(
        message_of(capture.expect_message("order 7 at 1.50")),
        "expected once, recorded not at all: log \"order 7 at 1.50\"\nnothing was recorded\n"
    );
    warn!("slow");
    info!("order {} at {:.2}", 8, 1.5);
    let line = line!() - 1;
    assert_eq!(
        message_of(capture.expect_message("order 7 at 1.50")),
        format!(
            "expected once, recorded not at all: log \"order 7 at 1.50\"
these messages were recorded:
  log warn \"slow\"  expect.rs:{}
  log info \"order 8 at 1.50\" 0=8 (i32) 1=1.5 (f64)  expect.rs:{line}
",
            line - 1
        )
    );
    assert_eq!(
        message_of(capture.expect_message("slow").level(Level::Error)),
        format!(
            "expected once, recorded not at all: log \"slow\" at level error
these messages were recorded:
  log warn \"slow\"  expect.rs:{}
      the level is warn, not error
  log info \"order 8 at 1.50\" 0=8 (i32) 1=1.5 (f64)  expect.rs:{line}
      the message is \"order 8 at 1.50\", not \"slow\"
      the level is info, not error
",
            line - 1
        )
    );
}

#[test]
fn counters_show_their_value() {
    let capture = Capture::start();
    counter!("queue", 3);
    let line = line!() - 1;
    assert_eq!(
        message_of(capture.expect_counter("queue").value(4)),
        format!(
            "expected once, recorded not at all: counter queue value=4
with that name there is, what differs marked !:
  counter queue !value=3 (i32)  expect.rs:{line}
      value is 3, not 4
"
        )
    );
}

#[test]
fn panics_name_the_line_of_the_test() {
    if !alone("expect::panics_name_the_line_of_the_test", &[]) {
        return;
    }
    // The hook is the process's: hence a process of its own.
    let place = std::sync::Arc::new(std::sync::Mutex::new(0));
    let seen = place.clone();
    std::panic::set_hook(Box::new(move |info| {
        *seen.lock().unwrap() = info.location().map_or(0, |at| at.line())
    }));
    let capture = Capture::start();
    warn!("slow");
    let failures: [(u32, &dyn Fn()); 5] = [
        (line!(), &|| drop(capture.expect_event("order.filled").once())),
        (line!(), &|| drop(capture.expect_event("order.filled").times(2))),
        (line!(), &|| drop(capture.expect_event("order.filled").at_least(1))),
        (line!(), &|| capture.expect("slow").never()),
        (line!(), &|| capture.none_of(Level::Warn..)),
    ];
    for (line, failure) in failures {
        let text = catch_unwind(AssertUnwindSafe(failure)).expect_err("it fails");
        let told = *place.lock().unwrap();
        assert_eq!(told, line, "{:?}", text.downcast_ref::<String>());
    }
}

#[test]
fn levels_where_nothing_should_be() {
    let capture = Capture::start();
    silverpoint::debug!("detail");
    capture.none_of(Level::Info..);
    capture.none_of(Level::Trace..Level::Debug);
    warn!("slow");
    let line = line!() - 1;
    let text = catch_unwind(AssertUnwindSafe(|| capture.none_of(Level::Warn..))).expect_err("there is one");
    assert_eq!(
        text.downcast_ref::<String>().unwrap(),
        &format!(
            "expected nothing at warn, error, fatal, recorded once\nthese are:\n  log warn \"slow\"  expect.rs:{line}\n"
        )
    );
}

#[test]
fn a_record_is_indexed_by_its_arguments() {
    let capture = Capture::start();
    fill(7, 1.5);
    let record = capture.expect_event("order.filled").once();
    assert_eq!(record["px"], 1.5);
    assert_eq!(record["venue"], "XETR");
    assert_eq!(record.value("price"), None);
    let text = catch_unwind(AssertUnwindSafe(|| record["price"].clone())).expect_err("there is none");
    let text = text.downcast_ref::<String>().unwrap();
    assert_eq!(*text, format!("no argument `price` in: {record}"));
    assert_eq!(record.level(), Level::Info);
    assert_eq!(record.kind(), Kind::Event);
    assert_eq!(record.function(), "it::expect::fill");
    assert_eq!(record.category(), "it::expect");
    assert_eq!(record.message(), "order.filled id=7 px=1.5 venue=XETR");
}

#[test]
fn places_functions_and_parts_of_messages() {
    let (capture, line) = (Capture::start(), fill_line());
    capture.clear();
    fill(7, 1.5);
    warn!("slow: {} ms", 12);
    let filled = || capture.expect_event("order.filled");
    filled().place("expect.rs").once();
    filled().place(&format!("it/expect.rs:{line}")).function("fill").once();
    filled().function("expect::fill").containing("px=1.5").once();
    filled().place(&format!("expect.rs:{}", line + 1)).never();
    filled().place("pect.rs").never();
    filled().function("ill").never();
    capture.expect("slow: {} ms").containing(": 12").once();
    let place = filled().once().file().to_owned();
    assert_eq!(
        message_of(filled().place("orders.rs:1").function("place").containing("id=8")),
        format!(
            "expected once, recorded not at all: event order.filled containing \"id=8\" at orders.rs:1 in place
with that name there is, what differs marked !:
  event order.filled id=7 (u64) px=1.5 (f64) venue=\"XETR\" (text)  expect.rs:{line}
      the message is \"order.filled id=7 px=1.5 venue=XETR\", without \"id=8\"
      the place is {place}:{line}, not orders.rs:1
      the function is it::expect::fill, not place
"
        )
    );
}
