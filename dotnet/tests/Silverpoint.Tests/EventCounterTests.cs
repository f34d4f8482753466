using System;
using System.Collections.Generic;
using System.Diagnostics.Tracing;
using System.Globalization;
using System.Linq;
using System.Threading;
using Silverpoint;

/// EventCounters, which are recorded as counters.
static class EventCounterTests
{
    static List<Dictionary<string, object>> Records(string program)
    {
        if (Recorded.IsMono) throw new Skipped("Mono's EventSource delivers no events");
        return Recorded.Records(Recorded.Program(program).File);
    }

    static Dictionary<string, object> Arguments(Dictionary<string, object> record) => (Dictionary<string, object>)record["args"];

    static double Number(Dictionary<string, object> record, string name) => double.Parse(Arguments(record)[name].ToString(), CultureInfo.InvariantCulture);

    public static void CountersHaveNameValueAndUnit()
    {
        List<Dictionary<string, object>> found = Records("CountersOfASource");
        Check.That(found.All(one => (string)one["kind"] == "counter" && (string)one["category"] == "Counted" && ((string)one["level"]).ToLowerInvariant() == "debug"), "all records are counters of the source");
        List<Dictionary<string, object>> Of(string name) => found.Where(one => (string)one["template"] == name).ToList();
        Check.That(Of("depth").Count >= 3 && Of("depth").All(one => (string)one["message"] == "depth = 17 items"), "depth: " + string.Join(", ", found.Select(one => (string)one["message"]).ToArray()));
        Check.That(Of("grown").Skip(1).All(one => Number(one, "value") == 5), "a number that grows by 5 from interval to interval: " + string.Join(", ", Of("grown").Select(one => (string)one["message"]).ToArray()));
        Check.That(Of("sold").Sum(one => Number(one, "value")) > 0 && Of("sold").All(one => (string)Arguments(one)["metadata"] == "shop:north"), "what the program has counted, with metadata");
        List<Dictionary<string, object>> times = Of("time");
        Check.That(times.Count > 0 && times.All(one => ((string)one["message"]).StartsWith("time ") && ((string)one["message"]).Contains(" ms")), "the program's own values");
        Dictionary<string, object> some = times.First(one => Arguments(one).ContainsKey("count"));
        Check.Same("1 3", Number(some, "min") + " " + Number(some, "max"), "the least and the greatest of them");
        Check.That(Number(some, "value") > 1 && Number(some, "value") < 3 && Number(some, "count") > 1 && Number(some, "deviation") > 0, "mean, number and deviation: " + some["message"]);
        Check.That(times.All(one => Arguments(one).Count == 1 || Number(one, "count") > 1), "an interval without values has no record");
    }

    public static void CountersOfTheRuntimeAreRecorded()
    {
        List<Dictionary<string, object>> found = Records("CountersOfTheRuntime").Where(one => (string)one["kind"] == "counter" && (string)one["category"] == "System.Runtime").ToList();
        foreach (string wanted in new[] { "cpu-usage %", "working-set MB", "gc-heap-size MB", "gen-0-gc-count", "threadpool-thread-count", "exception-count" })
        {
            string[] words = wanted.Split(' ');
            Check.That(found.Any(one => (string)one["template"] == words[0] && (words.Length == 1 || ((string)one["message"]).EndsWith(" " + words[1]))), wanted + " is missing: " + string.Join(", ", found.Select(one => (string)one["message"]).ToArray()));
        }
        Check.That(found.Any(one => (string)one["template"] == "working-set" && Number(one, "value") > 1), "the memory of the process");
    }

    public static void CountersBeyondTheLimitAreEvents()
    {
        List<Dictionary<string, object>> found = Records("ManyCounters");
        Check.Same(1000, found.Where(one => (string)one["kind"] == "counter").Select(one => (string)one["template"]).Distinct().Count(), "counters");
        Check.Same(100, found.Select(one => (string)one["message"]).Where(text => text.StartsWith("EventCounters Payload={\"Name\": \"n")).Select(text => text.Split('"')[3]).Distinct().Count(), "counters in events");
        Check.That(found.Any(one => (string)one["kind"] == "event" && (string)one["message"] == "EventCounters x=1"), "an event of the program that has this name");
    }
}

static partial class Programs
{
    // .NET Framework has not all of these types.
    static IDisposable Counter(string type, string unit, string name, EventSource source, params object[] more)
    {
        object made = Activator.CreateInstance(typeof(EventSource).Assembly.GetType("System.Diagnostics.Tracing." + type, true), new object[] { name, source }.Concat(more).ToArray());
        made.GetType().GetProperty("DisplayUnits").SetValue(made, unit, null);
        return (IDisposable)made;
    }

    static Action<T> Method<T>(object of, string name) => (Action<T>)Delegate.CreateDelegate(typeof(Action<T>), of, of.GetType().GetMethod(name, [typeof(T)]));

    static readonly Dictionary<string, string> tenth = new Dictionary<string, string> { ["EventCounterIntervalSec"] = "0.1" };

    public static int CountersOfASource(string[] arguments)
    {
        CultureInfo.CurrentCulture = CultureInfo.DefaultThreadCurrentCulture = CultureInfo.InvariantCulture;
        using var source = new EventSource("Counted");
        int turns = 0;
        using IDisposable depth = Counter("PollingCounter", "items", "depth", source, new Func<double>(() => Interlocked.Increment(ref turns) * 0 + 17));
        double grown = 0;
        using IDisposable growing = Counter("IncrementingPollingCounter", "", "grown", source, new Func<double>(() => grown += 5));
        using IDisposable sold = Counter("IncrementingEventCounter", "", "sold", source), time = Counter("EventCounter", "ms", "time", source);
        sold.GetType().GetMethod("AddMetadata").Invoke(sold, ["shop", "north"]);
        Action<double> sell = Method<double>(sold, "Increment"), took = Method<double>(time, "WriteMetric");
        using var listener = new SilverpointEventListener();
        listener.Enable("Counted", arguments: tenth);
        while (Volatile.Read(ref turns) < 4)
        {
            sell(2);
            took(1);
            took(3);
            Thread.Sleep(1);
        }
        // No value in these intervals.
        while (Volatile.Read(ref turns) < 7) Thread.Sleep(1);
        return 0;
    }

    public static int CountersOfTheRuntime(string[] arguments)
    {
        CultureInfo.CurrentCulture = CultureInfo.DefaultThreadCurrentCulture = CultureInfo.InvariantCulture;
        using var listener = new SilverpointEventListener("System.Run*");
        using var other = new EmptyListener();
        listener.Enable("System.Runtime", EventLevel.LogAlways, arguments: tenth);
        other.EnableEvents(EventSource.GetSources().Single(one => one.Name == "System.Runtime"), EventLevel.LogAlways);
        while (Volatile.Read(ref other.Seen) < 100) Thread.Sleep(1);
        return 0;
    }

    public static int ManyCounters(string[] arguments)
    {
        CultureInfo.CurrentCulture = CultureInfo.DefaultThreadCurrentCulture = CultureInfo.InvariantCulture;
        using var source = new EventSource("Many");
        int turns = 0;
        IDisposable[] all = Enumerable.Range(0, 1099).Select(i => Counter("PollingCounter", "", "n" + i, source, new Func<double>(() => i))).ToArray();
        using IDisposable last = Counter("PollingCounter", "", "n1099", source, new Func<double>(() => ++turns));
        using var listener = new SilverpointEventListener();
        listener.Enable("Many", arguments: tenth);
        while (Volatile.Read(ref turns) < 2) Thread.Sleep(1);
        listener.Enable("Many", arguments: new Dictionary<string, string> { ["EventCounterIntervalSec"] = "0" });
        source.Write("EventCounters", new EventSourceOptions { Level = EventLevel.Informational }, new { x = 1 });
        foreach (IDisposable one in all) one.Dispose();
        return 0;
    }
}
