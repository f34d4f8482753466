using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Text;
using Silverpoint;

/// The text of a record is what string.Format prints with the invariant culture. This holds for each kind of value with each format, and for generated strings of them.
static class FormatsTests
{
    public static void TextsAreThoseOfStringFormat() => TextsAreThose();

    public static void TextsDoNotDependOnTheCulture() => TextsAreThose("foreign");

    static void TextsAreThose(params string[] arguments)
    {
        Ended ended = Recorded.Program("Formats", arguments);
        // The program prints what string.Format makes, one JSON text a line.
        string[] wanted = ended.Output.Split('\n').Where(line => line.StartsWith("\"")).Select(line => (string)Json.Parse(line)).ToArray();
        List<string> found = Recorded.Texts(ended.File);
        Check.Same(wanted.Length, found.Count, "records");
        Check.That(wanted.Length > 1500, "there are only " + wanted.Length + " texts");
        var wrong = new StringBuilder();
        for (int i = 0; i < wanted.Length; ++i)
            if (wanted[i] != found[i]) wrong.Append("\n  wanted ").Append(wanted[i]).Append("\n  found  ").Append(found[i]);
        Check.That(wrong.Length == 0, "texts differ:" + wrong);
    }

    public static void ValuesStayTyped()
    {
        List<Dictionary<string, object>> found = Recorded.Records(Recorded.Program("TypedFormats").File);
        Check.Same("7 and 2.50", (string)found[0]["message"], "the text");
        var arguments = (List<object>)found[0]["args"];
        Check.Same("7", arguments[0].ToString(), "the first argument");
        Check.Same("2.5", ((List<object>)arguments[1])[1].ToString(), "the value behind the second text");
        Check.Same("7 of 8 id=12", (string)found[1]["message"], "the number of the event follows the text");
        var named = (Dictionary<string, object>)found[1]["args"];
        Check.Same("7 8 12", named["0"] + " " + named["1"] + " " + named["id"], "the values beside the number of the event");
    }

    public static void DecimalsAreExact()
    {
        foreach (Dictionary<string, object> one in Recorded.Records(Recorded.Program("Decimals").File))
        {
            string[] pair = ((string)one["message"]).Split(' ');
            Check.Same(pair[0], pair[1], "a decimal");
        }
    }
}

static partial class Programs
{
    enum Colour { Red, Green = 5 }

    sealed class Named
    {
        public override string ToString() => "a {name}";
    }

    static readonly object[] formatted = [
        0, 1, -1, 42, int.MinValue, int.MaxValue, (byte)255, (sbyte)-128, (short)-300, (ushort)65535, uint.MaxValue, long.MinValue, ulong.MaxValue,
        0.0, -0.0, 1.0, -1.5, 0.1, 0.001, 0.0009999, 99999.99, 100000.0, 123456.7, 1e15, 1e-5, 1e300, double.MaxValue, double.Epsilon, double.NaN, double.PositiveInfinity, 101.125, 2.675, 0.1f, 16777216f, float.MinValue,
        0m, 1.50m, -0.001m, 79228162514264337593543950335m, true, false, 'x', '\u20ac', "", "text", "a {brace}", "\u00fc \ud83d\ude00", null,
        new DateTime(2026, 11, 26, 17, 5, 6, 789, DateTimeKind.Utc), DateTime.MinValue, DateTime.MaxValue, new DateTimeOffset(2026, 11, 26, 17, 5, 6, TimeSpan.FromHours(2)),
        TimeSpan.Zero, TimeSpan.MaxValue, new TimeSpan(1, 2, 3, 4, 5), new Guid("00112233-4455-6677-8899-aabbccddeeff"), Colour.Green, (Colour)77, DayOfWeek.Friday,
        FileAccess.ReadWrite, new Named(), new Version(1, 2, 3), (IntPtr)0, new[] { 1, 2 },
    ];

    static readonly string[] numberFormats = ["D", "D6", "X", "x8", "N0", "N2", "F0", "F2", "E3", "G", "G4", "P1", "C", "000.00", "#,##0.##", "R"];
    static readonly string[] timeFormats = ["o", "s", "yyyy-MM-dd", "HH:mm:ss.fff", "c", "g", "G", "d", "N", "B"];

    public static int Formats(string[] arguments)
    {
        CultureInfo.CurrentCulture = arguments.Length > 0 ? Foreign() : CultureInfo.InvariantCulture;
        TraceSource source = Source();
        var random = new Random(29);
        foreach (object value in formatted)
        {
            foreach (string plain in new[] { "{0}", "<{0}>", "{0} {0}", "{{{0}}}", "{0,12}|", "{0,-12}|", "{0,2}", "a{0}b", "{0} \u20ac {0,6}" }) Both(source, plain, [value]);
            foreach (string format in numberFormats.Concat(timeFormats)) Both(source, "{0:" + format + "}", [value]);
        }
        for (int turn = 0; turn < 800; ++turn)
        {
            var format = new StringBuilder();
            object[] values = Enumerable.Range(0, random.Next(1, 6)).Select(_ => formatted[random.Next(formatted.Length)]).ToArray();
            for (int part = random.Next(1, 8); part > 0; --part)
            {
                if (random.Next(3) == 0) format.Append(new[] { " text ", "{{", "}}", "{} ".Replace("{}", "{{}}"), "%", ": " }[random.Next(6)]);
                format.Append('{').Append(random.Next(values.Length));
                if (random.Next(3) == 0) format.Append(',').Append(random.Next(-15, 15));
                if (random.Next(3) == 0) format.Append(':').Append(numberFormats[random.Next(numberFormats.Length)]);
                format.Append('}');
            }
            Both(source, format.ToString(), values);
        }
        return 0;
    }

    // Records it, and prints what string.Format makes of it; nothing of both where string.Format refuses it.
    static void Both(TraceSource source, string format, object[] values)
    {
        string text;
        try
        {
            text = string.Format(CultureInfo.InvariantCulture, format, values);
        }
        catch (FormatException)
        {
            return;
        }
        source.TraceEvent(TraceEventType.Information, 0, format, values);
        var quoted = new StringBuilder("\"");
        foreach (char letter in text) quoted.Append("\\u").Append(((int)letter).ToString("x4"));
        Console.WriteLine(quoted.Append('"'));
    }

    public static int TypedFormats(string[] arguments)
    {
        Source().TraceEvent(TraceEventType.Information, 0, "{0} and {1:F2}", 7, 2.5);
        Source().TraceEvent(TraceEventType.Information, 12, "{0} of {1}", 7, 8);
        return 0;
    }

    static readonly Tracepoint<string, decimal> exact = Tracepoint.Log("test", Level.Info, "{} {}").With<string, decimal>();

    public static int Decimals(string[] arguments)
    {
        var random = new Random(7);
        foreach (decimal edge in new[] { 0m, 0.00m, 1m, -1m, decimal.MaxValue, decimal.MinValue, 0.0000000000000000000000000001m, 10m, 0.10m, 4294967296m, 18446744073709551616m })
            exact.Record(edge.ToString(CultureInfo.InvariantCulture), edge);
        for (int turn = 0; turn < 500; ++turn)
        {
            var value = new decimal(random.Next(), random.Next(3) == 0 ? 0 : random.Next(), random.Next(2) == 0 ? 0 : random.Next(), random.Next(2) == 0, (byte)random.Next(29));
            exact.Record(value.ToString(CultureInfo.InvariantCulture), value);
        }
        return 0;
    }
}
