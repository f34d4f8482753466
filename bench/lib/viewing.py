"""The page of bench/view: what was measured in the browser, beside what was asked for."""

from .numbers import median, quantile

# Milliseconds and bytes that issue and docs promise.
FIRST_MS, UNINDEXED_MS, STEP_MS, MEMORY = 2000, 20_000, 50, 200_000_000


def problems(found):
    """Why a run does not count; none when it does."""
    wrong = []
    if found["steps"]["records"] != found["records"]:
        wrong.append(f"{found['records']} records made, {found['steps']['records']} shown")
    if found["steps"]["lost"]:
        wrong.append(f"{found['steps']['lost']} records lost")
    for name in ("reading", "finished", "jumps"):
        if not found["steps"][name]:
            wrong.append(f"no steps were measured ({name})")
    return wrong


def rows(found):
    """(what, measured, budget, verdict) of each figure."""
    steps = found["steps"]
    first, unindexed = (median([run["first"] for run in found[name]]) for name in ("first", "unindexed"))
    served = median([run["listening"] for run in found["first"]])
    memory = max(run["memory"] for run in [steps, *found["first"], *found["unindexed"]])
    share = found["first"][0]["read"] / found["records"]

    def row(what, value, most, shown):
        return what, shown(value), "" if most is None else shown(most), "" if most is None else "pass" if value <= most else "MISS"

    def seconds(ms):
        return f"{ms / 1000:.2f} s"

    def milliseconds(ms):
        return f"{ms:.0f} ms"

    def megabytes(size):
        return f"{size / 1e6:.0f} MB"

    yield row("from the command to the address", served, None, seconds)
    yield row(f"to the first picture, of the whole range; {share:.1%} of the records are read then", first, FIRST_MS, seconds)
    yield row("the same of a file without an index", unindexed, UNINDEXED_MS, seconds)
    for name, what in (("reading", "a step of zooming or scrolling while records are read"), ("finished", "the same when all are read"), ("jumps", "100 rows of the table, anywhere")):
        values = steps[name]
        yield row(f"{what}: 95th percentile of {len(values)}", quantile(values, 0.95), STEP_MS, milliseconds)
        yield row(f"{what}: median", median(values), None, milliseconds)
        yield row(f"{what}: longest", max(values), None, milliseconds)
    yield row("until all records are read, counted and in the timeline, beside the steps", steps["whole"], None, seconds)
    yield row("the server's memory, at most", memory, MEMORY, megabytes)


def page(found, about, wrong):
    """The page as text."""
    small = found["small"]
    lines = [
        "# The viewer on a large file",
        "",
        f"`silverpoint view` in headless Chromium, on {found['records']:,} records of 4 threads in {found['bytes'] / 1e9:.2f} GB, which lie in the page cache. Spans, lines of text and a counter; recorded in "
        f"{found['recorded_s']:.0f} s. First pictures are medians of {len(found['first'])} starts. A step is timed from the wheel to the frame that shows what it asked for. Written by `bench/view`.",
        "",
        *(f"- {name}: {value}" for name, value in about.items()),
        "",
        *(f"**Does not count: {what}.**" for what in wrong),
        "| what | measured | at most | |",
        "|---|---|---|---|",
        *(f"| {' | '.join(row)} |" for row in rows(found)),
        "",
        f"The same {small['records']:,} records take {small['silver'] / 1e6:.0f} MB here, {small['chrome'] / 1e6:.0f} MB as JSON of Chrome and {small['perfetto'] / 1e6:.0f} MB as a trace of Perfetto. "
        f"So {found['records']:,} would take {small['chrome'] / small['records'] * found['records'] / 1e9:.1f} GB and {small['perfetto'] / small['records'] * found['records'] / 1e9:.1f} GB there. "
        "The viewer of Perfetto holds a whole trace in the browser's memory: 2 to 4 GB (google/perfetto#1392, #3537).",
        "",
    ]
    return "\n".join(lines)
