"""Projects of .NET, as their .csproj files describe them, and the assemblies that Roslyn makes of them.

An SDK of .NET reads the same files. Only what is listed here may stand in them: anything else is an error, not a difference between two builds.
"""

import hashlib
import subprocess
import xml.etree.ElementTree as xml
from pathlib import Path

# What a project may say, with the value that counts when it does not.
PROPERTIES = {
    "AssemblyName": "", "RootNamespace": "", "OutputType": "Library", "TargetFramework": "", "LangVersion": "12", "Nullable": "disable",
    "AllowUnsafeBlocks": "false", "DefineConstants": "", "GenerateDocumentationFile": "false", "NoWarn": "", "Deterministic": "true",
    "TreatWarningsAsErrors": "true", "GenerateAssemblyInfo": "true", "Version": "", "IsPackable": "false", "AutoGenerateBindingRedirects": "false",
    "DebugType": "portable", "EnableDefaultCompileItems": "true", "ImplicitUsings": "disable", "Description": "",
}
ITEMS = {"Compile", "None", "Reference", "ProjectReference", "PackageReference"}


class ProjectError(Exception):
    """What is wrong in a project file."""


class Project:
    """One .csproj file."""

    def __init__(self, path, top):
        self.path, self.folder, self.top = path, path.parent, top
        self.values, self.references, self.projects, self.loaded, self.copied = dict(PROPERTIES), [], [], [], []
        self.included, self.removed = [], []
        # Packages and their versions; with those that they need, as soon as all projects are known. The own ones are made here.
        self.packages, self.own_packages = {}, []
        for file in (top / "dotnet/Directory.Build.props", path):
            try:
                root = xml.parse(file).getroot()
            except xml.ParseError as why:
                raise ProjectError(f"{file.relative_to(top)}: {why}") from None
            for group in root:
                if group.tag not in ("PropertyGroup", "ItemGroup") or group.attrib:
                    raise ProjectError(f"{file.relative_to(top)}: <{group.tag}> is not known here, or has a condition (dotnet/build/projects.py)")
                for element in group:
                    self.read(group.tag, element)
        if self.yes("GenerateAssemblyInfo") or self.yes("ImplicitUsings"):
            raise ProjectError(f"{path.relative_to(top)}: GenerateAssemblyInfo and ImplicitUsings make files that only an SDK knows: switch them off")
        if not self.values["TargetFramework"]:
            raise ProjectError(f"{path.relative_to(top)}: there is no TargetFramework")
        self.name = self.values["AssemblyName"] or path.stem
        self.is_program = self.values["OutputType"] == "Exe"
        self.is_test = self.is_program and "tests" in path.relative_to(top).parts

    def read(self, group, element):
        where = f"{self.path.relative_to(self.top)}: <{element.tag}>"
        if group == "PropertyGroup":
            if element.tag not in PROPERTIES or element.get("Condition"):
                raise ProjectError(f"{where} is not known here (dotnet/build/projects.py)")
            self.values[element.tag] = (element.text or "").strip()
            return
        if group != "ItemGroup" or element.tag not in ITEMS or element.get("Condition"):
            raise ProjectError(f"{where} is not known here (dotnet/build/projects.py)")
        included = (element.get("Include") or "").replace("\\", "/")
        if element.tag == "Compile":
            (self.removed if element.get("Remove") else self.included).append((element.get("Remove") or included).replace("\\", "/"))
        elif element.tag == "None":
            self.copied.append(included or element.get("Update"))
        elif element.tag == "Reference":
            self.references.append(included)
        elif element.tag == "ProjectReference":
            self.projects.append((self.folder / included).resolve())
        else:
            # One that is loaded at run time only is no reference of the compiler.
            if (element.get("ExcludeAssets") or "compile") != "compile":
                raise ProjectError(f"{where}: ExcludeAssets may be compile here")
            self.packages[included] = element.get("Version")
            if element.get("ExcludeAssets"):
                self.loaded.append(included)

    def sources(self):
        """As an SDK finds them: all below the folder, without those of projects in folders below, and without what an SDK has made."""
        others = [file.parent for file in self.folder.rglob("*.csproj") if file.parent != self.folder] + [self.folder / "bin", self.folder / "obj"]
        found = set()
        if self.values["EnableDefaultCompileItems"] == "true":
            found = {file for file in self.folder.rglob("*.cs") if not any(other in file.parents for other in others)}
        for pattern in self.removed:
            found -= set(self.folder.glob(pattern))
        for pattern in self.included:
            found |= {file.resolve() for file in self.folder.glob(pattern)} if "*" in pattern else {(self.folder / pattern).resolve()}
        if not found:
            raise ProjectError(f"{self.path.relative_to(self.top)}: no source file")
        return sorted(found)

    def yes(self, name):
        return self.values[name].lower() in ("true", "enable")


def find(top):
    """All projects below dotnet/, those that others need first."""
    listed = {path.resolve(): Project(path.resolve(), top) for path in sorted((top / "dotnet").rglob("*.csproj"))}
    ordered, begun = [], set()

    def add(path, asked_by):
        if path not in listed:
            raise ProjectError(f"{asked_by.path.relative_to(top)}: there is no project {path}")
        if listed[path] in ordered:
            return
        if path in begun:
            raise ProjectError(f"{listed[path].path.relative_to(top)}: it needs itself")
        begun.add(path)
        for needed in listed[path].projects:
            add(needed, listed[path])
        ordered.append(listed[path])

    for path, project in listed.items():
        add(path, project)
    made = {project.name: project for project in ordered if project.yes("IsPackable")}
    needed = {name: dependencies(project, listed) for name, project in made.items()}
    for project in ordered:
        # As NuGet does: with a package come those that it needs.
        for name in [one for one in project.packages if one in made]:
            project.packages.update({other: version for other, version in needed[name].items() if other not in project.packages})
        project.own_packages = [name for name in project.packages if name in made]
    return ordered


def dependencies(project, by_path):
    """What the package of a project needs: packages and their versions. An assembly from here uses internals of another one, so these versions are exact."""
    found = {other.name: f"[{other.values['Version']}]" for other in all_needed(project, by_path) if other.yes("IsPackable")}
    return {**found, **project.packages}


def all_needed(project, by_path):
    """The projects that one needs, also those that these need."""
    found = []
    for path in project.projects:
        for needed in [*all_needed(by_path[path], by_path), by_path[path]]:
            if needed not in found:
                found.append(needed)
    return found


def reference_files(project, places):
    """Reference assemblies: those of .NET Framework 4.8, or, for what is compiled against .NET 8 or 10, its framework."""
    framework = project.values["TargetFramework"]
    if framework in ("net8.0", "net10.0"):
        folders = places.frameworks() if framework == "net8.0" else places.frameworks()[-1:]
        files = sorted(folders[0].glob("*.dll"))
    else:
        api = places.folder / "mono/4.8-api"
        names = ["mscorlib", "System", "System.Core", *project.references]
        files = [api / f"{name}.dll" for name in dict.fromkeys(names)]
        files += sorted((api / "Facades").glob("*.dll")) if set(project.packages) - {*project.own_packages, *project.loaded} else []
    named = [package_folder(project, package, places) / f"{package}.dll" for package in project.packages if package not in project.loaded]
    # NuGet leaves out a package that is part of the framework, too.
    return files + [file for file in named if file.name not in {one.name for one in files}]


def package_folder(project, package, places):
    """Where the assembly of a package is. There is no package index: it is what scripts/setup dotnet has fetched, or the package made here."""
    if package in project.own_packages:
        return places.unpacked(package) / "lib" / ("net48" if project.values["TargetFramework"] == "net48" else "netstandard2.0")
    extensions = ["net10/extensions"]
    # (What is compiled against .NET 10 has its newest version of all, as NuGet would find that another package needs it.)
    if project.packages[package].startswith("3.") and project.values["TargetFramework"] != "net10.0":
        extensions.insert(0, "sdk/extensions")
    folders = [places.folder / name for name in (*extensions, "tools/configuration", "tools/nuget")]
    for folder in [*folders, *places.frameworks()]:
        if (folder / f"{package}.dll").exists():
            return folder
    raise ProjectError(f"{project.path.relative_to(project.top)}: the package {package} is not known here")


def arguments(project, places, by_path):
    """The command line of csc for a project."""
    out = places.out(project)
    words = ["-nologo", f"-out:{out / project.name}.dll", f"-target:{'exe' if project.is_program else 'library'}", f"-langversion:{project.values['LangVersion']}",
             f"-nullable:{project.values['Nullable']}", "-deterministic", "-debug:portable", "-optimize", "-warnaserror", "-warn:5", "-nostdlib", "-utf8output",
             f"-pathmap:{project.top}=/_", "-filealign:512"]
    if project.yes("AllowUnsafeBlocks"):
        words.append("-unsafe")
    if project.yes("GenerateDocumentationFile"):
        words.append(f"-doc:{out / project.name}.xml")
    if project.values["DefineConstants"]:
        words.append(f"-define:{project.values['DefineConstants'].replace('$(DefineConstants)', '').strip(';')}")
    # The first two as an SDK does.
    words.append(f"-nowarn:1701;1702;{project.values['NoWarn'].replace('$(NoWarn)', '').strip(';')}".rstrip(";"))
    words += [f"-r:{file}" for file in reference_files(project, places)]
    words += [f"-r:{places.out(needed) / needed.name}.dll" for needed in all_needed(project, by_path)]
    return words + [str(file) for file in project.sources()]


def digest(words, compiler):
    """Of what goes into an assembly: the command line and the content of the files that it names."""
    sum_ = hashlib.sha256(compiler.encode())
    for word in words:
        sum_.update(word.encode() + b"\0")
        path = Path(word.removeprefix("-r:"))
        if path.suffix in (".cs", ".dll") and path.is_file():
            sum_.update(hashlib.sha256(path.read_bytes()).digest())
    return sum_.hexdigest()


def compile_all(projects, by_path, places, runner):
    """Compiles what has changed, in one process: the compiler starts slowly. The names of the assemblies that were compiled; None when one does not compile."""
    stale, words = [], []
    for project in projects:
        out = places.out(project)
        out.mkdir(parents=True, exist_ok=True)
        line = arguments(project, places, by_path)
        stamp = out / ".compiled"
        is_fresh = (out / f"{project.name}.dll").exists() and stamp.exists() and stamp.read_text() == digest(line, places.compiler_pin())
        if is_fresh and not any(needed in stale for needed in all_needed(project, by_path)):
            continue
        stamp.unlink(missing_ok=True)
        response = out / ".arguments"
        response.write_text("".join(f'"{word}"\n' for word in line))
        words += ["--", f"@{response}"] if stale else [f"@{response}"]
        stale.append(project)
    if not stale:
        return []
    done = subprocess.run([*runner, str(places.folder / "tools/compiler"), *words], cwd=places.top, stdin=subprocess.DEVNULL, timeout=600)
    if done.returncode != 0:
        return None
    for project in stale:
        (places.out(project) / ".compiled").write_text(digest(arguments(project, places, by_path), places.compiler_pin()))
    return [project.name for project in stale]
