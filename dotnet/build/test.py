"""Tests of what builds and packs .NET here. Prints 'ok NAME' or 'FAILED NAME: WHY' for each, and a closing line. Called by scripts/dotnet test."""

import os
import shutil
import struct
import subprocess
import sys
import tempfile
import traceback
import zipfile
from pathlib import Path

sys.dont_write_bytecode = True
import bundle  # noqa: E402
import driver  # noqa: E402
import package  # noqa: E402
import places  # noqa: E402
import projects  # noqa: E402

TOP = Path(__file__).resolve().parent.parent.parent

PROGRAM = "Old.Program.dll"


def host():
    """What a host has of interest: its program's name, the table's offset, the signature."""
    return b"\x7fELF" + bytes(60) + PROGRAM.encode() + bytes(200) + bytes(8) + bundle.SIGNATURE + bytes(100)


def made(folder, name="app"):
    core = Path(folder) / "System.Private.CoreLib.dll"
    core.write_bytes(b"core library" * 1000)
    return bundle.single_file({"version": "10.0.1", "program": PROGRAM}, host(), core, name, [f"{name}.dll", "System.dll"], True)


def refused(data, what):
    try:
        files, content, _ = bundle.unbundle(data)
        for name in files:
            content(name)
    except bundle.BundleError as why:
        assert what in str(why), f"'{why}' does not say '{what}'"
        return
    raise AssertionError(f"it was read: {what}")


def a_single_file_holds_what_was_put_in():
    with tempfile.TemporaryDirectory() as folder:
        data = made(folder)
        files, content, before = bundle.unbundle(data)
        assert content("System.Private.CoreLib.dll") == b"core library" * 1000
        assert b'"System.dll"' in content("app.deps.json") and b"Invariant" in content("app.runtimeconfig.json")
        assert b"app.dll\0" in before and PROGRAM.encode() not in before
        assert all(offset % 4096 == 0 for offset, _, _ in files.values())


def the_name_of_a_program_may_be_longer_than_the_old_one():
    with tempfile.TemporaryDirectory() as folder:
        assert b"a.very.long.name.of.a.program.dll\0" in bundle.unbundle(made(folder, "a.very.long.name.of.a.program"))[2]


def a_damaged_single_file_is_refused():
    with tempfile.TemporaryDirectory() as folder:
        data = bytearray(made(folder))
        mark = data.index(bundle.SIGNATURE)
        table = struct.unpack_from("<q", data, mark - 8)[0]
        refused(b"no program at all", "no single-file program")
        for offset in (-1, len(data), len(data) - 3, 2**62):
            changed = bytearray(data)
            struct.pack_into("<q", changed, mark - 8, offset)
            refused(bytes(changed), "leads out of the file")
        for count in (-1, 0, 2**30):
            changed = bytearray(data)
            struct.pack_into("<i", changed, table + 8, count)
            refused(bytes(changed), "files; version 6 is known")
        for end in range(table, len(data) - 1):
            refused(bytes(data[:end]), "out of")
        # The first file: offset, size, compressed size.
        first = data.index(struct.pack("<q", 4096 * (-(-len(host()) // 4096))), table + 50)
        for at, value, what in ((0, 2**40, "leads out"), (0, -5, "leads out"), (8, 2**40, "leads out"), (16, 2**40, "leads out"), (16, 7, "System.Private.CoreLib.dll")):
            changed = bytearray(data)
            struct.pack_into("<q", changed, first + at, value)
            refused(bytes(changed), what)


def project(folder, text):
    (folder / "dotnet/app").mkdir(parents=True, exist_ok=True)
    (folder / "dotnet/Directory.Build.props").write_text("<Project><PropertyGroup><GenerateAssemblyInfo>false</GenerateAssemblyInfo><TargetFramework>net48</TargetFramework></PropertyGroup></Project>")
    (folder / "dotnet/app/App.csproj").write_text(f'<Project Sdk="Microsoft.NET.Sdk">{text}</Project>')
    (folder / "dotnet/app/App.cs").write_text("class App { }")
    return projects.find(folder)


def what_an_sdk_would_build_otherwise_is_an_error():
    cases = {
        "<PropertyGroup><UseWPF>true</UseWPF></PropertyGroup>": "<UseWPF> is not known",
        "<PropertyGroup><Nullable Condition=\"'$(A)' == ''\">enable</Nullable></PropertyGroup>": "<Nullable> is not known",
        "<ItemGroup><Content Include='a' /></ItemGroup>": "<Content> is not known",
        "<Target Name='a' />": "<Target> is not known", "<Import Project='a.props' />": "<Import> is not known",
        "<PropertyGroup Condition=\"'$(A)' == ''\"><Nullable>enable</Nullable></PropertyGroup>": "has a condition",
        "<PropertyGroup><ImplicitUsings>enable</ImplicitUsings></PropertyGroup>": "switch them off",
        "<ItemGroup><ProjectReference Include='../none/None.csproj' /></ItemGroup>": "there is no project",
        "<ItemGroup><ProjectReference Include='App.csproj' /></ItemGroup>": "needs itself",
        "<ItemGroup><PackageReference Include='A' ExcludeAssets='runtime' /></ItemGroup>": "ExcludeAssets may be compile",
        "<PropertyGroup><TargetFramework></TargetFramework></PropertyGroup>": "there is no TargetFramework",
        "<PropertyGroup>": "mismatched tag",
    }
    for text, why in cases.items():
        with tempfile.TemporaryDirectory() as folder:
            try:
                project(Path(folder), text)
            except projects.ProjectError as error:
                assert why in str(error), f"{text}: {error}"
                continue
            raise AssertionError(f"{text} was read")


def sources_of_a_project_below_are_not_those_of_the_upper_one():
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        (top / "dotnet/app/below/deep").mkdir(parents=True)
        (top / "dotnet/app/below/Below.csproj").write_text("<Project Sdk='Microsoft.NET.Sdk' />")
        (top / "dotnet/app/below/deep/Below.cs").write_text("")
        (top / "dotnet/app/obj/Debug").mkdir(parents=True)
        (top / "dotnet/app/obj/Debug/Made.cs").write_text("")
        found = {one.name: [file.name for file in one.sources()] for one in project(top, "")}
        assert found == {"App": ["App.cs"], "Below": ["Below.cs"]}, found


def with_a_package_come_those_that_it_needs():
    with tempfile.TemporaryDirectory() as folder:
        for name, items in {"Root": "", "Upper": "<ProjectReference Include='../Root/Root.csproj' /><PackageReference Include='Other' Version='2.0.0' />"}.items():
            (Path(folder) / "dotnet" / name).mkdir(parents=True)
            (Path(folder) / f"dotnet/{name}/{name}.csproj").write_text("<Project Sdk='Microsoft.NET.Sdk'><PropertyGroup><IsPackable>true</IsPackable><Version>1.2.3</Version></PropertyGroup>"
                                                                       f"<ItemGroup>{items}</ItemGroup></Project>")
        found = {one.name: one for one in project(Path(folder), "<ItemGroup><PackageReference Include='Upper' Version='1.2.3' /></ItemGroup>")}
        assert found["App"].packages == {"Upper": "1.2.3", "Root": "[1.2.3]", "Other": "2.0.0"}, found["App"].packages
        assert found["App"].own_packages == ["Upper", "Root"] and found["Upper"].own_packages == []


def the_same_sources_make_the_same_assembly_in_another_checkout():
    with tempfile.TemporaryDirectory() as folder:
        here, there = places.Places(TOP), places.Places(Path(folder))
        shutil.copytree(TOP / "dotnet/src", there.top / "dotnet/src")
        shutil.copy2(TOP / "dotnet/Directory.Build.props", there.top / "dotnet")
        there.folder = there.top / "fetched"
        there.folder.mkdir()
        for name in ("mono", "tools", "sdk", "net8", "net10"):
            if (here.folder / name).exists():
                (there.folder / name).symlink_to(here.folder / name)
        found = projects.find(there.top)
        compiled = projects.compile_all(found, {one.path: one for one in found}, there, driver.compiler(here))
        assert compiled and set(compiled) == {one.name for one in found}, compiled
        for one in found:
            for ending in ("dll", "pdb", "xml"):
                name = f"{one.name}.{ending}"
                assert (there.out(one) / name).read_bytes() == (here.out(one) / name).read_bytes(), f"{name} differs"


def the_same_content_makes_the_same_package():
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        own = next(one for one in projects.find(TOP) if one.name == package.ROOT)
        for ending in ("dll", "xml", "pdb"):
            (folder / f"Silverpoint.{ending}").write_bytes(ending.encode())
        (folder / "libsilverpoint_net.so").write_bytes(b"native")
        written = [package.write(TOP, folder / name, own, {"Other": "1.0.0"}, folder, {"linux-x64": folder / "libsilverpoint_net.so"}) for name in ("one", "two")]
        assert written[0].read_bytes() == written[1].read_bytes()
        with zipfile.ZipFile(written[0]) as archive:
            assert archive.testzip() is None
            types = archive.read("[Content_Types].xml").decode()
            for name in archive.namelist():
                known = f'PartName="/{name}"' in types or f'Extension="{name.rsplit(".", 1)[-1]}"' in types or name == "[Content_Types].xml"
                assert known, f"{name} has no type"


def who_waits_for_the_target_folder_says_for_whom():
    with tempfile.TemporaryDirectory() as folder:
        of_test = places.Places(TOP)
        of_test.folder = Path(folder) / "dotnet"
        program = "import driver, places\nwith driver.alone(places.Places(driver.TOP)): print('alone')"
        with driver.alone(of_test):
            other = subprocess.Popen([sys.executable, "-B", "-c", program], cwd=TOP / "dotnet/build", env={**os.environ, "CARGO_TARGET_DIR": folder},
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            line = other.stderr.readline()
            assert line == f"dotnet: waits for process {os.getpid()}, which works in {of_test.folder.resolve()}\n", line
        output, errors = other.communicate(timeout=300)
        assert (output, errors) == ("alone\n", ""), (output, errors)


def a_test_program_that_breaks_off_has_failed():
    good = "ok a\nSKIPPED: b: why\n1 passed, 0 failed, 1 skipped\n"
    assert driver.judged("X", good, 0) == (good, (1, 0, 1))
    for output, status, numbers in (("ok a\n", 0, (1, 1, 0)), (good, 134, (1, 1, 1)), ("0 passed, 0 failed, 0 skipped\n", 0, (0, 1, 0)), ("", 0, (0, 1, 0)),
                                    ("FAILED a: why\n0 passed, 1 failed, 0 skipped\n", 1, (0, 1, 0)), ("FAILED a: why\n0 passed, 1 failed, 0 skipped\n", 0, (0, 2, 0)),
                                    ("ok a\n2 passed, 0 failed, 0 skipped\n", 0, (1, 1, 0))):
        found = driver.judged("X", output, status)[1]
        assert found[1] > 0 and (found == numbers or output == ""), (output, status, found)


def run(title, tests):
    """Runs tests by name, and prints what scripts/dotnet reads. The exit status."""
    passed = failed = skipped = 0
    for name, test in tests.items():
        try:
            test()
            print(f"ok {title}.{name}")
            passed += 1
        except places.Unavailable as why:
            print(f"SKIPPED: {title}.{name}: {why}")
            skipped += 1
        except Exception as why:  # noqa: BLE001
            print(f"FAILED {title}.{name}: {why!r}\n{traceback.format_exc()}")
            failed += 1
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


def main():
    named = {name: test for name, test in globals().items() if callable(test) and "_" in name and getattr(test, "__module__", "") == __name__}
    return run("Build", named)


if __name__ == "__main__":
    sys.exit(main())
