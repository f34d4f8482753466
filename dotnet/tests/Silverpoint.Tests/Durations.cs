using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;

/// How long tests take, and how much of that is processor time: of this process, and of those that it has started.
static class Durations
{
    const int Shown = 5;

    static readonly List<(string Name, double Seconds, double Processor)> all = [];

    public static void Measure(string name, Action test)
    {
        DateTime begin = DateTime.UtcNow;
        double used = ProcessorSeconds();
        try
        {
            test();
        }
        finally
        {
            all.Add((name, (DateTime.UtcNow - begin).TotalSeconds, ProcessorSeconds() - used));
        }
    }

    public static string Slowest() => string.Format(CultureInfo.InvariantCulture, "slowest, of {0:F0} s and {1:F0} s of processor time: ", all.Sum(one => one.Seconds), all.Sum(one => one.Processor)) +
        string.Join(", ", all.OrderByDescending(one => one.Seconds).Take(Shown).Select(one => string.Format(CultureInfo.InvariantCulture, "{0} {1:F1} s ({2:F1} s)", one.Name, one.Seconds, one.Processor)).ToArray());

    // Fields 14 to 17 of proc(5), in hundredths: user and system time, of this process and of children that have ended.
    static double ProcessorSeconds()
    {
        string text = File.ReadAllText("/proc/self/stat");
        return text.Substring(text.LastIndexOf(')') + 2).Split(' ').Skip(11).Take(4).Sum(one => long.Parse(one, CultureInfo.InvariantCulture)) / 100.0;
    }
}
