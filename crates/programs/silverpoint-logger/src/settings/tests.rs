//! What is read of settings, and what is refused.

use silverpoint_wire::level::Level;

use super::*;

#[test]
fn a_whole_configuration_is_read() {
    let text = r#"
        record = "info,net=debug"
        spool = "/var/spool/app"
        spool-size = "128M"
        [[sink]]
        to = "stderr"
        level = "warn"
        colour = true
        [[sink]]
        to = "file"
        path = "app.jsonl"
        format = "json"
        category = ["net", "io::*"]
        where = "bytes > 1000"
        rotate-size = "64M"
        rotate-age = "24h"
        keep = 5
    "#;
    let config = Config::from_text(text, "a.toml").unwrap();
    assert_eq!((config.record.as_str(), config.spool_bytes), ("info,net=debug", 128 << 20));
    assert_eq!(config.spool.as_deref(), Some(Path::new("/var/spool/app")));
    let [console, json] = &config.sinks[..] else { panic!("{config:?}") };
    assert!(matches!(console.to, To::Stderr) && console.text.colour && !console.json);
    assert_eq!(console.filter.level, Some(Level::Warn));
    let To::File(file) = &json.to else { panic!("{json:?}") };
    assert_eq!((file.rotate_bytes, file.keep.count), (Some(64 << 20), 5));
    assert_eq!(file.rotate_after, Some(std::time::Duration::from_secs(86_400)));
    assert!(json.json && json.filter.expression.is_some());
    assert_eq!(json.filter.categories, ["net", "io::*"]);
}

/// The page's example, as it stands there.
#[test]
fn the_example_of_the_guide_is_right() {
    let page = include_str!("../../../../../docs/guide/logger-rust.md");
    let toml = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let config = Config::from_text(toml, "guide").unwrap();
    assert_eq!(config.sinks.len(), 2);
    let error = Config::from_text(&toml.replace("\"warn\"", "\"wran\""), "log.toml").unwrap_err();
    assert!(page.contains(&format!("silverpoint: {error}\n")), "{error}");
}

#[test]
fn mistakes_are_told_with_their_line_and_what_is_valid() {
    let cases = [
        (
            "recrod = \"info\"",
            1,
            "\"recrod\" is no key; valid are record, sink, spool, spool-size, policy, block-max, crash, crash-wait, reopen-on-hangup",
        ),
        ("\nrecord = 7", 2, "expected directives such as \"info,net=debug\", not integer"),
        ("record = \"net=loud\"", 1, "loud"),
        (
            "[[sink]]\nto = \"tape\"",
            2,
            "\"tape\" is no destination; valid are stderr, stdout, file, trace-file, journald, syslog",
        ),
        ("[[sink]]\nlevel = \"info\"", 1, "this sink has no to"),
        ("[[sink]]\nto = \"file\"", 2, "path = \"app.log\""),
        (
            "[[sink]]\nto = \"stderr\"\npath = \"x\"",
            3,
            "only a sink to = \"file\" or \"trace-file\" has a path",
        ),
        (
            "[[sink]]\nto = \"stderr\"\nlevel = \"loud\"",
            3,
            "valid are trace, debug, info, warn, error or fatal",
        ),
        (
            "[[sink]]\nto = \"stderr\"\ncategory = \"net=warning\"",
            3,
            "'net=warning': 'warning' after = is no level; valid are trace, debug, info, warn, error, fatal",
        ),
        (
            "[[sink]]\nto = \"stderr\"\ncategory = [\"io\", \"a=b\"]",
            3,
            "(for a category with = in its name: 'a?b')",
        ),
        ("[[sink]]\nto = \"stderr\"\nkeep = 3", 3, "only a sink to = \"file\" or \"trace-file\" is rotated"),
        ("[[sink]]\nto = \"file\"\npath = \"x\"\nkeep = -1", 4, "how many old files"),
        ("[[sink]]\nto = \"file\"\npath = \"x\"\nkeep = 1", 4, "rotate-size, rotate-age or rotate-at"),
        ("[[sink]]\nto = \"file\"\npath = \"x\"\nrotate-at = \"week\"", 4, "valid are hour, day"),
        (
            "[[sink]]\nto = \"file\"\npath = \"x\"\nrotate-at = \"day\"\ncompress = \"zstd:99\"",
            5,
            "from 1 to 22",
        ),
        ("[[sink]]\nto = \"file\"\npath = \"x\"\nrotate-size = \"big\"", 4, "expected a size"),
        ("[[sink]]\nto = \"stderr\"\nwhere = \"a >\"", 3, ""),
        (
            "[[sink]]\nto = \"stderr\"\nformat = \"xml\"",
            3,
            "valid are text, json, qdebug, qt, summary, pattern",
        ),
        ("[[sink]]\nto = \"stderr\"\nformat = \"pattern\"", 3, "needs a pattern"),
        ("[[sink]]\nto = \"stderr\"\nformat = \"json\"\npattern = \"{time}\"", 3, "JSON has no pattern"),
        ("[[sink]]\nto = \"stderr\"\nzone = \"Nowhere/City\"", 3, "valid are local, utc, or a name"),
        ("[[sink]]\nto = \"stderr\"\ntime = \"ISO\"", 3, "valid are time, full, relative, delta, none"),
        ("[[sink]]\nto = \"stderr\"\ndigits = 10", 3, "0 to 9"),
        (
            "[[sink]]\nto = \"stderr\"\nflush.evry = \"1s\"",
            3,
            "\"evry\" is no key of flush; valid are every, bytes, level",
        ),
        ("[[sink]]\nto = \"stderr\"\nflush = \"1s\"", 3, "expected flush.every"),
        ("[[sink]]\nto = \"journald\"\nflush.every = \"1s\"", 3, "only files and the console"),
        (
            "[[sink]]\nto = \"stderr\"\nsync = \"1s\"",
            3,
            "only a sink to = \"file\" or \"trace-file\" is synced",
        ),
        (
            "[[sink]]\nto = \"file\"\npath = \"x\"\nsync = \"often\"",
            4,
            "valid are never, a level, or a duration",
        ),
        ("[[sink]]\nto = \"stderr\"\ncolour = \"yes\"", 3, "expected true or false, not string"),
        ("[[sink]]\nto = \"stderr\"\npattern = \"{levle}\"", 3, "valid are time, datetime"),
        ("policy = \"wait\"", 1, "expected block, block=forever, drop or overwrite"),
        ("policy = \"drop,loud=block\"", 1, "expected a level: trace, debug"),
        ("block-max = 5", 1, "expected a duration such as \"500ms\", not integer"),
        ("record = \"info", 1, ""),
        ("sink = 3", 1, "[[sink]]"),
    ];
    for (text, line, words) in cases {
        let error = Config::from_text(text, "a.toml").expect_err(text);
        assert_eq!(error.line, line, "{text}: {error}");
        assert!(error.text.contains(words), "{text}: {error}");
        assert!(error.to_string().starts_with(&format!("a.toml:{line}: ")), "{error}");
    }
}

/// The message named neither the configuration nor a line.
#[test]
fn two_sinks_with_one_file_are_told_with_file_and_line() {
    let text = "[[sink]]\nto = 'file'\npath = '/x/app.log'\n\n[[sink]]\nto = 'stderr'\n[[sink]]\npath = '/x/./app.log'\nto = 'file'\n";
    let error = Config::from_text(text, "b.toml").and_then(Config::check).unwrap_err();
    let expected = "b.toml:8: the sink of line 3 has the same file: /x/app.log; give each sink its own";
    assert_eq!(error.to_string(), expected);
    assert_eq!(Config::effective(text, "b.toml").unwrap_err(), error);
    // Of two configurations each is named; what code says has no line.
    let mut both = Config::from_text(&text[..41], "a.toml").unwrap();
    both.sinks.extend(Config::from_text(&text[..41], "b.toml").unwrap().sinks);
    assert!(
        both.check().unwrap_err().to_string().starts_with("b.toml:3: the sink of a.toml:3 has the same file")
    );
    let coded = Config::new("info").sink(Sink::file("/x/a")).sink(Sink::file("/x/a"));
    assert!(coded.check().unwrap_err().to_string().contains("/x/a: two sinks have this file"));
}

#[test]
fn the_environment_names_directives_or_a_file() {
    let config = || Config::new("info").sink(Sink::stderr());
    assert_eq!(config().with_value("debug,net=off").unwrap().record, "debug,net=off");
    assert_eq!(config().with_value("").unwrap().record, "info");
    let error = config().with_value("net=loud").unwrap_err();
    assert!(error.to_string().starts_with("SILVERPOINT: ") && error.text.contains(".toml"), "{error}");
    let error = config().with_value("/nowhere/log.toml").unwrap_err();
    assert!(error.to_string().starts_with("/nowhere/log.toml: "), "{error}");
}
