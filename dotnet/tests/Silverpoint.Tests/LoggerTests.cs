using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using Silverpoint;

/// Interpolated strings: the template apart from the values, and nothing evaluated while it is off.
static class LoggerTests
{
    public static void MessagesKeepTemplateAndValues()
    {
        List<Dictionary<string, object>> found = Recorded.Records(Recorded.Program("Messages").File);
        Check.Same("order 7 at 101.25 by Ann|{braces} and 5|just a text|left  |   right|true 1.50 Green|0 at 0|1 at 1|2 at 2|loaded {}\\n|",
                   string.Join("|", found.Select(one => (string)one["message"]).ToArray()), "messages");
        Check.Same("order {} at {:.2f} by {}", (string)found[0]["template"], "the template");
        Check.Same("shop", (string)found[0]["category"], "the category");
        Check.Same("7 101.25 Ann", string.Join(" ", ((List<object>)found[0]["args"]).Select(one => one.ToString()).ToArray()), "the values");
        Check.Same("debug", ((string)found[2]["level"]).ToLowerInvariant(), "the level");
        foreach (Dictionary<string, object> output in found.Skip(found.Count - 2))
            Check.Same("log debug debug_output {} Messages", string.Join(" ", new[] { "kind", "level", "category", "template", "function" }.Select(key => (string)output[key]).ToArray()), "debug output");
        Check.That(((string)found[0]["file"]).EndsWith("LoggerTests.cs") && (string)found[0]["function"] == "Messages", "the place");
    }

    public static void FormatsPrintAsDotnetDoes()
    {
        Ended ended = Recorded.Program("FormattedMessages");
        string[] wanted = ended.Output.Split('\n').Where(line => line.Length > 0).ToArray();
        List<string> found = Recorded.Texts(ended.File);
        Check.Same(wanted.Length, found.Count, "messages");
        var wrong = wanted.Zip(found, (one, other) => one == other ? "" : "\n  wanted " + one + "\n  found  " + other).Where(text => text.Length > 0);
        Check.That(!wrong.Any(), "texts differ:" + string.Join("", wrong.ToArray()));
    }

    public static void EachWayToShowTheValuesIsRecorded()
    {
        Ended ended = Recorded.Program("ManyForms");
        List<string> found = Recorded.Texts(ended.File);
        Check.Same(65, found.Count, "messages");
        string[] wanted = ended.Output.Split('\n');
        for (int i = 0; i < 64; ++i) Check.Same(wanted[i], found[i], "the message with the halves " + i);
        Check.Same(string.Join("", Enumerable.Range(0, 40).Select(i => i + ",").ToArray()), found[64], "the message with 40 values");
    }

    public static void NothingIsEvaluatedWhileOff()
    {
        string output = Recorded.Program("MessagesOff", filter: "off").Output;
        Check.That(output.Contains("evaluated 0 times"), output);
    }

    public static void MessagesMakeNoGarbage()
    {
        string output = Recorded.Program("MessageAllocations").Output;
        Check.That(output == "0 bytes\n" || output == "0 collections\n", output);
    }
}

static partial class Programs
{
    static readonly Logger log = new Logger("shop");

    public static int Messages(string[] arguments)
    {
        int id = 7;
        double price = 101.25;
        string who = "Ann";
        log.Info($"order {id} at {price:F2} by {who}");
        log.Warn($"{{braces}} and {5}");
        log.Debug("just a text");
        log.Info($"{"left",-6}");
        log.Info($"{"right",8}");
        log.Info($"{true} {1.50m} {Colour.Green}");
        for (int i = 0; i < 3; ++i) log.Error($"{i} at {(object)i}");
        DebugOutput.Write("loaded {}\n");
        DebugOutput.Write(null);
        return 0;
    }

    public static int FormattedMessages(string[] arguments)
    {
        // Mono, as .NET Framework, rounds the first 15 digits of 2.675, which is a little less than that.
        foreach (double value in new[] { 0, 1, -1, 0.5, 1.5, 2.5, -2.5, 0.125, 0.375, 101.125, 101.375, Recorded.IsMono ? 2.625 : 2.675, 1e10, 123456.789, 0.1, double.NaN, double.NegativeInfinity, 1e20 })
        {
            log.Info($"{value:F0} {value:F1} {value:F2} {value:F3} {value:N2} {value:E3} {value,12:F2}");
            Console.WriteLine(string.Format(CultureInfo.InvariantCulture, "{0:F0} {0:F1} {0:F2} {0:F3} {0:N2} {0:E3} {0,12:F2}", value));
        }
        foreach (int value in new[] { 0, 1, -1, 255, int.MinValue, int.MaxValue })
        {
            log.Info($"{value:D} {value:D5} {value:X} {value:x8} {value:N0} {value,6}|{value,-6}|{(uint)value:X4} {(long)value:D3}");
            Console.WriteLine(string.Format(CultureInfo.InvariantCulture, "{0:D} {0:D5} {0:X} {0:x8} {0:N0} {0,6}|{0,-6}|{1:X4} {2:D3}", value, (uint)value, (long)value));
        }
        return 0;
    }

    // 1.125 lies in the middle of two texts: it is shown by .NET's own.
    static double Half(int number, int bit) => (number >> bit & 1) == 0 ? 1.25 : 1.125;

    public static int ManyForms(string[] arguments)
    {
        for (int i = 0; i < 64; ++i)
        {
            Console.Write(string.Join(" ", Enumerable.Range(0, 6).Select(bit => string.Format(CultureInfo.InvariantCulture, "{0:F2}", Half(i, bit))).ToArray()) + "\n");
            log.Info($"{Half(i, 0):F2} {Half(i, 1):F2} {Half(i, 2):F2} {Half(i, 3):F2} {Half(i, 4):F2} {Half(i, 5):F2}");
        }
        log.Info($"{0},{1},{2},{3},{4},{5},{6},{7},{8},{9},{10},{11},{12},{13},{14},{15},{16},{17},{18},{19},{20},{21},{22},{23},{24},{25},{26},{27},{28},{29},{30},{31},{32},{33},{34},{35},{36},{37},{38},{39},");
        return 0;
    }

    static int evaluated;

    static int Evaluated() => ++evaluated;

    public static int MessagesOff(string[] arguments)
    {
        for (int i = 0; i < 100; ++i) log.Info($"{Evaluated()} {i}");
        Console.WriteLine("evaluated " + evaluated + " times");
        return 0;
    }

    public static int MessageAllocations(string[] arguments)
    {
        string who = "Ann";
        PrintGarbage(i => log.Info($"order {i} at {101.25:F2} by {who} {i:X}"));
        return 0;
    }
}
