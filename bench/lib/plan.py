"""What is run, how often, and in which order: random, so that a slow drift of the machine meets everybody alike."""

import random
from dataclasses import dataclass, field

from .build import clock
from .watching import WATCHERS

CASES = ("literal", "three", "text", "map", "floats")
THREADS = {1: 1_000_000, 2: 1_000_000, 4: 1_000_000, 16: 250_000}  # records a thread


@dataclass(frozen=True)
class Size:
    """How much is measured. quick: one process a figure nearly everywhere, some ten minutes for all parts; full: half an hour, and as many rounds as fit (`Time`)."""

    repeats: int  # processes a figure
    pairs: int  # batches of bursts a process
    groups: int  # of single calls a process
    sustained: int  # processes a sustained figure
    switchings: int  # of a tracepoint by another process, a process
    newcomers: int  # threads whose first record is timed
    idle_seconds: int
    compilations: int
    rate_records: int  # in the file that is read
    argument_repeats: int  # processes for each kind of argument
    argument_pairs: int  # batches of bursts in each; more processes say more than longer ones, which share their process's luck
    rendered_records: int  # in the files of which each format is made
    rendered_repeats: int  # processes
    rendered_seconds: int  # about what one round of them takes
    log_entries: int  # of each thread, in loggers
    log_repeats: int  # processes for each logger and number of threads
    convert_records: int  # in the files of each format
    convert_repeats: int  # runs of each reader and writer
    convert_streamed: int  # records through a pipe
    bind_rounds: int  # turns of each candidate in a process
    bind_repeats: int  # processes
    signal_events: int  # of a process
    signal_seconds: float  # beside a timer
    signal_repeats: int  # processes
    dotnet_calls: int  # of a process
    dotnet_repeats: int  # processes a listener
    modern_repeats: int  # processes a figure
    paced_milliseconds: int  # of records at each rate
    paced_repeats: int
    scale_records: int  # a point, from all threads or processes
    scale_bytes: int  # at most, where records are long
    scale_repeats: int
    scale_threads: tuple
    scale_processes: tuple
    scale_sites: tuple
    scale_payloads: tuple
    scale_traces: tuple  # records
    scale_most_text: int  # records that are made text


QUICK = Size(repeats=1, pairs=250, groups=6, sustained=3, switchings=20, newcomers=60, idle_seconds=4, compilations=3, rate_records=2_000_000,
             argument_repeats=1, argument_pairs=75, rendered_records=200_000, rendered_repeats=1, rendered_seconds=8, log_entries=100_000, log_repeats=1, convert_records=400_000, convert_repeats=3, convert_streamed=25_000_000,
             bind_rounds=100, bind_repeats=2, signal_events=5_000_000, signal_seconds=1, signal_repeats=1, dotnet_calls=2000, dotnet_repeats=1, modern_repeats=1, paced_milliseconds=500, paced_repeats=1,
             scale_records=1_000_000, scale_bytes=500_000_000, scale_repeats=1, scale_threads=(1, 2, 4, 16, 64, 256, 1000, 10_000), scale_processes=(1, 5, 20, 50, 200),
             scale_sites=(10, 1000, 10_000, 50_000), scale_payloads=(0, 64, 1024, 4096, 16_384, 65_536), scale_traces=(30_000, 300_000, 3_000_000, 30_000_000), scale_most_text=3_000_000)
FULL = Size(repeats=3, pairs=600, groups=12, sustained=6, switchings=34, newcomers=150, idle_seconds=20, compilations=5, rate_records=4_000_000,
            argument_repeats=4, argument_pairs=75, rendered_records=400_000, rendered_repeats=3, rendered_seconds=45, log_entries=100_000, log_repeats=5, convert_records=400_000, convert_repeats=3, convert_streamed=25_000_000,
            bind_rounds=150, bind_repeats=4, signal_events=100_000_000, signal_seconds=3, signal_repeats=3, dotnet_calls=20_000, dotnet_repeats=5, modern_repeats=5, paced_milliseconds=650, paced_repeats=5,
            scale_records=3_000_000, scale_bytes=1_200_000_000, scale_repeats=3, scale_threads=(1, 2, 4, 8, 16, 64, 256, 1000, 4000, 10_000), scale_processes=(1, 2, 5, 10, 20, 50, 100, 200),
            scale_sites=(10, 100, 1000, 10_000, 50_000), scale_payloads=(0, 16, 64, 256, 1024, 4096, 16_384, 65_536), scale_traces=(30_000, 300_000, 3_000_000, 30_000_000, 100_000_000),
            scale_most_text=3_000_000)


@dataclass
class Step:
    """One process of one driver."""

    facility: object
    mode: str
    case: str | None = None
    numbers: dict = field(default_factory=dict)
    options: tuple = ()
    watch: str | None = None  # who looks on meanwhile: see driving.WATCHERS
    needed: bool = False  # run also when the time is over: without it a row would have no figure


# A caller that is pinned cannot leave a core onto which the kernel puts somebody else. The floor's reader, the collector and the rest of the system are three at least, and want cores of their own.
PINNED_FROM = 4


# What is packed by hand (floor/by_hand.cpp).
BY_HAND = ("literal", "three", "text", "map", "floats")


def core(cores):
    """Where the caller of bursts and single calls is pinned on a machine of so many cores: the last one, far from most interrupts; None on small machines."""
    return cores - 1 if cores >= PINNED_FROM else None


def steps(facilities, floor, by_hand, size, seed, cpu=None, crowd=()):
    """All steps in random order, but each figure's processes spread evenly over the whole: what is left out when the time is over is the last of them.

    `cpu` pins the producer of single-threaded modes. `crowd`: facilities of which switching from outside alone is measured.
    """
    source = random.Random(seed)
    pin = {} if cpu is None else {"cpu": cpu}
    found = []

    def add(times, facility, mode, case=None, watch=None, **numbers):
        for turn in range(times):
            step = Step(facility, mode, case, numbers | {"seed": source.randrange(1, 1 << 31)}, watch=watch, needed=turn == 0)
            found.append(((turn + source.random()) / times, step))

    add(size.repeats, floor, "burst", "three", pairs=size.pairs, **pin)
    add(size.repeats, floor, "single", "three", groups=size.groups, **pin)
    for case in BY_HAND:
        add(size.repeats, by_hand, "burst", case, pairs=size.pairs, **pin)
    for facility, cases in facilities:
        for case in cases:
            add(size.repeats, facility, "burst", case, pairs=size.pairs, **pin)
            if "." not in case:
                add(size.repeats, facility, "single", case, groups=size.groups, **pin)
        for watch in WATCHERS:
            add(size.repeats, facility, "burst", "three", watch, pairs=size.pairs, **pin)
        add(size.repeats, facility, "disabled", pairs=size.pairs, **pin)
        for threads, records in THREADS.items():
            for timed in (0, 1):
                add(size.sustained, facility, "sustained", "three", threads=threads, records=records, timed=timed)
        for alive, prepared in ((1, 0), (0, 0), (1, 1)):
            add(size.repeats, facility, "first", "three", threads=size.newcomers, alive=alive, prepared=prepared)
        add(size.repeats, facility, "switch", "three", switchings=size.switchings)
    for facility, case, records in crowd:
        add(size.repeats, facility, "switch", case, switchings=size.switchings, records=records)
    found = [step for _, step in sorted(found, key=lambda placed: placed[0])]
    # One after the other at the end: idling is long, and the collector is the same for all frontends.
    found.append(Step(facilities[0][0], "idle", "three", {"seconds": size.idle_seconds}, needed=True))
    return found


# What a figure of a part depends on beside the machine, from Size: two runs that differ in it are not compared (lib/figures.py). How often it was measured makes its spread, and is not in it.
WORK = {"latest": ("rate_records", "newcomers"), "loggers": ("log_entries",), "convert": ("convert_records", "convert_streamed"), "bind": ("bind_rounds",),
        "signals": ("signal_events", "signal_seconds"), "dotnet": ("dotnet_calls",), "paced": ("paced_milliseconds",), "scale": ("scale_records", "scale_bytes"), "structured": ("rendered_records",)}


def work(part, size):
    """{what: how much} of a part."""
    return {name: getattr(size, name) for name in WORK.get(part, ())} | ({"sustained": {str(threads): records for threads, records in THREADS.items()}} if part == "latest" else {})


# ---- the bound of a run ----

# Of the time that is left, by part, in the order in which they run. Those of the sources' tables come first, each with a fifth more than the three rounds of a spread take (numbers.again). Time
# that they do not use is left to those behind them, which have budgets, or figures of ours alone.
SHARES = {"structured": 260, "tracing": 220, "signals": 180, "loggers": 265, "dotnet": 32, "modern": 95, "paced": 140, "scale": 150, "drivers": 230, "reading": 36, "header": 45, "convert": 105, "bind": 60,
          "arguments": 70}
# Of the whole, kept back: a part's first round is always run, the last part's as well.
RESERVE = 0.02


class Time:
    """How long a run may take, by build.clock. Each part gets its share of what is left, so that one that takes less leaves more to the others."""

    def __init__(self, minutes, parts, now=clock):
        self._now = now
        self._end = now() + 60 * minutes * (1 - RESERVE)
        self._left = [part for part in SHARES if part in parts]

    def begin(self, part):
        """The moment at which a part should end, by build.clock."""
        weight = sum(SHARES[one] for one in self._left)
        self._left.remove(part)
        now = self._now()
        return now + max(self._end - now, 0) * SHARES[part] / weight


def turns(steps, repeats, until, source, now=clock):
    """All steps in random order, and that again as often as `rounds` says."""
    for _ in rounds(repeats, until, now):
        yield from source.sample(steps, len(steps))


def rounds(repeats, until, now=clock):
    """The numbers of the turns in which everything is run once: the first always, another when it would end in time if it took as long as the longest so far."""
    longest = 0
    for number in range(repeats):
        began = now()
        if number and began + longest > until:
            return
        yield number
        longest = max(longest, now() - began)
