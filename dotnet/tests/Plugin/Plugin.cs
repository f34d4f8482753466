using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Threading;
using Silverpoint;

/// What is loaded and unloaded again and again: tracepoints, messages and values of types of its own.
public static class Plugin
{
    enum Shape { Round, Square }

    sealed class Part
    {
        public int Number { get; set; }
        public Shape Shape { get; set; }
    }

    struct Size
    {
        public int Width { get; set; }
    }

    sealed class PartException(string message) : Exception(message) { }

    static readonly Logger log = new Logger("plugin");
    static readonly Tracepoint<int, long> counts = Tracepoint.Log("plugin", Level.Info, "counts {} {}").With<int, long>();
    static readonly Tracepoint<Shape, Part> named = Tracepoint.Event("plugin", Level.Info, "part").With<Shape, Part>("shape", "part");
    static readonly Tracepoint<List<Shape>, Size> listed = Tracepoint.Event("plugin", Level.Info, "list").With<List<Shape>, Size>("shapes", "size");
    static readonly Tracepoint<int> work = Tracepoint.Span("plugin", "work").With<int>("round");

    /// How many records one round makes, without those that count and with the span's end.
    public const int Records = 8;

    public static void Run(int round)
    {
        using (work.Begin(round))
        {
            for (int i = 0; i < 20; ++i) counts.Record(2 * round, i);
            var thread = new Thread(() =>
            {
                for (int i = 0; i < 20; ++i) counts.Record(2 * round + 1, i);
            });
            thread.Start();
            thread.Join();
            var part = new Part { Number = round, Shape = Shape.Square };
            named.Record(Shape.Square, part);
            listed.Record([Shape.Round, Shape.Square], new Size { Width = 3 });
            log.Info($"round {round} of {part} is {Shape.Square} {Shape.Round,8}");
            log.Warn($"failed: {new PartException("broken")}");
            Trace.TraceInformation("traced {0} {1}", Shape.Square, new PartException("broken"));
            Trace.TraceInformation("sized {0:D3} {1}", 7, new Size { Width = 3 });
        }
    }

    /// Records until its thread is ended.
    public static void RunForever(int number, Action<long> tell)
    {
        for (long i = 0; ; ++i)
        {
            counts.Record(number, i);
            tell(i);
            if (i > 100) Thread.SpinWait(100000);
        }
    }
}
