"""Tests of `scripts/windows`: tracepoints feed ETW. Wine's functions of ETW do nothing, so silverpoint_etw.dll is linked a
second time, with a DLL in their place that writes what it gets into a log, and says what sessions want."""

import functools
import hashlib
import json
import struct
import subprocess
import uuid

from __main__ import GCC, GXX, OUT, ROOT, SOURCES, STRICT, Place, end_of, fine, run

HERE = OUT / "etw"
C_LIBRARY = ("silverpoint_c", "context_c", "trace_context_c")
JUDGED = ROOT / "crates/programs/silverpoint-cli/tests/it/user_events/etw.cpp"


@functools.cache
def build():
    HERE.mkdir(exist_ok=True)
    (HERE / "real").mkdir(exist_ok=True)
    include = ["-I", ROOT / "cpp/include"]
    cpp = [GXX, "-std=c++20", "-O2", *STRICT, "-Wpedantic", *include]
    library = [*cpp, "-fno-exceptions", "-fno-rtti", "-c", ROOT / "cpp/src/silverpoint_etw.cpp", "-o", HERE / "etw.o"]
    fake = [GCC, "-std=c11", "-O2", *STRICT, "-shared", "-static", SOURCES / "etw_fake.c", "-o", HERE / "etw_fake.dll", f"-Wl,--out-implib,{HERE}/libetw_fake.a"]
    compile_all(library, fake)
    sources = ["-I", ROOT / "cpp/src"]
    compile_all(
        [GXX, "-shared", "-static", HERE / "etw.o", "-ladvapi32", "-o", HERE / "real/silverpoint_etw.dll"],
        [GXX, "-shared", "-static", HERE / "etw.o", HERE / "libetw_fake.a", "-o", HERE / "etw_judged.dll"],
        [*cpp, *sources, "-static", SOURCES / "etw.cpp", "-o", HERE / "etw.exe"],
        [*cpp, "-static", "-shared", SOURCES / "etw_plugin.cpp", "-o", HERE / "etw_plugin.dll"],
        [*cpp, *sources, "-static", SOURCES / "etw_bare_host.cpp", "-o", HERE / "etw_bare_host.exe"],
        [GCC, "-std=c11", "-O2", *STRICT, *include, "-static", SOURCES / "etw_c.c", *[OUT / f"{name}.o" for name in C_LIBRARY], "-o", HERE / "etw_c.exe"],
        [*cpp, *sources, "-fsyntax-only", SOURCES / "etw_declarations.cpp"],
        [GXX, "-std=c++20", "-O1", "-static", *include, *sources, JUDGED, "-o", HERE / "encode.exe"],
        ["g++", "-std=c++20", "-O1", "-fvisibility=hidden", *include, *sources, JUDGED, "-o", HERE / "encode"],
    )


def compile_all(*jobs):
    for job in jobs:
        end_of((job, subprocess.Popen([str(part) for part in job], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)))


def start(place, program, *arguments, library=HERE / "etw_judged.dll", **environment):
    """The program, which feeds ETW."""
    build()
    variables = {"SILVERPOINT_PROBES": "etw", "SILVERPOINT_FILTER": "off", "ETW_FAKE_LOG": "log"}
    if library is not None:
        variables["SILVERPOINT_ETW_LIBRARY"] = str(library)
    return run("wine", HERE / program, *arguments, env=place.environment(**variables | environment), cwd=place.path)


def log_of(place, *arguments, program="etw.exe", ends=0):
    """The log of a program that says nothing."""
    done = start(place, program, *arguments)
    assert (done.returncode, done.stderr, done.stdout) == (ends, "", ""), f"exit {done.returncode}: {done.stderr}"
    return Log((place.path / "log").read_text())


def provider_id(name):
    """As EventSource and TraceLogging make it of a name."""
    space = uuid.UUID("482C2DB2-C390-47C8-87F8-1A15BFC130FB").bytes
    digest = bytearray(hashlib.sha1(space + name.upper().encode("utf-16-be")).digest()[:16])
    digest[7] = digest[7] & 0x0F | 0x50
    return bytes(digest).hex()


def keyword(category, bit=1):
    value = 0xCBF29CE484222325
    for byte in category.encode():
        value = (value ^ byte) * 0x100000001B3 & (1 << 64) - 1
    return bit | 1 << 2 + value % 46


class Event:
    def __init__(self, line):
        self.handle, self.thread, descriptor, self.activity, self.parent, *parts = line.split(" ")
        self.id, self.version, self.channel, self.level, self.opcode, self.task, self.keyword = struct.unpack("<HBBBBHQ", bytes.fromhex(descriptor))
        kinds, parts = zip(*(part.split(":") for part in parts))
        assert kinds == ("2", "1", "0") and (self.id, self.version, self.channel, self.task) == (0, 0, 11, 0), line
        self.traits, self.metadata, self.payload = map(bytes.fromhex, parts)
        assert len(self.metadata) == int.from_bytes(self.metadata[:2], "little"), line
        self.name = self.metadata[3:].split(b"\0")[0].decode()

    def is_cut(self):
        return self.metadata[2] != 0


class Log:
    """Its calls in order, and the events of each part of the scenario, with what the program has counted before."""

    def __init__(self, text):
        self.calls, self.parts, self.names = [], {}, {}
        self.events = []
        for line in text.splitlines():
            call, handle, rest = line.split(" ", 2)
            self.calls.append((call, handle, rest))
            if call == "information":
                kind, traits = rest.split(" ")
                traits = bytes.fromhex(traits)
                name = traits[2:-1].decode()
                assert kind == "2" and traits == struct.pack("<H", len(traits)) + name.encode() + b"\0", line
                (registered,) = [told for what, of, told in self.calls if (what, of) == ("register", handle)][-1:]
                assert registered == provider_id(name), line
                self.names[handle] = name
            elif call == "write":
                event = Event(f"{handle} {rest}")
                # (Written to a provider that is registered: the DLL ends the program otherwise.)
                assert event.traits[2:-1].decode() == self.names.get(handle), line
                self.events.append(event)
            elif call == "mark":
                name, counted = rest.rsplit(" ", 1)
                self.events = []
                self.parts.setdefault(name, []).append((int(counted), self.events))

    def part(self, name):
        (one,) = self.parts[name]
        return one


SHOP, NET, NONE = "Silverpoint-shop", "Silverpoint-net", "Silverpoint"
# What `execute_all` executes: its provider, name, level and keyword. A span has two events, one argument is counted.
ALL = [(SHOP, f"shop::orders:{text} {{}}", level, keyword("shop::orders")) for text, level in (("fatal", 1), ("error", 2), ("warning", 3), ("info", 4), ("debug", 5), ("trace", 5))] + [
    (SHOP, "shop::stock:stock {}", 4, keyword("shop::stock")),
    (SHOP, "shop::stock:take_entry", 4, keyword("shop::stock", 2)),
    (SHOP, "shop::stock:take_exit", 4, keyword("shop::stock", 2)),
    (NET, "net:sent {}", 3, keyword("net")),
    (NONE, "silverpoint:plain {}", 4, keyword("")),
]
STOCK = [one for one in ALL if "stock:" in one[1]]


def test_etw_gets_what_sessions_want(_):
    log = log_of(Place("etw-switches"), "switches")
    seen = {}

    def check(part, wanted, evaluated=None):
        """These events, and as many arguments were evaluated, each once."""
        before, events = log.part(part)
        found = [(log.names[event.handle], event.name, event.level, event.keyword) for event in events]
        assert found == wanted, f"{part}: {found}"
        numbers = [int.from_bytes(event.payload, "little") for event in events if not event.name.endswith("_exit")]
        count = len(numbers) if evaluated is None else evaluated
        assert numbers == list(range(before + 1, before + 1 + len(numbers))), f"{part}: {before}, {numbers}"
        seen[part] = before, count

    check("off", [])
    check("level 3 of shop", ALL[:3])
    check("and net", [*ALL[:3], ALL[9]])
    check("net", [ALL[9]])
    check("category", STOCK)
    check("spans", STOCK[1:])
    check("both keywords", STOCK[:1])
    check("state asked for", STOCK[:1])
    check("all", [*ALL[:9], ALL[10]])
    check("off within a span", STOCK[1:2])
    # Its begin was not wanted: nothing is, though its end is executed.
    check("on within a span", [])
    check("end", [], 0)
    # What no session wants has evaluated nothing.
    parts = list(seen.values())
    for (before, count), (after, _) in zip(parts, parts[1:]):
        assert after == before + count, seen


def field(name, kind, out=None):
    return name.encode() + b"\0" + (bytes([kind]) if out is None else bytes([kind | 0x80, out]))


def counted(text):
    data = text.encode() if isinstance(text, str) else text
    return struct.pack("<H", len(data)) + data


def test_etw_bytes(_):
    log = log_of(Place("etw-values"), "values")
    (event,) = log.part("values")[1]
    # Name, in-type, out-type and bytes, as TraceLogging has them.
    fields = [
        (field("small", 3), struct.pack("<b", -1)),
        (field("port", 6), struct.pack("<H", 8080)),
        (field("-2", 7), struct.pack("<i", -2)),
        (field("large", 10), struct.pack("<Q", 1 << 63)),
        (field("half", 11), struct.pack("<f", 0.5)),
        (field("more", 12), struct.pack("<d", 2.5)),
        (field("is_sold", 4, 3), b"\1"),
        (field("255u", 20), struct.pack("<I", 255)),
        (field('"text"', 23, 35), counted("text")),
        (field("euro", 23, 35), counted("€")),
        (field("wide", 23, 35), counted("wide")),
        (field("color", 4), b"\2"),
        (field("color_label", 23, 35), counted("kGreen")),
        (field("point", 24, 2) + field("x", 7) + field("y", 11), struct.pack("<if", 3, 4.5)),
        (field("array", 7 | 0x40), struct.pack("<Hiii", 3, 1, 2, 3)),
        (field("words", 23 | 0x40, 35), struct.pack("<H", 2) + counted("a") + counted("bc")),
        (field("nothing_present", 4, 3), b"\0"),
        (field("nothing", 7), bytes(4)),
        (field("map", 23, 12), counted('{"k":7}')),
        (field("wait", 9), struct.pack("<q", 3_000_000)),
    ]
    metadata = b"\0kinds:values\0" + b"".join(field for field, _ in fields)
    assert event.metadata[2:] == metadata, event.metadata
    assert event.payload == b"".join(value for _, value in fields), event.payload.hex()
    assert (event.level, event.opcode, event.keyword, event.activity) == (4, 0, keyword("kinds"), "-"), vars(event)


def test_etw_spans_are_activities(_):
    log = log_of(Place("etw-spans"), "values")
    events = log.part("spans")[1]
    assert [(event.name, event.opcode) for event in events] == [(f"kinds:{name}", opcode) for name, opcode in (
        ("outer_entry", 1), ("within", 0), ("inner_entry", 1), ("within", 0), ("inner_exit", 2), ("fetch_begin", 1), ("fetch_end", 2), ("within", 0), ("outer_exit", 2))]
    outer, inner, fetch = (events[i].activity for i in (0, 2, 5))
    assert len({outer, inner, fetch, "-"}) == 4 and all(len(one) == 32 for one in (outer, inner, fetch))
    assert [event.activity for event in events] == [outer, outer, inner, inner, inner, fetch, fetch, outer, outer]
    assert [event.parent for event in events] == ["-", "-", outer, "-", "-", outer, "-", "-", "-"]
    # The context of the scope is the last field.
    context = field("context", 23, 12), counted('{"request":5}')
    assert all(event.metadata.endswith(context[0]) and event.payload.endswith(context[1]) for event in events)
    assert outer not in [event.activity for event in log.part("end")[1]]


def test_etw_records_within_records(_):
    """Within a call of Windows's function, and in a handler of an exception that a tracepoint's argument raises."""
    log = log_of(Place("etw-nested"), "values")
    assert [event.name for event in log.part("within an event")[1]][:2] == ["kinds:nested", "kinds:around"]
    events = log.part("in a handler")[1]
    assert [event.name for event in events] == ["kinds:nested", "kinds:guarded {}"]
    assert events[1].payload == counted("guarded")


def test_etw_beside_the_ring(_):
    """Both get what the program says."""
    place = Place("etw-ring")
    done = start(place, "etw.exe", "values", SILVERPOINT_FILTER="info")
    assert done.returncode == 0 and done.stderr == "", done.stderr
    events = Log((place.path / "log").read_text()).part("in a handler")[1]
    assert [event.name for event in events] == ["kinds:nested", "kinds:guarded {}"]
    place.recover()
    texts = place.texts()
    assert texts[-2:] == ["nested", "guarded guarded"] and any(text.startswith("values small=-1 ") for text in texts), texts


def test_etw_with_threads(_):
    log = log_of(Place("etw-threads"), "threads")
    events = [Event(f"{handle} {rest}") for call, handle, rest in log.calls if call == "write"]
    assert log.part("quiet")[1] == []
    assert len(events) > 1000, len(events)
    rounds, begun = {}, {}
    for event in events:
        if event.name == "busy:round_exit":
            # Of a begin that was wanted, by the same thread.
            assert begun.pop(event.activity) == event.thread, event.activity
            continue
        thread, number = struct.unpack("<ii", event.payload)
        known = rounds.setdefault((event.name, thread), [])
        assert not known or known[-1] < number, (event.name, thread, known[-1], number)
        known.append(number)
        if event.name == "busy:round_entry":
            assert event.activity not in begun
            begun[event.activity] = event.thread
    assert {thread for _, thread in rounds} == {0, 1, 2, 3}, rounds.keys()


def test_etw_while_the_program_ends(rounds):
    for number in range(rounds):
        log = log_of(Place(f"etw-ends-{number}"), "ends")
        assert sum(call == "write" for call, _, _ in log.calls) > 100


def test_etw_of_a_dll_that_comes_and_goes(_):
    log = log_of(Place("etw-dll"), "plugin", HERE / "etw_plugin.dll")
    own = [(call, rest) for call, handle, rest in log.calls if handle == "2" and call.endswith("register")]
    registered = provider_id("Silverpoint-plugged")
    # The provider that the host has sites of, too, stays.
    assert own == [("register", registered), ("unregister", "")] * 3
    assert [handle for call, handle, _ in log.calls if call == "register"] == ["1", "2", "2", "2"]
    for time, (_, events) in enumerate(log.parts["load"]):
        names = {event.name for event in events}
        assert {"plugged::part:work_entry", "plugged::part:work_exit", "shop::plugin:helping {}", "shop::orders:info {}"} <= names, names
        ours = [event for event in events if "{}" in event.name and "orders" not in event.name]
        assert all(event.payload == struct.pack("<i", time) for event in ours)
    assert log.part("end")[1] == []


def test_etw_of_a_dll_alone(_):
    """The program that loads it has no tracepoints."""
    log = log_of(Place("etw-bare"), HERE / "etw_plugin.dll", program="etw_bare_host.exe")
    assert [call for call, _, _ in log.calls if call.endswith("register")] == ["register", "unregister"] * 3


def test_etw_in_c(_):
    log = log_of(Place("etw-c"), program="etw_c.exe")
    begin, text, end = [Event(f"{handle} {rest}") for call, handle, rest in log.calls if call == "write"][-3:]
    assert [event.name for event in (begin, text, end)] == ["c:work_entry", "c:text %s %d", "c:work_exit"]
    assert begin.activity == text.activity == end.activity and begin.opcode == 1 and end.opcode == 2
    assert text.payload == counted("of C") + begin.payload and text.level == 3, text.payload


def test_etw_that_refuses(_):
    """One message, and tracepoints evaluate nothing."""
    done = start(Place("etw-refused"), "etw.exe", "refused")
    said = "silverpoint: SILVERPOINT_PROBES=etw: Windows does not register the provider Silverpoint-shop: error 5; its tracepoints have no events"
    assert (done.returncode, done.stderr.splitlines()) == (0, [said]), f"{done.returncode} {done.stderr}"


def test_etw_without_its_dll(_):
    said = "silverpoint: SILVERPOINT_PROBES=etw: ETW gets no events: no such library; install silverpoint_etw.dll, or name its file in SILVERPOINT_ETW_LIBRARY"
    for number, library in enumerate((None, "Z:\\missing.dll")):
        place = Place(f"etw-missing-{number}")
        done = start(place, "../records.exe", 2, 100, library=library, SILVERPOINT_FILTER="trace")
        assert (done.returncode, done.stderr.splitlines()) == (0, [said]), f"exit {done.returncode}: {done.stderr}"
        place.recover()
        assert sum(text.startswith("numbers ") for text in place.texts()) == 200
    # The tracers of Linux are not those of Windows.
    done = start(Place("etw-others"), "../records.exe", 1, 1, SILVERPOINT_PROBES="lttng")
    assert (done.returncode, done.stderr.splitlines()) == (0, ["silverpoint: SILVERPOINT_PROBES: 'lttng' is ignored: expected etw"]), done.stderr


def test_etw_with_windowss_own_functions(_):
    """Wine's: they take everything, and do nothing. The DLL is found by its name."""
    place = Place("etw-real")
    done = start(place, "../records.exe", 4, 1000, library=None, SILVERPOINT_FILTER="trace", WINEPATH=str(HERE / "real"))
    assert (done.returncode, done.stderr) == (0, ""), f"exit {done.returncode}: {done.stderr}"
    place.recover()
    assert sum(text.startswith("numbers ") for text in place.texts()) == 4000


def test_etw_bytes_of_every_value(_):
    """On Windows the encoder makes the bytes that it makes on Linux, where Microsoft's judges them."""
    build()
    place = Place("etw-vectors")
    lines = []
    for vector in json.loads((ROOT / "spec/vectors/values.json").read_text()):
        if vector["verdict"] == "ok":
            texts = (b"\2\2", b"shop::orders", b"sold", b"", vector["signature"].encode(), bytes.fromhex(vector["hex"]), b"", b"\0")
            lines.append(" ".join(text.hex() or "-" for text in texts))
    (place.path / "cases").write_text("\n".join(lines) + "\n")
    found = [fine(*command, stdin=place.path / "cases").split("\n") for command in ([HERE / "encode"], ["wine", HERE / "encode.exe"])]
    assert len(lines) > 150 and [line.strip() for line in found[0]] == [line.strip() for line in found[1]]
    assert sum(len(line) > 40 for line in found[0]) == len(lines)
