// The packages as NuGet's own library reads them.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Reflection.Metadata;
using System.Reflection.PortableExecutable;
using NuGet.Frameworks;
using NuGet.Packaging;
using NuGet.Packaging.Core;

static class PackageFile
{
    // What packages need, by their names. Internals of Silverpoint are used, so its version is exact.
    static readonly Dictionary<string, string> needs = new Dictionary<string, string>
    {
        ["Silverpoint"] = "",
        ["Silverpoint.Diagnostics"] = "Silverpoint [VERSION] System.Diagnostics.DiagnosticSource 8.0.0",
        ["Silverpoint.Extensions.Logging"] = "Microsoft.Extensions.DependencyInjection.Abstractions 3.1.2 Microsoft.Extensions.Logging 3.1.2 Microsoft.Extensions.Logging.Abstractions 3.1.2 Microsoft.Extensions.Options 3.1.2 Silverpoint [VERSION] System.Diagnostics.DiagnosticSource 8.0.0",
    };
    // What every runtime has under this name: parts of .NET Framework, and facades of .NET.
    static readonly HashSet<string> everywhere = new HashSet<string> { "mscorlib", "System", "System.Core" };
    static int passed, failed;
    static string package = "";

    static int Main()
    {
        foreach (string name in needs.Keys) One(name);
        package = "all";
        Same("files", needs.Count.ToString(), Directory.GetFiles(Setting("SILVERPOINT_PACKAGES")).Length.ToString());
        Console.WriteLine($"{passed} passed, {failed} failed, 0 skipped");
        return failed == 0 ? 0 : 1;
    }

    static void One(string name)
    {
        package = name;
        string version = AssemblyName.GetAssemblyName(Unpacked("lib/net48/" + name + ".dll")).Version!.ToString(3);
        using var archive = new PackageArchiveReader(Path.Combine(Setting("SILVERPOINT_PACKAGES"), name + "." + version + ".nupkg"));
        NuspecReader about = archive.NuspecReader;
        Same("name", name + " " + version, about.GetId() + " " + about.GetVersion());
        Same("license", "MIT OR Apache-2.0", about.GetLicenseMetadata().LicenseExpression.ToString()!);
        Same("description", "true", about.GetDescription().StartsWith(name == "Silverpoint" ? "Typed tracing" : "Silverpoint for ") ? "true" : "false");
        Same("readme", "# " + name, File.ReadLines(Unpacked(about.GetReadme())).First());
        Same("names_that_differ_by_case", "", string.Join("; ", archive.GetFiles().GroupBy(file => file.ToLowerInvariant()).Where(group => group.Count() > 1).Select(group => group.Key)));

        PackageDependencyGroup[] groups = about.GetDependencyGroups().ToArray();
        Same("frameworks", "net48 netstandard2.0", string.Join(" ", groups.Select(group => group.TargetFramework.GetShortFolderName()).Order()));
        foreach (PackageDependencyGroup group in groups)
            Same("dependencies_of_" + group.TargetFramework.GetShortFolderName(), needs[name].Replace("VERSION", version), string.Join(" ", group.Packages.OrderBy(one => one.Id, StringComparer.Ordinal).Select(one => one.Id + " " + one.VersionRange.OriginalString)));
        FrameworkSpecificGroup[] assemblies = archive.GetLibItems().ToArray();
        foreach (var (project, framework) in new[] { ("net48", "net48"), ("net481", "net48"), ("net472", "netstandard2.0"), ("netcoreapp3.1", "netstandard2.0"), ("net8.0", "netstandard2.0"), ("net10.0", "netstandard2.0") })
            Same("assembly_for_" + project, "lib/" + framework + "/" + name + ".dll", Assembly(assemblies, project));
        Same("nothing_for_net35", "", Assembly(assemblies, "net35"));
        FileVersionInfo file = FileVersionInfo.GetVersionInfo(Unpacked("lib/net48/" + name + ".dll"));
        Same("versions_of_the_file", version + ".0 " + version, file.FileVersion + " " + file.ProductVersion);
        References(name, groups[0].Packages);
        PublicTypes(name);

        bool isRoot = needs[name].Length == 0;
        string[] native = archive.GetItems("runtimes").SelectMany(group => group.Items).Concat(archive.GetFiles("runtimes")).Distinct().ToArray();
        Same("native_library", isRoot ? "true" : "false", native.Contains("runtimes/linux-x64/native/libsilverpoint_net.so") ? "true" : "false");
        foreach (string library in native)
            Same("machine_of_" + library.Split('/')[1], library.Contains("arm64") ? "183" : library.Contains("win-x64") ? "34404" : "62", Machine(Unpacked(library)).ToString());
        Same("targets", isRoot ? "net48 build/net48/Silverpoint.targets" : "", string.Join("; ", archive.GetBuildItems().Select(group => group.TargetFramework.GetShortFolderName() + " " + string.Join(" ", group.Items))));
    }

    /// The assembly refers to what every runtime has, and to the packages that are named with the version that is compiled against: to no implementation.
    static void References(string name, IEnumerable<PackageDependency> named)
    {
        var versions = named.ToDictionary(one => one.Id, one => one.VersionRange.MinVersion!.ToString());
        using var image = new PEReader(File.OpenRead(Unpacked("lib/netstandard2.0/" + name + ".dll")));
        MetadataReader reader = image.GetMetadataReader();
        var unused = versions.Keys.ToHashSet();
        foreach (AssemblyReferenceHandle handle in reader.AssemblyReferences)
        {
            AssemblyReference reference = reader.GetAssemblyReference(handle);
            string other = reader.GetString(reference.Name);
            unused.Remove(other);
            Same("reference_to_" + other, everywhere.Contains(other) ? "4.0.0" : versions.GetValueOrDefault(other, "none"), reference.Version.ToString(3));
        }
        Same("dependencies_without_a_reference", "", string.Join(" ", unused));
    }

    /// Each public type has its text in the package, and docs/surface.md has it with its members. (scripts/surface reads sources, this reads the assembly.)
    static void PublicTypes(string name)
    {
        string text = File.ReadAllText(Unpacked("lib/netstandard2.0/" + name + ".xml"));
        string page = File.ReadAllText(Path.Combine(Setting("SILVERPOINT_TOP"), "docs", "surface.md"));
        using var image = new PEReader(File.OpenRead(Unpacked("lib/netstandard2.0/" + name + ".dll")));
        MetadataReader reader = image.GetMetadataReader();
        var members = new SortedDictionary<string, SortedSet<string>>(StringComparer.Ordinal);
        var undocumented = new List<string>();
        foreach (TypeDefinition type in reader.TypeDefinitions.Select(reader.GetTypeDefinition).Where(type => (type.Attributes & TypeAttributes.VisibilityMask) == TypeAttributes.Public))
        {
            string full = reader.GetString(type.Name);
            if (!text.Contains("\"T:" + reader.GetString(type.Namespace) + "." + full + "\"")) undocumented.Add(full);
            members.TryAdd(full.Split('`')[0], new SortedSet<string>(StringComparer.OrdinalIgnoreCase));
            members[full.Split('`')[0]].UnionWith(Members(reader, type));
        }
        Same("types_without_documentation", "", string.Join(" ", undocumented));
        Same("surface", string.Join("\n", page.Split('\n').Where(line => line.StartsWith("| `" + name + "` | ")).Order(StringComparer.Ordinal)),
             string.Join("\n", members.Select(one => $"| `{name}` | `{one.Key}` | {string.Join(", ", one.Value.Select(member => "`" + member + "`"))} |").Order(StringComparer.Ordinal)));
    }

    /// Public members without constructors, and without what overrides a base class.
    static IEnumerable<string> Members(MetadataReader reader, TypeDefinition type)
    {
        bool IsNew(MethodDefinitionHandle handle)
        {
            MethodAttributes attributes = handle.IsNil ? 0 : reader.GetMethodDefinition(handle).Attributes;
            return (attributes & MethodAttributes.MemberAccessMask) == MethodAttributes.Public && (attributes & (MethodAttributes.Virtual | MethodAttributes.NewSlot)) != MethodAttributes.Virtual;
        }
        foreach (MethodDefinitionHandle handle in type.GetMethods())
        {
            MethodDefinition method = reader.GetMethodDefinition(handle);
            if (IsNew(handle) && (method.Attributes & MethodAttributes.SpecialName) == 0) yield return reader.GetString(method.Name) + "()";
        }
        foreach (PropertyDefinition property in type.GetProperties().Select(reader.GetPropertyDefinition))
            if (IsNew(property.GetAccessors().Getter)) yield return reader.GetString(property.Name);
        foreach (FieldDefinition field in type.GetFields().Select(reader.GetFieldDefinition))
            if ((field.Attributes & FieldAttributes.FieldAccessMask) == FieldAttributes.Public && (field.Attributes & FieldAttributes.SpecialName) == 0) yield return reader.GetString(field.Name);
    }

    static string Setting(string name) => Environment.GetEnvironmentVariable(name) ?? throw new InvalidOperationException(name + " is not set: run this by scripts/dotnet test");

    static string Unpacked(string name) => Path.Combine(Setting("SILVERPOINT_UNPACKED"), package, name);

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
        if (bytes.Length > 64 && bytes[0] == 'M' && bytes[1] == 'Z')
        {
            int header = BitConverter.ToInt32(bytes, 60);
            return bytes[header + 4] | bytes[header + 5] << 8;
        }
        return bytes.Length > 20 && bytes[0] == 0x7f && bytes[1] == 'E' ? bytes[18] | bytes[19] << 8 : -1;
    }

    static void Same(string name, string wanted, string found)
    {
        if (wanted == found) passed++; else failed++;
        Console.WriteLine(wanted == found ? $"ok {package}.{name}" : $"FAILED {package}.{name}: '{found}' instead of '{wanted}'");
    }
}
