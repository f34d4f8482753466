using System;
using System.Collections.Generic;
using System.Diagnostics.Tracing;
using System.Linq;
using System.Threading;
using Silverpoint;

/// Events of EventSource, and what is recorded of them.
static class EventTests
{
    static List<Dictionary<string, object>> Records(string program, string filter = "trace")
    {
        if (Recorded.IsMono) throw new Skipped("Mono's EventSource delivers no events");
        return Recorded.Records(Recorded.Program(program, null, 0, filter).File);
    }

    static void Same(IEnumerable<string> wanted, IEnumerable<string> found) => Check.Same(string.Join("\n", wanted.ToArray()), string.Join("\n", found.ToArray()), "records");

    static IEnumerable<string> Texts(IEnumerable<Dictionary<string, object>> records) => records.Select(one => (string)one["message"]);

    static Dictionary<string, object> Arguments(Dictionary<string, object> record) => (Dictionary<string, object>)record["args"];

    public static void NothingBreaksWithoutEvents()
    {
        if (!Recorded.IsMono) throw new Skipped("this runtime has events");
        Same(["the only record"], Recorded.Texts(Recorded.Program("MonoEvents").File));
    }

    public static void EventsHaveTemplateNameLevelAndArguments()
    {
        // (.NET Core 3.1 reports an error of its own at events with a related activity.)
        List<Dictionary<string, object>> found = Records("ShopEvents").Where(one => !((string)one["message"]).StartsWith("EventSourceMessage")).ToList();
        Same(["order 7 of Ada customer=3", "Plain number=-5 text=\"two words\" flag=true price=2.5", "Nothing", "00FF of    12", "Odd value=1", "Retried attempt=2",
              "Failed activityId=00000000-0000-0000-0000-000000000007", "Moved to=x activityId=00000000-0000-0000-0000-000000000007 relatedActivityId=00000000-0000-0000-0000-000000000009"], Texts(found));
        Same(["warn", "info", "debug", "info", "info", "info", "error", "info"], found.Select(one => ((string)one["level"]).ToLowerInvariant()));
        Check.That(found.All(one => (string)one["category"] == "Shop-Orders"), "the category is the source's name");
        Check.Same("Ordered", (string)found[0]["function"], "the name of an event with a message");
        Check.Same("id who customer", string.Join(" ", Arguments(found[0]).Keys.ToArray()), "names");
        Check.That(Arguments(found[0])["id"] is Json.Number && Arguments(found[1])["flag"] is true, "the arguments have types");
    }

    public static void SelfDescribingEventsHaveTheirNames()
    {
        List<Dictionary<string, object>> found = Records("DescribedEvents");
        Same(["Sale id=1 who=Ada", "Sale id=2 who=Bob", "Sale id=three", "Nested order={\"id\": 5, \"lines\": [1, 2]}", "bare", "loud x=1"], Texts(found));
        Check.Same("error", ((string)found[5]["level"]).ToLowerInvariant(), "the level that the call chooses");
    }

    public static void PatternsChooseSourcesOfBeforeAndLater() => Same(
        ["early 1", "late 1", "early 2", "early 3"], Texts(Records("ChosenSources")));

    public static void HostilePayloadsAreRecordedOrCounted()
    {
        List<Dictionary<string, object>> found = Records("HostileEvents");
        string[] texts = Texts(found).ToArray();
        Check.That(texts.Any(text => text.StartsWith("Wide payload={") && text.Contains("\"a69\": 69")), "an event with 70 arguments: " + string.Join("\n", texts));
        Check.That(texts.Any(text => text.Contains("source=Hostile") && text.Contains("name=Refused") && text.Contains("\"value\": 7")), "an event whose message has a format that throws: " + string.Join("\n", texts));
        Check.That(texts.Any(text => text.StartsWith("LongName payload={")), "names of 200 letters: " + string.Join("\n", texts));
        Check.That(texts.Any(text => text.StartsWith("Nulls first=") && text.Contains("second=")), "null texts: " + string.Join("\n", texts));
        Check.That(texts.Any(text => text.StartsWith("event source=Hostile-Described name=nnnnn")), "a name of 30,000 letters: " + string.Join("\n", texts));
        Check.Same("after", texts[texts.Length - 1], "the last record");
    }

    public static void NamesOfRunTimeShareASiteAtTheEnd()
    {
        List<Dictionary<string, object>> found = Records("ManyEventNames");
        Check.Same(3000, found.Count, "records");
        Check.Same(1000, found.Count(one => (string)one["category"] == "Many"), "events with a site of their own");
        Check.That(((string)found[2999]["message"]).StartsWith("event source=Many name=event-2999 id=-1 payload={\"number\": 2999}"), (string)found[2999]["message"]);
    }

    public static void EventsOfTheRuntimeSayWhenTheyHappened()
    {
        List<Dictionary<string, object>> found = Records("RuntimeEvents").Where(one => (string)one["category"] == "Microsoft-Windows-DotNETRuntime").ToList();
        Check.That(found.Any(one => ((string)one["message"]).StartsWith("GCStart") && Arguments(one).ContainsKey("happened") && Arguments(one).ContainsKey("thread")),
                   string.Join("\n", Texts(found).Take(20).ToArray()));
    }

    public static void EventsOfThreadsAreAllRecorded()
    {
        List<Dictionary<string, object>> found = Records("ThreadsEvents");
        foreach (IGrouping<string, string> thread in Texts(found).GroupBy(text => text.Split(' ')[0]))
            Same(Enumerable.Range(0, 2000).Select(i => thread.Key + " " + i), thread);
        Check.Same(4 * 2000, found.Count, "records");
    }

    public static void DisposeAndDisableEnd() => Same(["one 1", "two 1", "two 2"], Texts(Records("EndedListeners")));

    public static void SourcesMadeAgainUseTheSameSites()
    {
        if (Recorded.IsMono) throw new Skipped("Mono's EventSource delivers no events");
        Check.Same("1\n", Recorded.Program("SourcesMadeAgain").Output, "sites");
    }

    public static void TheListenerAddsNoGarbage()
    {
        if (Recorded.IsMono) throw new Skipped("Mono's EventSource delivers no events");
        Check.Same("nothing\n", Recorded.Program("EventGarbage").Output, "what the listener allocates besides the runtime");
    }

    public static void NamesMatchPatterns()
    {
        foreach (string pattern in new[] { "*", "a*c", "abc", "ABC", "*bc", "a*", "a*b*c", "**", "*abc*", "a**c" }) Check.That(NamePattern.Matches(pattern, "abc"), pattern);
        foreach (string pattern in new[] { "", "ab", "abcd", "*b", "b*", "a*d", "*abcd*", "a*c*c" }) Check.That(!NamePattern.Matches(pattern, "abc"), pattern);
        Check.That(NamePattern.Matches("", "") && NamePattern.Matches("*", "") && NamePattern.Matches("a*b*b", "ab-b-b"), "at the edge");
        Check.That(!NamePattern.Matches(string.Concat(Enumerable.Repeat("a*", 200)) + "b", new string('a', 5000)), "many stars end soon");
    }
}

[EventSource(Name = "Shop-Orders")]
sealed class ShopSource : EventSource
{
    [Event(1, Level = EventLevel.Warning, Message = "order {0} of {1}")]
    public void Ordered(int id, string who, int customer) => WriteEvent(1, id, who, customer);
    [Event(2, Level = EventLevel.Informational)]
    public void Plain(long number, string text, bool flag, double price) => WriteEvent(2, number, text, flag, price);
    [Event(3, Level = EventLevel.Verbose)]
    public void Nothing() => WriteEvent(3);
    [Event(4, Level = EventLevel.Informational, Message = "{0:X4} of {1,5}")]
    public void Formatted(int number, int of) => WriteEvent(4, number, of);
    [Event(5, Level = EventLevel.Informational, Message = "{0 is no template")]
    public void Odd(int value) => WriteEvent(5, value);
    [Event(6, Level = EventLevel.LogAlways, Version = 3)]
    public void Retried(byte attempt) => WriteEvent(6, attempt);
    [Event(7, Level = EventLevel.Error)]
    public void Failed() => WriteEvent(7);
    [Event(8, Level = EventLevel.Informational)]
    public void Moved(Guid relatedActivityId, string to) => WriteEventWithRelatedActivityId(8, relatedActivityId, to);
}

[EventSource(Name = "Numbered")]
sealed class NumberedSource : EventSource
{
    public NumberedSource() { }
    public NumberedSource(string name) : base(name) { }
    [Event(1, Message = "{0} {1}")]
    public void Number(string name, int number) => WriteEvent(1, name, number);
}

[EventSource(Name = "Early")]
sealed class EarlySource : EventSource
{
    [Event(1, Message = "early {0}")]
    public void Number(int number) => WriteEvent(1, number);
}

[EventSource(Name = "Late")]
sealed class LateSource : EventSource
{
    [Event(1, Message = "late {0}")]
    public void Number(int number) => WriteEvent(1, number);
}

[EventSource(Name = "Hostile")]
sealed class HostileSource : EventSource
{
    [Event(1)]
    public void Wide(int a0, int a1, int a2, int a3, int a4, int a5, int a6, int a7, int a8, int a9, int a10, int a11, int a12, int a13, int a14, int a15, int a16, int a17, int a18, int a19, int a20, int a21, int a22, int a23, int a24, int a25, int a26, int a27, int a28, int a29, int a30, int a31, int a32, int a33, int a34, int a35, int a36, int a37, int a38, int a39, int a40, int a41, int a42, int a43, int a44, int a45, int a46, int a47, int a48, int a49, int a50, int a51, int a52, int a53, int a54, int a55, int a56, int a57, int a58, int a59, int a60, int a61, int a62, int a63, int a64, int a65, int a66, int a67, int a68, int a69) => WriteEvent(1, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35, a36, a37, a38, a39, a40, a41, a42, a43, a44, a45, a46, a47, a48, a49, a50, a51, a52, a53, a54, a55, a56, a57, a58, a59, a60, a61, a62, a63, a64, a65, a66, a67, a68, a69);
    [Event(2, Message = "{0:Q}")]
    public void Refused(int value) => WriteEvent(2, value);
    [Event(3)]
    public void TooFew(int one, int two) => WriteEvent(3, one);
    [Event(4)]
    public void TooMany(int one) => WriteEvent(4, one, 2, 3);
    [Event(5)]
    public void Nulls(string first, string second) => WriteEvent(5, [first, second]);
    [Event(6)]
    public void OtherTypes(int one, string two) => WriteEvent(6, "text", 5);
    [Event(7, Message = "after")]
    public void After() => WriteEvent(7);
}

// As a program would write it that has only a look at events.
sealed class EmptyListener : EventListener
{
    public long Seen;

    protected override void OnEventWritten(EventWrittenEventArgs written)
    {
        Seen += (written.Payload?.Count ?? 0) + (written.ActivityId == Guid.Empty ? 0 : 1) + (written.RelatedActivityId == Guid.Empty ? 0 : 1);
    }
}

static partial class Programs
{
    public static int ShopEvents(string[] arguments)
    {
        using var source = new ShopSource();
        using var listener = new SilverpointEventListener("shop-*", EventLevel.Verbose);
        source.Ordered(7, "Ada", 3);
        source.Plain(-5, "two words", true, 2.5);
        source.Nothing();
        source.Formatted(255, 12);
        source.Odd(1);
        source.Retried(2);
        EventSource.SetCurrentThreadActivityId(new Guid("00000000-0000-0000-0000-000000000007"));
        source.Failed();
        source.Moved(new Guid("00000000-0000-0000-0000-000000000009"), "x");
        return 0;
    }

    public static int MonoEvents(string[] arguments)
    {
        using var source = new ShopSource();
        using var listener = new SilverpointEventListener("*", EventLevel.Verbose);
        source.Ordered(7, "Ada", 3);
        listener.Disable("*");
        listener.Enable("Shop-*");
        source.Nothing();
        // A session, so that there is a file.
        new Logger("mono").Info("the only record");
        return 0;
    }

    public static int DescribedEvents(string[] arguments)
    {
        using var source = new EventSource("Described");
        using var quiet = new EventSource("Quiet");
        // (Another listener wants all of it: then the runtime delivers it to both.)
        using var other = new EmptyListener();
        other.EnableEvents(quiet, EventLevel.Verbose);
        using var listener = new SilverpointEventListener("Described", EventLevel.Verbose);
        listener.Enable("Quiet", EventLevel.Informational);
        source.Write("Sale", new { id = 1, who = "Ada" });
        source.Write("Sale", new { id = 2, who = "Bob" });
        source.Write("Sale", new { id = "three" });
        source.Write("Nested", new { order = new { id = 5, lines = new[] { 1, 2 } } });
        source.Write("bare");
        source.Write("loud", new EventSourceOptions { Level = EventLevel.Error }, new { x = 1 });
        quiet.Write("verbose", new EventSourceOptions { Level = EventLevel.Verbose }, new { x = 1 });
        return 0;
    }

    public static int ChosenSources(string[] arguments)
    {
        using var early = new EarlySource();
        using var other = new NumberedSource();
        using var listener = new SilverpointEventListener("Ear*");
        early.Number(1);
        using var late = new LateSource();
        late.Number(0);
        listener.Enable("LATE");
        late.Number(1);
        early.Number(2);
        other.Number("other", 1);
        listener.Disable("LATE");
        late.Number(2);
        early.Number(3);
        return 0;
    }

    public static int HostileEvents(string[] arguments)
    {
        using var source = new HostileSource();
        using var described = new EventSource("Hostile-Described");
        using var listener = new SilverpointEventListener("Hostile*", EventLevel.Verbose);
        source.Wide(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69);
        source.Refused(7);
        source.TooFew(1, 2);
        source.TooMany(1);
        source.Nulls(null, null);
        source.Nulls("x", null);
        source.OtherTypes(1, "");
        described.Write("LongName", new LongNames());
        described.Write(new string('n', 30000), new { a = new string('x', 30000) });
        source.After();
        return 0;
    }

    [EventData]
    sealed class LongNames
    {
        public int LongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLong0 => 0;
        public int LongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLong1 => 1;
        public int LongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLong2 => 2;
        public int LongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLong3 => 3;
        public int LongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLong4 => 4;
        public int LongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLong5 => 5;
        public int LongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLong6 => 6;
        public int LongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLong7 => 7;
        public int LongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLong8 => 8;
        public int LongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLong9 => 9;
        public int LongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLong10 => 10;
        public int LongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLong11 => 11;
        public int LongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLong12 => 12;
        public int LongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLong13 => 13;
        public int LongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLongLong14 => 14;
    }

    public static int ManyEventNames(string[] arguments)
    {
        using var source = new EventSource("Many");
        using var listener = new SilverpointEventListener("Many", EventLevel.Verbose);
        for (int i = 0; i < 3000; ++i) source.Write("event-" + i, new { number = i });
        return 0;
    }

    public static int RuntimeEvents(string[] arguments)
    {
        // All that there is, while we work ourselves, until the runtime has delivered some of its own.
        using var listener = new SilverpointEventListener("*", EventLevel.Verbose);
        using var other = new EmptyListener();
        other.EnableEvents(EventSource.GetSources().Single(one => one.Name == "Microsoft-Windows-DotNETRuntime"), EventLevel.Verbose, (EventKeywords)1);
        for (int i = 0; i < 20 || (Volatile.Read(ref other.Seen) < 1000 && i < 10000); ++i)
        {
            GC.Collect();
            System.Threading.Tasks.Task.Run(() => Thread.Sleep(1)).Wait();
        }
        return 0;
    }

    public static int ThreadsEvents(string[] arguments)
    {
        using var source = new NumberedSource();
        using var listener = new SilverpointEventListener("Numbered");
        Thread[] threads = Enumerable.Range(0, 4).Select(thread => new Thread(() =>
        {
            for (int i = 0; i < 2000; ++i) source.Number("thread" + thread, i);
        })).ToArray();
        foreach (Thread one in threads) one.Start();
        foreach (Thread one in threads) one.Join();
        return 0;
    }

    public static int EndedListeners(string[] arguments)
    {
        using var source = new NumberedSource();
        var listener = new SilverpointEventListener("Numbered");
        source.Number("one", 1);
        listener.Disable("Numbered");
        source.Number("one", 2);
        listener.Enable("Num*");
        source.Number("two", 1);
        source.Number("two", 2);
        listener.Dispose();
        listener.Dispose();
        source.Number("two", 3);
        return 0;
    }

    public static int SourcesMadeAgain(string[] arguments)
    {
        using var listener = new SilverpointEventListener("Again", EventLevel.Verbose);
        for (int i = 0; i < 50; ++i)
        {
            using var source = new EventSource("Again");
            source.Write("made", new { number = i });
        }
        Console.WriteLine(EventShapes.Count);
        return 0;
    }

    public static int EventGarbage(string[] arguments)
    {
        using var source = new ShopSource();
        long Bytes() => Garbage.Of(i => source.Ordered(7, "Ada", i));
        var empty = new EmptyListener();
        empty.EnableEvents(source, EventLevel.Verbose);
        long without = Bytes();
        empty.Dispose();
        using var listener = new SilverpointEventListener("Shop-Orders");
        long with = Bytes();
        Console.WriteLine(with <= without + 1000 ? "nothing" : with - without + " bytes in 10,000 events");
        return 0;
    }
}
