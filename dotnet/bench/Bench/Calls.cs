using System;
using System.Diagnostics;
using System.Diagnostics.Tracing;
using System.Runtime.InteropServices;
using Silverpoint;

/// What a program calls on every runtime.
static class Calls
{
    // A tracepoint of the C frontend in a loop (bench/dotnet/loop.c).
    [DllImport("bench_loop")]
    static extern void bench_loop(int calls);

    static readonly Tracepoint<int, long, double> numbers = Tracepoint.Log("bench", Level.Info, "{} {} {}").With<int, long, double>();
    static readonly Tracepoint<string, int> text = Tracepoint.Log("bench", Level.Info, "{} {}").With<string, int>();
    static readonly Tracepoint<int, long, double> off = Tracepoint.Log("bench", Level.Trace, "{} {} {}").With<int, long, double>();

    static readonly TraceSource on = new TraceSource("bench.on", SourceLevels.Information);
    static readonly TraceSource silent = new TraceSource("bench.off", SourceLevels.Warning);

    public static int Run(int blocks, string file)
    {
        Trace.UseGlobalLock = false;
        Trace.Listeners.Clear();
        Timing.Begin(blocks);
        Timing.Of("Trace.WriteLine, no listener", 0, WriteLines);
        using (var writer = new TextWriterTraceListener(file))
        {
            Trace.Listeners.Add(writer);
            Timing.Of("Trace.WriteLine, TextWriterTraceListener", 0, WriteLines);
            Trace.Listeners.Clear();
        }
        Trace.Listeners.Add(new SilverpointTraceListener("lines=pieces"));
        Timing.Of("Trace.WriteLine, silverpoint", 1, WriteLines);
        Timing.Of("Trace.Write, silverpoint, each a record", 1, Writes);
        Trace.Listeners.Clear();
        foreach (TraceSource source in new[] { on, silent })
        {
            source.Listeners.Clear();
            source.Listeners.Add(new SilverpointTraceListener());
        }
        Timing.Of("TraceSource with two arguments, silverpoint", 1, Events);
        Timing.Of("TraceSource with two arguments, off", 0, SilentEvents);
        EmptyListener.Start();
        Timing.Of("EventSource, an empty listener", 0, SourceEvents);
        EmptyListener.Stop();
        // (Mono has no events.)
        using (new SilverpointEventListener("Silverpoint-Bench", EventLevel.Informational)) Timing.Of("EventSource, silverpoint", TextEvents.Log.IsEnabled() ? 1 : 0, SourceEvents);
        if (off.IsEnabled) throw new InvalidOperationException("the tracepoint is on");
        Timing.Of("tracepoint with three numbers, off", 0, Off);
        Timing.Of("tracepoint with three numbers", 1, Numbers);
        Timing.Of("tracepoint with a text and a number", 1, Texts);
        Timing.Of("Context.Push and Dispose", 0, Scopes);
        Timing.Of("Context.Push, a record with a text and a number, Dispose", 1, TextsInScopes);
        using (Context.Push("request", 7)) Timing.Of("tracepoint with a text and a number, in a context", 1, Texts);
        if (HasLoop()) Timing.Of("C frontend with three numbers, in a loop of C", 1, bench_loop);
        Timing.End();
        return 0;
    }

    static bool HasLoop()
    {
        try
        {
            bench_loop(0);
            return true;
        }
        catch (DllNotFoundException)
        {
            return false;
        }
    }

    static readonly string line = "order 1234567 filled at 101.25";

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
