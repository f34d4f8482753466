using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Text;

/// What makes a test not run here: it is counted, not passed.
sealed class Skipped(string why) : Exception(why);

sealed class TestFailure(string why) : Exception(why);

static class Check
{
    public static void That(bool holds, string why)
    {
        if (!holds) throw new TestFailure(why);
    }

    public static void Same(string wanted, string found, string what)
    {
        if (wanted != found) throw new TestFailure(what + ":\n  wanted " + wanted + "\n  found  " + found);
    }

    public static void Same(long wanted, long found, string what) => Same(wanted.ToString(), found.ToString(), what);
}

/// A program that has ended.
sealed class Ended
{
    public int Status;
    public string Output;
    public string Errors;
    public string File;
}

/// Programs of this assembly, and what they have recorded.
static class Recorded
{
    public static string Runtime => Environment.GetEnvironmentVariable("SILVERPOINT_RUNTIME") ?? "";
    public static bool IsMono => Type.GetType("Mono.Runtime") != null;

    static string Setting(string name)
    {
        string value = Environment.GetEnvironmentVariable(name);
        if (string.IsNullOrEmpty(value)) throw new TestFailure(name + " is not set: run the tests by scripts/dotnet test");
        return value;
    }

    public static string Top => Setting("SILVERPOINT_TOP");
    public static string Silverpoint => Setting("SILVERPOINT_PROGRAM");
    /// The words that run this assembly again.
    public static string[] Again => Setting("SILVERPOINT_AGAIN").Split(' ');

    /// A path below the test's own folder, which scripts/dotnet removes.
    public static string Fresh(string end)
    {
        string folder = Path.GetTempPath();
        return Path.Combine(folder, "sp-" + Process.GetCurrentProcess().Id + "-" + (++number) + end);
    }

    static int number;

    static ProcessStartInfo Start(string file, IEnumerable<string> arguments) => new ProcessStartInfo(file, string.Join(" ", arguments.Select(Quoted).ToArray()))
    {
        UseShellExecute = false,
        RedirectStandardOutput = true,
        StandardOutputEncoding = Encoding.UTF8,
    };

    public static Ended Run(string file, IEnumerable<string> arguments)
    {
        ProcessStartInfo start = Start(file, arguments);
        start.RedirectStandardError = true;
        // Else Mono has a debugger describe all threads of a program that aborts, which takes seconds.
        start.EnvironmentVariables["MONO_DEBUG"] = "no-gdb-backtrace";
        using Process process = Process.Start(start);
        var errors = new StringBuilder();
        process.ErrorDataReceived += (_, line) => { if (line.Data != null) errors.AppendLine(line.Data); };
        process.BeginErrorReadLine();
        string output = process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        return new Ended { Status = process.ExitCode, Output = output, Errors = errors.ToString() };
    }

    static string Quoted(string word) => word.Length > 0 && word.All(letter => char.IsLetterOrDigit(letter) || "/.-_=:+".IndexOf(letter) >= 0) ? word : "\"" + word.Replace("\\", "\\\\").Replace("\"", "\\\"") + "\"";

    /// Records one of the Programs. Its status must be as wanted. Threads wait for room as long as it takes: a slow machine loses nothing.
    public static Ended Program(string name, string[] arguments = null, int status = 0, string filter = "trace")
    {
        string file = Fresh(".silver");
        Ended ended = Run(Silverpoint, new[] { "run", "-o", file, "--policy", "block=forever", "--filter", filter, "--" }.Concat(Again).Concat([name]).Concat(arguments ?? []));
        if (ended.Status != status) throw new TestFailure(name + " ended with " + ended.Status + " instead of " + status + ":\n" + ended.Output + ended.Errors);
        ended.File = file;
        return ended;
    }

    /// The records of a file as lines of a JSON object each.
    public static List<Dictionary<string, object>> Records(string file)
    {
        string lines = Fresh(".jsonl");
        Ended ended = Run(Silverpoint, ["convert", file, lines]);
        Check.Same(0, ended.Status, "convert " + file + ": " + ended.Errors);
        var records = File.ReadLines(lines).Select(line => (Dictionary<string, object>)Json.Parse(line)).ToList();
        File.Delete(lines);
        return records;
    }

    /// One line for each record of a category, where there are many: Records takes three times as long.
    public static IEnumerable<string> Lines(string file, string category, string pattern = "{message}")
    {
        using Process process = Process.Start(Start(Silverpoint, ["cat", "--pattern", pattern, "--category", category, file]));
        for (string line; (line = process.StandardOutput.ReadLine()) != null;) yield return line;
        process.WaitForExit();
        Check.Same(0, process.ExitCode, "silverpoint cat");
    }

    /// The texts of a file's records, in order.
    public static List<string> Texts(string file) => Records(file).Select(record => (string)record["message"]).ToList();
}
