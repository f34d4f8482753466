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

    // How many functions the process has compiled; not every runtime says it.
    static readonly Func<bool, long> compiled = Compiled();
    static readonly bool hasTiers = Type.GetType("Mono.Runtime") == null;

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

    static Func<bool, long> Compiled()
    {
        MethodInfo method = Type.GetType("System.Runtime.JitInfo")?.GetMethod("GetCompiledMethodCount", BindingFlags.Public | BindingFlags.Static);
        return method == null ? null : (Func<bool, long>)Delegate.CreateDelegate(typeof(Func<bool, long>), method);
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
        int warm = Warm(calls);
        double[] ns = new double[blocks];
        long before = allocated == null ? 0 : allocated();
        for (int block = 0; block < blocks; ++block)
        {
            long begun = Stopwatch.GetTimestamp();
            calls(Block);
            ns[block] = (Stopwatch.GetTimestamp() - begun) * 1e9 / Stopwatch.Frequency / Block;
        }
        bytes = allocated == null ? -1 : (double)(allocated() - before) / blocks / Block;
        Records += (long)records * Block * (blocks + warm);
        return Median(ns);
    }

    // Compilers of several tiers get their turns first. A tier takes functions that were called 30 times since the one before it, when
    // nothing new was compiled for 100 ms. So a turn has more calls than that, and then there is a pause. Turns end behind two in
    // which nothing was compiled. .NET Core 3.1 does not say that: it gets all turns. Mono has no tiers. Returns the number of blocks.
    static int Warm(Action<int> calls)
    {
        const int Least = 4, Most = 10, Blocks = 16, Parts = 4;
        for (int turn = 1, quiet = 0;; ++turn)
        {
            long before = compiled == null ? 0 : compiled(false);
            for (int i = 0; i < Blocks * Parts; ++i) calls(Block / Parts);
            if (!hasTiers) return turn * Blocks;
            Thread.Sleep(110);
            quiet = compiled != null && compiled(false) == before ? quiet + 1 : 0;
            if (turn == Most || (turn >= Least && quiet >= 2)) return turn * Blocks;
        }
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
