"""The NuGet package: what is built here, as a zip file that NuGet reads. Needs no network and no SDK."""

import re
import zipfile
from pathlib import PurePosixPath
from xml.sax.saxutils import escape

ID = "Silverpoint"
# One assembly serves both: .NET Framework and Mono take the first, .NET the second.
FRAMEWORKS = {"net48": ".NETFramework4.8", "netstandard2.0": ".NETStandard2.0"}
DESCRIPTION = "Typed tracing and logging: records go into a ring in shared memory, which a collector outside the process empties. Linux."

# For .NET Framework and Mono, which do not look into runtimes/: the native library beside the program.
TARGETS = """<Project>
  <ItemGroup>
    <None Include="$(MSBuildThisFileDirectory)../../runtimes/linux-x64/native/libsilverpoint_net.so">
      <Link>libsilverpoint_net.so</Link>
      <CopyToOutputDirectory>PreserveNewest</CopyToOutputDirectory>
      <Visible>false</Visible>
    </None>
  </ItemGroup>
</Project>
"""

README = """# Silverpoint

{description}

- `Silverpoint.dll` for .NET Framework 4.8, Mono, .NET Core 3.1 and later.
- `libsilverpoint_net.so` for {machines}. Where it is missing, programs run and record nothing.

Record a program by `silverpoint run -o out.silver -- PROGRAM`, read the file by `silverpoint cat out.silver`.
"""


def version(top):
    """That of all crates."""
    return re.search(r'^version = "([^"]+)"$', (top / "Cargo.toml").read_text(), re.MULTILINE).group(1)


def nuspec(number):
    groups = "".join(f'\n      <group targetFramework="{name}" />' for name in FRAMEWORKS.values())
    return f"""<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://schemas.microsoft.com/packaging/2013/05/nuspec.xsd">
  <metadata>
    <id>{ID}</id>
    <version>{number}</version>
    <authors>Silverpoint contributors</authors>
    <description>{escape(DESCRIPTION)}</description>
    <license type="expression">MIT OR Apache-2.0</license>
    <readme>README.md</readme>
    <tags>tracing logging linux</tags>
    <dependencies>{groups}
    </dependencies>
  </metadata>
</package>
"""


def relations():
    return f"""<?xml version="1.0" encoding="utf-8"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
  <Relationship Type="http://schemas.microsoft.com/packaging/2010/07/manifest" Target="/{ID}.nuspec" Id="R1" />
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


def write(top, folder, assembly, natives):
    """The package: an assembly with its documentation and symbols beside it, and native libraries by machine (linux-x64). Returns its path."""
    number = version(top)
    files = {}
    for framework in FRAMEWORKS:
        for ending in (".dll", ".xml", ".pdb"):
            files[f"lib/{framework}/{ID}{ending}"] = assembly.with_suffix(ending).read_bytes()
    for machine, library in natives.items():
        files[f"runtimes/{machine}/native/{library.name}"] = library.read_bytes()
    files[f"build/net48/{ID}.targets"] = TARGETS.encode()
    files["README.md"] = README.format(description=DESCRIPTION, machines=" and ".join(natives)).encode()
    for name in ("LICENSE-MIT", "LICENSE-APACHE"):
        files[name] = (top / name).read_bytes()
    files[f"{ID}.nuspec"] = nuspec(number).encode()
    files["_rels/.rels"] = relations().encode()
    files["[Content_Types].xml"] = content_types([*files, "[Content_Types].xml"]).encode()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{ID}.{number}.nupkg"
    part = path.with_suffix(".part")
    with zipfile.ZipFile(part, "w") as archive:
        # The same content makes the same file.
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, files[name], zipfile.ZIP_DEFLATED, 9)
    part.replace(path)
    return path


def unpack(path, folder):
    """As NuGet does into its folder of packages."""
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder)
    return folder
