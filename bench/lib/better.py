"""Where another is better than we are: every comparison of the report is made here, so that none that is lost can be left out. Says of each whether the two spreads tell it from chance."""

from dataclasses import dataclass

from .report import text

# Between several of the same: it does not begin a line.
AND = "\u00a0· "
# What a reason is when neither code nor a measurement says one.
UNKNOWN = "not explained"
# The reason that the figures themselves give.
ALIKE = "the run does not tell the two apart: each lies in the range in which another run of the other would lie"
BEYOND, WITHIN, UNSURE, ELSEWHERE = "beyond noise", "within noise", "no spread", "another machine"
# What these words mean, for readers of the table.
VERDICTS = (f"*{BEYOND}*: each of the two lies outside the range in which another run of the other's would lie (99 of 100); *{WITHIN}*: it does not, which of few processes says little; *{UNSURE}*: one of the two has none, of fewer than three processes or because it was made of others; "
            f"*{ELSEWHERE}*: the other's figure was not measured in this run.")


@dataclass(frozen=True)
class Measured:
    """A figure, and the range in which that of another run lies in 99 of 100 cases (numbers.again); None where too few processes say it."""

    value: float
    low: float | None = None
    high: float | None = None

    def scaled(self, factor):
        return Measured(self.value * factor, *(None if end is None else end * factor for end in (self.low, self.high)))

    def less(self, other):
        """Without what a reference of the same process takes. A difference has no logarithm: what would be below nothing is nothing."""
        return Measured(self.value - other, *(None if end is None else max(end - other, 0.0) for end in (self.low, self.high)))


def measured(value, again=None):
    """A Measured of a row's figure and its `again`; None of None, and of what is no number."""
    if value is None or value != value:
        return None
    return Measured(value, *(again or (None, None)))


def verdict(ours, theirs):
    """Whether two figures differ beyond their spreads: the same rule as of --compare."""
    if ours.low is None or theirs.low is None:
        return UNSURE
    return BEYOND if not ours.low <= theirs.value <= ours.high and not theirs.low <= ours.value <= theirs.high else WITHIN


def alike(ours, theirs):
    """Whether each of two figures lies within the spread of the other."""
    return ours.low is not None and theirs.low is not None and ours.low <= theirs.value <= ours.high and theirs.low <= ours.value <= theirs.high


@dataclass(frozen=True)
class Loss:
    """A comparison that the other wins. `at` says under which of several like conditions (how many threads, which rate, which case); empty when there is one."""

    where: str
    at: str
    own: str
    who: str
    theirs: float
    ours: float
    unit: str
    noise: str
    why: str


@dataclass(frozen=True)
class Group:
    """The losses of one column that have one reason; cells of HEAD a row: in one those that differ by `at` alone, or by who is better under the one condition that there is."""

    where: str
    why: str
    rows: tuple


HEAD = ("of ours", "who is better", "at", "theirs", "ours", "noise")


class Better:
    """Collects where another is better, and why."""

    def __init__(self):
        self.rows = []
        self.looked = 0

    def look(self, where, own, ours, who, theirs, unit, why="", more_is_better=False, at="", noise=None):
        """True, and noted, if the other's figure is better. `ours` and `theirs` are Measured, or None when they were not measured."""
        if ours is None or theirs is None:
            return False
        self.looked += 1
        if not (theirs.value > ours.value if more_is_better else theirs.value < ours.value):
            return False
        self.rows.append(Loss(where, str(at), own, who, theirs.value, ours.value, unit, noise or verdict(ours, theirs), why or (ALIKE if alike(ours, theirs) else UNKNOWN)))
        return True

    def grouped(self):
        """Groups in the order in which their columns came."""
        groups = {}
        for loss in self.rows:
            groups.setdefault(loss.where, {}).setdefault(loss.why, {}).setdefault(loss.own, []).append(loss)
        return [Group(where, why, tuple(row for losses in found.values() for row in _rows(losses))) for where, reasons in groups.items() for why, found in reasons.items()]

    def summary(self):
        """How many comparisons were made and lost."""
        counts = " · ".join(f"{word}: {count}" for word in (BEYOND, WITHIN, UNSURE, ELSEWHERE) if (count := sum(loss.noise == word for loss in self.rows)))
        unknown = sum(loss.why == UNKNOWN for loss in self.rows)
        return (f"{self.looked:,} comparisons of a figure of ours with another's of the same column: {len(self.rows):,} are lost" + (f" ({counts})" if counts else "")
                + (f", {unknown:,} of them without an explanation." if unknown else "."))


def _rows(losses):
    """Lines of the losses of one of ours."""
    if len({loss.at for loss in losses}) == 1:
        return [_row(losses)]
    by_who = {}
    for loss in losses:
        by_who.setdefault(loss.who, []).append(loss)
    return [_row(one) for one in by_who.values()]


def _row(losses):
    """One line of several losses; what is the same of all is said once."""
    unit = losses[0].unit
    said = {side: _once([text(getattr(loss, side)) for loss in losses]) + f" {unit}".rstrip() for side in ("theirs", "ours")}
    return losses[0].own, _once([loss.who for loss in losses]), _conditions(list(dict.fromkeys(loss.at for loss in losses))), said["theirs"], said["ours"], _once([loss.noise for loss in losses])


def _once(words):
    return words[0] if len(set(words)) == 1 else AND.join(words)


def _conditions(said):
    """What follows several numbers alike is said once: 1 · 2 threads."""
    words = {one.partition(" ")[2].removesuffix("s") for one in said}
    if len(said) > 1 and len(words) == 1 and words != {""} and all(one[:1].isdigit() for one in said):
        return f"{AND.join(one.partition(' ')[0] for one in said)} {words.pop()}s"
    return AND.join(said)
