"""Tests with MSBuild, NuGet and the compiler of an SDK. Prints what test.py prints. Called by scripts/dotnet test, behind the build."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
import driver  # noqa: E402
import package  # noqa: E402
import places as at  # noqa: E402
import projects  # noqa: E402
import test  # noqa: E402
from sdk import ASK, Sdk  # noqa: E402

HERE = at.Places(driver.TOP)

def checkout(scratch):
    """The projects in a folder where an SDK may write."""
    shutil.copytree(driver.TOP / "dotnet", scratch / "checkout/dotnet", ignore=shutil.ignore_patterns("bin", "obj"))
    return scratch / "checkout"


def an_sdk_reads_the_same_from_the_projects(scratch):
    top = checkout(scratch)
    found = projects.find(top)
    (scratch / "ask.targets").write_text(ASK)
    every = "".join(f"<Every Include='{one.path}' />" for one in found)
    (scratch / "all.proj").write_text(f"<Project><ItemGroup>{every}</ItemGroup><Target Name='Ask'><MSBuild Projects='@(Every)' Targets='Ask' "
                                      f"Properties='AskedInto={scratch}/asked;CustomAfterMicrosoftCommonTargets={scratch}/ask.targets' /></Target></Project>")
    Sdk(HERE, scratch).build(scratch / "all.proj", "Ask")
    for one in found:
        said = [line.partition(" ")[::2] for line in (scratch / f"asked/{one.path.stem}.txt").read_text().splitlines()]

        def all_of(name):
            return {value for said_name, value in said if said_name == name}

        assert {Path(os.path.normpath(value)) for value in all_of("Compile")} == set(one.sources()), f"{one.name}: {all_of('Compile')}"
        assert {Path(os.path.normpath(value)) for value in all_of("ProjectReference")} == set(one.projects), f"{one.name}: {all_of('ProjectReference')}"
        own = {f"{name} {version}" for name, version in one.packages.items()}
        assert all_of("PackageReference") <= own and bool(own) == bool(all_of("PackageReference")), f"{one.name}: {all_of('PackageReference')}"
        values = {name: value for name, value in said}
        for name in ("OutputType", "TargetFramework", "LangVersion", "Version"):
            assert values[name] == one.values[name], f"{one.name}: {name} is {values[name]}"
        assert values["AssemblyName"] == one.name, f"{one.name}: {values['AssemblyName']}"
        for name in ("Nullable", "AllowUnsafeBlocks"):
            assert (values.get(name, "").lower() in ("enable", "true")) == one.yes(name), f"{one.name}: {name} is {values.get(name)}"
        assert set(filter(None, one.values["DefineConstants"].split(";"))) <= set(values["DefineConstants"].split()), f"{one.name}: {values['DefineConstants']}"


def framework(scratch):
    """The reference assemblies of .NET Framework 4.8 as an SDK finds them. It takes them from a package otherwise."""
    folder = scratch / "frameworks/.NETFramework/v4.8"
    if not folder.exists():
        shutil.copytree(HERE.folder / "mono/4.8-api", folder)
        (folder / "RedistList").mkdir(exist_ok=True)
        (folder / "RedistList/FrameworkList.xml").write_text("<FileList Name='.NET Framework 4.8' />")
    return scratch / "frameworks"


def stand_ins(scratch):
    """Packages with the assemblies of others that are at hand: their own packages are not."""
    folder = scratch / "stand-ins"
    for project in projects.find(driver.TOP):
        for name, version in project.packages.items() if project.yes("IsPackable") else []:
            content = (projects.package_folder(project, name, HERE) / f"{name}.dll").read_bytes()
            package.save(folder / f"{name}.{version}.nupkg", name, package.nuspec(name, version, "A stand-in for tests.", {}), {f"lib/net48/{name}.dll": content})
    return folder


def an_sdk_builds_the_assemblies(scratch):
    top = checkout(scratch)
    # C# 12 is newer than the SDK's compiler: it calls the one of scripts/dotnet.
    words = [*driver.compiler(HERE), str(HERE.folder / "tools/compiler")]
    (scratch / "csc").write_text(f"#!/bin/sh\nexec {' '.join(words)} \"$@\"\n")
    (scratch / "csc").chmod(0o755)
    for name in ("Silverpoint.Diagnostics", "Silverpoint.Extensions.Logging"):
        Sdk(HERE, scratch).build(top / f"dotnet/src/{name}/{name}.csproj", "Build", TargetFrameworkRootPath=framework(scratch), RestoreSources=stand_ins(scratch), CscToolPath=scratch, CscToolExe="csc")
        out = top / f"dotnet/src/{name}/bin/Debug/net48"
        for built in (package.ROOT, name):
            assert (out / f"{built}.dll").stat().st_size > 4096
            # The same public names, and references to them that resolve; the order is that of the source files.
            texts = [file.read_text().splitlines() for file in (out / f"{built}.xml", HERE.folder / f"out/{built}/{built}.xml")]
            assert sorted(texts[0]) == sorted(texts[1]), f"{built}.xml differs"


def user(scratch, framework, **properties):
    """The folder in which an SDK has built the test program PackageUser, with the package from its folder."""
    shutil.copytree(driver.TOP / "dotnet/tests/PackageUser", scratch / "user", ignore=shutil.ignore_patterns("bin", "obj"))
    Sdk(HERE, scratch).build(scratch / "user/PackageUser.csproj", "Build", TargetFramework=framework, LangVersion="8", **properties)
    return scratch / "user/bin/Debug" / framework


def records(scratch, runtime, words):
    """Runs PackageUser, which checks what it records."""
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, cwd=scratch,
                          env={**driver.environment(HERE, driver.program_of_silverpoint(HERE), runtime, words, str(scratch)), "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"})
    assert done.returncode == 0 and "2 passed, 0 failed" in done.stdout, done.stdout


def a_program_with_the_package_records_on_net_core(scratch):
    host = HERE.require("core31") / "dotnet"
    records(scratch, "core31", [str(host), str(user(scratch, "netcoreapp3.1") / "PackageUser.dll")])


def a_program_with_the_package_records_on_mono(scratch):
    if shutil.which("mono") is None:
        raise at.Unavailable("mono is not installed (Debian: mono-runtime)")
    out = user(scratch, "net48", TargetFrameworkRootPath=framework(scratch))
    records(scratch, "mono", ["mono", str(out / "PackageUser.exe")])


def the_native_library_is_that_of_the_machine(scratch):
    targets = HERE.unpacked(package.ROOT) / "build/net48/Silverpoint.targets"
    this = {"x86_64": "linux-x64", "aarch64": "linux-arm64"}[os.uname().machine]
    has_windows = (HERE.unpacked(package.ROOT) / "runtimes/win-x64").exists()
    wanted = {"": this, "PlatformTarget=AnyCPU": this, "PlatformTarget=x64": "linux-x64", "PlatformTarget=ARM64": "linux-arm64", "RuntimeIdentifier=linux-x64": "linux-x64", "RuntimeIdentifier=win-x64": "linux-x64",
              "RuntimeIdentifier=linux-arm64": "linux-arm64", "PlatformTarget=AnyCPU;RuntimeIdentifier=linux-arm64": "linux-arm64"}
    (scratch / "user.proj").write_text(f"<Project><Import Project='{targets}' /><Target Name='Say'><WriteLinesToFile File='$(SaidInto)' Lines='@(None)' /></Target></Project>")
    asked = "".join(f"<MSBuild Projects='user.proj' Targets='Say' Properties='SaidInto={scratch}/said{number};{properties}' />" for number, properties in enumerate(wanted))
    (scratch / "all.proj").write_text(f"<Project><Target Name='Ask'>{asked}</Target></Project>")
    Sdk(HERE, scratch).build(scratch / "all.proj", "Ask")
    for number, (properties, machine) in enumerate(wanted.items()):
        said = ["/".join(Path(line).parts[-3:]) for line in (scratch / f"said{number}").read_text().splitlines()]
        of_windows = [f"win-x64/native/{HERE.native_of_windows.name}"] if machine == "linux-x64" and has_windows else []
        assert said == [f"{machine}/native/libsilverpoint_net.so", *of_windows], f"'{properties}': {said}"


def with_the_other_packages_comes_silverpoint(scratch):
    references = "".join(f"<PackageReference Include='{name}' Version='{package.version(driver.TOP)}' />" for name in ("Silverpoint.Diagnostics", "Silverpoint.Extensions.Logging"))
    (scratch / "App.csproj").write_text(f"<Project Sdk='Microsoft.NET.Sdk'><PropertyGroup><TargetFramework>net48</TargetFramework></PropertyGroup><ItemGroup>{references}</ItemGroup></Project>")
    Sdk(HERE, scratch).build(scratch / "App.csproj", "Restore", RestoreSources=f"{HERE.packages};{stand_ins(scratch)}")
    restored = (scratch / "obj/project.assets.json").read_text()
    for name, version in {"Silverpoint": package.version(driver.TOP), "System.Diagnostics.DiagnosticSource": "8.0.0", "Microsoft.Extensions.Logging.Abstractions": "3.1.2"}.items():
        assert f'"{name}/{version}"' in restored, f"{name} is not restored"


def main():
    def in_scratch(one):
        def run():
            with tempfile.TemporaryDirectory(prefix="spn") as scratch:
                one(Path(scratch).resolve())
        return run

    tests = (an_sdk_reads_the_same_from_the_projects, an_sdk_builds_the_assemblies, a_program_with_the_package_records_on_net_core, a_program_with_the_package_records_on_mono,
             the_native_library_is_that_of_the_machine, with_the_other_packages_comes_silverpoint)
    return test.run("Sdk", {one.__name__: in_scratch(one) for one in tests})


if __name__ == "__main__":
    sys.exit(main())
