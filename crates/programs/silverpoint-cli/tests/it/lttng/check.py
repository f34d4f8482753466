"""Runs programs under a session daemon of LTTng of its own, and compares each field of its events with the ring's record of the same call.

    check.py fields SILVERPOINT PROGRAM TIMES …   in both, equal
    check.py atrace SILVERPOINT PROGRAM TIMES     as `fields`, of ATrace's category
    check.py glog PROGRAM WORD …                  glog's statements are events, wherever else they go
    check.py without_ring TIMES PROGRAM …         with the ring off and on: equal
    check.py alone PROGRAM TIMES                  with the ring off: in LTTng alone; with a filter on a field, and an exact name
    check.py fork PROGRAM WORD …                  a forked child's events are there
    check.py busy PROGRAM                         it ends, though it forks while its events are made
    check.py allocs PROGRAM                       its malloc has a tracepoint: each call in the program is an event
    check.py scopes SILVERPOINT PROGRAM …         fields of contexts are contexts of LTTng, in filters, too
    check.py daemons PROGRAM                      no daemon, one that is killed, another; sessions that are stopped
    check.py many PROGRAM                         ten thousand events, enabled while it runs
    check.py switched SILVERPOINT PROGRAM …       each is asked to feed LTTng while it runs, and no longer to
    check.py ends SILVERPOINT PROGRAM …           ends of spans alone, switched on beside the ring
    check.py facades SILVERPOINT PROGRAM TIMES    what it writes behind its event `go`: in both, equal
    check.py facades_apart SILVERPOINT PROGRAM    a span that LTTng alone wants, for its argument `apart`
    check.py facades_switched SILVERPOINT PROGRAM as `switched`, for its arguments `ticks` and `log`
    check.py reloaded PROGRAM PART …              a shared object has its events each time that it is loaded
    check.py page SCRIPT                          what the guide's page says

In the current directory, which is for this alone. Where it must not touch the system's daemon (root's), it runs in a mount namespace of its own.
"""

import json
import os
import shutil
import struct
import subprocess
import sys
import time

from events import compare_all, events, names_of, recorded
from sessiond import PATIENCE, Daemon, go, in_own_namespace, listed, lttng, start, wait


def atrace(silverpoint, program, times):
    fields(silverpoint, program, times, provider="atrace::app:")


def glog(program, *words):
    for word in words:
        shutil.rmtree("trace", ignore_errors=True)
        with Daemon():
            record("trace", "glog:*")
            go(start([program, "30", word], SILVERPOINT_PROBES="lttng", SILVERPOINT_FILTER="off"), {"glog:order {} at {:g}", "glog:{:5}{}", "glog:{}"})
            lttng("stop")
            lttng("destroy")
        # Of other widths than the first it is text. (LTTng may know the first ones early.)
        wanted = []
        for i in range(2, 31):
            wanted.append(("order {} at {:g}", {"arg0": i, "arg1": i / 4}))
            wanted.append(("{}", {"arg0": f"{i:3} odd"}) if i % 2 else ("{:5}{}", {"arg0": i, "arg1": " even"}))
        found = [(name, {key: value for key, value in fields.items() if not key.endswith("_length")}) for name, fields in events("trace", "glog:")]
        assert found[-len(wanted):] == wanted, found
    print("all statements")


def fields(silverpoint, program, times, *more, provider="shop:"):
    # What there is to be known, from a run without LTTng.
    subprocess.run([silverpoint, "run", "--quiet", "--filter", "trace", "-o", "before.silver", "--", program, "0", *more], input="\n", text=True, check=True)
    once = recorded(silverpoint, "before.silver")
    with Daemon():
        lttng("create", "one", f"--output={os.getcwd()}/trace")
        lttng("enable-channel", "--userspace", "--subbuf-size=4M", "--num-subbuf=8", "all")
        lttng("enable-event", "--userspace", f"{provider}*", "--channel=all")
        lttng("start")
        process = start([silverpoint, "run", "--quiet", "--probe", "lttng", "--filter", "trace", "-o", "all.silver", "--", program, times, *more])
        go(process, names_of(once, provider))
        lttng("stop")
        lttng("destroy")
    found, records = events("trace", provider), recorded(silverpoint, "all.silver")
    assert len(records) == len(once) * (int(times) + 1), (len(records), len(once))
    # The first execution makes the events known. Its last ones may be recorded already: LTTng knows the events while it goes on.
    before = len(found) - (len(records) - len(once))
    assert 0 <= before <= len(once), (len(found), len(records), len(once))
    found = found[before:]
    compare_all(found, records[len(once):])
    metadata = subprocess.run(["babeltrace2", "--output-format=ctf-metadata", *directory_of("trace")], capture_output=True, text=True, check=True).stdout
    line = once[0]["line"]
    assert f'model.emf.uri = "{once[0]["file"]}:{line}"' in metadata, metadata
    assert "loglevel = 6;" in metadata, metadata
    print(f"{len(found)} events equal")


def behind_go(all, name_of):
    """What comes behind the last event `go`."""
    last = max(number for number, one in enumerate(all) if name_of(one) == "go")
    return all[last + 1:]


def facades(silverpoint, program, times):
    subprocess.run([silverpoint, "run", "--quiet", "--filter", "trace", "-o", "before.silver", "--", program, "1"], input="\n", text=True, check=True)
    once = recorded(silverpoint, "before.silver")
    with Daemon():
        lttng("create", "one", f"--output={os.getcwd()}/trace")
        lttng("enable-channel", "--userspace", "--subbuf-size=4M", "--num-subbuf=8", "all")
        lttng("enable-event", "--userspace", "shop:*", "--channel=all")
        lttng("start")
        process = start([silverpoint, "run", "--quiet", "--probe", "lttng", "--filter", "trace", "-o", "all.silver", "--", program, times])
        go(process, names_of(once))
        lttng("stop")
        lttng("destroy")
    found = behind_go(events("trace"), lambda event: event[0])
    records = behind_go(recorded(silverpoint, "all.silver"), lambda record: record.get("template"))
    of_one = len(behind_go(once, lambda record: record.get("template")))
    assert len(records) == of_one * int(times), (len(records), of_one)
    compare_all(found, records)
    print(f"{len(found)} events equal")


def facades_apart(silverpoint, program):
    """A span that LTTng alone wants is nothing to the ring, and what lies in it is there."""
    running = Program(silverpoint, "run", "--quiet", "--probe", "lttng", "--filter", "shop=trace", "-o", "all.silver", "--", program, "apart")
    with Daemon():
        record("trace", "quiet:*")
        # The first begins late, and its event has the name.
        running.tick_until("quiet:parent_begin#…", lambda: any(name.startswith("quiet:parent_begin#") for name in listed()))
        running.tick(10)
        lttng("stop")
        running.end()
        lttng("destroy")
    begun = [fields["span_id"] for name, fields in events("trace", "quiet:") if name.startswith("parent_begin#")]
    assert len(begun) >= 10 and 0 not in begun, begun
    records = recorded(silverpoint, "all.silver")
    assert len(records) >= 11 and {record["template"] for record in records} == {"child"}, records
    assert {record["args"]["span.parent"] for record in records} == {0}, records
    print("apart")


def facades_switched(silverpoint, program):
    for word, event in (("ticks", "shop:tick"), ("log", "shop:{}")):
        shutil.rmtree("trace", ignore_errors=True)
        switched_once(silverpoint, program, word, event)
    print("on and off")


# Of the tests' programs, as LTTng's contexts; and what they are called in a trace.
SCOPES = {name: f"_app_silverpoint_{name}" for name in ("request", "user", "share", "parts", "context", "nothing")}


def compare_scopes(found, records):
    """Fields of scopes with those of the ring's records."""
    within = 0
    for (name, fields), record in zip(found, records):
        for key, value in {**record.get("context", {}), "context": record.get("context"), "nothing": None}.items():
            field = fields[SCOPES[key]]
            if isinstance(value, (dict, list)) and field is not None:
                field = json.loads(field)
            assert field == value, (name, key, field, value)
        within += "context" in record
    return within


def scopes(silverpoint, *programs):
    for program in programs:
        shutil.rmtree("trace", ignore_errors=True)
        with Daemon():
            lttng("create", "one", f"--output={os.getcwd()}/trace")
            lttng("enable-channel", "--userspace", "all")
            lttng("enable-event", "--userspace", "shop:within", "--channel=all", "--filter", '$app.silverpoint:request != 2 && $app.silverpoint:user == "inner"')
            lttng("enable-event", "--userspace", "shop:numbers", "--channel=all")
            lttng("add-context", "--userspace", "--channel=all", *(f"--type=$app.silverpoint:{name}" for name in SCOPES))
            lttng("start")
            process = start([silverpoint, "run", "--quiet", "--probe", "lttng", "--filter", "trace", "-o", "all.silver", "--", program, "5"])
            go(process, {"shop:within", "shop:numbers"})
            lttng("stop")
            lttng("destroy")
        records = [one for one in recorded(silverpoint, "all.silver") if one.get("template") in ("within", "numbers")][2:]
        records = [one for one in records if one.get("context", {}).get("request") != 2]
        found = events("trace", context=True)
        assert len(found) == len(records) == 9, (len(found), len(records))
        assert compare_scopes(found, records) == 4, records
        os.remove("all.silver")
    print("all fields of scopes")


def directory_of(trace):
    return [folder for folder, _, files in os.walk(trace) if "metadata" in files][:1]


def without_ring(times, *programs):
    # Of one execution alone.
    apart = {"duration_ns", "id"}
    with Daemon():
        for program in programs:
            both = []
            for directive in ("trace", "off"):
                trace = f"{os.getcwd()}/{len(os.listdir())}"
                lttng("create", "one", f"--output={trace}")
                lttng("enable-channel", "--userspace", "--subbuf-size=4M", "--num-subbuf=8", "all")
                lttng("enable-event", "--userspace", "shop:*", "--channel=all")
                process = start([program, times], SILVERPOINT_PROBES="lttng", SILVERPOINT_FILTER=directive)
                # The last of all.
                wait("shop:within", lambda: "shop:within" in listed())
                lttng("start")
                go(process, set())
                lttng("stop")
                lttng("destroy")
                both.append([(name, {key: value for key, value in fields.items() if key not in apart}) for name, fields in events(trace)])
            assert both[0] == both[1], next((pair for pair in zip(*both) if pair[0] != pair[1]), tuple(map(len, both)))
            print(f"{len(both[0])} events equal")


def alone(program, times):
    with Daemon():
        lttng("create", "one", f"--output={os.getcwd()}/trace")
        lttng("enable-event", "--userspace", "shop:numbers", "--filter", "i > 1 && i != 3")
        lttng("start")
        process = start([program, times], SILVERPOINT_PROBES="lttng")
        wait("shop:numbers", lambda: "shop:numbers" in listed())
        # Another one while it runs.
        lttng("enable-event", "--userspace", "shop:span_e*")
        # Its begin is off.
        lttng("enable-event", "--userspace", "shop:fetch_end")
        go(process, {"shop:span_exit", "shop:span_entry", "shop:fetch_end"})
        lttng("stop")
        lttng("destroy")
    found = events("trace")
    wanted = [i for i in range(1, int(times) + 1) if i > 1 and i != 3]
    assert [fields["i"] for name, fields in found if name == "numbers"] == wanted, found
    # Executions that make the events known may still be under way when they are enabled. Those that count come last.
    count = {one: len([name for name, _ in found if name == one]) for one in ("span_entry", "span_exit", "fetch_end")}
    assert min(count.values()) >= int(times) and abs(count["span_entry"] - count["span_exit"]) <= 1, (count, found)
    spans = [fields["i"] for name, fields in found if name == "span_entry"]
    assert spans[-int(times):] == list(range(1, int(times) + 1)), found
    assert {name for name, _ in found} == {"numbers", "span_entry", "span_exit", "fetch_end"}
    print(f"{len(found)} events, the ring off")


def levels(silverpoint, *programs):
    for program in programs:
        subprocess.run([silverpoint, "run", "--quiet", "--filter", "trace", "-o", "levels.silver", "--force", "--", program, "0"], input="\n", text=True, check=True)
        once = recorded(silverpoint, "levels.silver")
        wanted = names_of([record for record in once if record["level"] not in ("debug", "trace")])
        assert wanted and wanted < names_of(once), (wanted, names_of(once))
        shutil.rmtree("trace", ignore_errors=True)
        with Daemon():
            lttng("create", "one", f"--output={os.getcwd()}/trace")
            # It means this level and more severe ones.
            lttng("enable-event", "--userspace", "shop:*", "--loglevel=TRACE_INFO")
            lttng("start")
            go(start([program, "5"], SILVERPOINT_PROBES="lttng", SILVERPOINT_FILTER="off"), names_of(once))
            lttng("stop")
            lttng("destroy")
        # (Sites of one name in one session have their places behind it.)
        found = [f"shop:{name.partition('#')[0]}" for name, _ in events("trace")]
        assert set(found) == wanted and all(found.count(name) >= 5 for name in wanted), (sorted(set(found)), sorted(wanted))
        print(f"{len(wanted)} of {len(names_of(once))} events")


def switched(silverpoint, *programs):
    for program in programs:
        shutil.rmtree("trace", ignore_errors=True)
        switched_once(silverpoint, program, has_one_site=True)
    print("on and off")


class Program:
    """A program that does something for each line of input, and answers."""

    def __init__(self, *command, **variables):
        environment = {name: value for name, value in os.environ.items() if name != "SILVERPOINT_PROBES"}
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment | variables, text=True)

    def answer(self):
        assert self.process.stdout.readline() == "done\n"

    def say(self, line):
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()
        self.answer()

    def tick(self, times=1):
        for _ in range(times):
            self.say("")

    def tick_until(self, what, done):
        def ticked():
            self.tick()
            return done()

        wait(what, ticked)

    def end(self):
        self.process.stdin.close()
        assert self.process.wait(PATIENCE) == 0, self.process.returncode


def record(name, pattern, *words):
    """A session that has begun."""
    lttng("create", name, f"--output={os.getcwd()}/{name}")
    lttng("enable-channel", "--userspace", f"--session={name}", "--subbuf-size=4M", "all")
    lttng("enable-event", "--userspace", f"--session={name}", "--channel=all", pattern, *words)
    lttng("start", name)


def switched_once(silverpoint, program, word="ticks", event="shop:tick", has_one_site=False):
    """A program that was started without LTTng feeds it from `on` to `off`."""

    def probe(state):
        subprocess.run([silverpoint, "ctl", str(running.process.pid), "--probe", f"lttng={state}"], check=True, stdout=subprocess.DEVNULL)

    running = Program(program, word, SILVERPOINT_FILTER="off")
    with Daemon():
        record("trace", event)
        running.tick()
        assert "liblttng" not in open(f"/proc/{running.process.pid}/maps").read()
        counts = []
        for _ in range(2):
            probe("on")
            running.tick_until(event, lambda: event in listed())
            lttng("stop")
            before = len(events("trace"))
            lttng("start")
            running.tick(10)
            probe("off")
            running.tick(10)
            lttng("stop")
            counts.append(len(events("trace")) - before)
            lttng("start")
        if has_one_site:
            follows_the_ring(silverpoint, running)
        running.end()
        lttng("destroy")
    assert counts == [10, 10], counts


def ends(silverpoint, *programs):
    for number, program in enumerate(programs):
        shutil.rmtree("trace", ignore_errors=True)
        ends_of(silverpoint, program, f"{number}.silver")


def ends_of(silverpoint, program, trace):
    """Spans into the ring, while LTTng wants none of their events. Then it wants the events of their ends alone: it gets those of spans that begin behind that."""
    names = {"sell_entry", "sell_exit"}
    with Daemon():
        record("trace", "shop:nothing")
        running = Program(silverpoint, "run", "--quiet", "--probe", "lttng", "--filter", "trace", "-o", trace, "--", program, "ticks")
        running.say("s")
        wait("events of the span", lambda: {f"shop:{name}" for name in names} <= listed())
        for _ in range(50):
            running.say("s")
        lttng("enable-event", "--userspace", "--session=trace", "--channel=all", "shop:sell_exit")
        running.tick()
        for _ in range(20):
            running.say("s")
            running.tick()
        running.end()
        lttng("destroy")
    found = [name for name, _ in events("trace") if name in names]
    assert found == ["sell_exit"] * 20, found
    made = [one["template"] for one in recorded(silverpoint, trace) if one["kind"] == "span"]
    assert made == ["sell"] * 71, made


def follows_the_ring(silverpoint, running):
    """The program's only site, which fed LTTng alone, records into the ring. The bit of tracers in its state, which a controller may have left, is cleared."""
    pid = str(running.process.pid)
    session = next(one for one in os.listdir(os.environ["SILVERPOINT_DIR"]) if one.startswith(f"{pid}-"))
    with open(os.path.join(os.environ["SILVERPOINT_DIR"], session, "control"), "r+b", buffering=0) as control:
        (at,) = struct.unpack("<Q", os.pread(control.fileno(), 8, 152))  # spec/wire.md, section 3.1: states_at

        def state():
            return os.pread(control.fileno(), 1, at)[0]

        assert state() == 0, state()
        os.pwrite(control.fileno(), b"\2", at)
        running.tick()
        assert state() == 0, state()
    subprocess.run([silverpoint, "ctl", pid, "debug"], check=True, stdout=subprocess.DEVNULL)
    running.tick(3)
    shown = subprocess.run([silverpoint, "tail", pid], check=True, stdout=subprocess.PIPE, text=True).stdout
    assert shown.count("tick") == 3, shown


def daemons(program):
    """No daemon when it starts; two sessions, one of which is stopped meanwhile; a daemon that is killed; another one."""
    running = Program(program, "ticks", SILVERPOINT_PROBES="lttng")
    running.tick(10)
    with Daemon() as first:
        running.tick_until("shop:tick", lambda: "shop:tick" in listed())
        record("one", "shop:tick")
        record("two", "shop:t*")
        running.tick(10)
        lttng("stop", "one")
        running.tick(10)
        lttng("start", "one")
        running.tick(10)
        for name in ("one", "two"):
            lttng("stop", name)
        assert [len(events(name)) for name in ("one", "two")] == [20, 30]
        for name in ("one", "two"):
            lttng("start", name)
        first.process.kill()
        first.process.wait(PATIENCE)
        running.tick(1000)
    with Daemon():
        running.tick_until("shop:tick", lambda: "shop:tick" in listed())
        record("three", "shop:tick")
        running.tick(10)
        lttng("stop")
        assert len(events("three")) == 10
        lttng("destroy")
    running.end()
    print("all events of all sessions")


def many(program):
    """Ten thousand events; one is enabled, then all, while it runs."""
    running = Program(program, SILVERPOINT_PROBES="lttng")
    running.answer()
    with Daemon():
        running.tick_until("the last event", lambda: len([name for name in listed() if name.startswith("shop:")]) == 10001)
        record("trace", "shop:many7777")
        running.tick(10)
        lttng("enable-event", "--userspace", "--channel=all", "shop:signal")
        running.tick(10)
        lttng("stop")
        found = events("trace")
        assert [name for name, _ in found].count("many7777") == 20 and len(found) == 30, len(found)
        lttng("enable-event", "--userspace", "--channel=all", "shop:many*")
        lttng("start")
        running.tick()
        lttng("stop")
        assert len({name for name, _ in events("trace")}) == 10001
        lttng("destroy")
    running.end()
    print("all of ten thousand")


# With and without what wraps fork.
PRELOADED = ({}, {"LD_PRELOAD": "liblttng-ust-fork.so.1"})


def seen():
    """How many processes have the event."""
    return lttng("list", "--userspace").count("shop:parent or child ")


def both_are_seen():
    wait("both processes", lambda: seen() == 2)
    os.remove("unseen")


def fork(program, *words):
    """The word `early`: it forks before LTTng is open; so the child opens it."""
    for variables in PRELOADED:
        shutil.rmtree("trace", ignore_errors=True)
        with Daemon():
            lttng("create", "one", f"--output={os.getcwd()}/trace")
            lttng("enable-event", "--userspace", "shop:*")
            lttng("start")
            open("unseen", "w").close()
            process = start([program, *words], SILVERPOINT_PROBES="lttng", **variables)
            processes = 2 if "early" in words else 1
            wait(f"{processes} processes", lambda: seen() == processes)
            go(process, {"shop:parent or child"}, both_are_seen)
            lttng("stop")
            lttng("destroy")
        who = [fields["who"] for name, fields in events("trace") if name == "parent or child"]
        assert set(who) - {"first"} == {"child", "parent"}, (variables, who)
    print("both processes")


def busy(program):
    for variables in PRELOADED:
        with Daemon():
            lttng("create", "one", f"--output={os.getcwd()}/trace")
            lttng("enable-event", "--userspace", "shop:*")
            lttng("start")
            process = start([program], SILVERPOINT_PROBES="lttng", **variables)
            if process.wait(PATIENCE) != 0:
                raise SystemExit(f"the program ended with {process.returncode}")
            lttng("destroy")
    print("ended")


def allocs(program):
    with Daemon():
        lttng("create", "one", f"--output={os.getcwd()}/trace")
        lttng("enable-event", "--userspace", "shop:*")
        lttng("start")
        go(start([program], SILVERPOINT_PROBES="lttng"), {"shop:malloc"})
        lttng("stop")
        lttng("destroy")
    found = [fields for name, fields in events("trace") if name == "malloc" and fields["size"] == 4242]
    assert len(found) == 1000, len(found)
    print("all calls")


def reloaded(program, *parts):
    for part in parts:
        shutil.rmtree("trace", ignore_errors=True)
        with Daemon():
            record("trace", "shop:*")
            process = start([program, part], SILVERPOINT_PROBES="lttng", SILVERPOINT_FILTER="off")
            if process.wait(PATIENCE) != 0:
                raise SystemExit(f"the program ended with {process.returncode}")
            lttng("stop")
            lttng("destroy")
        times = [fields["time"] for _, fields in events("trace")]
        # The execution that makes the site known comes before its event.
        assert all(times.count(time) in (9, 10) for time in range(3)), times
    print("all times")


def page(script):
    with Daemon():
        subprocess.run(["sh", "-c", script], check=True, timeout=PATIENCE)


def main():
    in_own_namespace()
    os.environ["LTTNG_HOME"] = os.environ["HOME"] = os.getcwd()
    {"fields": fields, "atrace": atrace, "glog": glog, "facades": facades, "facades_switched": facades_switched, "facades_apart": facades_apart, "without_ring": without_ring, "alone": alone, "levels": levels, "ends": ends, "fork": fork, "busy": busy, "allocs": allocs, "reloaded": reloaded, "page": page, "switched": switched, "scopes": scopes, "daemons": daemons, "many": many}[sys.argv[1]](*sys.argv[2:])


if __name__ == "__main__":
    main()
