"""Tests of `scripts/windows`: the program on Windows says what that of Linux says, and Rust's tracepoints are off."""

import re
import shutil

from __main__ import OUT, PROGRAM, ROOT, RUST, SILVERPOINT, SKIPPED, TARGET, Place, cargo, fine, has_no_rust, has_target, run

FORMATS = "jsonl json cbor tsv csv xml chrome perfetto systrace".split()
OTHERS = ["wasm32-unknown-unknown", "aarch64-apple-darwin"]
COMMANDS_OF_LINUX = "config replay".split()


def both(place, *arguments, ends=0, **more):
    """Runs the program of Linux and that of Windows in a place. They say the same, byte for byte; gives the output."""
    environment = place.environment(TZ="Europe/Berlin")
    said = []
    for command in ([SILVERPOINT], ["wine", PROGRAM]):
        done = run(*command, *arguments, env=environment, cwd=place.path, **more)
        said.append((done.returncode, (OUT / "stdout").read_bytes(), (OUT / "stderr").read_bytes()))
    linux, windows = said
    assert linux == windows, f"{arguments}: Linux {shortened(linux)}; Windows {shortened(windows)}"
    assert ends is None or linux[0] == ends, f"{arguments}: {shortened(linux)}"
    return linux[1]


def shortened(said):
    code, out, errors = said
    return f"exit {code}, {len(out)} bytes, {out[:300]!r} … {out[-300:]!r}, {errors[-500:]!r}"


def traces(place):
    """Traces that programs of Linux have recorded, and one of Windows."""
    for kept in (ROOT / "crates/read/silverpoint-query/tests/data/versions/1.0").glob("*.silver"):
        shutil.copy(kept, place.path)
    assert place.wine("values.exe").returncode == 0
    place.recover()
    return sorted(path.name for path in place.path.glob("*.silver"))


def test_the_program_reads_what_linuxs_does(_):
    if has_no_rust():
        return SKIPPED
    place = Place("program-reads")
    names = traces(place)
    assert len(names) > 10, names
    for name in names:
        damaged = 3 if "damaged" in name else 0
        assert both(place, "cat", name, ends=damaged), name
        both(place, "verify", name, ends=None)
        for arguments in (["cat", "--json", "--ticks"], ["cat", "--time", "full", "--long", "--color", "always"], ["stats"], ["stats", "--json"], ["sites", "--json"]):
            both(place, *arguments, name, ends=damaged)
    one = "cpp-raw.silver"
    assert both(place, "cat", "-", stdin=place.path / one) == both(place, "cat", one)
    both(place, "cat", "--level", "warn", "--since", "+1ms", "--where", "message~*a*", "--utc", one)
    both(place, "sql", one, "select level, count(*), min(time), max(tid) from records group by level order by level")
    both(place, "sql", "--json", "out.silver", "select * from records")
    done = place.wine("silverpoint.exe", "cat", "missing")
    assert done.returncode == 1 and done.stderr.startswith("silverpoint: missing: ") and done.stderr.count("\n") == 1, done


def test_the_program_reads_hostile_files_as_linuxs_does(_):
    if has_no_rust():
        return SKIPPED
    place = Place("program-hostile")
    names = []
    for vector in sorted((ROOT / "spec/vectors/files").glob("*.silver")):
        shutil.copy(vector, place.path)
        names.append(vector.name)
    both(place, "verify", *names, ends=4)
    # Of the same content in several encodings one.
    for name in names:
        if name.count(".") == 1 or ".raw." in name:
            both(place, "cat", "--json", "--only", name, ends=None)


def test_the_program_converts_as_linuxs_does(_):
    if has_no_rust():
        return SKIPPED
    place = Place("program-converts")
    traces(place)
    for source in ("rust-raw.silver", "out.silver"):
        for form in FORMATS:
            assert both(place, "convert", source, "-", "--to", form), form


def test_the_program_writes_what_linuxs_does(_):
    if has_no_rust():
        return SKIPPED
    place = Place("program-writes")
    traces(place)
    # The name of what is made, and how.
    made = [
        ("trimmed.silver", ["trim", "cpp-raw.silver", "--since", "+20us", "-o"]),
        ("merged.silver", ["merge", "cpp-raw.silver", "out.silver", "--compress", "zstd", "-o"]),
        ("repaired.silver", ["repair", "rust-damaged.silver", "-o"]),
        ("recovered.silver", ["recover", "rust-damaged.silver", "-o"]),
        ("converted.silver", ["convert", "rust-zstd.silver"]),
        ("database.sqlite", ["convert", "rust-raw.silver"]),
        ("log.etl", ["convert", "rust-raw.silver"]),
    ]
    for name, arguments in made:
        said = []
        for system, command in (("linux", [SILVERPOINT]), ("windows", ["wine", PROGRAM])):
            own = f"{system}-{name}"
            done = run(*command, *arguments, own, env=place.environment(), cwd=place.path)
            shown = own
            if name.endswith(".sqlite"):
                shown = f"{system}-again.silver"
                fine(SILVERPOINT, "convert", own, shown, cwd=place.path)
            if name.endswith(".etl"):
                # But for the first buffer, which has the file's name.
                text = (place.path / own).read_bytes()[64 << 10 :]
            else:
                text = fine(SILVERPOINT, "cat", "--json", shown, cwd=place.path)
            said.append((done.returncode, done.stderr.replace(own, name), text))
        assert said[0] == said[1] and said[0][2], f"{arguments}: {said[0][:2]}, {said[1][:2]}"
        # What has the name stays.
        refused = place.wine("silverpoint.exe", *arguments, f"windows-{name}")
        assert refused.returncode == 1 and "it already exists" in refused.stderr, refused
        assert place.wine("silverpoint.exe", *arguments, f"windows-{name}", "--force").returncode == said[1][0]
    for system, command in (("linux", [SILVERPOINT]), ("windows", ["wine", PROGRAM])):
        for attempt in ([], ["--force"]):
            done = run(*command, "convert", "cpp-raw.silver", f"{system}.ctf", "--to", "ctf", *attempt, env=place.environment(), cwd=place.path)
            assert done.returncode == 0, done.stderr
    files = [content_of_ctf(place.path / f"{system}.ctf") for system in ("linux", "windows")]
    assert files[0] == files[1] and len(files[0]) > 1, [{name: len(content) for name, content in each.items()} for each in files]
    assert not list(place.path.glob("*.part")), "a temporary file is left"


def test_rust_is_off(_):
    if has_no_rust():
        return SKIPPED
    # With all that may be asked for, as libraries of a portable program ask.
    features = "silverpoint/chrono silverpoint/serde silverpoint/time silverpoint/usdt"
    for target in (RUST, *OTHERS):
        if not has_target(target):
            print(f"windows: SKIPPED: Rust's tracepoints for {target}: no library (rustup target add {target})")
            continue
        said = cargo("check", "-p", "silverpoint", "-p", "silverpoint-log", "-p", "silverpoint-tracing", "--features", features, "--target", target)
        assert "error" not in said, said
        # What is for Linux alone says so, once. (What some of it links needs a C compiler for the target.)
        for package in ("silverpoint-shm", *(("silverpoint-logger", "silverpoint-view") if target == RUST else ())):
            said = cargo("check", "-p", package, "--target", target, status=101)
            assert said.count("error: ") == 2 and "This crate of Silverpoint needs Linux" in said and "could not compile `silverpoint-shm`" in said, said
    said = cargo("build", "--release", "-p", "silverpoint", "--example", "off", "--target", RUST)
    assert said.count("nothing is recorded on this system, only on Linux") == 1, said
    program = OUT / "off.exe"
    shutil.copy(TARGET / RUST / "release/examples/off.exe", program)
    place = Place("off")
    done = place.wine("off.exe")
    assert (done.returncode, done.stdout, done.stderr) == (0, "off\n", ""), done
    assert not place.sessions(), place.sessions()
    # Nothing of a tracepoint is in the program.
    content = program.read_bytes()
    assert b"off" in content and b"a text that is in no program" not in content


def content_of_ctf(trace):
    """Its files without the random id of the trace."""
    content = {path.name: path.read_bytes() for path in trace.iterdir()}
    uuid = re.search(rb'uuid = "([-0-9a-f]+)";', content["metadata"])[1]
    raw = bytes.fromhex(uuid.decode().replace("-", ""))
    return {name: each.replace(uuid, b"").replace(raw, b"") for name, each in content.items()}


def test_what_the_program_lacks_it_says(_):
    if has_no_rust():
        return SKIPPED
    place = Place("program-lacks")
    whole = "is not there on Windows: use it on Linux (docs/guide/windows.md)\n"
    asked = [([name, "--some", "thing"], f"silverpoint: `silverpoint {name}` ") for name in COMMANDS_OF_LINUX]
    for arguments, begin in asked:
        done = place.wine("silverpoint.exe", *arguments)
        assert (done.returncode, done.stdout, done.stderr) == (7, "", begin + whole), (arguments, done)
    done = place.wine("silverpoint.exe", "--help")
    assert done.returncode == 0 and all(name in done.stdout for name in ("cat", "convert", "run")), done.stdout
    for shell in ("bash", "zsh", "fish"):
        assert place.wine("silverpoint.exe", "completions", shell).returncode == 0
