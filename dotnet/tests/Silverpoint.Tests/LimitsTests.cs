using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Threading;
using Silverpoint;

/// Numbers, types and values at the edge of what is possible.
static class LimitsTests
{
    static List<string> Texts(string program) => Recorded.Texts(Recorded.Program(program).File);

    static void Same(IEnumerable<string> wanted, IEnumerable<string> found) => Check.Same(string.Join("\n", wanted.ToArray()), string.Join("\n", found.ToArray()), "records");

    public static void IndentationIsBounded()
    {
        string blanks = new string(' ', 1000);
        Same([blanks + "a", blanks + "b 1", blanks + "c", blanks + "d", blanks + "e", "after"], Texts("WideIndentation"));
    }

    public static void WhatWasFullStaysFull() => Check.Same("True False\n", Recorded.Program("FullWriter").Output, "a writer after Back to a place behind what was dropped, and to one before it");

    public static void NoRecordIsLostWhileTheHeadIsReset()
    {
        int next = 0;
        foreach (string text in Recorded.Lines(Recorded.Program("ResetHeads").File, "test"))
        {
            if (text != "message " + next) Check.Same("message " + next, text, "record " + next);
            ++next;
        }
        Check.Same(300000, next, "records");
    }

    public static void ArgumentsThatRefuseTheirFormatAreText() => Same(["{0:Q} 7", "{0:Q} and {1} 7 text id=3", "{0:Q} <error: FormatException>", "after"], Texts("WrongFormats"));

    public static void ManyTypesOfOneFormatLeaveTheFirstOnesTyped()
    {
        List<Dictionary<string, object>> found = Recorded.Records(Recorded.Program("ManyTypes").File);
        Check.Same(37, found.Count, "records");
        Same(Enumerable.Repeat("1 and 1", 37), found.Select(one => (string)one["message"]));
        Check.Same(2, ((List<object>)found[0]["args"]).Count, "values of the first combination of types");
        Check.That(found[35]["args"] is Dictionary<string, object>, "the last combination is one text by its name");
        Check.Same(2, ((List<object>)found[36]["args"]).Count, "values of the first one, again");
    }

    public static void LocalTimesAreMadeOutsideOfTheRing()
    {
        Check.Same(Direct.Elsewhere + " 9 9\n", Recorded.Program("LocalTimes").Output, "sizes on the hot path of a local time, of one in UTC, and of one of no kind");
    }

    public static void TypesWithLongSignaturesAreRecorded()
    {
        List<string> found = Texts("LongSignatures");
        Check.Same(1, found.Count, "records");
        Check.Same(16, found[0].Count(letter => letter == 'A'), "values in " + found[0]);
    }

    public static void MessagesWithLongSignaturesAreRecorded()
    {
        Ended ended = Recorded.Program("LongMessages");
        List<Dictionary<string, object>> found = Recorded.Records(ended.File);
        Same(ended.Output.Split('\n').Where(text => text.Length > 0), found.Select(one => (string)one["message"]));
        Check.Same(20, ((List<object>)found[0]["args"]).Count, "values of the message with 20 enumerations");
        Check.Same(255, ((List<object>)found[2]["args"]).Count, "values of the message with 255");
        Check.Same(1, ((List<object>)found[3]["args"]).Count, "values of the message with 256: one text");
    }

    public static void ManySourcesAndFormatsMakeNoGarbage()
    {
        Ended ended = Recorded.Program("ManySources");
        Check.That(ended.Output == "0 bytes\n" || ended.Output == "0 collections\n", ended.Output);
        List<Dictionary<string, object>> found = Recorded.Records(ended.File);
        Check.Same(1001, found.Where(one => ((string)one["message"]).StartsWith("of a source")).Select(one => (string)one["category"]).Distinct().Count(), "categories");
        Check.Same(2100, found.Count(one => ((string)one["message"]).StartsWith("format ")), "records of different formats");
    }
}

static partial class Programs
{
    public static int WideIndentation(string[] arguments)
    {
        var listener = new SilverpointTraceListener { IndentLevel = 2, IndentSize = int.MaxValue };
        listener.WriteLine("a");
        listener.TraceEvent(null, "app", TraceEventType.Information, 0, "b {0}", 1);
        listener.IndentLevel = 65536;
        listener.IndentSize = 65535;
        listener.WriteLine("c");
        listener.IndentLevel = 1;
        listener.IndentSize = 1001;
        listener.WriteLine("d");
        listener.IndentLevel = int.MaxValue;
        listener.IndentSize = int.MaxValue;
        listener.Write("e");
        listener.WriteLine("");
        listener.IndentLevel = 0;
        listener.WriteLine("after");
        return 0;
    }

    public static int FullWriter(string[] arguments)
    {
        Writer writer = Writer.Take(0);
        Writer.Place before = writer.Here;
        while (!writer.IsFull) writer.Put64(0);
        Writer.Place behind = writer.Here;
        writer.Put8(1);
        writer.Back(behind);
        Console.Write(writer.IsFull);
        writer.Back(before);
        Console.Write(" " + writer.IsFull + "\n");
        writer.GiveBack();
        return 0;
    }

    static unsafe void Reset(Tracepoint point, ref int isDone)
    {
        ulong head = point.Site->Head;
        while (Volatile.Read(ref isDone) == 0)
        {
            Volatile.Write(ref point.Site->Head, 0);
            Volatile.Write(ref point.Site->Head, head);
        }
    }

    // Another thread sets the first word of the records to 0, as a new session does.
    public static int ResetHeads(string[] arguments)
    {
        Tracepoint<int> point = Tracepoint.Log("test", Level.Info, "message {}").With<int>();
        point.Record(0);
        int isDone = 0;
        var other = new Thread(() => Reset(point, ref isDone));
        other.Start();
        for (int i = 1; i < 300000; ++i)
        {
            Writer writer = Writer.Take(0);
            writer.Put32((uint)i);
            Ring.Write(point, writer);
            writer.GiveBack();
        }
        Volatile.Write(ref isDone, 1);
        other.Join();
        return 0;
    }

    sealed class Refusing : IFormattable
    {
        public string ToString(string format, IFormatProvider provider) => throw new FormatException("no format");
    }

    public static int WrongFormats(string[] arguments)
    {
        TraceSource source = Source();
        source.TraceEvent(TraceEventType.Information, 0, "{0:Q}", 7);
        source.TraceEvent(TraceEventType.Information, 3, "{0:Q} and {1}", 7, "text");
        source.TraceEvent(TraceEventType.Information, 0, "{0:Q}", new Refusing());
        source.TraceEvent(TraceEventType.Information, 0, "after");
        return 0;
    }

    public static int ManyTypes(string[] arguments)
    {
        TraceSource source = Source();
        object[] values = [1, 1u, 1L, 1ul, "1", '1'];
        foreach (object one in values)
        foreach (object other in values) source.TraceEvent(TraceEventType.Information, 0, "{0} and {1}", one, other);
        source.TraceEvent(TraceEventType.Information, 0, "{0} and {1}", 1, 1);
        return 0;
    }

    public static int LocalTimes(string[] arguments)
    {
        var time = new DateTime(2026, 11, 26, 1, 2, 3);
        Console.Write(Direct.Size(DateTime.SpecifyKind(time, DateTimeKind.Local)) + " " + Direct.Size(DateTime.SpecifyKind(time, DateTimeKind.Utc)) + " " + Direct.Size(time) + "\n");
        return 0;
    }

    public static int LongSignatures(string[] arguments)
    {
        ConsoleKey key = ConsoleKey.A;
        var four = (key, key, key, key);
        Tracepoint.Log("test", Level.Info, "{}").With<((ConsoleKey, ConsoleKey, ConsoleKey, ConsoleKey), (ConsoleKey, ConsoleKey, ConsoleKey, ConsoleKey), (ConsoleKey, ConsoleKey, ConsoleKey, ConsoleKey), (ConsoleKey, ConsoleKey, ConsoleKey, ConsoleKey))>().Record((four, four, four, four));
        return 0;
    }

    public static int LongMessages(string[] arguments)
    {
        ConsoleKey key = ConsoleKey.Enter;
        int i = 7;
        log.Info($"{key} {key} {key} {key} {key} {key} {key} {key} {key} {key} {key} {key} {key} {key} {key} {key} {key} {key} {key} {key}");
        log.Info($"{key:D} {key,12} {key:D} {key,12} {key:D} {key,12} {key:D} {key,12} {key:D} {key,12} {key:D} {key,12} {key:D} {key,12} {key:D} {key,12} {key:D} {key,12} {key:D} {key,12}");
        log.Info($"{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}");
        log.Info($"{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i} of {i:D3} {"a",3}");
        Console.Write(string.Join(" ", Enumerable.Repeat("Enter", 20)) + "\n" + string.Join(" ", Enumerable.Repeat("13        Enter", 10)) + "\n");
        Console.Write(new string('7', 255) + "\n" + new string('7', 254) + " of 007   a\n");
        return 0;
    }

    public static int ManySources(string[] arguments)
    {
        var listener = new SilverpointTraceListener();
        for (int i = 0; i < 1100; ++i) listener.TraceEvent(null, "source" + i, TraceEventType.Warning, 0, "of a source");
        for (int i = 0; i < 2100; ++i) listener.TraceEvent(null, "source0", TraceEventType.Information, 0, "format " + i + " {0}", 1);
        PrintGarbage(_ => listener.TraceEvent(null, "another source", TraceEventType.Warning, 0, "again"));
        return 0;
    }
}
