"""Tests of `scripts/windows`: what ends a program leaves a record, opens no dialog, and ends it as before."""

import re
import shutil

from __main__ import OUT, PROGRAM, SKIPPED, Place, fine, has_no_rust, run

ACCESS = "EXCEPTION_ACCESS_VIOLATION"
# How a program ends, and what the record says.
WAYS = {
    "assert": r"assertion failed: zero == 17 at .*/failing\.cpp:\d+",
    "wide-assert": r"assertion failed: zäh at dir\\wide\.cpp:70",
    "abort": "SIGABRT",
    "raise": "SIGABRT",
    "throw": "uncaught std::runtime_error: out of luck",
    "throw-in-thread": "uncaught int",
    "terminate": "std::terminate was called",
    "pure": "std::terminate was called",
    "write": rf"{ACCESS} \(WRITE\) at address 0x10",
    "read": rf"{ACCESS} \(READ\) at address 0x10",
    "call": rf"{ACCESS} \(EXECUTE\) at address 0x0",
    "fault-in-thread": rf"{ACCESS} \(WRITE\) at address 0x10",
    "within": rf"{ACCESS} \(READ\) at address 0x10",
    "divide": r"EXCEPTION_INT_DIVIDE_BY_ZERO at address 0x[0-9a-f]+",
    "trap": r"EXCEPTION_ILLEGAL_INSTRUCTION at address 0x[0-9a-f]+",
    "other": r"exception 0xe0001234 at address 0x[0-9a-f]+",
}


def ended(place, program, way, how=""):
    done = place.wine(program, way, how)
    # (Ids of threads and addresses are others in each run.)
    return done.returncode, done.stdout, re.sub(r"thread [0-9a-f]+", "thread", done.stderr)


def crashes(place):
    """The messages of crash records without their stacks, and the stacks."""
    place.recover()
    lines = place.texts("{level} {category} {message}")
    begins = [number for number, line in enumerate(lines) if line.startswith("FATAL silverpoint.crash ")]
    parts = [lines[begin:end] for begin, end in zip(begins, [*begins[1:], len(lines)])]
    place.file.unlink()
    return [(part[0].removeprefix("FATAL silverpoint.crash "), part[1:]) for part in parts]


def test_what_ends_a_program_is_recorded_and_ends_it_as_before(_):
    place = Place("failing")
    for way, wanted in WAYS.items():
        before = ended(place, "failing.exe", way, "plain")
        assert crashes(place) == [], way
        now = ended(place, "failing.exe", way)
        assert now == before and now[0] != 0 and "end" not in now[1], f"{way}: {before}, with the handler {now}"
        found = crashes(place)
        assert len(found) == 1 and re.fullmatch(wanted + r" in thread \d+", found[0][0]), f"{way}: {found}"
        # It begins where the program was, and ends in what began it.
        frames = [line.split()[1] for line in found[0][1] if re.match(r" +#\d", line)]
        in_program = [frame for frame in frames if frame.startswith("failing.exe+")]
        assert len(in_program) >= 2 and len(frames) < 40, f"{way}: {found}"
        assert way in ("abort", "raise", "call", "other") or frames[0] == in_program[0], f"{way}: {frames}"


def test_a_failed_check_ends_a_program(_):
    place = Place("failing-check")
    code, _, said = ended(place, "failing.exe", "check")
    assert code == 3 and re.fullmatch(r"silverpoint: .*failing\.cpp:\d+: check failed: zero == 17\n", said), (code, said)
    place.recover()
    texts = place.texts()
    assert texts[:2] == ["begin", "it is 0"] and texts[2].startswith("check failed: zero == 17 at "), texts


def test_what_ends_a_program_in_c(_):
    place = Place("failing-c")
    wanted = {"check": (3, r"check failed: low_address == 17 at .*/failing_c\.c:\d+"), "assert": (3, r"assertion failed: low_address == 17 at .*/failing_c\.c:\d+"), "write": (5, WAYS["write"])}
    for way, (code, what) in wanted.items():
        assert ended(place, "failing_c.exe", way)[0] == code, way
        found = crashes(place)
        assert len(found) == 1 and re.fullmatch(what + r" in thread \d+", found[0][0]), f"{way}: {found}"


def test_what_the_program_has_set_up_is_called(_):
    place = Place("failing-before")
    for way, code, said in (("abort", 3, "abort\n"), ("assert", 3, "abort\n"), ("raise", 0, "abort\nend\n"), ("throw", 9, "terminate\n"), ("write", 5, "filter c0000005\n")):
        found = ended(place, "failing.exe", way, "before")
        assert found[:2] == (code, said), f"{way}: {found}"
        assert len(crashes(place)) == 1, way
    # Not wanted, so not recorded.
    assert ended(place, "failing.exe", "breakpoint", "before")[1] == "filter 80000003\n" and crashes(place) == []


def test_a_failed_assert_opens_no_dialog(_):
    place = Place("failing-window")
    # A dialog, which nobody sees here, takes the text that standard error gets with the crash handler.
    text = "Assertion failed: zero == 17"
    assert text not in ended(place, "failing_window.exe", "assert", "plain")[2]
    assert crashes(place) == []
    code, _, said = ended(place, "failing_window.exe", "assert")
    assert code == 3 and text in said and len(crashes(place)) == 1, (code, said)
    # SEM_FAILCRITICALERRORS and SEM_NOGPFAULTERRORBOX.
    assert ended(place, "failing.exe", "mode")[1] == "mode 3\nend\n"


def test_frames_of_a_program_for_windows_have_names(_):
    if has_no_rust():
        return SKIPPED
    place = Place("failing-named")
    program = place.path / "app.exe"
    shutil.copy(OUT / "failing_named.exe", program)
    assert place.wine(program, "write").returncode == 5
    place.recover()

    def stack():
        """The lines of the crash, which the program of Windows shows: it knows the file by its path there."""
        done = run("wine", PROGRAM, "cat", "--pattern", "{message}", place.file.name, cwd=place.path)
        assert done.returncode == 0, done
        lines = done.stdout.splitlines()
        begin = next(number for number, line in enumerate(lines) if "EXCEPTION_ACCESS_VIOLATION" in line)
        return lines[begin + 1 :]

    frames = stack()
    assert re.search(r"#0 .*\bfault\b.* .*failing\.cpp:\d+", frames[0]), frames
    assert any(re.search(r"\bmain\b.*failing\.cpp:\d+", frame) for frame in frames), frames
    whole = program.read_bytes()
    (build_id,) = re.findall(r"app\.exe ([0-9a-f]{40}):", "\n".join(frames))
    at = whole.index(b"RSDS" + bytes.fromhex(build_id)) + 4
    # The symbol table alone.
    fine("x86_64-w64-mingw32-strip", "-g", program)
    frames = stack()
    assert "fault" in frames[0] and not any("failing.cpp" in frame for frame in frames), frames
    # Without symbols, of another build, and damaged: offsets.
    fine("x86_64-w64-mingw32-strip", program)
    assert "fault" not in stack()[0] and any("no symbols" in line for line in stack()), stack()
    program.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    assert "fault" not in stack()[0] and any("another build" in line for line in stack()), stack()
    for end in (0, 64, 300, 2000, at + 30, len(whole) // 2, len(whole) - 1000):
        program.write_bytes(whole[:end])
        assert "#0" in stack()[0], end
    for seed in range(3):
        # What the headers and tables say is nonsense.
        damaged = bytearray(whole)
        for number in range(400, at, 97 + seed):
            damaged[number] ^= 0xFF
        program.write_bytes(damaged)
        assert "#0" in stack()[0], seed
