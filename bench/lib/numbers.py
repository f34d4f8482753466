"""Statistics of the suite: medians, quantiles and bootstrap intervals. Pure functions; the standard library only."""

import math
import random

ROUNDS = 1000
CONFIDENCE = 0.95


def quantile(values, q):
    """Linear between the nearest ranks. `values` need not be sorted and must not be empty."""
    ordered = sorted(values)
    at = q * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def median(values):
    return quantile(values, 0.5)


def processes(counts):
    """In words how many processes each of some figures is of: `3 processes`, `2 to 5 processes`."""
    low, high = (min(counts), max(counts)) if counts else (0, 0)
    return f"{low}{f' to {high}' if high != low else ''} process{'' if high == 1 else 'es'}"


def figures(runs):
    """(candidate, reference) of runs with pairs: medians over processes."""
    return tuple(median([median([pair[side] for pair in run["pairs"]]) for run in runs]) for side in (0, 1))


def of_pairs(pairs, combine):
    """`combine` (ratio or difference) of the medians of the two sides."""
    return combine(median([a for a, _ in pairs]), median([b for _, b in pairs]))


def ratio(a, b):
    return a / b if b else float("nan")


def difference(a, b):
    return a - b


def interval(runs, combine, seed=1):
    """Bootstrap interval (low, high) of `of_pairs` over runs of pairs.

    A run is one process; pairs within it share that process's luck with memory and placement. So runs are drawn first, with
    replacement, then pairs within each run drawn.
    """
    source = random.Random(seed)
    found = []
    for _ in range(ROUNDS):
        drawn = []
        for run in source.choices(runs, k=len(runs)):
            drawn.extend(source.choices(run, k=len(run)))
        found.append(of_pairs(drawn, combine))
    tail = (1 - CONFIDENCE) / 2
    return quantile(found, tail), quantile(found, 1 - tail)


def spread(values):
    """Width of the middle 80 % over the median: 0 on a perfectly quiet machine."""
    return (quantile(values, 0.9) - quantile(values, 0.1)) / median(values)


# Student's t for 99 of 100, two-sided, by degrees of freedom; the last also for all beyond.
STUDENT = (63.66, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169, 3.106, 3.055, 3.012, 2.977, 2.947, 2.921, 2.898, 2.878, 2.861, 2.845)


def again(values):
    """Where the figure of another run as long as this one lies in 99 of 100 cases: (low, high), or None from fewer than three values, or when one is not above 0.

    The values are one of each process. Their logarithms count as normal: figures of cost differ by factors. A second run has as much luck as the first, which is
    why the square root has a 2. What drifts between the runs (another host, a warmer processor) is not in it.
    """
    n = len(values)
    if n < 3 or not all(value > 0 for value in values):
        return None
    logs = [math.log(value) for value in values]
    mean = sum(logs) / n
    deviation = math.sqrt(sum((one - mean) ** 2 for one in logs) / (n - 1))
    reach = STUDENT[min(n - 1, len(STUDENT)) - 1] * deviation * math.sqrt(2 / n)
    middle = median(values)
    return middle * math.exp(-reach), middle * math.exp(reach)
