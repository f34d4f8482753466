"""Tracers that run beside the floor: whatever lies in bench/facilities, a file each. Nothing else has to be changed for another one."""

import importlib

from . import build as building

DIRECTORY = building.BENCH / "facilities"


def names():
    """Of all files, in the order of the alphabet."""
    return sorted(file.stem for file in DIRECTORY.glob("*.py") if file.stem != "__init__")


def load(name):
    """The object FACILITY of a file."""
    return importlib.import_module(f"facilities.{name}").FACILITY


def of(part):
    """The files whose facilities say that they are measured in this part (`parts`; without a word: in `drivers`)."""
    return [name for name in names() if part in getattr(load(name), "parts", ("drivers",))]


def able(facilities):
    """(those that can run here, [`name: why` of the others]): a facility whose `missing()` says nothing can."""
    there, lacking = [], []
    for one in facilities:
        why = one.missing() if hasattr(one, "missing") else ""
        if why:
            lacking.append(f"{one.name}: {why}")
        else:
            there.append(one)
    return there, lacking
