"""Tests of `scripts/windows`: Silverpoint.dll on .NET for Windows. The same programs run on .NET for Linux, and both record the same."""

import functools
import json
import re
import shutil
import struct
import subprocess
import sys

from __main__ import DEADLINE, OUT, PROGRAM, ROOT, SILVERPOINT, SKIPPED, Place, Running, fine, has_no_rust, run
from under_wine.started import Listening

sys.path.insert(0, str(ROOT / "dotnet/build"))
import driver  # noqa: E402
import places as at  # noqa: E402
import projects  # noqa: E402

HERE = at.Places(ROOT)
# (.NET 8 starts under Wine 8, and ends in some programs: its compiler raises an exception in itself, which Wine passes on wrongly.)
RUNTIMES = ("core31",)
TESTS = "Silverpoint.Tests"
# Methods of Programs (dotnet/tests/Silverpoint.Tests): values of all types, interpolated strings, spans, contexts, Trace, TraceSource, asserts, EventSource.
PROGRAMS = ("Scalars", "Containers", "Objects", "LongValues", "SpansAndOthers", "NestedRecords", "Messages", "FormattedMessages", "LongMessages", "NestedContexts", "TypedContexts",
            "DescribedEvents", "ListenerLines", "ListenerPieces", "ListenerEvents", "ListenerData", "ListenerFilter", "AssertsGoOn", "InstallEverywhere")
# The framework of Windows formats as that of Linux does.
SETTINGS = {"DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"}


@functools.cache
def why_not():
    """Builds what is below dotnet/. What is missing; None: nothing."""
    try:
        for runtime in RUNTIMES:
            HERE.require(runtime)
            HERE.require(f"{runtime}-windows", f"{at.TITLES[runtime]} for Windows")
    except at.Unavailable as why:
        return str(why)
    done = subprocess.run([sys.executable, ROOT / "scripts/dotnet", "build"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode == 77:
        return done.stdout.splitlines()[-1]
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    # As a program for Windows is installed: the library lies beside the assembly.
    shutil.rmtree(OUT / "dotnet", ignore_errors=True)
    shutil.copytree(HERE.folder / "out" / TESTS, OUT / "dotnet" / TESTS, ignore=shutil.ignore_patterns("*.so"))
    shutil.copytree(OUT / "dotnet" / TESTS, OUT / "dotnet/bare")
    shutil.copy(HERE.native_of_windows, OUT / "dotnet" / TESTS)
    return None


def is_missing():
    if (why := why_not()) is not None:
        print(f"windows: SKIPPED: .NET: {why}")
    return why_not() is not None


def words(runtime, *arguments, folder=TESTS, name=TESTS):
    """What runs a program on Windows."""
    host = HERE.folder / f"{runtime}-windows/dotnet.exe"
    return ["wine", host, "exec", "--runtimeconfig", at.runtime_config(HERE, runtime), OUT / "dotnet" / folder / f"{name}.dll", *arguments]


def words_of_linux(runtime, *arguments):
    return [HERE.folder / runtime / "dotnet", "exec", "--runtimeconfig", at.runtime_config(HERE, runtime), HERE.folder / "out" / TESTS / f"{TESTS}.dll", *arguments]


def records(place):
    """Without process, thread and time, which no two runs have in common."""
    found = []
    for line in fine(SILVERPOINT, "cat", "--json", place.file).splitlines():
        # Lines of a stack end as the system's lines do; they are in texts, and in texts within texts. A frame of reflection
        # is there or not, since the systems differ in how a last call is made.
        line = re.sub(r'\\+n   at System\.Reflection\.[^\\"]*', "", line.replace("\\\\r", "").replace("\\r", ""))
        record = json.loads(line)
        for name in ("time", "process", "pid", "tid", "thread", *(["message"] if "duration_ns" in record else []), "duration_ns"):
            record.pop(name, None)
        found.append(record)
    return found


def test_dotnet_records_what_it_records_on_linux(_):
    if is_missing():
        return SKIPPED
    for runtime in RUNTIMES:
        places = [Place(f"dotnet-{runtime}-{system}") for system in ("linux", "windows")]
        fine(*places[0].collected(*words_of_linux(runtime, "InTurn", *PROGRAMS)), env=places[0].environment(**SETTINGS), cwd=places[0].path)
        fine(*places[1].collected(*words(runtime, "InTurn", *PROGRAMS)), env=places[1].environment(**SETTINGS), cwd=places[1].path)
        linux, windows = map(records, places)
        assert len(linux) == len(windows) > 100, f"{runtime}: {len(linux)} and {len(windows)} records"
        for one, other in zip(linux, windows):
            assert one == other, f"{runtime}:\n{one}\n{other}"


def test_dotnet_vectors(_):
    if is_missing():
        return SKIPPED
    for runtime in RUNTIMES:
        place = Place(f"dotnet-vectors-{runtime}")
        fine(*words(runtime, "Vectors", ROOT), env=place.environment(SILVERPOINT_FILTER="trace", **SETTINGS), cwd=place.path)


def counted(place, threads):
    """How many records each thread has: from 0 on, without a gap."""
    known = [0] * threads
    for text in place.texts():
        if found := re.fullmatch(r"counts (\d+) (\d+)", text):
            assert int(found[2]) == known[int(found[1])], f"thread {found[1]}: {found[2]} behind {known[int(found[1])]}"
            known[int(found[1])] += 1
    return known


def test_dotnet_ends_in_each_way(_):
    if is_missing():
        return SKIPPED
    threads = 3
    for runtime in RUNTIMES:
        for how, status in {"kill": 137, "exit": 3, "failfast": None, "unhandled": None}.items():
            place = Place(f"dotnet-{how}-{runtime}")
            table = place.path / "made"
            table.write_bytes(bytes(8 * threads))
            done = run(*place.collected(*words(runtime, "ManyUntilTheEnd", how, 2000, threads, table)), env=place.environment(**SETTINGS), cwd=place.path)
            assert done.returncode == status if status else done.returncode != 0, f"{runtime} {how}: exit {done.returncode}: {done.stderr[-2000:]}"
            *found, last = counted(place, threads + 1)
            for thread, (number, made) in enumerate(zip(found, struct.unpack(f"<{threads}Q", table.read_bytes()))):
                # It may have ended between a record and its count.
                assert made >= 2000 and number in (made, made + 1), f"{runtime} {how}: thread {thread} has {number} records, and has counted {made}"
            assert last == 100, f"{runtime} {how}: {last} records of the thread that ended the program"


def test_dotnet_records_begun_lines_at_its_end(_):
    if is_missing():
        return SKIPPED
    for runtime in RUNTIMES:
        for how in ("return", "exit", "recorded"):
            place = Place(f"dotnet-begun-{how}-{runtime}")
            run(*words(runtime, "BegunLines", how), env=place.environment(SILVERPOINT_FILTER="trace", **SETTINGS), cwd=place.path)
            place.recover()
            texts = place.texts()
            assert {"whole", "begun by another thread", "begun by the thread"} <= set(texts), f"{runtime} {how}: {texts}"
            assert how != "recorded" or any("nobody catches this" in text for text in texts), f"{runtime}: {texts}"


def test_dotnet_finds_the_library_of_the_package(_):
    if is_missing():
        return SKIPPED
    user = next(project for project in projects.find(ROOT) if project.name == "PackageUser")
    for runtime in RUNTIMES:
        place = Place(f"dotnet-package-{runtime}")
        shutil.copytree(driver.portable(HERE, runtime, user), OUT / "dotnet" / runtime, dirs_exist_ok=True)
        fine(*words(runtime, "package", folder=runtime, name="PackageUser"), env=place.environment(SILVERPOINT_FILTER="trace", **SETTINGS), cwd=place.path)
        place.recover()
        assert place.texts() == ["the answer 42 of package"], place.texts()


def test_dotnet_is_collected_by_the_program_of_windows(_):
    if is_missing() or has_no_rust():
        return SKIPPED
    for runtime in RUNTIMES:
        place = Place(f"dotnet-collected-{runtime}")
        _, *program = words(runtime, "Many", 4, 5000)
        fine("wine", PROGRAM, "run", "--policy", "block=forever", "-o", place.file, "--", *program, env=place.environment(**SETTINGS), cwd=place.path)
        assert counted(place, 4) == [5000] * 4, counted(place, 4)


def test_dotnet_runs_without_the_library(_):
    if is_missing():
        return SKIPPED
    place = Place("dotnet-bare")
    done = run(*words(RUNTIMES[0], "WithoutLibrary", folder="bare"), env=place.environment(**SETTINGS), cwd=place.path)
    assert done.returncode == 0 and "off, and goes on" in done.stdout, done.stdout + done.stderr
    assert "silverpoint: nothing is recorded: silverpoint_net.dll cannot be used" in done.stderr, done.stderr
    assert place.sessions() == []


def test_dotnet_debug_output_goes_to_a_monitor(_):
    if is_missing() or has_no_rust():
        return SKIPPED
    # The monitor finds sessions of the first place alone. If it switched one on half-way, later texts could be before the queued ones.
    place, other = Place("dotnet-monitor"), Place("dotnet-monitor-other")
    with Running() as running:
        monitor = Listening(running, place)
        wanted = []
        for runtime in RUNTIMES:
            # Whether a session records them or not, each comes once. What waits at the end is delivered.
            for how, level, sessions in (("return", "off", other), ("exit", "trace", place), ("unhandled", "off", other)):
                name = f"{runtime} {how}"
                program = words(runtime, "DebugLines", name, 50, how)
                subprocess.run(list(map(str, program)), env=sessions.environment(SILVERPOINT_FILTER=level, **SETTINGS), cwd=place.path, timeout=DEADLINE, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                wanted += [f"{name}: {i}" for i in range(50)]
                monitor.wait_for(f"{name}: 49")
        assert monitor.texts() == wanted, monitor.texts()
