using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.Linq;
using System.Threading;
using Silverpoint;

/// What programs write with System.Diagnostics, and what is recorded of it.
static class ListenerTests
{
    static List<string> Lines(string program, params string[] arguments) => Recorded.Texts(Recorded.Program(program, arguments).File);

    static void Same(IEnumerable<string> wanted, IEnumerable<string> found) => Check.Same(string.Join("\n", wanted.ToArray()), string.Join("\n", found.ToArray()), "records");

    public static void LinesAreRecordedWhole() => Same(
        ["one two three", "    indented", "        deeper", "net: of a category", "ends with a line end", "", "number 7", "unfinished"],
        Lines("ListenerLines"));

    public static void OwnWriteLineSeesWhatWriteEnds() => Same(["user ***", "whole ***"], Lines("ListenerDerived"));

    public static void PiecesAreRecordedAtOnce() => Same(["one", "two"], Lines("ListenerPieces"));

    public static void EventsHaveLevelSourceAndId()
    {
        List<Dictionary<string, object>> found = Recorded.Records(Recorded.Program("ListenerEvents").File);
        Same(["critical", "error", "warning id=5", "information 1 of 2", "verbose", "moved id=3 relatedActivityId=00112233-4455-6677-8899-aabbccddeeff"], found.Select(one => (string)one["message"]));
        Same(["fatal", "error", "warn", "info", "debug", "info"], found.Select(one => ((string)one["level"]).ToLowerInvariant()));
        Check.That(found.All(one => (string)one["category"] == "app"), "the category is the source's name");
    }

    public static void DataIsOneRecord() => Same(
        ["[1, \"two\", null]", "{\"Name\": \"x\", \"Sub\": {\"Id\": 3}}", "text", "null id=9"], Lines("ListenerData"));

    public static void FilterAndSwitchDecide() => Same(["kept", "kept 1"], Lines("ListenerFilter"));

    public static void CallStackIsAddedOnRequest()
    {
        Dictionary<string, object> one = Recorded.Records(Recorded.Program("ListenerStack").File).Single();
        Check.That(((string)one["message"]).StartsWith("with stack"), (string)one["message"]);
        Check.That(((string)one["message"]).Contains("ListenerStack"), "the stack names the caller: " + one["message"]);
    }

    public static void PartialLinesOfThreadsAreNotMixed()
    {
        List<string> found = Lines("ListenerThreads");
        Check.Same(4 * 500, found.Count, "lines");
        foreach (IGrouping<string, string> thread in found.GroupBy(one => one.Split(' ')[0]))
            Same(Enumerable.Range(0, 500).Select(i => thread.Key + " begins " + i + " goes on and ends"), thread);
    }

    public static void AssertsAreRecordsAndTheProgramGoesOn()
    {
        List<Dictionary<string, object>> found = Recorded.Records(Recorded.Program("AssertsGoOn").File);
        string[] texts = found.Select(one => (string)one["message"]).ToArray();
        Check.Same(5, texts.Length, "records: " + string.Join(" | ", texts));
        Check.That(texts[0].StartsWith("assertion failed: debug") && texts[0].Contains("AssertsGoOn"), texts[0]);
        Check.That(texts[1].StartsWith("assertion failed: trace with details"), texts[1]);
        Check.That(texts[2].StartsWith("assertion failed: fail"), texts[2]);
        Check.That(texts[3].StartsWith("assertion failed: debug fail"), texts[3]);
        Check.Same("still here", texts[4], "the last record");
        Check.That(found.Take(4).All(one => ((string)one["level"]).ToLowerInvariant() == "error"), "failed assertions have level error");
    }

    public static void AssertsThrowByChoice() => Check.That(Recorded.Program("AssertsThrow").Output.Contains("caught twice"), "both assertions throw");

    public static void InstallReplacesTheDefaultListenerEverywhere()
    {
        Ended ended = Recorded.Program("InstallEverywhere");
        Check.That(ended.Output.Contains("replaced the default listener of Trace") && ended.Output.Contains("replaced it in 1 of 1 trace sources"), ended.Output);
        List<string> texts = Recorded.Texts(ended.File);
        Same(["to Trace", "to the early source", "to the late source", "to the adopted source"], texts.Where(text => text.StartsWith("to ")));
        Check.That(ended.Output.Contains("default listeners left: 0"), ended.Output);
    }

    public static void AppConfigNamesTheListener()
    {
        if (!Recorded.IsMono) throw new Skipped("this runtime reads app.config only with System.Configuration.ConfigurationManager");
        Dictionary<string, object> one = Recorded.Records(Recorded.Program("Configured").File).Single();
        Check.Same("by app.config 1", (string)one["message"], "the text");
        Check.Same("configured", (string)one["category"], "the category");
    }

    public static void SettingsAreChecked()
    {
        foreach (string wrong in new[] { "colour=red", "level=loud", "lines=some", "assert" })
        {
            try
            {
                new SilverpointTraceListener(wrong);
            }
            catch (ArgumentException error)
            {
                Check.That(error.Message.Contains(wrong), error.Message);
                continue;
            }
            throw new TestFailure("no error: " + wrong);
        }
        using var listener = new SilverpointTraceListener(" category = shop; level=debug;lines=pieces;assert=throw ");
        Check.That(listener.ThrowsOnFail && listener.IsThreadSafe, "the settings are taken");
    }
}

static partial class Programs
{
    static SilverpointTraceListener Instead(string settings = "")
    {
        var listener = new SilverpointTraceListener(settings);
        Trace.Listeners.Clear();
        Trace.Listeners.Add(listener);
        return listener;
    }

    public static int ListenerLines(string[] arguments)
    {
        Instead();
        Trace.Write("one ");
        Trace.Flush();
        Trace.Write("two ");
        Trace.WriteLine("three");
        Trace.Indent();
        Trace.WriteLine("indented");
        Trace.Indent();
        Trace.Write("deeper\r\n");
        Trace.Unindent();
        Trace.Unindent();
        Trace.Write("net: ");
        Trace.WriteLine("of a category");
        Trace.Write("ends with a line end\n");
        Trace.WriteLine("");
        Trace.WriteLine((object)"number 7");
        Trace.Write("unfinished");
        return 0;
    }

    // A program's own listener: it hides what nobody may read.
    sealed class Masking : SilverpointTraceListener
    {
        public override void WriteLine(string message) => base.WriteLine(message.Replace("secret", "***"));
    }

    public static int ListenerDerived(string[] arguments)
    {
        Trace.Listeners.Clear();
        Trace.Listeners.Add(new Masking());
        Trace.Write("user ");
        Trace.Write("secret\r\n");
        Trace.Write("whole secret\n");
        return 0;
    }

    public static int ListenerPieces(string[] arguments)
    {
        Instead("lines=pieces");
        Trace.Write("one");
        Trace.Write("two");
        return 0;
    }

    static TraceSource Source(SourceLevels levels = SourceLevels.All)
    {
        var source = new TraceSource("app", levels);
        source.Listeners.Clear();
        source.Listeners.Add(new SilverpointTraceListener());
        return source;
    }

    public static int ListenerEvents(string[] arguments)
    {
        TraceSource source = Source();
        source.TraceEvent(TraceEventType.Critical, 0, "critical");
        source.TraceEvent(TraceEventType.Error, 0, "error");
        source.TraceEvent(TraceEventType.Warning, 5, "warning");
        source.TraceEvent(TraceEventType.Information, 0, "information {0} of {1}", 1, 2.0);
        source.TraceEvent(TraceEventType.Verbose, 0, "verbose");
        source.TraceTransfer(3, "moved", new Guid("00112233-4455-6677-8899-aabbccddeeff"));
        return 0;
    }

    public static int ListenerData(string[] arguments)
    {
        TraceSource source = Source();
        source.TraceData(TraceEventType.Information, 0, 1, "two", null);
        source.TraceData(TraceEventType.Information, 0, new { Name = "x", Sub = new { Id = 3 } });
        source.TraceData(TraceEventType.Information, 0, (object)"text");
        source.TraceData(TraceEventType.Information, 9, (object)null);
        return 0;
    }

    public static int ListenerFilter(string[] arguments)
    {
        TraceSource source = Source(SourceLevels.Information);
        source.Listeners[0].Filter = new EventTypeFilter(SourceLevels.Warning);
        source.TraceEvent(TraceEventType.Verbose, 0, "off by the switch");
        source.TraceEvent(TraceEventType.Information, 0, "off by the filter");
        source.TraceEvent(TraceEventType.Warning, 0, "kept");
        source.TraceEvent(TraceEventType.Warning, 0, "kept {0}", 1);
        return 0;
    }

    public static int ListenerStack(string[] arguments)
    {
        TraceSource source = Source();
        source.Listeners[0].TraceOutputOptions = TraceOptions.Callstack;
        source.TraceEvent(TraceEventType.Warning, 0, "with stack");
        return 0;
    }

    public static int ListenerThreads(string[] arguments)
    {
        Instead();
        Trace.UseGlobalLock = false;
        Thread[] threads = Enumerable.Range(0, 4).Select(number => new Thread(() =>
        {
            for (int i = 0; i < 500; ++i)
            {
                Trace.Write("t" + number + " begins ");
                if (i % 50 == 0) Thread.Yield();
                Trace.Write(i.ToString(CultureInfo.InvariantCulture));
                Trace.WriteLine(" goes on and ends");
            }
        })).ToArray();
        foreach (Thread one in threads) one.Start();
        foreach (Thread one in threads) one.Join();
        return 0;
    }

    public static int AssertsGoOn(string[] arguments)
    {
        Instead();
        Debug.Assert(false, "debug");
        Trace.Assert(false, "trace", "with details");
        Trace.Fail("fail");
        Debug.Fail("debug fail");
        Debug.Assert(true, "not this one");
        Trace.WriteLine("still here");
        return 0;
    }

    public static int AssertsThrow(string[] arguments)
    {
        Instead("assert=throw");
        int caught = 0;
        foreach (Action action in new Action[] { () => Trace.Assert(false, "first"), () => Trace.Fail("second") })
        {
            try
            {
                action();
            }
            catch (AssertionFailedException)
            {
                ++caught;
            }
        }
        Console.WriteLine(caught == 2 ? "caught twice" : "caught " + caught);
        return 0;
    }

    public static int Configured(string[] arguments)
    {
        // Levels, the listener and its settings are in app.config.
        var source = new TraceSource("configured");
        source.TraceEvent(TraceEventType.Verbose, 0, "off by its switch");
        source.TraceEvent(TraceEventType.Warning, 0, "by app.config {0}", 1);
        return source.Listeners.OfType<SilverpointTraceListener>().Single().ThrowsOnFail ? 0 : 1;
    }

    public static int InstallEverywhere(string[] arguments)
    {
        var early = new TraceSource("early", SourceLevels.All);
        Console.WriteLine(SilverpointTrace.Install());
        var late = new TraceSource("late", SourceLevels.All);
        var adopted = new TraceSource("adopted", SourceLevels.All);
        SilverpointTrace.Adopt(adopted);
        // Where the runtime does not report new sources they are found after a while.
        for (int turn = 0; turn < 600 && late.Listeners.OfType<DefaultTraceListener>().Any(); ++turn) Thread.Sleep(50);
        Trace.WriteLine("to Trace");
        early.TraceEvent(TraceEventType.Information, 0, "to the early {0}", "source");
        late.TraceEvent(TraceEventType.Information, 0, "to the late source");
        adopted.TraceEvent(TraceEventType.Information, 0, "to the adopted source");
        int left = new[] { Trace.Listeners, early.Listeners, late.Listeners, adopted.Listeners }.Sum(listeners => listeners.OfType<DefaultTraceListener>().Count());
        Console.WriteLine("default listeners left: " + left);
        return 0;
    }
}
