using System;
using System.Diagnostics;
using System.Globalization;
using System.Linq;
using System.Reflection;
using System.Threading;

/// Single calls, in blocks of a thousand; the loop itself is taken off. Prints one JSON object for each, and at the end how many records there must be.
static class Timing
{
    public const int Block = 1000;

    /// Records that were made.
    public static long Records;

    // Bytes that this thread has allocated; not every runtime says it.
    static readonly Func<long> allocated = Allocated();

    static int blocks;
    static double loop;
    static int sink;

    static Func<long> Allocated()
    {
        MethodInfo method = typeof(GC).GetMethod("GetAllocatedBytesForCurrentThread", BindingFlags.Public | BindingFlags.Static);
        return method == null ? null : (Func<long>)Delegate.CreateDelegate(typeof(Func<long>), method);
    }

    /// Measures the loop.
    public static void Begin(int blocksOfACall)
    {
        CultureInfo.CurrentCulture = CultureInfo.InvariantCulture;
        blocks = blocksOfACall;
        double bytes;
        loop = Measure(0, Nothing, out bytes);
    }

    static void Nothing(int calls) { for (int i = 0; i < calls; ++i) Volatile.Write(ref sink, i); }

    /// Measures calls that make so many records each.
    public static void Of(string name, int records, Action<int> calls)
    {
        double bytes, ns = Measure(records, calls, out bytes);
        Say(name, ns - loop, bytes);
    }

    static double Measure(int records, Action<int> calls, out double bytes)
    {
        // Compilers of several tiers get their turns first.
        for (int turn = 0; turn < 10; ++turn)
        {
            for (int i = 0; i < 16; ++i) calls(Block);
            Thread.Sleep(100);
        }
        double[] ns = new double[blocks];
        long before = allocated == null ? 0 : allocated();
        for (int block = 0; block < blocks; ++block)
        {
            long begun = Stopwatch.GetTimestamp();
            calls(Block);
            ns[block] = (Stopwatch.GetTimestamp() - begun) * 1e9 / Stopwatch.Frequency / Block;
        }
        bytes = allocated == null ? -1 : (double)(allocated() - before) / blocks / Block;
        Records += (long)records * Block * (blocks + 160);
        return Median(ns);
    }

    public static void Say(string name, double ns, double bytes) =>
        Console.WriteLine("{\"call\":\"" + name + "\",\"ns\":" + ns.ToString("F2", CultureInfo.InvariantCulture) + ",\"bytes\":" + bytes.ToString("F1", CultureInfo.InvariantCulture) + "}");

    public static void End() => Console.WriteLine("{\"records\":" + Records.ToString(CultureInfo.InvariantCulture) + "}");

    /// The middle value.
    public static double Median(double[] values)
    {
        double[] sorted = values.OrderBy(one => one).ToArray();
        int half = sorted.Length / 2;
        return sorted.Length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
    }
}
