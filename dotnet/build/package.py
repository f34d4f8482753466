"""NuGet packages: what is built here, as zip files that NuGet reads. Needs no network and no SDK."""

import re
import zipfile
from pathlib import PurePosixPath
from xml.sax.saxutils import escape, quoteattr

# The package with the native library.
ROOT = "Silverpoint"
# One assembly serves both: .NET Framework and Mono take the first, .NET the second.
FRAMEWORKS = {"net48": ".NETFramework4.8", "netstandard2.0": ".NETStandard2.0"}

# For .NET Framework and Mono, which do not look into runtimes/: the native library beside the program. It is that of the machine for which the
# program is built: as its properties say, else the machine that builds it. A program for x64 may run on Linux and on Windows.
TARGETS = """<Project>
  <PropertyGroup>
    <SilverpointMachine Condition="'$(PlatformTarget)' == 'x64'">linux-x64</SilverpointMachine>
    <SilverpointMachine Condition="'$(PlatformTarget)' == 'ARM64'">linux-arm64</SilverpointMachine>
    <SilverpointMachine Condition="'$(SilverpointMachine)' == '' and $(RuntimeIdentifier.EndsWith('-x64'))">linux-x64</SilverpointMachine>
    <SilverpointMachine Condition="'$(SilverpointMachine)' == '' and $(RuntimeIdentifier.EndsWith('-arm64'))">linux-arm64</SilverpointMachine>
    <SilverpointMachine Condition="'$(SilverpointMachine)' == ''">linux-$([System.Runtime.InteropServices.RuntimeInformation]::OSArchitecture.ToString().ToLowerInvariant())</SilverpointMachine>
  </PropertyGroup>
  <ItemGroup>
    <None Include="$(MSBuildThisFileDirectory)../../runtimes/$(SilverpointMachine)/native/libsilverpoint_net.so">
      <Link>libsilverpoint_net.so</Link>
      <CopyToOutputDirectory>PreserveNewest</CopyToOutputDirectory>
      <Visible>false</Visible>
    </None>
    <None Include="$(MSBuildThisFileDirectory)../../runtimes/win-x64/native/silverpoint_net.dll" Condition="'$(SilverpointMachine)' == 'linux-x64' and Exists('$(MSBuildThisFileDirectory)../../runtimes/win-x64/native/silverpoint_net.dll')">
      <Link>silverpoint_net.dll</Link>
      <CopyToOutputDirectory>PreserveNewest</CopyToOutputDirectory>
      <Visible>false</Visible>
    </None>
  </ItemGroup>
</Project>
"""


def version(top):
    """That of all crates."""
    return re.search(r'^version = "([^"]+)"$', (top / "Cargo.toml").read_text(), re.MULTILINE).group(1)


def nuspec(name, number, description, dependencies):
    needs = "".join(f'\n        <dependency id={quoteattr(other)} version={quoteattr(version)} />' for other, version in sorted(dependencies.items()))
    groups = "".join(f'\n      <group targetFramework="{framework}">{needs}\n      </group>' for framework in FRAMEWORKS.values())
    return f"""<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://schemas.microsoft.com/packaging/2013/05/nuspec.xsd">
  <metadata>
    <id>{name}</id>
    <version>{number}</version>
    <authors>Silverpoint contributors</authors>
    <description>{escape(description)}</description>
    <license type="expression">MIT OR Apache-2.0</license>
    <readme>README.md</readme>
    <tags>tracing logging linux windows</tags>
    <dependencies>{groups}
    </dependencies>
  </metadata>
</package>
"""


def relations(name):
    return f"""<?xml version="1.0" encoding="utf-8"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
  <Relationship Type="http://schemas.microsoft.com/packaging/2010/07/manifest" Target="/{name}.nuspec" Id="R1" />
</Relationships>
"""


def content_types(names):
    """Each ending of a name has a type, and so has each name without an ending."""
    endings = sorted({PurePosixPath(name).suffix[1:] for name in names if PurePosixPath(name).suffix} - {"rels"})
    bare = sorted(name for name in names if not PurePosixPath(name).suffix)
    lines = ['<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml" />']
    lines += [f'<Default Extension="{ending}" ContentType="application/octet" />' for ending in endings]
    lines += [f'<Override PartName="/{name}" ContentType="application/octet" />' for name in bare]
    return ('<?xml version="1.0" encoding="utf-8"?>\n<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">\n  '
            + "\n  ".join(lines) + "\n</Types>\n")


def save(path, name, about, files):
    """Writes a package: its nuspec, and the content of its files by name. The same content makes the same file."""
    files = {**files, f"{name}.nuspec": about.encode(), "_rels/.rels": relations(name).encode()}
    files["[Content_Types].xml"] = content_types([*files, "[Content_Types].xml"]).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    with zipfile.ZipFile(part, "w") as archive:
        for file in sorted(files):
            entry = zipfile.ZipInfo(file, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, files[file], zipfile.ZIP_DEFLATED, 9)
    part.replace(path)
    return path


def write(top, folder, project, dependencies, out, natives):
    """The package of a project: the assembly in the folder `out` with its documentation and symbols, and native libraries by machine (linux-x64). Returns its path."""
    number, name, files = version(top), project.name, {}
    for framework in FRAMEWORKS:
        for ending in (".dll", ".xml", ".pdb"):
            files[f"lib/{framework}/{name}{ending}"] = (out / (name + ending)).read_bytes()
    for machine, library in natives.items():
        files[f"runtimes/{machine}/native/{library.name}"] = library.read_bytes()
    if natives:
        files[f"build/net48/{name}.targets"] = TARGETS.encode()
    files["README.md"] = (project.folder / "README.md").read_bytes()
    for licence in ("LICENSE-MIT", "LICENSE-APACHE"):
        files[licence] = (top / licence).read_bytes()
    return save(folder / f"{name}.{number}.nupkg", name, nuspec(name, number, project.values["Description"], dependencies), files)


def unpack(path, folder):
    """As NuGet does into its folder of packages."""
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder)
    return folder
