// A program of a user of the package: it records, and its records are read by `silverpoint cat`.
using System;
using System.Diagnostics;
using System.IO;
using System.Linq;
using Silverpoint;

static class PackageUser
{
    static readonly Tracepoint<int, string> answer = Tracepoint.Log("package", Level.Info, "the answer {} of {}").With<int, string>();
    static int passed, failed;

    static int Main(string[] arguments)
    {
        if (arguments.Length > 0)
        {
            answer.Record(42, arguments[0]);
            Console.WriteLine(typeof(Tracepoint).Assembly.Location);
            return 0;
        }
        string program = Setting("SILVERPOINT_PROGRAM"), file = Path.Combine(Path.GetTempPath(), "package.silver");
        string recording = Output(program, "run -o " + file + " -- " + Setting("SILVERPOINT_AGAIN") + " package");
        string text = Output(program, "cat " + file);
        Check("records", text.Contains("the answer 42 of package"), "'" + text + "' is what was recorded; the program has printed '" + recording + "'");
        string location = recording.Trim().Split('\n').Last();
        Check("assembly", File.Exists(location) && Same(location, Path.Combine(Setting("SILVERPOINT_UNPACKED"), "lib/net48/Silverpoint.dll")),
              "'" + location + "' is not the assembly of the package");
        Console.WriteLine($"{passed} passed, {failed} failed, 0 skipped");
        return failed == 0 ? 0 : 1;
    }

    static bool Same(string one, string other) => File.ReadAllBytes(one).SequenceEqual(File.ReadAllBytes(other));

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
