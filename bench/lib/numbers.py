"""Statistics of the suite: medians, quantiles and bootstrap intervals. Pure functions; the standard library only."""

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
