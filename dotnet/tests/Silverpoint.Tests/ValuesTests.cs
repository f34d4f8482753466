using System;
using System.Collections.Generic;
using System.Linq;
using Silverpoint;

/// What values of each kind look like in a record.
static class ValuesTests
{
    static void Shows(string program, params string[] wanted)
    {
        List<string> found = Recorded.Texts(Recorded.Program(program).File);
        // How long a span took is another time each time.
        found = found.Select(text => text.StartsWith("load done ") ? "load done" : text).ToList();
        Check.Same(string.Join("\n", wanted), string.Join("\n", found.ToArray()), "records");
    }

    public static void Scalars() => Shows("Scalars",
        "-128 255 -32768 65535 -2147483648 4294967295", "-9223372036854775808 18446744073709551615 0.1 0.1 true \u00e4", "1.50 00112233-4455-6677-8899-aabbccddeeff 0x10 Green 77 Read|Write",
        "2026-11-26T01:02:03.000000000Z 2026-11-26T01:02:03.000000000Z 1.5 s 0001-01-01T00:00:00.0000000 10675199.02:48:05.4775807 (null)",
        "Minus -7");

    public static void ScalarsDoNotDependOnTheCulture() => Check.Same(string.Join("\n", Recorded.Texts(Recorded.Program("Scalars").File).ToArray()),
        string.Join("\n", Recorded.Texts(Recorded.Program("Scalars", ["foreign"]).File).ToArray()), "records under another culture");

    public static void Containers() => Shows("Containers",
        "[1, 2] none [\"a\", \"b\"] {\"a\": 1} (1, \"x\") 0x0102", "none 5 {1, 2} (\"k\", 7) (1, \"x\", 2.5) [[1], none]", "(1, 2, 3, 4) (5, \"y\") none [Green] [(\"k\", 1)] [none, 3]");

    public static void Objects() => Shows("Objects",
        "null", "{\"Id\": 7, \"Name\": \"x\", \"Inner\": {\"Price\": \"1.50\"}}", "{\"X\": 1, \"Y\": 2}", "[1, \"two\", [3]]", "{\"Good\": 1, \"Bad\": \"<error: InvalidOperationException>\", \"Last\": 2}",
        "{\"Name\": \"0\", \"Next\": {\"Name\": \"1\", \"Next\": {\"Name\": \"2\", \"Next\": {\"Name\": \"3\", \"Next\": {\"Name\": \"4\", \"Next\": {\"Name\": \"5\", \"Next\": \"\u2026\"}}}}}}",
        "{\"one\": 1, \"two\": [2]}", "1.2.3", "Friday", "<error: NotSupportedException>", "[1, 2, 3]");

    public static void ExceptionsHaveInnerOnesAndStack()
    {
        string[] found = Recorded.Texts(Recorded.Program("Exceptions").File).ToArray();
        foreach (string part in new[] { "System.ApplicationException", "\"outer\"", "System.InvalidOperationException", "\"inner\"", "\"stack\"", "Exceptions" }) Check.That(found[0].Contains(part), part + " is missing: " + found[0]);
        foreach (string part in new[] { "AggregateException", "\"first\"", "\"second\"" }) Check.That(found[1].Contains(part), part + " is missing: " + found[1]);
        foreach (string part in new[] { "\"around it\"", "Silent", "\"<error: NotSupportedException>\"", "\"<error: TimeoutException>\"", "\"innermost\"" }) Check.That(found[2].Contains(part), part + " is missing: " + found[2]);
    }

    public static void LongValuesAreCutAndSaySo()
    {
        List<string> found = Recorded.Texts(Recorded.Program("LongValues").File);
        Check.Same(5, found.Count, "records");
        foreach (string one in found.Take(4)) Check.That(one.Contains("\u2026(+"), "a cut value says how much is missing: " + one.Substring(Math.Max(0, one.Length - 100)));
        Check.That(found[0].EndsWith(" behind it"), "the next argument is whole");
        Check.Same("after all", found[4], "the record behind them");
    }

    public static void SpansCountersAndFlows() => Shows("SpansAndOthers",
        "load path=\"a b\"", "inside", "load done", "depth = 17", "tick", "fetch begin id=1 url=http://x", "fetch id=1 bytes=5", "fetch end id=1", "path flow begin id=2", "path flow step id=2", "path flow end id=2");

    public static void GettersMayRecord() => Shows("NestedRecords", "before", "a nested record", "{\"Items\": 42}", "caught", "after");

    public static void TheHotPathAllocatesNothing()
    {
        string output = Recorded.Program("Allocations").Output;
        Check.That(output == "0 bytes\n" || output == "0 collections\n", output);
    }

    public static void UnhandledExceptionsAreTheLastRecord()
    {
        Ended ended = Recorded.Program("Unhandled", status: Recorded.IsMono ? 1 : 134);
        Dictionary<string, object> last = Recorded.Records(ended.File).Last();
        Check.Same("fatal", ((string)last["level"]).ToLowerInvariant(), "the level");
        foreach (string part in new[] { "unhandled exception: ", "System.InvalidOperationException", "\"nobody catches this\"", "Unhandled" })
            Check.That(((string)last["message"]).Contains(part), part + " is missing: " + last["message"]);
    }

    public static void WithoutTheLibraryTheProgramRuns()
    {
        // A copy without libsilverpoint_net.so.
        string folder = Recorded.Fresh("");
        System.IO.Directory.CreateDirectory(folder);
        string own = System.IO.Path.GetDirectoryName(typeof(ValuesTests).Assembly.Location);
        string program = System.IO.Path.Combine(folder, "Silverpoint.Tests.dll");
        if (Recorded.Runtime == "net10") throw new Skipped("the executable of .NET 10 names its files");
        foreach (string file in System.IO.Directory.GetFiles(own, "*.dll")) System.IO.File.Copy(file, System.IO.Path.Combine(folder, System.IO.Path.GetFileName(file)));
        string[] words = Recorded.Again.Select(word => word.EndsWith("Silverpoint.Tests.dll") ? program : word).ToArray();
        Ended ended = Recorded.Run(words[0], words.Skip(1).Concat(["WithoutLibrary"]));
        Check.Same(0, ended.Status, "status: " + ended.Errors);
        Check.That(ended.Output.Contains("off, and goes on"), ended.Output);
        Check.That(ended.Errors.Contains("silverpoint: nothing is recorded: libsilverpoint_net.so"), ended.Errors);
        Check.Same(1, ended.Errors.Split('\n').Count(line => line.StartsWith("silverpoint")), "lines on standard error");
        System.IO.Directory.Delete(folder, true);
    }
}
