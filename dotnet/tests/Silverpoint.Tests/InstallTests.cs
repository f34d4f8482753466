using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Threading;
using Silverpoint;

/// What SilverpointTrace.Install does in a program that is running, that has listeners of its own, or that calls it again.
static class InstallTests
{
    static void Says(string program, string wanted)
    {
        string found = Recorded.Program(program).Output.Trim();
        Check.Same(wanted, found, program);
    }

    public static void ThreadsMayTraceWhileItInstalls() => Says("InstallWhileTracing", "no exception");

    public static void AListenerOfTheProgramIsNotDoubled()
    {
        Ended ended = Recorded.Program("InstallBesideOwn");
        Check.Same("Trace 1, source 1", ended.Output.Trim(), "Silverpoint listeners");
        Check.Same("once by Trace\nonce by the source", string.Join("\n", Recorded.Texts(ended.File).Where(text => text.StartsWith("once ")).ToArray()), "records");
    }

    public static void ADefaultListenerAddedLaterStays() => Says("InstallAndAddDefault", "stays");

    public static void SettingsOfASecondCallAreChecked() => Says("InstallTwice", "wrong: refused; right: kept the settings of the first call");

    public static void TraceRefreshIsFollowed() => Says("InstallAndRefresh", "replaced again");
}

static partial class Programs
{
    /// Others see the collection while this works.
    sealed class SlowListener : TraceListener
    {
        public override void Write(string message) => Thread.Sleep(1);
        public override void WriteLine(string message) => Thread.Sleep(1);
    }

    public static int InstallWhileTracing(string[] arguments)
    {
        string wrong = "no exception";
        for (int round = 0; round < 10; ++round)
        {
            Trace.UseGlobalLock = true;
            Trace.Listeners.Clear();
            Trace.Listeners.Add(new DefaultTraceListener());
            Trace.Listeners.Add(new SlowListener());
            bool stops = false;
            int lines = 0;
            Thread[] threads = Enumerable.Range(0, 3).Select(_ => new Thread(() =>
            {
                try
                {
                    while (!Volatile.Read(ref stops))
                    {
                        Trace.WriteLine("line");
                        Interlocked.Increment(ref lines);
                    }
                }
                catch (Exception error)
                {
                    wrong = error.ToString();
                    Interlocked.Add(ref lines, 1000);
                }
            })).ToArray();
            foreach (Thread one in threads) one.Start();
            while (Volatile.Read(ref lines) < 10) Thread.Sleep(1);
            SilverpointTrace.Install();
            int before = Volatile.Read(ref lines);
            while (Volatile.Read(ref lines) < before + 10 && wrong == "no exception") Thread.Sleep(1);
            Volatile.Write(ref stops, true);
            foreach (Thread one in threads) one.Join();
            if (Trace.UseGlobalLock || Trace.Listeners.OfType<DefaultTraceListener>().Any()) wrong = "not installed";
        }
        Console.WriteLine(wrong);
        return 0;
    }

    public static int InstallBesideOwn(string[] arguments)
    {
        var source = new TraceSource("own", SourceLevels.All);
        foreach (TraceListenerCollection listeners in new[] { Trace.Listeners, source.Listeners })
        {
            listeners.Clear();
            listeners.Add(new SilverpointTraceListener());
            listeners.Add(new SlowListener());
            listeners.Add(new DefaultTraceListener());
        }
        SilverpointTrace.Install();
        Trace.WriteLine("once by Trace");
        source.TraceEvent(TraceEventType.Information, 0, "once by the source");
        Console.WriteLine("Trace " + Trace.Listeners.OfType<SilverpointTraceListener>().Count() + ", source " + source.Listeners.OfType<SilverpointTraceListener>().Count());
        return 0;
    }

    public static int InstallAndAddDefault(string[] arguments)
    {
        var source = new TraceSource("chosen", SourceLevels.All);
        SilverpointTrace.Install();
        source.Listeners.Add(new DefaultTraceListener());
        // Where a timer looks for new sources, it has looked again when the second of these is changed.
        for (int turn = 0; turn < 2; ++turn)
        {
            var later = new TraceSource("later", SourceLevels.All);
            for (int wait = 0; wait < 6000 && later.Listeners.OfType<DefaultTraceListener>().Any(); ++wait) Thread.Sleep(50);
        }
        Console.WriteLine(source.Listeners.OfType<DefaultTraceListener>().Count() == 1 ? "stays" : "was removed");
        return 0;
    }

    public static int InstallTwice(string[] arguments)
    {
        SilverpointTrace.Install("category=first");
        string wrong = "accepted";
        try
        {
            SilverpointTrace.Install("category=first; colour=red");
        }
        catch (ArgumentException error) when (error.Message.Contains("colour=red"))
        {
            wrong = "refused";
        }
        string kept = "kept the settings of the first call", said = SilverpointTrace.Install("category=second");
        Console.WriteLine("wrong: " + wrong + "; right: " + (said.Contains(kept) ? kept : said));
        return 0;
    }

    public static int InstallAndRefresh(string[] arguments)
    {
        SilverpointTrace.Install();
        TraceListenerCollection before = Trace.Listeners;
        Trace.Refresh();
        bool isNew = Trace.Listeners != before;
        for (int wait = 0; wait < 6000 && !Trace.Listeners.Contains(SilverpointTrace.Listener); ++wait) Thread.Sleep(50);
        // The lock is switched off behind the listeners.
        for (int wait = 0; wait < 6000 && Trace.UseGlobalLock; ++wait) Thread.Sleep(50);
        bool isReplaced = Trace.Listeners.Contains(SilverpointTrace.Listener) && !Trace.Listeners.OfType<DefaultTraceListener>().Any() && !Trace.UseGlobalLock;
        Console.WriteLine(isReplaced ? "replaced again" : "new " + isNew + ", replaced " + isReplaced);
        return 0;
    }
}
