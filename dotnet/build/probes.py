"""What tests of other tracers need: the program of ShopPrograms.cs on a runtime, and the library that feeds a tracer."""

import os
from pathlib import Path

import driver
import places as at
import projects

HERE = at.Places(driver.TOP)
SILVERPOINT = HERE.target / "debug/silverpoint"


def library(tracer):
    """libsilverpoint_TRACER, as CMake builds it."""
    folder = driver.TOP / "cpp/src"
    output, source = HERE.folder / f"native/libsilverpoint_{tracer}.so.0", folder / f"silverpoint_{tracer}.cpp"
    inputs = [source, *(folder / tracer).glob("*"), *(folder / "probes").glob("*"), *(driver.TOP / "cpp/include").rglob("*.hpp")]
    if not output.exists() or output.stat().st_mtime_ns < driver.newest(inputs):
        driver.run([os.environ.get("CXX", "g++"), "-std=c++20", "-O2", "-fPIC", "-shared", "-fno-exceptions", "-fno-rtti", "-fvisibility=hidden", "-I", str(driver.TOP / "cpp/include"), str(source), "-o", str(output)])
    return output


def shop(runtime, scratch):
    """A file in the folder that runs the program, and what it needs in its environment."""
    project = next(one for one in projects.find(driver.TOP) if one.name == "Silverpoint.Tests")
    command = driver.words_of(HERE, runtime, project)
    program = Path(scratch) / "program"
    program.write_text("#!/bin/sh\nexec " + " ".join(f"'{word}'" for word in command) + ' Shop "$@"\n')
    program.chmod(0o755)
    sessions = Path(scratch) / "sessions"
    sessions.mkdir(0o700)
    return program, driver.environment(HERE, SILVERPOINT, runtime, command, scratch) | {"SILVERPOINT_DIR": str(sessions)}
