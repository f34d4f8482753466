"""Where the build of .NET finds and puts things, and the runtimes that programs run on."""

import json
import os
import shutil
from pathlib import Path

from bundle import single_file

# Runs what uses the package, by an emulator of user space.
EMULATED = "mono-arm64"
TITLES = {"mono": "Mono", "core31": ".NET Core 3.1", "net8": ".NET 8", "net10": ".NET 10"}


class Unavailable(Exception):
    """Why a runtime or a tool cannot be used here."""


class Places:
    """Folders of one checkout."""

    def __init__(self, top):
        self.top = top
        self.target = Path(os.environ.get("CARGO_TARGET_DIR") or top / "target").resolve()
        self.folder = self.target / "dotnet"

    def out(self, project):
        return self.folder / "out" / project.name

    @property
    def native(self):
        return self.folder / "native/libsilverpoint_net.so"

    @property
    def native_of_windows(self):
        return self.folder / "native/win-x64/silverpoint_net.dll"

    @property
    def packages(self):
        """The packages that are made here."""
        return self.folder / "packages"

    def unpacked(self, package):
        """The folder of a package that is made here, as NuGet unpacks it."""
        return self.folder / "unpacked" / package

    def frameworks(self):
        """Folders with the assemblies of .NET 8, if it was fetched, and of .NET 10."""
        return [*(self.folder / "net8/shared/Microsoft.NETCore.App").glob("8.*"), self.folder / "net10/framework"]

    def compiler_pin(self):
        """What assemblies depend on besides their sources: the compiler, and the program that calls it."""
        return (self.folder / "tools/.pin").read_text() + (Path(__file__).parent / "Compile.cs").read_text()

    def require(self, name, title=None):
        """The folder of what scripts/setup dotnet has fetched."""
        if (self.folder / name / ".pin").exists():
            return self.folder / name
        missing = self.folder / f"{name}.missing"
        why = missing.read_text().strip() if missing.exists() else f"{title or TITLES.get(name, name)}: scripts/setup dotnet has not fetched it"
        raise Unavailable(why)


def runtime_config(places, name):
    """A file that lets the host of a runtime run any program. Core 3.1 knows no ICU as new as today's: its cultures are all invariant."""
    version = {"core31": "3.1.0", "net8": "8.0.0"}[name]
    options = {"framework": {"name": "Microsoft.NETCore.App", "version": version}}
    if name == "core31" or not has_icu():
        options["configProperties"] = {"System.Globalization.Invariant": True}
    file = places.folder / f"{name}.runtimeconfig.json"
    text = json.dumps({"runtimeOptions": options})
    if not file.exists() or file.read_text() != text:
        file.write_text(text)
    return file


def has_icu():
    return any(list(Path(folder).glob("libicuuc.so.*")) for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"))


def command(places, runtime, folder, name):
    """The words that run FOLDER/NAME.dll on a runtime."""
    program = folder / f"{name}.dll"
    if runtime == "mono":
        if shutil.which("mono") is None:
            raise Unavailable("Mono: mono is not installed (Debian: mono-runtime)")
        return ["mono", str(program)]
    if runtime == "net10":
        return [str(publish(places, folder, name))]
    host = places.require(runtime) / "dotnet"
    return [str(host), "exec", "--runtimeconfig", str(runtime_config(places, runtime)), str(program)]


def emulated(places, folder, name):
    """The words that run FOLDER/NAME.dll on Mono for AArch64. Assemblies are those of the machine's own Mono: they are the same."""
    root = places.require(EMULATED, "Mono on AArch64")
    if not Path("/usr/lib/mono/4.5/mscorlib.dll").exists():
        raise Unavailable("Mono on AArch64: there is no /usr/lib/mono/4.5 (Debian: mono-runtime)")
    # Mono's own native libraries are where it was unpacked.
    settings = places.folder / "run" / EMULATED / "settings/mono"
    settings.mkdir(parents=True, exist_ok=True)
    (settings / "config").write_text((root / "etc/mono/config").read_text().replace("$mono_libdir", str(root / "usr/lib")))
    variables = {"LD_LIBRARY_PATH": f"{root}/usr/lib:{root}/usr/lib/aarch64-linux-gnu:{root}/lib/aarch64-linux-gnu", "MONO_CFG_DIR": settings.parent, "MONO_PATH": "/usr/lib/mono/4.5"}
    return ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", *(word for variable, value in variables.items() for word in ("-E", f"{variable}={value}")),
            str(root / "usr/bin/mono-sgen"), str(folder / f"{name}.dll")]


def publish(places, folder, name):
    """A program with the runtime of .NET 10 beside it, as a self-contained one is. Returns the path of its executable.

    There is a host for single-file programs only. It wants System.Private.CoreLib.dll and the list of assemblies in itself; all others may lie
    beside it. So a small file is made for each program: host, CoreLib, list, and the table that names them.
    """
    found = places.require("net10")
    about = json.loads((found / "host.json").read_text())
    target = places.folder / "run/net10" / name
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    framework = {file.name: file for file in (found / "framework").glob("*.dll")}
    own = {file.name: file for file in folder.iterdir() if not file.name.startswith(".")}
    # Here programs have the newest version of Microsoft.Extensions, too, if they were compiled for an older one.
    own |= {file.name: file for file in (found / "extensions").glob("*.dll") if file.name in own}
    core = framework.pop("System.Private.CoreLib.dll")
    for file in {**framework, **own}.values():
        (target / file.name).symlink_to(file)
    executable = target / name
    executable.write_bytes(single_file(about, (found / "host").read_bytes(), core, name, [file for file in {**framework, **own} if file.endswith(".dll")],
                                       not has_icu()))
    executable.chmod(0o755)
    return executable
