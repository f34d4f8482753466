"""Instructions of a call beside those that are committed, and beside those that comments and pages name."""

import re

# Those of the hot path; a driver has those that its language has.
CASES = ("disabled", "literal", "three", "text", "text.stream", "map", "map.stream", "floats",
         "tracing.text", "tracing.event3", "tracing.span", "tracing.span2", "atrace.instant", "atrace.counter", "atrace.scope")
# Into the ring, while a system tracer is asked for that wants no event: each driver in bench/lttng has those that its language has.
BESIDE = ("literal", "three.fields", "text.fields", "floats.fields", "span", "async.begin",
          "tracing.text", "tracing.event3", "tracing.span", "tracing.span2", "atrace.instant", "atrace.counter", "atrace.scope")
# Into a system tracer alone, without what the tracer does.
ALONE = ("literal", "three.fields", "text.fields", "floats.fields", "span", "async.begin")
# A rise by more than this part fails.
RISE_MAX = 0.03


def compare(wanted, found):
    """(lines, failed): one line for each driver and case. What is not in `wanted` fails: it was never looked at."""
    lines, failed = [], 0
    for driver, cases in found.items():
        for case, now in cases.items():
            before = wanted.get(driver, {}).get(case)
            if before is None:
                verdict = "FAILED: not in the committed file (--accept writes it)"
            # Below a hundred instructions 3 % may be less than one of them.
            elif now > max(before * (1 + RISE_MAX), before + 0.5):
                verdict = f"FAILED: {before:g} are committed, {100 * (now / before - 1) if before else 100:.1f} % more"
            elif now < before * (1 - RISE_MAX):
                verdict = f"{before:g} are committed: better, which --accept keeps"
            else:
                verdict = "as committed"
            failed += verdict.startswith("FAILED")
            lines.append(f"{driver:25} {case:14} {now:8.2f} instructions a call; {verdict}")
    return lines, failed


# Where a text names counts: the file, the text with a group for each count, and what each counts.
NAMED = (
    ("cpp/include/silverpoint/detail/record.hpp", r"a literal (\d+) = \d+ by hand", (("silverpoint-cpp", "literal"),)),
    ("cpp/include/silverpoint/detail/record.hpp", r"three numbers (\d+) = \d+ by hand", (("silverpoint-cpp", "three"),)),
    ("cpp/include/silverpoint/detail/record.hpp", r"a text of 35 bytes (\d+) = \d+ by hand", (("silverpoint-cpp", "text"),)),
    ("cpp/include/silverpoint/c/record.h", r"takes (\d+) instructions with a literal, (\d+) with three numbers \(C\+\+: (\d+) and (\d+)\)",
     (("silverpoint-c", "literal"), ("silverpoint-c", "three"), ("silverpoint-cpp", "literal"), ("silverpoint-cpp", "three"))),
    ("cpp/include/silverpoint/c/record.h", r"text of 35 bytes it takes (\d+) \(C\+\+: (\d+)\)", (("silverpoint-c", "text"), ("silverpoint-cpp", "text"))),
    ("docs/budgets.md", r"\(`bench/instructions`\): a literal (\d+), (\d+) and (\d+); three numbers (\d+), (\d+) and (\d+)\.",
     tuple((f"silverpoint-{language}", case) for case in ("literal", "three") for language in ("c", "cpp", "rust"))),
    ("docs/budgets.md", r"With a text of 35 bytes they are (\d+), (\d+) and (\d+)\.", tuple((f"silverpoint-{language}", "text") for language in ("c", "cpp", "rust"))),
    ("docs/budgets.md", r"a literal takes (\d+) instructions in Rust, (\d+) in C\+\+", (("silverpoint-rust", "literal"), ("silverpoint-cpp", "literal"))),
    ("docs/budgets.md", r"the same three numbers takes (\d+) instructions in all", (("silverpoint-rust", "three"),)),
    *(("docs/budgets.md", rf"\| {row} \| \d+ \| (\d+) \| (\d+) \| (\d+) \|", tuple((f"silverpoint-{language}", case) for language in ("cpp", "rust", "c")))
      for row, case in (("a literal", "literal"), ("three numbers", "three"), ("a text of 35 bytes and two numbers", "text"))),
    *(("docs/budgets.md", rf"\| {row} \| \d+ \| (\d+) \| (\d+) \| – \|", (("silverpoint-cpp", case), ("silverpoint-rust", case)))
      for row, case in (("map of three and three numbers", "map"), ("128 floats", "floats"))),
    *(("docs/budgets.md", rf"\| into LTTng: {row} \| (\d+) \| (\d+) \| (\d+) \|", tuple((f"silverpoint{language}, LTTng alone", case) for language in ("", "-c", "-rust")))
      for row, case in (("a literal", "literal"), ("three numbers", "three.fields"), ("a text and two numbers", "text.fields"), ("begin of an async span", "async.begin"))),
    ("docs/budgets.md", r"\| into LTTng: 128 floats \| (\d+) \| – \| (\d+) \|", (("silverpoint, LTTng alone", "floats.fields"), ("silverpoint-rust, LTTng alone", "floats.fields"))),
)
# A sum that says what a count is made of.
SUM = re.compile(r"^.*?(\d+) = (\d+) by hand \+ (\d+)$", re.MULTILINE)


def misnamed(root, counts, named=NAMED):
    """A line for each count below `root` that is not the committed one, rounded, and for each text that is gone."""
    texts = {file: (root / file).read_text() for file, _, _ in named}
    # A sentence of a comment goes on in its next line.
    unmarked = {file: re.sub(r"\n(?://| \*)", "\n", text) for file, text in texts.items()}
    found = []
    for file, text, cases in named:
        match = re.search(text.replace(" ", r"\s+"), unmarked[file])
        if match is None:
            found.append(f"{file}: nothing says `{text}` any more (bench/lib/instructions.py, NAMED)")
            continue
        for group, (driver, case) in enumerate(cases, 1):
            committed = counts[driver][case]
            if int(match[group]) != round(committed):
                line = unmarked[file].count("\n", 0, match.start(group)) + 1
                found.append(f"{file}:{line}: {match[group]} instructions of {driver}, {case}; {committed:g} are committed")
    for file, text in texts.items():
        for whole, *parts in SUM.findall(text):
            if int(whole) != sum(map(int, parts)):
                found.append(f"{file}: {whole} is not {' + '.join(parts)}")
    return found
