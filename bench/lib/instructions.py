"""Instructions of a call beside those that are committed."""

# Those of the hot path; a driver has those that its language has.
CASES = ("disabled", "literal", "three", "text", "text.stream", "map", "map.stream", "floats",
         "tracing.text", "tracing.event3", "tracing.span", "tracing.span2", "atrace.instant", "atrace.counter", "atrace.scope")
# Into the ring, while a system tracer is asked for that wants no event: each driver in bench/lttng has those that its language has.
BESIDE = ("literal", "three.fields", "text.fields", "floats.fields", "span", "async.begin",
          "tracing.text", "tracing.event3", "tracing.span", "tracing.span2", "atrace.instant", "atrace.counter", "atrace.scope")
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
