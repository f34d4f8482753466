"""The suite's records packed by hand: the least that tracepoints with them can be asked for."""

import os

from lib import build


class ByHand:
    name = "by-hand"
    parts = ()  # what others are compared with

    def build(self, bench):
        self.driver = bench.cxx_driver(build.BENCH / "floor/by_hand.cpp", "by-hand-driver")

    def launch(self, bench, arguments, workspace, options=()):
        return [str(self.driver), *arguments], dict(os.environ)

    def verify(self, bench, workspace, result):
        return []  # the driver itself exits with an error when it has packed something else


FACILITY = ByHand()
