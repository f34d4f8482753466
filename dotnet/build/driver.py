"""The commands of scripts/dotnet."""

import contextlib
import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import package
import places as at
import projects as described

TOP = Path(__file__).resolve().parent.parent.parent
# Bytes that one test program may print.
OUTPUT_MOST = 4 << 20
# Tests in Python among the names of test programs: of what builds here, with an SDK, and with other tracers.
IN_PYTHON = {"Build": "test.py", "Sdk": "test_sdk.py", "Lttng": "test_lttng.py", "Kernel": "test_kernel.py"}


class Failed(Exception):
    """What does not build."""


def run(words, **options):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, cwd=TOP, **options)
    if done.returncode != 0:
        raise Failed(f"'{' '.join(words[:6])} …' failed")


def newest(paths):
    return max((path.stat().st_mtime_ns for path in paths), default=0)


COMPILE = ["-std=c++20", "-O2", "-g1", "-fno-exceptions", "-fno-rtti", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror", f"-ffile-prefix-map={TOP}=.",
           "-isystem", str(TOP / "cpp/include")]


def inputs_of(sources):
    """What a native library is built of."""
    return [*sources, *(TOP / "dotnet/native").glob("*.h*"), *(TOP / "cpp/include").rglob("*.hpp"), *(TOP / "cpp/include").rglob("*.h"), Path(__file__)]


def build_native(places, compiler="", output=None):
    """libsilverpoint_net.so: the C++ frontend behind functions of C. It must need nothing of the C++ library: the linker is C's."""
    output = output or places.native
    sources = sorted((TOP / "dotnet/native").glob("*.cpp"))
    if output.exists() and output.stat().st_mtime_ns > newest(inputs_of(sources)):
        return output
    output.parent.mkdir(parents=True, exist_ok=True)
    cxx, cc = os.environ.get("CXX", "g++"), os.environ.get("CC", "gcc")
    if compiler:
        cxx, cc = compiler + "g++", compiler + "gcc"
    with tempfile.TemporaryDirectory() as scratch:
        objects = []
        for source in sources:
            object_ = Path(scratch) / (source.stem + ".o")
            run([cxx, *COMPILE, "-fPIC", "-fvisibility=hidden", "-fvisibility-inlines-hidden", "-c", str(source), "-o", str(object_)])
            objects.append(str(object_))
        linked = Path(scratch) / output.name
        run([cc, "-shared", "-pthread", "-Wl,-z,defs,-z,nodelete", f"-Wl,-soname,{output.name}", *objects, "-ldl", "-o", str(linked)])
        shutil.move(linked, output)
    return output


MINGW = "x86_64-w64-mingw32-"


def build_native_of_windows(places):
    """silverpoint_net.dll: the same for Windows, where no signal ends a program. It needs Windows and its C library alone."""
    output, sources = places.native_of_windows, [TOP / "dotnet/native/silverpoint_net.cpp"]
    if output.exists() and output.stat().st_mtime_ns > newest(inputs_of(sources)):
        return output
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        linked = Path(scratch) / output.name
        # (Without a time in it: the same sources make the same file.)
        run([MINGW + "g++-posix", *COMPILE, *sources, "-shared", "-static", "-Wl,--no-insert-timestamp", "-o", str(linked)])
        shutil.move(linked, output)
    return output


def build_part(places, source):
    """The shared library of a C++ file in the folder `native` of a test: C++ in the process of its program."""
    output = places.folder / "native" / f"lib{source.stem}.so"
    inputs = [source, *(TOP / "cpp/include").rglob("*.hpp"), *(TOP / "cpp/include").rglob("*.h")]
    if not output.exists() or output.stat().st_mtime_ns < newest(inputs):
        run([os.environ.get("CXX", "g++"), "-std=c++20", "-O2", "-fPIC", "-shared", "-pthread", "-Wall", "-Wextra", "-Werror", "-isystem", str(TOP / "cpp/include"), str(source), "-o", str(output)])
    return output


def compiler(places):
    """The words that run Compile (dotnet/build/Compile.cs)."""
    for needed, title in (("mono", "reference assemblies of .NET Framework 4.8"), ("tools", "C# compiler")):
        places.require(needed, title)
    if shutil.which("mcs") is None:
        raise at.Unavailable("mcs is not installed (Debian: mono-mcs)")
    source, folder = TOP / "dotnet/build/Compile.cs", places.folder / "compile"
    program = folder / "Compile.dll"
    if not program.exists() or program.stat().st_mtime_ns < source.stat().st_mtime_ns:
        folder.mkdir(parents=True, exist_ok=True)
        run(["mcs", "-nologo", "-warnaserror", f"-out:{program}", "-r:Microsoft.CSharp.dll", str(source)])
    why = []
    for runtime in ("net8", "net10"):
        try:
            return at.command(places, runtime, folder, "Compile")
        except at.Unavailable as one:
            why.append(str(one))
    raise at.Unavailable("; ".join(why))


def build(places):
    """All projects, those that were compiled included. Programs have all that they need in their folder."""
    found = described.find(TOP)
    runner = compiler(places)
    build_native(places)
    by_path = {project.path: project for project in found}
    compiled = []
    # Users of packages come last: these are made of the others.
    for uses_package in (False, True):
        some = [project for project in found if bool(project.own_packages) == uses_package]
        if uses_package and some:
            pack(places, found)
        names = described.compile_all(some, by_path, places, runner)
        if names is None:
            raise Failed("a project does not compile")
        compiled += names
    for project in found:
        if project.is_program:
            complete(places, project, by_path)
    print(f"dotnet: {len(found)} projects, compiled now: {' '.join(compiled) or 'none'}", flush=True)
    return found


def pack(places, found):
    """The packages of what is built. Unpacks them, too. Native libraries are for this machine, and for AArch64 and Windows if there are cross compilers."""
    machine = {"x86_64": "linux-x64", "aarch64": "linux-arm64"}.get(os.uname().machine)
    if machine is None:
        raise Failed(f"there is no package for {os.uname().machine}")
    natives = {machine: build_native(places)}
    if machine != "linux-arm64" and shutil.which("aarch64-linux-gnu-g++"):
        natives["linux-arm64"] = build_native(places, "aarch64-linux-gnu-", places.folder / "native/arm64/libsilverpoint_net.so")
    if shutil.which(MINGW + "g++-posix"):
        natives["win-x64"] = build_native_of_windows(places)
    by_path = {project.path: project for project in found}
    written = []
    for project in [one for one in found if one.yes("IsPackable")]:
        if project.values["Version"] != package.version(TOP):
            raise Failed(f"dotnet/Directory.Build.props has version {project.values['Version']}, Cargo.toml {package.version(TOP)}")
        needs = described.dependencies(project, by_path)
        path = package.write(TOP, places.packages, project, needs, places.out(project), natives if project.name == package.ROOT else {})
        folder = places.unpacked(project.name)
        if not folder.exists() or newest([path]) > newest([folder]):
            shutil.rmtree(folder, ignore_errors=True)
            package.unpack(path, folder)
            os.utime(folder)
        written.append(path)
    for other in set(places.packages.iterdir()) - set(written):
        other.unlink()
    return written


def complete(places, project, by_path):
    """Puts beside a program what it loads."""
    out = places.out(project)

    def put(file, name=None):
        target = out / (name or file.name)
        if not target.exists() or target.read_bytes() != file.read_bytes():
            target.unlink(missing_ok=True)
            shutil.copy2(file, target)

    needed = described.all_needed(project, by_path)
    for other in needed:
        put(places.out(other) / f"{other.name}.dll")
        put(places.out(other) / f"{other.name}.pdb")
    if needed or project.own_packages:
        put(places.native)
    # Of a library in several versions the newest, as NuGet does.
    wanted = [([int(number) for number in re.findall(r"[0-9]+", one.packages[name])], described.package_folder(one, name, places)) for one in [project, *needed] for name in one.packages]
    for file in {file.name: file for _, folder in sorted(wanted) if folder not in places.frameworks() for file in folder.glob("*.dll")}.values():
        put(file)
    for source in sorted(project.folder.glob("native/*.cpp")):
        put(build_part(places, source))
    for name in project.copied:
        put(project.folder / name)
    if (project.folder / "app.config").exists():
        put(project.folder / "app.config", f"{project.name}.dll.config")


def words_of(places, runtime, project):
    """The words that run a program on a runtime."""
    folder = places.out(project)
    if runtime == at.EMULATED:
        library = places.unpacked(package.ROOT) / "runtimes/linux-arm64/native" / places.native.name
        if not library.exists():
            raise at.Unavailable("Mono on AArch64: the package has no library for it, without a cross compiler (Debian: g++-aarch64-linux-gnu)")
        copy = places.folder / "run" / runtime / project.name
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(folder, copy)
        shutil.copy2(library, copy)
        return at.emulated(places, copy, project.name)
    if project.own_packages and runtime in ("core31", "net8"):
        folder = portable(places, runtime, project)
    return at.command(places, runtime, folder, project.name)


def portable(places, runtime, project):
    """A user of packages as `dotnet build` of an SDK leaves it: native libraries are below runtimes/, and a file says which belongs to which machine."""
    folder = places.folder / "run" / runtime / project.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copy2(places.out(project) / f"{project.name}.dll", folder)
    number, target, program = package.version(TOP), ".NETCoreApp,Version=v3.1", f"{project.name}/1.0.0"
    library = {"serviceable": False, "sha512": ""}
    targets = {program: {"dependencies": dict.fromkeys(project.own_packages, number), "runtime": {f"{project.name}.dll": {}}}}
    libraries = {program: {"type": "project", **library}}
    for name in project.own_packages:
        unpacked, assembly = places.unpacked(name), f"lib/netstandard2.0/{name}.dll"
        shutil.copy2(unpacked / assembly, folder)
        targets[f"{name}/{number}"] = {"runtime": {assembly: {}}}
        libraries[f"{name}/{number}"] = {"type": "package", "path": f"{name}/{number}".lower(), **library}
        if (unpacked / "runtimes").exists():
            shutil.copytree(unpacked / "runtimes", folder / "runtimes")
            native = {str(file.relative_to(folder)): {"rid": file.parts[-3], "assetType": "native", "fileVersion": "0.0.0.0"} for file in folder.glob("runtimes/*/native/*")}
            targets[f"{name}/{number}"]["runtimeTargets"] = native
    (folder / f"{project.name}.deps.json").write_text(json.dumps({"runtimeTarget": {"name": target, "signature": ""}, "targets": {target: targets}, "libraries": libraries}))
    return folder


def program_of_silverpoint(places):
    """The program `silverpoint`, as the tests of the workspace build it."""
    selection = os.environ.get("SILVERPOINT_CARGO_SELECTION", "--package silverpoint-cli").split()
    run(["cargo", "build", "-j2", "--quiet", "--locked", *selection])
    return places.target / "debug/silverpoint"


def environment(places, silverpoint, runtime, words, scratch):
    """What a test program sees. Settings of the caller do not count."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SILVERPOINT", "DOTNET_", "COMPlus_", "COREHOST_", "MONO_", "CORECLR_"))}
    if any(" " in word for word in words):
        raise Failed(f"a path has a space in it: {words}")
    added = {
        "TMPDIR": scratch,
        # The source tree, the program `silverpoint`, the runtime's name, and the words that run this program again.
        "SILVERPOINT_TOP": str(TOP), "SILVERPOINT_PROGRAM": str(silverpoint), "SILVERPOINT_RUNTIME": runtime, "SILVERPOINT_AGAIN": " ".join(words),
        # The folder of the packages, and that of what NuGet unpacks of each.
        "SILVERPOINT_PACKAGES": str(places.packages), "SILVERPOINT_UNPACKED": str(places.unpacked("")),
    }
    if runtime == "mono":
        added["MONO_PATH"] = str(places.folder / "mono/4.5/Facades")
    return {**kept, **added}


def ended(process, seconds):
    """The output of a program, which is ended with its children when it takes too long."""
    try:
        output, _ = process.communicate(timeout=seconds)
        late = ""
    except subprocess.TimeoutExpired:
        late = f"\nFAILED the program: it did not end within {seconds} s"
        os.killpg(process.pid, signal.SIGQUIT if process.args[0] == "mono" else signal.SIGABRT)
        try:
            output, _ = process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    return output[:OUTPUT_MOST].decode(errors="replace") + late


def run_program(places, silverpoint, runtime, project):
    """Runs one test program. Returns its output and the numbers of passed, failed and skipped tests.

    It prints 'ok NAME', 'FAILED NAME: WHY' or 'SKIPPED: NAME: WHY' for each test, and at its end 'N passed, N failed, N skipped'.
    """
    try:
        words = words_of(places, runtime, project)
    except at.Unavailable as why:
        return f"SKIPPED: {why}", (0, 0, 1)
    with tempfile.TemporaryDirectory(prefix="spn") as scratch:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=scratch, start_new_session=True,
                                   env=environment(places, silverpoint, runtime, words, scratch))
        output = ended(process, int(os.environ.get("DOTNET_TEST_SECONDS", "900")))
    return judged(project.name, output, process.returncode)


def judged(name, output, status):
    """The output of a test program, with what is wrong with it, and the numbers of its tests."""
    lines = output.splitlines()
    passed, failed, skipped = (sum(line.startswith(begin) for line in lines) for begin in ("ok ", "FAILED ", "SKIPPED: "))
    closing = f"{passed} passed, {failed} failed, {skipped} skipped"
    if (failed == 0) != (status == 0) or not any(line == closing for line in lines[-3:]):
        output += f"\nFAILED {name}: it ended with status {status}, and its last line is not '{closing}'"
        failed += 1
    if passed + failed + skipped == 0:
        output += f"\nFAILED {name}: it ran no test"
        failed += 1
    return output, (passed, failed, skipped)


def test(places, names):
    found = build(places)
    programs = [project for project in found if project.is_test]
    unknown = set(names) - set(at.TITLES) - {at.EMULATED} - {project.name for project in programs} - set(IN_PYTHON)
    if unknown:
        raise Failed(f"neither a runtime nor a test program: {' '.join(sorted(unknown))}")
    runtimes = [name for name in at.TITLES if name in names] or ([] if at.EMULATED in names else list(at.TITLES))
    programs = [project for project in programs if project.name in names] or ([] if set(names) & set(IN_PYTHON) else programs)
    silverpoint = program_of_silverpoint(places)
    sums = [0, 0, 0]
    for title, file in IN_PYTHON.items():
        if title in names or not set(names) - set(at.TITLES):
            done = subprocess.run([sys.executable, str(TOP / "dotnet/build" / file)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            output, numbers = judged(title, done.stdout, done.returncode)
            print(f"-- {title}\n{output.rstrip()}", flush=True)
            sums = [one + other for one, other in zip(sums, numbers)]
    with ThreadPoolExecutor(2) as pool:
        begun = []
        for project in programs:
            # What is compiled against .NET 10 runs nowhere else; what is against .NET 8 runs on both.
            for runtime in {"net10.0": ["net10"], "net8.0": ["net8", "net10"]}.get(project.values["TargetFramework"], runtimes):
                if runtime in runtimes:
                    begun.append((project, runtime, pool.submit(run_program, places, silverpoint, runtime, project)))
            if project.own_packages and project.values["TargetFramework"] == "net48" and os.uname().machine == "x86_64" and (at.EMULATED in names or not set(names) & set(at.TITLES)):
                begun.append((project, at.EMULATED, pool.submit(run_program, places, silverpoint, at.EMULATED, project)))
        for project, runtime, job in begun:
            output, numbers = job.result()
            print(f"-- {project.name} on {at.TITLES.get(runtime, 'Mono on AArch64')}\n{output.rstrip()}", flush=True)
            sums = [one + other for one, other in zip(sums, numbers)]
    return sums


@contextlib.contextmanager
def alone(places):
    """One at a time builds, packs and tests in a target folder: others say so, and wait."""
    places.folder.mkdir(parents=True, exist_ok=True)
    with open(places.folder / "lock", "a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            print(f"dotnet: waits for process {lock.read().strip() or 'unknown'}, which works in {places.folder}", file=sys.stderr, flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


def main(words, usage):
    places = at.Places(TOP)
    verb, rest = (words[0], words[1:]) if words else ("", [])
    try:
        if verb == "native" and not rest:
            with alone(places):
                print(f"dotnet: {build_native(places)}")
            return 0
        if verb == "build" and not rest:
            with alone(places):
                build(places)
            return 0
        if verb == "pack" and not rest:
            with alone(places):
                for path in pack(places, build(places)):
                    print(f"dotnet: {path}")
            return 0
        if verb == "run" and len(rest) >= 2 and rest[0] in at.TITLES:
            with alone(places):
                project = next((one for one in build(places) if one.name == rest[1] and one.is_program), None)
            if project is None:
                raise Failed(f"there is no program {rest[1]} below dotnet/")
            os.environ.setdefault("SILVERPOINT_RUNTIME", rest[0])
            return subprocess.run([*words_of(places, rest[0], project), *rest[2:]]).returncode
        if verb == "test" or not words:
            with alone(places):
                sums = test(places, rest)
            print(f"dotnet: {sums[0]} passed, {sums[1]} failed, {sums[2]} skipped")
            return 1 if sums[1] else 0
    except at.Unavailable as why:
        print(f"dotnet: {why}")
        return 77
    except (Failed, described.ProjectError) as why:
        print(f"dotnet: {why}")
        return 1
    print(usage.strip())
    return 2
