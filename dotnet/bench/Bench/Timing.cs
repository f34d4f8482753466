using System;
using System.Diagnostics;
using System.Globalization;
using System.Linq;
using System.Reflection;
using System.Threading;

/// Single calls, in blocks of a thousand; the loop itself is taken off. Prints one JSON object for each, and at the end how many records there must be.
///
/// Each block comes behind a pause in which the collector empties the ring. Back to back, three numbers are 3 GB a second, more than it stores. The thread
/// then goes on in a new ring, and to make its memory takes longer than the records, in C as well. How many blocks that hits depends on the process.
/// Calls that record nothing have the pause, too: all can be compared.
static class Timing
{
    const int Block = 1000;

    // Calls between a pause and its block: they bring code and ring back into the cache.
    const int Few = 250;

    // Blocks before those that count. With three numbers each they are more than the largest ring, 1 MiB: it is whole after them.
    const int Before = 32;

    // Records that were made.
    static long made;

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
        for (int block = 0; block < Before; ++block) Once(calls);
        double[] ns = new double[blocks];
        long before = allocated == null ? 0 : allocated();
        for (int block = 0; block < blocks; ++block) ns[block] = Once(calls);
        bytes = allocated == null ? -1 : (double)(allocated() - before) / blocks / (Few + Block);
        made += (long)records * (warm + (Before + blocks) * (Few + Block));
        return Median(ns);
    }

    // Nanoseconds of a call in a block.
    static double Once(Action<int> calls)
    {
        Thread.Sleep(1);
        calls(Few);
        long begun = Stopwatch.GetTimestamp();
        calls(Block);
        return (Stopwatch.GetTimestamp() - begun) * 1e9 / Stopwatch.Frequency / Block;
    }

    // Compilers of several tiers get their turns first. A tier takes functions that were called 30 times since the one before it, when
    // nothing new was compiled for 100 ms. So a turn has more calls than that, and then there is a pause. Turns end behind two in
    // which nothing was compiled. .NET Core 3.1 does not say that: it gets all turns. Mono has no tiers. Returns the number of calls.
    static int Warm(Action<int> calls)
    {
        const int Least = 4, Most = 10, Parts = 64;
        for (int turn = 1, quiet = 0;; ++turn)
        {
            long before = compiled == null ? 0 : compiled(false);
            for (int i = 0; i < Parts; ++i) calls(Few);
            if (!hasTiers) return turn * Parts * Few;
            Thread.Sleep(110);
            quiet = compiled != null && compiled(false) == before ? quiet + 1 : 0;
            if (turn == Most || (turn >= Least && quiet >= 2)) return turn * Parts * Few;
        }
    }

    static void Say(string name, double ns, double bytes) =>
        Console.WriteLine("{\"call\":\"" + name + "\",\"ns\":" + ns.ToString("F2", CultureInfo.InvariantCulture) + ",\"bytes\":" + bytes.ToString("F1", CultureInfo.InvariantCulture) + "}");

    public static void End() => Console.WriteLine("{\"records\":" + made.ToString(CultureInfo.InvariantCulture) + "}");

    /// The middle value.
    public static double Median(double[] values)
    {
        double[] sorted = values.OrderBy(one => one).ToArray();
        int half = sorted.Length / 2;
        return sorted.Length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
    }
}
