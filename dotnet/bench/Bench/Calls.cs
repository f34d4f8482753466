using System;
using System.Diagnostics;
using System.Globalization;
using System.Reflection;
using System.Runtime.InteropServices;
using Silverpoint;

/// Single calls, in blocks of a thousand; the loop itself is taken off.
static class Calls
{
    const int Block = 1000;

    // A tracepoint of the C frontend in a loop (bench/dotnet/loop.c): nanoseconds a record.
    [DllImport("bench_loop")]
    static extern double bench_loop(int calls);

    static readonly Tracepoint<int, long, double> numbers = Tracepoint.Log("bench", Level.Info, "{} {} {}").With<int, long, double>();
    static readonly Tracepoint<string, int> text = Tracepoint.Log("bench", Level.Info, "{} {}").With<string, int>();
    static readonly Tracepoint<int, long, double> off = Tracepoint.Log("bench", Level.Trace, "{} {} {}").With<int, long, double>();

    static readonly TraceSource on = new TraceSource("bench.on", SourceLevels.Information);
    static readonly TraceSource silent = new TraceSource("bench.off", SourceLevels.Warning);

    // Bytes that this thread has allocated; not every runtime says it.
    static readonly Func<long> allocated = Allocated();

    static Func<long> Allocated()
    {
        MethodInfo method = typeof(GC).GetMethod("GetAllocatedBytesForCurrentThread", BindingFlags.Public | BindingFlags.Static);
        return method == null ? null : (Func<long>)Delegate.CreateDelegate(typeof(Func<long>), method);
    }

    static long records;

    public static int Run(int blocks, string file)
    {
        Trace.UseGlobalLock = false;
        Trace.Listeners.Clear();
        Time("nothing", blocks, 0, Nothing);
        Time("Trace.WriteLine, no listener", blocks, 0, WriteLines);
        using (var writer = new TextWriterTraceListener(file))
        {
            Trace.Listeners.Add(writer);
            Time("Trace.WriteLine, TextWriterTraceListener", blocks, 0, WriteLines);
            Trace.Listeners.Clear();
        }
        Trace.Listeners.Add(new SilverpointTraceListener("lines=pieces"));
        Time("Trace.WriteLine, silverpoint", blocks, 1, WriteLines);
        Time("Trace.Write, silverpoint, each a record", blocks, 1, Writes);
        Trace.Listeners.Clear();
        foreach (TraceSource source in new[] { on, silent })
        {
            source.Listeners.Clear();
            source.Listeners.Add(new SilverpointTraceListener());
        }
        Time("TraceSource with two arguments, silverpoint", blocks, 1, Events);
        Time("TraceSource with two arguments, off", blocks, 0, SilentEvents);
        EmptyListener.Start();
        Time("EventSource, an empty listener", blocks, 0, SourceEvents);
        if (off.IsEnabled) throw new InvalidOperationException("the tracepoint is on");
        Time("tracepoint with three numbers, off", blocks, 0, Off);
        Time("tracepoint with three numbers", blocks, 1, Numbers);
        Time("tracepoint with a text and a number", blocks, 1, Texts);
        Time("Context.Push and Dispose", blocks, 0, Scopes);
        Time("Context.Push, a record with a text and a number, Dispose", blocks, 1, TextsInScopes);
        using (Context.Push("request", 7)) Time("tracepoint with a text and a number, in a context", blocks, 1, Texts);
        if (HasLoop())
        {
            double[] ns = new double[blocks];
            for (int block = 0; block < blocks; ++block) ns[block] = bench_loop(Block);
            records += (long)(blocks + 1) * Block;
            Say("C frontend with three numbers, in a loop of C", Program.Median(ns), 0);
        }
        Console.WriteLine("{\"records\":" + records.ToString(CultureInfo.InvariantCulture) + "}");
        return 0;
    }

    static bool HasLoop()
    {
        try
        {
            return bench_loop(Block) > 0;
        }
        catch (DllNotFoundException)
        {
            return false;
        }
    }

    static double loop;

    static void Time(string name, int blocks, int recordsOfACall, Action<int> calls)
    {
        // Compilers of several tiers get their turns first.
        for (int turn = 0; turn < 5; ++turn)
        {
            for (int i = 0; i < 16; ++i) calls(Block);
            System.Threading.Thread.Sleep(100);
        }
        double[] ns = new double[blocks];
        long bytes = allocated == null ? 0 : allocated();
        for (int block = 0; block < blocks; ++block)
        {
            long begun = Stopwatch.GetTimestamp();
            calls(Block);
            ns[block] = (Stopwatch.GetTimestamp() - begun) * 1e9 / Stopwatch.Frequency / Block;
        }
        bytes = allocated == null ? -1 : allocated() - bytes;
        records += (long)recordsOfACall * Block * (blocks + 80);
        double median = Program.Median(ns);
        if (name == "nothing") loop = median;
        else Say(name, median - loop, bytes < 0 ? -1 : (double)bytes / blocks / Block);
    }

    static void Say(string name, double ns, double bytes) =>
        Console.WriteLine("{\"call\":\"" + name + "\",\"ns\":" + ns.ToString("F2", CultureInfo.InvariantCulture) + ",\"bytes\":" + bytes.ToString("F1", CultureInfo.InvariantCulture) + "}");

    static readonly string line = "order 1234567 filled at 101.25";
    static int sink;

    static void Nothing(int calls) { for (int i = 0; i < calls; ++i) System.Threading.Volatile.Write(ref sink, i); }
    static void WriteLines(int calls) { for (int i = 0; i < calls; ++i) Trace.WriteLine(line); }
    static void Writes(int calls) { for (int i = 0; i < calls; ++i) Trace.Write(line); }
    static void Events(int calls) { for (int i = 0; i < calls; ++i) on.TraceEvent(TraceEventType.Information, 7, "order {0} at {1}", i, 101.25); }
    static void SilentEvents(int calls) { for (int i = 0; i < calls; ++i) silent.TraceEvent(TraceEventType.Information, 7, "order {0} at {1}", i, 101.25); }
    static void SourceEvents(int calls) { for (int i = 0; i < calls; ++i) TextEvents.Log.Text(line); }
    static void Off(int calls) { for (int i = 0; i < calls; ++i) off.Record(i, 7, 1.5); }
    static void Numbers(int calls) { for (int i = 0; i < calls; ++i) numbers.Record(i, 7, 1.5); }
    static void Texts(int calls) { for (int i = 0; i < calls; ++i) text.Record(line, i); }
    static void Scopes(int calls) { for (int i = 0; i < calls; ++i) using (Context.Push("request", i)) { } }

    static void TextsInScopes(int calls)
    {
        for (int i = 0; i < calls; ++i)
            using (Context.Push("request", i)) text.Record(line, i);
    }
}
