// The package as NuGet's own library reads it.
using System;
using System.IO;
using System.Linq;
using System.Reflection;
using NuGet.Frameworks;
using NuGet.Packaging;

static class PackageFile
{
    static int passed, failed;

    static int Main()
    {
        string path = Environment.GetEnvironmentVariable("SILVERPOINT_PACKAGE") ?? throw new InvalidOperationException("SILVERPOINT_PACKAGE is not set: run this by scripts/dotnet test");
        using var package = new PackageArchiveReader(path);
        NuspecReader about = package.NuspecReader;
        Same("name", "Silverpoint " + AssemblyName.GetAssemblyName(Unpacked("lib/net48/Silverpoint.dll")).Version!.ToString(3), about.GetId() + " " + about.GetVersion());
        Same("file_name", about.GetId() + "." + about.GetVersion() + ".nupkg", Path.GetFileName(path));
        Same("license", "MIT OR Apache-2.0", about.GetLicenseMetadata().LicenseExpression.ToString()!);
        Same("readme", "true", package.GetFiles().Contains(about.GetReadme()) ? "true" : "false");
        Same("dependencies", "", string.Join(" ", about.GetDependencyGroups().SelectMany(group => group.Packages)));
        Same("names_that_differ_by_case", "", string.Join("; ", package.GetFiles().GroupBy(file => file.ToLowerInvariant()).Where(group => group.Count() > 1).Select(group => group.Key)));

        FrameworkSpecificGroup[] groups = package.GetLibItems().ToArray();
        foreach (var (project, folder) in new[] { ("net48", "net48"), ("net481", "net48"), ("net472", "netstandard2.0"), ("netcoreapp3.1", "netstandard2.0"), ("net8.0", "netstandard2.0"), ("net10.0", "netstandard2.0") })
            Same("assembly_for_" + project, "lib/" + folder + "/Silverpoint.dll", Assembly(groups, project));
        Same("nothing_for_net35", "", Assembly(groups, "net35"));

        string[] native = package.GetItems("runtimes").SelectMany(group => group.Items).Concat(package.GetFiles("runtimes")).Distinct().ToArray();
        Same("native_library", "true", native.Contains("runtimes/linux-x64/native/libsilverpoint_net.so") ? "true" : "false");
        foreach (string library in native)
            Same("machine_of_" + library.Split('/')[1], library.Contains("arm64") ? "183" : "62", Machine(Unpacked(library)).ToString());
        FrameworkSpecificGroup targets = package.GetBuildItems().Single();
        Same("targets", "net48 build/net48/Silverpoint.targets", targets.TargetFramework.GetShortFolderName() + " " + string.Join(" ", targets.Items));
        Console.WriteLine($"{passed} passed, {failed} failed, 0 skipped");
        return failed == 0 ? 0 : 1;
    }

    static string Unpacked(string name) => Path.Combine(Environment.GetEnvironmentVariable("SILVERPOINT_UNPACKED")!, name);

    /// The assembly that a project for this framework gets.
    static string Assembly(FrameworkSpecificGroup[] groups, string project)
    {
        NuGetFramework? nearest = new FrameworkReducer().GetNearest(NuGetFramework.Parse(project), groups.Select(group => group.TargetFramework));
        return string.Join(" ", groups.Where(group => group.TargetFramework.Equals(nearest)).SelectMany(group => group.Items).Where(item => item.EndsWith(".dll")));
    }

    /// The field e_machine of an ELF file.
    static int Machine(string file)
    {
        byte[] bytes = File.ReadAllBytes(file);
        return bytes.Length > 20 && bytes[0] == 0x7f && bytes[1] == 'E' ? bytes[18] | bytes[19] << 8 : -1;
    }

    static void Same(string name, string wanted, string found)
    {
        if (wanted == found) passed++; else failed++;
        Console.WriteLine(wanted == found ? $"ok {name}" : $"FAILED {name}: '{found}' instead of '{wanted}'");
    }
}
