using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text;
using Silverpoint;

/// The records of spec/vectors, byte for byte as they are in the ring. Only the site's id and the ticks differ.
static class VectorsTests
{
    public static void Records()
    {
        Ended ended = Recorded.Program("Vectors", [Recorded.Top]);
        Check.That(ended.Output.Contains("all as they should be"), ended.Output + ended.Errors);
    }
}

enum Side : byte { Buy, Sell = 7 }

static partial class Programs
{
    static readonly Dictionary<string, Func<Tracepoint>> vectors = new Dictionary<string, Func<Tracepoint>>
    {
        ["literal only"] = () => Made(Tracepoint.Log("vectors", Level.Info, "").With(), one => one.Record()),
        ["three numbers"] = () => Made(Tracepoint.Log("vectors", Level.Info, "{} {} {}").With<int, double, ulong>(), one => one.Record(-7, 2.5, ulong.MaxValue)),
        ["UTF-16 text"] = () => Made(Tracepoint.Log("vectors", Level.Info, "{}").With<string>(), one => one.Record("\u00fc \ud83d\ude00")),
        ["float and small numbers"] = () => Made(Tracepoint.Log("vectors", Level.Info, "{} {} {} {}").With<float, sbyte, ushort, long>(), one => one.Record(0.1f, -128, 65535, long.MinValue)),
        ["pointer"] = () => Made(Tracepoint.Log("vectors", Level.Info, "{}").With<IntPtr>(), one => one.Record((IntPtr)4096)),
        ["128 floats"] = () => Made(Tracepoint.Log("vectors", Level.Info, "{}").With<ArraySegment<float>>(), one => one.Record(new ArraySegment<float>(Floats()))),
        ["sequence of bools"] = () => Made(Tracepoint.Log("vectors", Level.Info, "{}").With<ArraySegment<bool>>(), one => one.Record(new ArraySegment<bool>([true, false]))),
        ["enumeration"] = () => Made(Tracepoint.Log("vectors", Level.Info, "{}").With<Side>(), one => one.Record(Side.Sell)),
        ["tail 7"] = () => Made(Tracepoint.Log("vectors", Level.Info, "{}").With<byte>(), one => one.Record(241)),
        ["tail 6"] = () => Made(Tracepoint.Log("vectors", Level.Info, "{} {}").With<byte, byte>(), one => one.Record(241, 242)),
        ["tail 5"] = () => Made(Tracepoint.Log("vectors", Level.Info, "{} {} {}").With<byte, byte, byte>(), one => one.Record(241, 242, 243)),
        ["tail 4"] = () => Made(Tracepoint.Log("vectors", Level.Info, "{} {} {} {}").With<byte, byte, byte, byte>(), one => one.Record(241, 242, 243, 244)),
        ["tail 3"] = () => Made(Tracepoint.Log("vectors", Level.Info, "{} {} {} {} {}").With<byte, byte, byte, byte, byte>(), one => one.Record(241, 242, 243, 244, 245)),
        ["tail 2"] = () => Made(Tracepoint.Log("vectors", Level.Info, "{} {} {} {} {} {}").With<byte, byte, byte, byte, byte, byte>(), one => one.Record(241, 242, 243, 244, 245, 246)),
        ["counter"] = () => Made(Tracepoint.Counter("vectors", "depth", Level.Info).With<long>(), one => one.Record(17)),
        ["instant"] = () => Made(Tracepoint.Instant("vectors", "tick", Level.Info).With(), one => one.Record()),
        ["flow begin"] = () => Made(Tracepoint.FlowBegin("vectors", "path", Level.Info).With<ulong>(), one => one.Record(8)),
        ["flow step"] = () => Made(Tracepoint.FlowStep("vectors", "path", Level.Info).With<ulong>(), one => one.Record(8)),
        ["flow end"] = () => Made(Tracepoint.FlowEnd("vectors", "path", Level.Info).With<ulong>(), one => one.Record(8)),
        ["link"] = () => Made(Tracepoint.Link("vectors", Level.Info).With<ulong, ulong>(), one => one.Record(7, 8)),
        ["async end"] = () => Made(Tracepoint.AsyncEnd("vectors", "fetch", Level.Info).With<ulong>("id"), one => one.Record(7)),
        ["async instant"] = () => Made(Tracepoint.AsyncInstant("vectors", "fetch", Level.Info).With<ulong, int>("id", "bytes"), one => one.Record(7, 512)),
        ["wide debug output"] = DebugTexts,
    };

    static Tracepoint DebugTexts()
    {
        for (int i = 0; i < 2; ++i) DebugOutput.Write("na\u00efve {}\n", "vectors.cs", 1, "Vectors");
        return LogPlace.Find("debug_output", Level.Debug, "vectors.cs", 1, "Vectors").Text;
    }

    static Tracepoint Made<T>(T point, Action<T> record) where T : Tracepoint
    {
        record(point);
        // The second record takes the hot path, where its values allow it.
        record(point);
        return point;
    }

    static float[] Floats() => Enumerable.Range(0, 128).Select(i => i * 0.5f - 16).ToArray();

    public static unsafe int Vectors(string[] arguments)
    {
        string folder = Path.Combine(arguments[0], "spec", "vectors");
        Dictionary<string, string> wanted = File.ReadLines(Path.Combine(folder, "records.tsv")).Select(line => line.Split('\t')).ToDictionary(pair => pair[0], pair => pair[1]);
        var all = (List<object>)Json.Parse(File.ReadAllText(Path.Combine(folder, "records.json")));
        Check.Same(wanted.Count, all.Count, "vectors in records.tsv and records.json");
        int checkedNow = 0;
        foreach (Dictionary<string, object> vector in all)
        {
            string name = (string)vector["name"];
            Func<Tracepoint> record;
            bool isOurs = vectors.TryGetValue(name, out record);
            Check.Same(((List<object>)vector["languages"]).Contains(".NET").ToString(), isOurs.ToString(), "whether .NET records the vector '" + name + "'");
            if (!isOurs) continue;
            string hex = wanted[name];
            int size = hex.Length / 2;
            Tracepoint point = record();
            var description = (Dictionary<string, object>)vector["description"];
            Check.Same((string)description["signature"], point.Signature, name + ": signature");
            byte* end = Ring.Position;
            for (int turn = 0; turn < 2; ++turn)
            {
                var found = new StringBuilder();
                for (int i = 0; i < size; ++i) found.Append((end - (turn + 1) * size)[i].ToString("x2"));
                Check.Same(Masked(hex), Masked(found.ToString()), name + (turn == 0 ? ": hot path" : ": first record"));
            }
            ++checkedNow;
        }
        Check.Same(vectors.Count, checkedNow, "vectors of .NET that are in the file");
        Console.WriteLine(checkedNow + " vectors, all as they should be");
        return 0;
    }

    // Without the site's id and the ticks.
    static string Masked(string hex) => hex.Substring(0, 8) + "........................" + hex.Substring(32);
}
