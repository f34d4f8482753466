"""MSBuild and NuGet of an SDK: what users of the packages, and of the .csproj files, build with."""

import os
import subprocess

import places as at

# A target that writes the lists and properties of a project into a file.
ASK = """<Project>
  <Target Name="Ask">
    <ItemGroup>
      <Said Include="@(Compile->'Compile %(FullPath)');@(ProjectReference->'ProjectReference %(FullPath)');@(PackageReference->'PackageReference %(Identity) %(Version)')" />
      <Said Include="OutputType $(OutputType);TargetFramework $(TargetFramework);LangVersion $(LangVersion);Nullable $(Nullable);AllowUnsafeBlocks $(AllowUnsafeBlocks)" />
      <Said Include="AssemblyName $(AssemblyName);Version $(Version);DefineConstants $(DefineConstants.Replace(';', ' '))" />
    </ItemGroup>
    <WriteLinesToFile File="$(AskedInto)/$(MSBuildProjectName).txt" Overwrite="true" Lines="@(Said)" />
  </Target>
</Project>
"""


class SdkError(Exception):
    """What MSBuild says."""


class Sdk:
    """An SDK whose folders of packages and settings are below a scratch folder. It runs on .NET 8: its own runtime knows no cryptography of today."""

    def __init__(self, places, scratch):
        self.places, self.scratch = places, scratch
        self.folder = next((places.require("sdk", ".NET Core SDK 3.1") / "sdk").iterdir())
        self.host = places.require("net8") / "dotnet"

    def build(self, project, target, **properties):
        """Runs a target of a project, with properties; before Build, it fetches packages. No network: they come from the folders in RestoreSources."""
        # A compiler that serves later builds would stay for ten minutes.
        given = {"RestorePackagesPath": self.scratch / "nuget", "RestoreSources": self.places.packages, "UseSharedCompilation": "false", **properties}
        words = [self.host, "exec", "--runtimeconfig", at.runtime_config(self.places, "net8"), self.folder / "MSBuild.dll", project, "-nologo", "-m:1", "-nr:false", "-v:m",
                 f"-t:{target}", *(["-restore"] if target == "Build" else []), *(f"-p:{name}={str(value).replace(';', '%3B')}" for name, value in given.items())]
        # Its compiler asks for .NET Core 3.1.
        added = {"MSBuildSDKsPath": self.folder / "Sdks", "MSBuildExtensionsPath": f"{self.folder}/", "MSBUILD_EXE_PATH": self.folder / "MSBuild.dll", "DOTNET_HOST_PATH": self.host,
                 "DOTNET_ROOT": self.host.parent, "DOTNET_ROLL_FORWARD": "Major", "HOME": self.scratch}
        done = subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=self.scratch, timeout=900,
                              env={**os.environ, **{name: str(value) for name, value in added.items()}})
        if done.returncode != 0:
            raise SdkError(done.stdout)
        return done.stdout
