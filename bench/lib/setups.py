"""How each facility is set up, and how it is known that what it was given has arrived, a row each: the settings as the drivers have them. Where a part writes down itself how its facilities are set up, that is
taken; for the others it stands here."""

from . import checked, dotnet
from . import page as html
from . import tracing as lines_of_tracing

HEAD = ("", "checked", "how")
_COMPILED = "C++ by `g++ -std=c++20 -O2`, C by `gcc -O2`, Rust in release builds; libraries as Debian has them, crates as the lock files say."
_BURSTS = "50 bursts of 20 calls, 20 µs apart, are a batch and give one mean; batches of the facility and of the floor alternate at random in one process. The figure is the median of them, and then of the processes."
# What all rows of a part have in common.
NOTES = {
    "structured": (_COMPILED, _BURSTS, "Arguments: an unsigned id, an int, a double and a map of three texts to int; 128 floats. Ours are `std::map<std::string, std::int32_t>` and `std::array<float, 128>`, those of Qt `QMap<QString, int>` "
                   "and `QList<float>`, of LTTng `QMap` and `std::array`. Qt is compiled with QT_MESSAGELOGCONTEXT and run with `QT_LOGGING_RULES=bench.debug=true`; a buffered file is one of the C library, whose buffer is as large as that "
                   "makes it."),
    "tracing": (_COMPILED[:-1] + ", with `codegen-units = 1`.", _BURSTS, "A text: `info!(target: \"bench\", \"bench event\")`; 3 fields: an i64, an f64 and a u64; spans are made, entered, left and closed; filtered: a `trace!` with one field, where `Targets` "
                "lets the target pass from info on. Backends of text and those that count have the filter on the layer."),
    "signals": (_COMPILED, "Candidates in one thread take turns of 4,096 emissions; the figure is the median of the turns. From thread to thread one process sends all events in a loop; the receiver is there before the first."),
    "loggers": (_COMPILED, "Each thread logs its entries in a loop without a pause and reads the time stamp counter around each call; then the logger is flushed and ended, which counts into the total."),
    "modern": (_COMPILED, _BURSTS, "What is off: 20,000 calls in a loop, less the same loop without them."),
    "paced": (_COMPILED, "One thread makes a thousandth of a second's records, sleeps until the next thousandth, and so on; then everything is stored."),
    "dotnet": ("`mcs -define:TRACE -optimize+`, run by Mono. Blocks of a hundred turns with the `Trace.Write` and without it alternate; a tenth as many turns come before the first that is timed.",),
    "bind": (_COMPILED, "Values are in memory and are written to memory; each turn writes or reads one value so often that it takes about 200 µs, candidates of a process in turn and in random order."),
    "convert": (_COMPILED, "CPU time as the kernel counts it for the process, the middle one of its runs. Other programs get at most 200,000 of the records, with the start of their interpreter in the figure."),
}
_SIGNALS = (
    ("silverpoint direct", "`silverpoint::signal<unsigned>`, `connect`"),
    ("silverpoint queued, poll", "`connect_queued` with its defaults into a `poll_inbox`, `wait_and_drain` in a thread"),
    ("silverpoint queued, Qt's loop", "`connect_queued` with its defaults into a `qt_inbox`, in a `QEventLoop`"),
    ("silverpoint queued", "`connect_queued`: stalled, into an `inbox` that nobody drains, `overflow::drop_oldest`; beside the timer, into a `qt_inbox`"),
    ("silverpoint latest, every 16 ms", "`connect_latest` into `qt_inbox::timed(16 ms)`"),
    ("silverpoint latest", "`connect_latest` into an `inbox` that is drained each millisecond"),
    ("QObject direct", "a signal of one `uint`, `Qt::DirectConnection` to a lambda"),
    ("QObject queued", "`Qt::QueuedConnection` to a lambda in a `QEventLoop`, with GLib's event loop or, by QT_NO_GLIB=1, Qt's own"),
    ("boost::signals2", "`signal<void(unsigned)>` with its default mutex"),
    ("mutex and condition", "a `std::deque` behind a `std::mutex`, `notify_one` for each event; the receiver takes the whole queue at once"),
    ("no signal: a call through a pointer", "the receiver's function, called through a volatile pointer"),
    ("no signal: the same", "the same, but the receiver adds up"),
    ("no signal: a ring", "65,536 places, one writer, one reader, both spin"),
    ("no sender", "the timer alone"),
)
_DOTNET = {
    "md5": "`Trace.Listeners.Clear()`, and no Trace.Write",
    "none": "`Trace.Listeners.Clear()`",
    "default": "`DefaultTraceListener` as it comes, without MONO_TRACE_LISTENER and without a debugger",
    "text": "`TextWriterTraceListener` with a file's name, its own buffering",
    "silverpoint": "a `TraceListener` of the driver: the text as UTF-8 into a buffer of the thread, one call of a C function with a tracepoint in it; under `silverpoint run`, raw blocks to disk",
}
_BIND = {
    "silverpoint": "`SP_STRUCT`; a new `JsonWriter` or `CborWriter` for each value, `from_json` and `from_cbor` into a new one",
    "Qt QJsonDocument": "`QJsonObject` by `QLatin1String` keys, `toJson(Compact)`; `fromJson`, and members by name; texts are `QString` in the program's types",
    "Qt QCborStreamWriter": "into a `QByteArray`, sizes known",
    "Qt QCborValue": "`fromJsonValue`, `toCbor`; `fromCbor`, `toJsonValue`, and members by name",
    "nlohmann": "`NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE`; `dump`, `to_cbor`, `parse`, `from_cbor`",
    "Qt QDebug": "`QDebug` into a `QString` that is empty",
    "serde_json (Rust)": "derived, `to_vec` and `from_str`; a process of its own, codegen-units = 1",
}
_CONVERT = {
    "silverpoint": "readers and writers of `silverpoint-convert`, each by itself, in one thread: writers get records that are in memory and write to nobody, readers a file in the page cache",
    "Python json, reading": "`json.loads` of each line", "Python json, writing": "`json.dumps` of one record whose pid changes", "jq, reading and writing": "`jq -c .` into `wc -l`",
    "Python orjson, reading": "`orjson.loads` of each line", "Python cbor2, reading": "`CBORDecoder.decode` until the end",
}


def notes(part):
    """What all of a part have in common, a paragraph each."""
    return NOTES.get(part, ())


def rows(part, data):
    """Cells of HEAD, a row a facility."""
    return [(name, _words(part, cases), how) for name, how, cases in _LISTED[part](data)] if part in _LISTED else []


def section(part, data):
    """The same as HTML."""
    return ["<h3>How they are set up</h3>", *(f"<p>{html.coded(note)}</p>" for note in notes(part)), html.table(HEAD, rows(part, data), prose=True)]


def _words(part, cases):
    """How the cases of a facility are checked, those of one word together: [(facility's name for checked, case, title)]."""
    found = {}
    for facility, case, title in cases:
        found.setdefault(checked.of(part, facility, case), []).append(title)
    return next(iter(found)) if len(found) == 1 else "; ".join(f"{', '.join(titles)}: {word}" for word, titles in found.items())


# ---- what there is of each part: (name, how, its cases) ----


def _with_cases(data, name, key, value):
    return [(value, case, case) for case in sorted({row[key] for row in data["results"] if row[name] == value})]


def _in_order(data, member, known):
    """Names of a member of the rows: ours first, the others as they are known, then by name."""
    known = list(known)
    return sorted({row[member] for row in data["results"]}, key=lambda name: (not name.startswith("silverpoint"), known.index(name) if name in known else len(known), name))


def _structured(data):
    known = data.get("how", {})
    for name in _in_order(data, "facility", known):
        yield name, known.get(name, "`SP_INFO << …`, under `silverpoint run`, raw blocks to disk"), _with_cases(data, "facility", "case", name)


def _tracing(data):
    how = {name: said for name, _, _, said in lines_of_tracing.BACKENDS}
    layer = "`registry()` with `silverpoint_tracing::atrace::Layer` and its filter, under `Targets`"
    kernel = "into `trace_marker` of a buffer of its own in the kernel, whose account of messages taken is compared"
    how |= {"ATrace layer, off": f"{layer}; no property is set", "ATrace layer, off, unfiltered": "`registry()` with the layer alone, which looks by itself; no property is set", "ATrace layer, on": f"{layer}; the tag is set; {kernel}", "none": "no subscriber at all"}
    for name in _in_order(data, "backend", how):
        place = name.rpartition(", ")[2]
        said = how.get(name) or {"ring": "`silverpoint run`, raw blocks to disk", "off": "loops of calls beside an empty loop, no property set", "marker": f"loops of 2,000 calls, {kernel}"}.get(place, "")
        yield name, said, _with_cases(data, "backend", "case", name)


def _signals(data):
    for name in _in_order({"results": [row for row in data["results"] if row["part"] != "floor"]}, "who", (prefix for prefix, _ in _SIGNALS)):
        how = next((said for prefix, said in _SIGNALS if name.startswith(prefix)), "")
        parts = dict.fromkeys(row["part"] for row in data["results"] if row["who"] == name)
        yield name, how, [(name, part, part) for part in parts]


def _stated(key, case):
    """Of a part whose JSON says how its facilities are set up."""
    def listed(data):
        for name, said in data.get("how", {}).items():
            found = _with_cases(data, key, case, name) if case else [(name, None, "")]
            yield name, said, found or [(name, None, "")]
    return listed


def _dotnet(data):
    for case, title in dotnet.TITLES.items():
        if any(row["case"] == case for row in data["results"]):
            yield title, _DOTNET[case], [("", case, "")]


def _bind(data):
    for name in _in_order(data, "library", _BIND):
        operations = dict.fromkeys(row["operation"] for row in data["results"] if row["library"] == name)
        yield name, _BIND.get(name, ""), [(name, operation, operation) for operation in operations]


def _convert(data):
    for name in ("silverpoint", *(row["who"] for row in data["peers"])):
        yield name, _CONVERT.get(name, ""), [(name, None, "")]


_LISTED = {"structured": _structured, "tracing": _tracing, "signals": _signals, "loggers": _stated("logger", None), "modern": _stated("facility", "case"), "paced": _stated("facility", None), "dotnet": _dotnet,
           "bind": _bind, "convert": _convert}
