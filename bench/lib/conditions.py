"""What the machine was like while a part was measured: how far the floor spread, what the hypervisor took, what others did. Each part's page and JSON say it, and the head of the report.

A figure is worth what its machine was worth at that moment. So the floor is measured before and behind each part, also where nothing in the part stands beside it.
"""

import time

from . import machine, numbers

# Processes of the floor on each side of a part, and batches in each.
FLOORS = 2
PAIRS = 100
# Above these a part is called noisy.
WITHIN_MAX, BETWEEN_MAX, BUSY_MAX, STOLEN_MAX = 0.5, 0.2, 0.05, 0.01


def ticks_per_us(runner, floor):
    """Of the time stamp counter, as the floor's driver finds it against the system's clock; None when that run does not count."""
    result = runner.run(floor, "burst", "three", pairs=10)
    return result["ticks_per_us"] if result else None


class Part:
    """Made before a part is measured, ended behind it. `runner` (driving.Driving) and `floor` (its facility) measure the floor."""

    def __init__(self, runner, floor):
        self._runner, self._floor, self._noise = runner, floor, None
        self.floors = runner.results
        self._before = machine.busy_share(0.5)[0]
        self._floors()
        self._began, self._times = time.monotonic(), machine.cpu_times()

    def _floors(self):
        for _ in range(FLOORS):
            self._runner.run(self._floor, "burst", "three", pairs=PAIRS)

    def ended(self, results=()):
        """{"facts", "warnings"}; `results` are the part's own, those with floors in them count as well. A second call says the same: what follows the measuring is not in it."""
        if self._noise is None:
            seconds = time.monotonic() - self._began
            stolen = machine.shares(self._times, machine.cpu_times())[1]
            self._floors()
            busy = {"busy_before": self._before, "busy_behind": machine.busy_share(0.5)[0], "stolen": stolen}
            self._noise = noise([*self.floors, *results], busy, seconds)
        return self._noise


def together(parts, results):
    """One account of several parts that have ended: the worst of what others did, and the floors of all."""
    facts = [part.ended()["facts"] for part in parts]
    busy = {key: max((one[key] for one in facts), default=0.0) for key in ("busy_before", "busy_behind", "stolen")}
    return noise([*(floor for part in parts for floor in part.floors), *results], busy, sum(one["seconds"] for one in facts))


def noise(results, busy, seconds):
    """The account. `busy`: the shares of all processors that others had before and behind, and the stolen one in between."""
    floors = [[floor for _, floor in result["pairs"]] for result in results if result["mode"] == "burst"]
    facts = {"seconds": round(seconds, 1)} | {key: round(share, 4) for key, share in busy.items()}
    warnings = []
    if floors:
        medians = [numbers.median(one) for one in floors]
        facts["floor_ns"] = numbers.median(medians)
        facts["floor_processes"] = len(floors)
        facts["floor_spread_within"] = numbers.median([numbers.spread(one) for one in floors])
        facts["floor_spread_between"] = numbers.spread(medians) if len(floors) > 1 else 0.0
        if facts["floor_spread_within"] > WITHIN_MAX:
            warnings.append(f"the floor's batches spread by {facts['floor_spread_within']:.0%} within a process")
        if facts["floor_spread_between"] > BETWEEN_MAX:
            warnings.append(f"the floor's medians spread by {facts['floor_spread_between']:.0%} between processes")
    for key, when in (("busy_before", "before it"), ("busy_behind", "behind it")):
        if busy[key] > BUSY_MAX:
            warnings.append(f"{busy[key]:.0%} of the machine was in use by others {when}")
    if busy["stolen"] > STOLEN_MAX:
        warnings.append(f"{busy['stolen']:.0%} of its time was stolen by the hypervisor")
    if stalled := sum(1 for result in results if result.get("floor_stalls")):
        warnings.append(f"the floor's reader did not keep up in {stalled} of {len(results)} processes")
    return {"facts": facts, "warnings": warnings}


def lines(noise):
    """The account for a part's page, beside the facts of the machine: {what: text}."""
    facts = noise["facts"]
    return {"took": f"{facts['seconds']:.0f} s",
            "floor": f"{facts['floor_ns']:.2f} ns a record; its batches spread by {facts['floor_spread_within']:.0%} within a process and its medians by {facts['floor_spread_between']:.0%} between "
                     f"{numbers.processes([facts['floor_processes']])} (middle 80 % over the median)" if "floor_ns" in facts else "not measured",
            "stolen by the hypervisor": f"{facts['stolen']:.1%}", "used by others": f"{facts['busy_before']:.0%} before, {facts['busy_behind']:.0%} behind",
            "noise": "; ".join(noise["warnings"]) or "none beyond what is called quiet"}


PLACE = "under “The machine, and what made these figures”"
HEAD = ("measured by", "commit", "at", "took, s", "floor, ns", "its spread within · between processes", "stolen", "others before · behind", "noise")


def rows(found, commands):
    """The runs that a report is made of, as rows of HEAD. `commands`: what measures a part, where its JSON does not say it."""
    made = []
    for part, data in found.items():
        about, facts = data["machine"], data.get("noise", {}).get("facts", {})
        floor = (f"{facts['floor_ns']:.2f}", f"{facts['floor_spread_within']:.0%} · {facts['floor_spread_between']:.0%}") if "floor_ns" in facts else ("–", "–")
        stolen = f"{facts['stolen']:.1%}" if "stolen" in facts else "–"
        others = f"{facts['busy_before']:.0%} · {facts['busy_behind']:.0%}" if "busy_behind" in facts else "–"
        made.append((data.get("command") or commands.get(part, f"bench/run --part {part}"), about.get("commit", ""), about.get("time", ""), f"{facts['seconds']:.0f}" if "seconds" in facts else "–",
                     *floor, stolen, others, "; ".join(data.get("noise", {}).get("warnings", ())) or ("none" if facts else "not recorded")))
    return made


def said(found):
    """How quiet the machine was, in a sentence or two for the head of the report."""
    noises = {part: data["noise"] for part, data in found.items() if "busy_behind" in data.get("noise", {}).get("facts", {})}
    machines = {tuple(str(data["machine"].get(key)) for key in ("cpu", "cores", "kernel")) for data in found.values()}
    sentences = [f"The parts were measured on {len(machines)} machines or kernels: compare within a part." if len(machines) > 1 else ""]
    if without := [part for part in found if part not in noises]:
        sentences.append(f"How quiet the machine was is not recorded of: {', '.join(without)}.")
    if noises:
        facts = [noise["facts"] for noise in noises.values()]
        floors = [one for one in facts if "floor_ns" in one]
        if floors:
            low, high = (end(one["floor_ns"] for one in floors) for end in (min, max))
            sentences.append(f"The floor took {low:.2f} to {high:.2f} ns; its batches spread by up to {max(one['floor_spread_within'] for one in floors):.0%} within a process, its medians by up to "
                             f"{max(one['floor_spread_between'] for one in floors):.0%} between the processes of a part.")
        sentences.append(f"The hypervisor took up to {max(one['stolen'] for one in facts):.1%} of the time of a part, others used up to {max(max(one['busy_before'], one['busy_behind']) for one in facts):.0%} before or behind one.")
        noisy = [part for part, noise in noises.items() if noise["warnings"]]
        sentences.append(f"Noisy: {', '.join(noisy)}; why is said with the commands, {PLACE}." if noisy else "No part was noisy.")
    return " ".join(filter(None, sentences))
