"""Programs of .NET as sources of LTTng: the scenarios are those of C++ (crates/silverpoint-cli/tests/it/lttng/check.py), with a daemon of their own.
Prints what test.py prints. Called by scripts/dotnet test, behind the build."""

import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True
import driver  # noqa: E402
import places as at  # noqa: E402
import projects  # noqa: E402
import test  # noqa: E402

HERE = at.Places(driver.TOP)
CHECK = driver.TOP / "crates/silverpoint-cli/tests/it/lttng/check.py"


def library():
    """libsilverpoint_lttng, as CMake builds it."""
    output, source = HERE.folder / "native/libsilverpoint_lttng.so.0", driver.TOP / "cpp/src/silverpoint_lttng.cpp"
    inputs = [source, *(driver.TOP / "cpp/src/lttng").glob("*"), *(driver.TOP / "cpp/include").rglob("*.hpp")]
    if not output.exists() or output.stat().st_mtime_ns < driver.newest(inputs):
        driver.run([os.environ.get("CXX", "g++"), "-std=c++20", "-O2", "-fPIC", "-shared", "-fno-exceptions", "-fno-rtti", "-fvisibility=hidden", "-I", str(driver.TOP / "cpp/include"), str(source), "-o", str(output)])
    return output


def check(runtime, *words):
    """What a scenario prints for Silverpoint.Tests on a runtime."""
    for needed in ("lttng", "lttng-sessiond", "babeltrace2"):
        if shutil.which(needed) is None:
            raise at.Unavailable(f"{needed} is not installed (Debian: lttng-tools, liblttng-ust1, babeltrace2)")
    if not Path("/usr/lib/python3/dist-packages/bt2").exists():
        raise at.Unavailable("the Python module of babeltrace2 is not installed (Debian: python3-bt2)")
    project = next(one for one in projects.find(driver.TOP) if one.name == "Silverpoint.Tests")
    command = driver.words_of(HERE, runtime, project)
    silverpoint = HERE.target / "debug/silverpoint"
    with tempfile.TemporaryDirectory(prefix="spn") as scratch:
        work, program = Path(scratch) / "work", Path(scratch) / "program"
        work.mkdir()
        (Path(scratch) / "sessions").mkdir(0o700)
        program.write_text("#!/bin/sh\nexec " + " ".join(f"'{word}'" for word in command) + ' Shop "$@"\n')
        program.chmod(0o755)
        environment = driver.environment(HERE, silverpoint, runtime, command, scratch) | {"SILVERPOINT_LTTNG_LIBRARY": str(library()), "SILVERPOINT_DIR": f"{scratch}/sessions"}
        words = [{"SILVERPOINT": str(silverpoint), "PROGRAM": str(program)}.get(word, word) for word in words]
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
        library()
    except driver.Failed as why:
        print(f"FAILED Lttng.library: {why}\n0 passed, 1 failed, 0 skipped")
        return 1
    # Each has a daemon of its own, and mostly waits.
    with ThreadPoolExecutor(len(tests)) as pool:
        begun = {name: pool.submit(one) for name, one in tests.items()}
        return test.run("Lttng", {name: job.result for name, job in begun.items()})


if __name__ == "__main__":
    sys.exit(main())
