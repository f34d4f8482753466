"""The part `signals`: what an event costs on its way to a receiver, beside Qt, Boost and a queue behind a mutex. Writes bench/results/signals.md and signals.json."""

import json
import os
import pathlib
import random

from . import bind, processes
from . import build as building
from .numbers import again, median
from .numbers import processes as count_of
from .plan import turns
from .report import text

TIMEOUT_S = 300
# What is to be shown, and how much of it: (row, figure, at most).
BUDGETS = (("direct", "silverpoint direct", "emit", 2), ("cross", "silverpoint queued, poll", "event", 15), ("latest", "silverpoint latest", "emit", 6))
QT_QUEUED = 50  # times as long as ours, at least


def driver(bench):
    """Builds the program; a Failed says what is missing."""
    qt = bind.qt_directory()
    moc = next((place for place in map(pathlib.Path, ("/usr/lib/qt6/libexec/moc", "/usr/lib/qt6/moc")) if place.exists()), None)
    if qt is None or moc is None or not pathlib.Path("/usr/include/boost/signals2.hpp").exists():
        raise building.Failed("signals: qt6-base-dev and libboost-dev must be installed (scripts/setup bench)")
    made = bench.directory / "signals"
    made.mkdir(parents=True, exist_ok=True)
    source, program = building.BENCH / "signals/driver.cpp", made / "driver"
    building.compiled([moc, source, "-o", made / "driver.moc"])
    building.compiled(["g++", *building.CXX_FLAGS, "-fPIC", f"-I{building.ROOT / 'cpp/include'}", f"-I{made}", f"-I{source.parent}", "-isystem", qt, "-isystem", qt / "QtCore",
                   source, "-o", program, "-lQt6Core", "-pthread"])
    return program


def measure(bench, events, seconds, repeats, seed, until):
    """({(part, who, what): [one of each process]}, problems)."""
    try:
        program = driver(bench)
    except building.Failed as failed:
        return {}, [str(failed)]
    results, problems = {}, []
    steps = [("floor", 100_000, {}), ("direct", events, {}), ("latest", events, {}), ("cross", events, {}), ("cross", events, {"QT_NO_GLIB": "1"}), ("stalled", 2_000_000, {}), ("timer", seconds, {})]
    for part, size, environment in turns(steps, repeats, until, random.Random(seed)):
        try:
            done = processes.run([program, part, size], TIMEOUT_S, env=os.environ | environment)
        except processes.Hung as hung:
            problems.append(f"{part}: {hung}")
            continue
        if done.returncode != 0:
            problems.append(f"{part}: exit {done.returncode}: {done.stderr.strip()[:300]}")
            continue
        for one in map(json.loads, done.stdout.splitlines()):
            results.setdefault((one["part"], one["who"], one["what"]), []).append(one["value"])
    return results, problems


def table(results, part, columns, scale=None):
    """Rows of one part: who, and the medians of these figures."""
    lines = ["| | " + " | ".join(columns.values()) + " |", "|---|" + "---|" * len(columns)]
    for who in dict.fromkeys(name for of, name, _ in results if of == part):
        cells = [text(median(results[part, who, what]) / (scale or {}).get(what, 1)) if (part, who, what) in results else "–" for what in columns]
        lines.append(f"| {who} | " + " | ".join(cells) + " |")
    return lines


def verdicts(results):
    """Each budget, and whether it was met."""
    lines = []
    for part, who, what, most in BUDGETS:
        if (found := results.get((part, who, what))) is not None:
            value = median(found)
            lines.append(f"- {who}: {text(value)} ns, at most {most}: {'met' if value <= most else 'MISSED'}.")
    own = results.get(("cross", "silverpoint queued, poll", "event"))
    for who in ("QObject queued (GLib)", "QObject queued (without GLib)"):
        if own is not None and (theirs := results.get(("cross", who, "event"))) is not None:
            ratio = median(theirs) / median(own)
            lines.append(f"- {who} takes {ratio:.0f} times as long as silverpoint queued, at least {QT_QUEUED}: {'met' if ratio >= QT_QUEUED else 'MISSED'}.")
    return lines


def markdown(results, problems, events, seconds, machine):
    """The page."""
    milliseconds = {"total": 1e6}
    lines = ["# Signals", "",
             f"Medians of {count_of([len(found) for found in results.values()])}, in random order; {events:,} events of one `unsigned` each (of QObject queued and the mutex at most 2,000,000, since their queues have no bound); "
             "written by `bench/run --part signals`. Every receiver counts and adds up what it gets, and a process in which an event is missing counts for nothing. "
             "A row `no signal: …` does the same work in the least way: what this machine takes at least.", "",
             *(f"- {key}: {value}" for key, value in machine.items()),
             f"- load: {os.getloadavg()[0]:.1f} (what else runs takes cores from these threads: above 2 the figures are of a busy machine)", "", *(f"**Not counted: {problem}.**" for problem in problems),
             "## The machine", "", "What the steps between two threads take by themselves.", "",
             *table(results, "floor", {"ns": "ns"}), "",
             "## One receiver in the same thread", "", "The receiver keeps each value in a place of its own. One that adds up waits for its last sum.", "",
             *table(results, "direct", {"emit": "ns an emission", "total": "total, ms"}, milliseconds), "",
             "## To another thread, every event", "",
             *table(results, "cross", {"emit": "ns an emission", "event": "ns an event delivered", "total": "total, ms"}, milliseconds), "",
             "## To another thread, the newest value", "", "The reader looks every millisecond; a look finds the newest value when there is a new one, and never one that is older than the one before.", "",
             *table(results, "latest", {"emit": "ns an emission", "emit and receiver": "ns an emission and receiver", "looks": "looks", "reads": "values read"}), "",
             "## A receiver that does not come: memory", "", "2,000,000 events are sent; silverpoint keeps the newest 65,536 and counts the others.", "",
             *table(results, "stalled", {"KiB": "KiB"}), "",
             "## A timer beside a million events a second", "",
             f"A timer of 5 ms in the receiving loop of Qt, for {seconds} s each: microseconds by which its intervals differ from 5 ms. A sender that cannot keep up sends less.", "",
             *table(results, "timer", {"median": "median", "p99": "99th percentile", "max": "greatest", "ticks": "ticks", "sent": "events sent", "arrived": "values that arrived meanwhile"}), "",
             "## Budgets", "", *verdicts(results)]
    return "\n".join(lines) + "\n"


def as_json(results, machine):
    """For programs."""
    rows = [{"part": part, "who": who, "what": what, "value": round(median(found), 2), "processes": len(found), "again": again(found)} for (part, who, what), found in results.items()]
    return json.dumps({"machine": machine, "results": rows}, indent=1) + "\n"
