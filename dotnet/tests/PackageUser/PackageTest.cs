using System;
using System.Diagnostics;
using System.IO;
using System.Linq;

/// Records a program of a user of packages, and compares the assemblies that it has loaded with those of the packages.
static class PackageTest
{
    static int passed, failed;

    /// With arguments this is the recorded program. Without, it starts itself under `silverpoint run`; `expected` stands in a record. There is a type of each package.
    internal static int Run(string[] arguments, Action program, string expected, params Type[] types)
    {
        if (arguments.Length > 0)
        {
            program();
            foreach (Type type in types) Console.WriteLine(type.Assembly.Location);
            return 0;
        }
        string silverpoint = Setting("SILVERPOINT_PROGRAM"), file = Path.Combine(Path.GetTempPath(), "package.silver");
        string printed = Output(silverpoint, "run -o " + file + " -- " + Setting("SILVERPOINT_AGAIN") + " package");
        string text = Output(silverpoint, "cat " + file);
        Check("records", text.Contains(expected), "'" + text + "' is what was recorded; the program has printed '" + printed + "'");
        foreach (Type type in types)
        {
            string name = type.Assembly.GetName().Name!;
            string location = printed.Split('\n').Select(line => line.Trim()).FirstOrDefault(line => Path.GetFileName(line) == name + ".dll") ?? "";
            string ofPackage = Path.Combine(Setting("SILVERPOINT_UNPACKED"), name, "lib/net48", name + ".dll");
            Check("assembly_" + name, File.Exists(location) && File.ReadAllBytes(location).SequenceEqual(File.ReadAllBytes(ofPackage)), "'" + location + "' is not the assembly of the package");
        }
        Console.WriteLine($"{passed} passed, {failed} failed, 0 skipped");
        return failed == 0 ? 0 : 1;
    }

    static string Setting(string name) => Environment.GetEnvironmentVariable(name) ?? throw new InvalidOperationException(name + " is not set: run this by scripts/dotnet test");

    static string Output(string file, string arguments)
    {
        using Process process = Process.Start(new ProcessStartInfo(file, arguments) { UseShellExecute = false, RedirectStandardOutput = true })!;
        string output = process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        return output;
    }

    static void Check(string name, bool holds, string why)
    {
        if (holds) passed++; else failed++;
        Console.WriteLine(holds ? $"ok {name}" : $"FAILED {name}: {why}");
    }
}
