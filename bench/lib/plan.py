"""What is run, how often, and in which order: random, so that a slow drift of the machine meets everybody alike."""

import random
from dataclasses import dataclass, field

from .watching import WATCHERS

CASES = ("literal", "three", "text", "map", "floats")
THREADS = {1: 1_000_000, 2: 1_000_000, 4: 1_000_000, 16: 250_000}  # records a thread


@dataclass(frozen=True)
class Size:
    """How long a run may take. quick: about a minute; full: about ten."""

    repeats: int  # processes a figure
    pairs: int  # batches of bursts a process
    groups: int  # of single calls a process
    sustained: int  # processes a sustained figure
    newcomers: int  # threads whose first record is timed
    idle_seconds: int
    compilations: int
    rate_records: int  # in the file that is read
    argument_repeats: int  # processes for each kind of argument
    argument_pairs: int  # batches of bursts in each
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


QUICK = Size(repeats=1, pairs=250, groups=6, sustained=3, newcomers=60, idle_seconds=4, compilations=3, rate_records=2_000_000,
             argument_repeats=1, argument_pairs=150, log_entries=100_000, log_repeats=1, convert_records=400_000, convert_repeats=3, convert_streamed=25_000_000,
             bind_rounds=100, bind_repeats=2, signal_events=5_000_000, signal_seconds=1, signal_repeats=1)
FULL = Size(repeats=3, pairs=600, groups=12, sustained=9, newcomers=150, idle_seconds=20, compilations=9, rate_records=8_000_000,
            argument_repeats=3, argument_pairs=300, log_entries=1_000_000, log_repeats=3, convert_records=1_000_000, convert_repeats=3, convert_streamed=25_000_000,
            bind_rounds=300, bind_repeats=5, signal_events=100_000_000, signal_seconds=5, signal_repeats=3)


@dataclass
class Step:
    """One process of one driver."""

    facility: object
    mode: str
    case: str | None = None
    numbers: dict = field(default_factory=dict)
    options: tuple = ()
    watch: str | None = None  # who looks on meanwhile: see driving.WATCHERS


def steps(facilities, floor, by_hand, size, seed, cpu=None):
    """All steps in random order. `cpu` pins the producer of single-threaded modes."""
    source = random.Random(seed)
    pin = {} if cpu is None else {"cpu": cpu}
    found = []

    def add(times, facility, mode, case=None, watch=None, **numbers):
        for _ in range(times):
            found.append(Step(facility, mode, case, numbers | {"seed": source.randrange(1, 1 << 31)}, watch=watch))

    add(size.repeats, floor, "burst", "three", pairs=size.pairs, **pin)
    add(size.repeats, floor, "single", "three", groups=size.groups, **pin)
    add(size.repeats, by_hand, "burst", "map", pairs=size.pairs, **pin)
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
    source.shuffle(found)
    # One after the other at the end: idling is long, and the collector is the same for all frontends.
    found.append(Step(facilities[0][0], "idle", "three", {"seconds": size.idle_seconds}))
    return found
