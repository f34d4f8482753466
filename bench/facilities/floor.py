"""The floor as a facility: what it differs from itself is the error of the method here and now."""

import os


class Floor:
    name = "floor"
    parts = ()  # what others are compared with

    def build(self, bench):
        self.driver = bench.directory / "floor-driver"

    def launch(self, bench, arguments, workspace, options=()):
        return [str(self.driver), *arguments], dict(os.environ)

    def verify(self, bench, workspace, result):
        return []  # the driver itself exits with an error when its second floor lost something


FACILITY = Floor()
