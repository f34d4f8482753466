"""Programs of .NET as sources of LTTng: the scenarios are those of C++ (crates/programs/silverpoint-cli/tests/it/lttng/check.py), with a daemon of their own.
Prints what test.py prints. Called by scripts/dotnet test, behind the build."""

import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True
import driver  # noqa: E402
import places as at  # noqa: E402
import probes  # noqa: E402
import test  # noqa: E402

CHECK = driver.TOP / "crates/programs/silverpoint-cli/tests/it/lttng/check.py"


def check(runtime, *words):
    """What a scenario prints for Silverpoint.Tests on a runtime."""
    for needed in ("lttng", "lttng-sessiond", "babeltrace2"):
        if shutil.which(needed) is None:
            raise at.Unavailable(f"{needed} is not installed (Debian: lttng-tools, liblttng-ust1, babeltrace2)")
    if not Path("/usr/lib/python3/dist-packages/bt2").exists():
        raise at.Unavailable("the Python module of babeltrace2 is not installed (Debian: python3-bt2)")
    with tempfile.TemporaryDirectory(prefix="spn") as scratch:
        work = Path(scratch) / "work"
        work.mkdir()
        program, environment = probes.shop(runtime, scratch)
        environment["SILVERPOINT_LTTNG_LIBRARY"] = str(probes.library("lttng"))
        words = [{"SILVERPOINT": str(probes.SILVERPOINT), "PROGRAM": str(program)}.get(word, word) for word in words]
        done = subprocess.run(["/usr/bin/python3", "-B", str(CHECK), *words], cwd=work, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    if done.returncode == 77:
        raise at.Unavailable(done.stdout.strip())
    assert done.returncode == 0, done.stdout
    return done.stdout


def fields_are_as_in_the_ring(runtime):
    # Five records and the span's end, of each time; six events.
    found = check(runtime, "fields", "SILVERPOINT", "PROGRAM", "50")
    assert found == "300 events equal\n", found


def a_program_that_runs_is_switched():
    found = check("net8", "switched", "SILVERPOINT", "PROGRAM")
    assert found == "on and off\n", found


def main():
    tests = {f"fields_are_as_in_the_ring_{runtime}": lambda runtime=runtime: fields_are_as_in_the_ring(runtime) for runtime in ("mono", "net8", "net10")}
    tests[a_program_that_runs_is_switched.__name__] = a_program_that_runs_is_switched
    try:
        probes.library("lttng")
    except driver.Failed as why:
        print(f"FAILED Lttng.library: {why}\n0 passed, 1 failed, 0 skipped")
        return 1
    # Each has a daemon of its own, and mostly waits.
    with ThreadPoolExecutor(len(tests)) as pool:
        begun = {name: pool.submit(one) for name, one in tests.items()}
        return test.run("Lttng", {name: job.result for name, job in begun.items()})


if __name__ == "__main__":
    sys.exit(main())
