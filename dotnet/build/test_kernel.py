"""Programs of .NET as sources of the kernel's tracers, user_events and trace_marker, with files in the place of the kernel.
Prints what test.py prints. Called by scripts/dotnet test, behind the build."""

import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True
import driver  # noqa: E402
import probes  # noqa: E402
import test  # noqa: E402

RUNTIMES = ("mono", "core31", "net8", "net10")
PATIENCE = 120


def wait(what, done):
    begun = time.monotonic()
    while not done():
        assert time.monotonic() - begun < PATIENCE, f"waited in vain for {what}"
        time.sleep(0.01)


# Compares each field of each event with the ring's record of the same call. It is the test of C++, C and Rust, and is called for those, too.
JUDGE = "user_events::fed::every_field_in_a_named_program_is_as_in_the_ring"


def judge():
    """The words that run the judge. It is the tests of the workspace where these were built in the same way."""
    selection = os.environ.get("SILVERPOINT_CARGO_SELECTION", "--package silverpoint-cli").replace("--all-targets", "").split()
    words = ["cargo", "test", "-j2", "--quiet", "--locked", *selection, "--test", "it"]
    driver.run([*words, "--no-run"])
    return [*words, "--", "--ignored", "--exact", JUDGE]


def user_events_have_all_fields(runtime, judge):
    with tempfile.TemporaryDirectory(prefix="spn") as scratch:
        program, environment = probes.shop(runtime, scratch)
        # Five records and the span's end, of each time.
        done = subprocess.run(judge, cwd=driver.TOP, env=environment | {"SILVERPOINT_NAMED_PROGRAM": f"{program} 600"}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout


class Shop:
    """The program with a file as its trace_marker. It makes a round for each line of input."""

    def __init__(self, runtime, scratch):
        program, self.environment = probes.shop(runtime, scratch)
        self.marker = Path(scratch) / "marker"
        self.marker.touch()
        self.environment |= {"SILVERPOINT_TRACE_MARKER_LIBRARY": str(probes.library("trace_marker")), "SILVERPOINT_ATRACE_MARKER": str(self.marker), "SILVERPOINT_FILTER": "shop=trace"}
        self.rounds = 0
        self.process = subprocess.Popen([program, "rounds"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self.environment, text=True)

    def round(self):
        """The lines of one round."""
        before = len(self.marker.read_text())
        self.rounds += 1
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "done\n"
        return self.marker.read_text()[before:].splitlines()

    def wanted(self):
        """What the last round has written while all is on."""
        i, pid = self.rounds, self.process.pid
        of, quarter = f"I|{pid}|info shop: ", f"{i / 4:.10g}"
        customer, side = ("Ada", "Buy") if i % 2 == 0 else ("Grac\u00e9 \u20ac", "Sell")
        return [f"B|{pid}|fill, symbol=SPT{i}", f"{of}numbers {i} {i << 40} {-i / 8:.10g}", f"{of}texts, customer={customer}, price={quarter}, share={i % 256}",
                f'I|{pid}|warn shop: lists, side="{side}", items=[{i},{-i},7]', f"{of}order {i} at {quarter} of text {i}", f"E|{pid}"]

    def ask(self, *words):
        subprocess.run([probes.SILVERPOINT, "ctl", str(self.process.pid), *words], env=self.environment, check=True, stdout=subprocess.DEVNULL)

    def end(self):
        self.process.stdin.close()
        assert self.process.wait(PATIENCE) == 0


def trace_marker_has_all_lines(runtime):
    with tempfile.TemporaryDirectory(prefix="spn") as scratch:
        shop = Shop(runtime, scratch)
        try:
            assert shop.round() == []
            # A line exists from shortly after it was asked for, and from the second execution on.
            shop.ask("--probe", "trace_marker=on")
            wait("all lines of a round", lambda: len(shop.round()) == 6)
            for _ in range(9):
                found = shop.round()
                assert found == shop.wanted(), (found, shop.wanted())
            # The span is of level debug.
            shop.ask("shop=info")
            wait("a round without its span", lambda: shop.round() == shop.wanted()[1:-1])
            shop.ask("--probe", "trace_marker=off")
            wait("a round without lines", lambda: shop.round() == [])
            shop.end()
        finally:
            shop.process.kill()
            shop.process.wait()


def main():
    try:
        words = judge()
        probes.library("trace_marker")
    except driver.Failed as why:
        print(f"FAILED Kernel.built: {why}\n0 passed, 1 failed, 0 skipped")
        return 1
    tests = {f"trace_marker_has_all_lines_{runtime}": lambda runtime=runtime: trace_marker_has_all_lines(runtime) for runtime in RUNTIMES}
    tests |= {f"user_events_have_all_fields_{runtime}": lambda runtime=runtime: user_events_have_all_fields(runtime, words) for runtime in RUNTIMES}
    # Each mostly waits.
    with ThreadPoolExecutor(len(RUNTIMES)) as pool:
        begun = {name: pool.submit(one) for name, one in tests.items()}
        return test.run("Kernel", {name: job.result for name, job in begun.items()})


if __name__ == "__main__":
    sys.exit(main())
