//! Counts, order, filter and screen, over a trace made for them.

#[path = "../../../../read/silverpoint-trace/examples/make_trace/builder.rs"]
mod builder;

use std::io::Write as _;
use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use silverpoint_trace::Tally;
use silverpoint_wire::block::LossInfo;
use silverpoint_wire::layout::record::{LOSS, STALL};
use silverpoint_wire::level::Level;
use tempfile::NamedTempFile;

use self::builder::{Builder, log};
use super::model::{Column, Counts, Model, View};
use super::plain;
use super::screen::{Screen, Wish};

/// Two sites of a process, one of another; a wait and a loss, each before a record.
fn built() -> Builder {
    let mut b = Builder::new();
    b.session(1, "/bin/pump", 7);
    b.site(1, 16, &log(Level::Info, "net", 10, "sent {}", "L"));
    b.site(1, 17, &log(Level::Error, "disk", 20, "failed\n{}", "L"));
    b.stream(1, 1, 70, "main");
    b.stream(1, 2, 71, "");
    b.session(2, "/bin/other", 8);
    b.site(2, 16, &log(Level::Debug, "", 30, "step", ""));
    b.stream(2, 1, 80, "worker");
    b.losses(1, &LossInfo { stream: 1, losses: [5, 0, 0, 0, 0, 0, 0, 0], stalls: 2, stall_ns: 3_000_500 });
    let number = 1u64.to_le_bytes();
    for n in 1..=3 {
        b.record(1, 1, 16, n, &number);
    }
    // Two waits and a loss: all stand before the same record.
    let stall = |ns: u64| [&[0][..], &ns.to_le_bytes()].concat();
    b.record(1, 1, STALL, 4, &stall(3_000_000));
    b.record(1, 1, STALL, 5, &stall(500));
    b.record(
        1,
        1,
        LOSS,
        5,
        &[&[0][..], &5u64.to_le_bytes(), &4u64.to_le_bytes(), &5u64.to_le_bytes()].concat(),
    );
    b.record(1, 1, 17, 6, &number);
    b.record(1, 1, 17, 7, &number);
    b.record(1, 2, 16, 8, &number);
    for n in 1..=40 {
        b.record(2, 1, 16, n, &[]);
    }
    b.flush(1, 1, false);
    b.flush(1, 2, true);
    b.flush(2, 1, true);
    b
}

/// The model of that trace after one interval of two seconds.
fn counted(view: View, column: Column) -> (Model, Tally) {
    let mut file = NamedTempFile::with_prefix("silverpoint-top-").unwrap();
    file.write_all(&built().bytes).unwrap();
    let mut tally = Tally::new();
    tally.add(file.path(), false).unwrap();
    let begun = Instant::now();
    let mut model = Model::new(view, column, begun);
    for _ in 0..2 {
        // What was counted is not counted again.
        let notes = tally.poll(|_, session, stream, found| model.count(session, stream, found)).unwrap();
        assert!(notes.is_empty(), "{notes:?}");
    }
    model.sample(begun + Duration::from_secs(2), 0);
    (model, tally)
}

fn names(model: &Model, tally: &Tally) -> Vec<String> {
    model.rows(tally.trace()).into_iter().map(|row| row.name).collect()
}

#[test]
fn waits_and_losses_stand_at_the_record_after_them() {
    let (model, tally) = counted(View::Sites, Column::Records);
    let rows = model.rows(tally.trace());
    let row = |name: &str| rows.iter().find(|row| row.name == name).unwrap();
    let failed = row("failed\\n{}");
    assert_eq!(failed.counts, Counts { records: 2, bytes: 48, stalls: 2, stall_ns: 3_000_500, lost: 5 });
    assert_eq!(row("sent {}").counts, Counts { records: 4, bytes: 96, ..Counts::default() });
    assert_eq!((row("sent {}").rate, row("step").rate), (2.0, 20.0));
    let total = model.total(tally.trace());
    assert_eq!((total.counts.records, total.sizes, total.losses), (46, (2, 3, 3), vec![("full", 5)]));
    let (model, tally) = counted(View::Threads, Column::Stalls);
    let first = &model.rows(tally.trace())[0];
    assert_eq!((first.name.as_str(), first.counts.records, first.counts.lost), ("main 70", 5, 5));
}

#[test]
fn every_column_orders_and_every_text_filters() {
    let by = |column| {
        let (model, tally) = counted(View::Sites, column);
        names(&model, &tally)
    };
    assert_eq!(by(Column::Rate), ["step", "sent {}", "failed\\n{}"]);
    assert_eq!(by(Column::Bytes), ["step", "sent {}", "failed\\n{}"]);
    assert_eq!(by(Column::Records), ["step", "sent {}", "failed\\n{}"]);
    assert_eq!(by(Column::Stalls), ["failed\\n{}", "sent {}", "step"]);
    assert_eq!(by(Column::Lost), ["failed\\n{}", "sent {}", "step"]);
    assert_eq!(by(Column::Name), ["failed\\n{}", "sent {}", "step"]);
    let (mut model, tally) = counted(View::Sites, Column::Name);
    model.reversed = true;
    assert_eq!(names(&model, &tally), ["step", "sent {}", "failed\\n{}"]);
    for (pattern, expected) in [
        ("SENT", "sent {}"),
        ("disk", "failed\\n{}"),
        ("other[8]", "step"),
        ("Error", "failed\\n{}"),
        (":30", "step"),
    ] {
        model.pattern = pattern.to_owned();
        assert_eq!(names(&model, &tally), [expected], "{pattern}");
    }
    model.pattern = "nothing of the sort".to_owned();
    assert!(names(&model, &tally).is_empty());
}

#[test]
fn text_and_json_show_the_same() {
    let (model, tally) = counted(View::Sites, Column::Lost);
    let mut text = String::new();
    plain::push_text(&mut text, &model, tally.trace(), 2);
    assert_eq!(
        text.lines().map(str::trim_end).collect::<Vec<_>>(),
        [
            "23 records/s, 392 B/s; 46 records in 3 sites, 3 threads, 2 processes",
            "2 times waited 3.0 ms, lost: 5 full",
            "     RATE/S      BYTES/S        RECORDS     WAITED       LOST  LEVEL  PROCESS               SITE",
            "        1.0         24 B              2     3.0 ms          5  error  pump[7]               failed\\n{}  disk  pump.cpp:20",
            "        2.0         48 B              4                        info   pump[7]               sent {}  net  pump.cpp:10",
            "… and 1 more",
            "",
        ]
    );
    let mut json = String::new();
    plain::push_json(&mut json, &model, tally.trace(), 1);
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((value["records"].as_u64(), value["losses"]["full"].as_u64()), (Some(46), Some(5)));
    assert_eq!(value["sites"].as_array().unwrap().len(), 1);
    let site = &value["sites"][0];
    assert_eq!((site["stall_ns"].as_u64(), site["lost_before"].as_u64()), (Some(3_000_500), Some(5)));
}

fn press(screen: &mut Screen, model: &mut Model, code: KeyCode) -> Wish {
    screen.key(KeyEvent::new(code, KeyModifiers::NONE), model)
}

/// What the terminal shows, line by line.
fn drawn(screen: &mut Screen, model: &Model, tally: &Tally, size: (u16, u16)) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
    terminal.draw(|frame| screen.draw(frame, model, tally.trace())).unwrap();
    let buffer = terminal.backend().buffer();
    let line = |y| (0..size.0).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned();
    (0..size.1).map(line).collect()
}

#[test]
fn the_screen_shows_the_table_and_obeys_keys() {
    let (mut model, tally) = counted(View::Sites, Column::Rate);
    let mut screen = Screen::new(true);
    assert_eq!(
        drawn(&mut screen, &model, &tally, (110, 7)),
        [
            "23 records/s, 392 B/s; 46 records in 3 sites, 3 threads, 2 processes",
            "2 times waited 3.0 ms, lost: 5 full",
            "    vRATE/S     BYTES/S       RECORDS    WAITED      LOST LEVEL PROCESS              SITE",
            "         20       320 B            40                     debug other[8]             step  pump.cpp:30",
            "        2.0        48 B             4                     info  pump[7]              sent {}  net  pump.cpp:10",
            "        1.0        24 B             2    3.0 ms         5 error pump[7]              failed\\n{}  disk  pump.cp",
            "q quit  / filter  < > order  r reverse  Tab threads  h help",
        ]
    );
    // Filter as one types; each key counts at once.
    press(&mut screen, &mut model, KeyCode::Char('/'));
    for c in "diq".chars() {
        press(&mut screen, &mut model, KeyCode::Char(c));
    }
    assert!(drawn(&mut screen, &model, &tally, (110, 7))[3].is_empty());
    press(&mut screen, &mut model, KeyCode::Backspace);
    let lines = drawn(&mut screen, &model, &tally, (110, 7));
    assert!(
        lines[3].contains("failed") && lines[4].is_empty() && lines[6].starts_with("filter: di_"),
        "{lines:?}"
    );
    press(&mut screen, &mut model, KeyCode::Enter);
    assert!(drawn(&mut screen, &model, &tally, (110, 7))[6].starts_with("filter: di  "));
    press(&mut screen, &mut model, KeyCode::Esc);
    assert_eq!(model.pattern, "");
    // Order, direction, view.
    for _ in 0..3 {
        press(&mut screen, &mut model, KeyCode::Char('>'));
    }
    assert_eq!(model.column, Column::Stalls);
    press(&mut screen, &mut model, KeyCode::Left);
    press(&mut screen, &mut model, KeyCode::Char('r'));
    assert!(model.column == Column::Records && model.reversed);
    press(&mut screen, &mut model, KeyCode::Tab);
    let lines = drawn(&mut screen, &model, &tally, (60, 7));
    assert!(lines[2].ends_with("THREAD") && lines[2].contains("^RECORDS"), "{lines:?}");
    assert!(lines[3].ends_with("71"), "a narrow screen keeps numbers and names: {lines:?}");
    // Scrolling ends where the rows do, however often a key is pressed.
    for _ in 0..10 {
        press(&mut screen, &mut model, KeyCode::PageDown);
    }
    let lines = drawn(&mut screen, &model, &tally, (60, 5));
    assert!(lines[3].ends_with("worker 80"), "{lines:?}");
    press(&mut screen, &mut model, KeyCode::Home);
    assert!(drawn(&mut screen, &model, &tally, (60, 5))[3].ends_with("71"));
    // Help goes with any key, which does nothing else.
    press(&mut screen, &mut model, KeyCode::Char('h'));
    assert!(
        drawn(&mut screen, &model, &tally, (80, 20)).iter().any(|line| line.contains("filter as you type"))
    );
    assert_eq!(press(&mut screen, &mut model, KeyCode::Char('q')), Wish::Draw);
    assert_eq!(press(&mut screen, &mut model, KeyCode::Char('q')), Wish::Quit);
    assert_eq!(screen.key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL), &mut model), Wish::Quit);
    // A screen without room is no reason to fail.
    for size in [(1, 1), (3, 2), (10, 3)] {
        drawn(&mut screen, &model, &tally, size);
    }
}

#[test]
fn what_was_overwritten_unseen_is_no_silence() {
    let total =
        super::model::Total { rate: 10.0, byte_rate: 100.0, missed: (1800, 900.0), ..Default::default() };
    assert!((total.estimated_rate() - 100.0).abs() < 1e-9);
    let said = super::shown::summary(&total).join("\n");
    assert!(said.contains("about ") && said.contains(" of them seen"), "{said}");
    assert!(said.contains("were overwritten before they were seen"), "{said}");
    assert!(!said.contains("nothing lost"), "{said}");
    let quiet = super::shown::summary(&super::model::Total::default()).join("\n");
    assert!(quiet.contains("nothing lost") && !quiet.contains("seen"), "{quiet}");
}
