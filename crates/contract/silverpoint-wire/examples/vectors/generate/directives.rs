//! directives.json: which sites are on, sentence by sentence of spec/directives.md; and malformed texts with the column of the mistake.

use super::json::Json;

/// What directives look at: level, category, file, line, function.
type Site = (&'static str, &'static str, &'static str, u32, &'static str);

const PUMP: Site = ("debug", "net::tcp", "/home/user/src/io/pump.cpp", 88, "void net::Pump::start(int)");
const LOUD: Site = ("error", "net::tcp", "/home/user/src/io/pump.cpp", 88, "void net::Pump::start(int)");
const BARE: Site = ("info", "", "main.c", 1, "main");
const RUST: Site = ("info", "db.pool", "src/pool/mod.rs", 12, "server::pool::Pool::take");
const LAMBDA: Site = (
    "trace",
    "ui/view",
    "ui/view.hpp",
    5,
    "static constexpr auto ui::View<T, (N)3>::paint(const C&) [with T = int]",
);

/// Directives, site, whether it is on.
const CASES: &[(&str, Site, bool)] = &[
    // Without a deciding directive a site is off; an empty text switches everything off.
    ("", LOUD, false),
    (" ", LOUD, false),
    (",", LOUD, false),
    ("io", LOUD, false),
    // On when its level is at least the directive's.
    ("trace", PUMP, true),
    ("debug", PUMP, true),
    ("info", PUMP, false),
    ("error", LOUD, true),
    ("fatal", LOUD, false),
    ("warn", BARE, false),
    ("info", BARE, true),
    // Upper or lower case.
    ("DEBUG", PUMP, true),
    ("Error", PUMP, false),
    ("net=TRACE", PUMP, true),
    ("trace,net=OFF", PUMP, false),
    // `on` is `trace`; a target alone is `target=on`, but a category of one word is malformed.
    ("on", LAMBDA, true),
    ("off", LOUD, false),
    ("net=on", PUMP, true),
    ("net", PUMP, false),
    ("net::tcp", PUMP, true),
    ("ui", LAMBDA, false),
    ("ui/*", LAMBDA, true),
    ("ui=on", LAMBDA, true),
    // Separated by commas, spaces around them ignored.
    ("off,net=on", PUMP, true),
    ("  off , net=on  ", PUMP, true),
    ("off,\tnet = debug ", PUMP, true),
    (",,net=on,,", PUMP, true),
    // A category, or one below it, at ::, . or /.
    ("net::tcp", PUMP, true),
    ("net::tcp::v6", PUMP, false),
    ("ne=on", PUMP, false),
    ("tcp=on", PUMP, false),
    ("net:=on", PUMP, false),
    ("db=on", RUST, true),
    ("db.pool", RUST, true),
    ("db.po", RUST, false),
    ("ui/view", LAMBDA, true),
    ("ui/vi", LAMBDA, false),
    ("NET=on", PUMP, false),
    // `*` any characters, `?` one; the whole name.
    ("net::*", PUMP, true),
    ("*tcp", PUMP, true),
    ("*cp", PUMP, true),
    ("n?t", PUMP, true),
    ("n?", PUMP, false),
    ("net::tc?", PUMP, true),
    ("net::tcp?", PUMP, false),
    ("*", PUMP, true),
    ("n*p", PUMP, true),
    ("n*x", PUMP, false),
    ("**", PUMP, true),
    ("*::*", PUMP, true),
    ("*::*", RUST, false),
    // A file: the end of the path at a /.
    ("pump.cpp", PUMP, true),
    ("io/pump.cpp", PUMP, true),
    ("/home/user/src/io/pump.cpp", PUMP, true),
    ("o/pump.cpp", PUMP, false),
    ("ump.cpp", PUMP, false),
    ("src/*.cpp", PUMP, true),
    ("*.cpp", PUMP, true),
    ("*.rs", RUST, true),
    ("mod.rs", RUST, true),
    ("src/pool/mod.rs", RUST, true),
    ("user/src/pool/mod.rs", RUST, false),
    ("p?mp.cpp", PUMP, true),
    ("main.c", BARE, true),
    ("main.cc", BARE, false),
    ("view.hpp", LAMBDA, true),
    ("view.qml", ("info", "", "ui/view.qml", 5, "onClicked"), true),
    // No known ending: a category.
    ("db.pool", BARE, false),
    ("main.d", BARE, false),
    // file:line.
    ("pump.cpp:88", PUMP, true),
    ("pump.cpp:89", PUMP, false),
    ("io/*.cpp:88", PUMP, true),
    ("pump.cpp:088", PUMP, true),
    ("pump.cpp:88=error", PUMP, false),
    ("pump.cpp:88=error", LOUD, true),
    // function(): without return type and arguments, or its end at ::.
    ("net::Pump::start()", PUMP, true),
    ("Pump::start()", PUMP, true),
    ("start()", PUMP, true),
    ("tart()", PUMP, false),
    ("Pump()", PUMP, false),
    ("*::start()", PUMP, true),
    ("*start()", PUMP, true),
    ("Pump::*()", PUMP, true),
    ("main()", BARE, true),
    ("Pool::take()", RUST, true),
    ("server::pool::Pool::take()", RUST, true),
    ("paint()", LAMBDA, true),
    ("void net::Pump::start()", PUMP, false),
    // The most specific decides: file:line, function, file, category, level.
    ("error,net=debug", PUMP, true),
    ("net=debug,error", PUMP, true),
    ("net=on,pump.cpp=off", PUMP, false),
    ("pump.cpp=off,net=on", PUMP, false),
    ("pump.cpp=off,start()=on", PUMP, true),
    ("start()=on,pump.cpp=off", PUMP, true),
    ("start()=off,pump.cpp:88=on", PUMP, true),
    ("pump.cpp:88=on,start()=off", PUMP, true),
    ("pump.cpp:88=off,on,net=on,pump.cpp,start()", PUMP, false),
    ("/home/user/src/io/pump.cpp=off,*()=on", PUMP, true),
    // Among equals the one with more literal characters.
    ("net::tcp=off,net=on", PUMP, false),
    ("net=on,net::tcp=off", PUMP, false),
    ("net::tcp=on,net::*=off", PUMP, true),
    ("*=off,n*=on", PUMP, true),
    ("n?t::tcp=on,net::t*=off", PUMP, true),
    ("io/pump.cpp=off,pump.cpp=on", PUMP, false),
    ("Pump::start()=off,start()=on", PUMP, false),
    ("*.cpp:88=on,pump.cpp:88=off", PUMP, false),
    // Among those the last.
    ("net=off,net=on", PUMP, true),
    ("net=on,net=off", PUMP, false),
    ("debug,error", PUMP, false),
    ("error,debug", PUMP, true),
    ("n*t=on,ne*t=off,n?et=on", PUMP, false),
    ("ne*=on,n*e*=off", PUMP, false),
    // Any category outranks a bare level; what decides may be below the level.
    ("on,net=fatal", LOUD, false),
    ("*=off,on", PUMP, false),
    // No category: only bare levels, `*`, file and function match.
    ("on", BARE, true),
    ("*", BARE, true),
    ("?", BARE, false),
    ("main=on", BARE, false),
    ("main.c", BARE, true),
    ("main.c:1", BARE, true),
    // A frontend ignores a malformed directive alone.
    ("net=loud,error", LOUD, true),
    ("error,net=loud", PUMP, false),
    ("=debug,net=on", PUMP, true),
    ("a b,net=on", PUMP, true),
    ("(),net=on", PUMP, true),
    ("pump.cpp:x,net=on", PUMP, true),
    ("net=,net=debug=x", PUMP, false),
    ("net,inof,warning", LOUD, false),
    ("inof,error", LOUD, true),
    ("net[span]=debug,net{a=1}=debug", PUMP, false),
    ("net::tcp[x],net::[*]", PUMP, false),
    ("net=on,net=warning", PUMP, true),
];

/// Text, column of the mistake from 1.
const REFUSED: &[(&str, usize)] = &[
    ("net=loud", 5),
    ("net=", 5),
    ("net==debug", 5),
    ("net=debug=x", 5),
    ("info, net=", 11),
    ("=debug", 1),
    (" =debug", 2),
    ("info,=", 6),
    ("a b", 2),
    ("net tcp=debug", 4),
    ("()", 1),
    ("=", 1),
    ("a b=loud", 2),
    ("\u{fc} \u{fc}", 2),
    ("x=on,()", 6),
    ("x=on,()=debug", 6),
    ("x.cpp:two=on", 7),
    ("x.cpp:", 7),
    ("x.cpp:+1", 7),
    ("x.cpp:-1", 7),
    ("x.cpp:4294967296", 7),
    ("gr\u{fc}n=on,net=laut", 13),
    ("info,debug,net=5", 16),
    ("net=debug info", 5),
    ("inof", 1),
    ("warning", 1),
    ("info,warning", 6),
    ("debug, net", 8),
    ("gr\u{fc}n", 1),
    ("my-crate", 1),
    ("net:", 1),
    ("c[span]=debug", 2),
    ("c[span]=loud", 2),
    ("c{id=7}=debug", 2),
    ("a::b]", 5),
];

/// The vectors.
pub fn vectors() -> Vec<Json> {
    let mut all = Vec::new();
    for (i, (text, (level, category, file, line, function), on)) in CASES.iter().enumerate() {
        all.push(Json::Object(vec![
            ("name", Json::text(format!("{i}: {text}"))),
            ("directives", Json::text(*text)),
            ("level", Json::text(*level)),
            ("category", Json::text(*category)),
            ("file", Json::text(*file)),
            ("line", Json::int(line)),
            ("function", Json::text(*function)),
            ("on", Json::Bool(*on)),
            ("verdict", Json::text("ok")),
        ]));
    }
    for (text, column) in REFUSED {
        all.push(Json::Object(vec![
            ("name", Json::text(format!("malformed: {text}"))),
            ("directives", Json::text(*text)),
            ("verdict", Json::text("refused")),
            ("column", Json::int(column)),
        ]));
    }
    all
}
