using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Silverpoint;

/// Activities, and the spans that are recorded of them.
static class ActivityTests
{
    static List<Dictionary<string, object>> Records(string program) => Recorded.Records(Recorded.Program(program).File);

    static void Same(IEnumerable<string> wanted, IEnumerable<string> found) => Check.Same(string.Join("\n", wanted), string.Join("\n", found), "records");

    static string Text(Dictionary<string, object> record) => (string)record["message"];

    static Dictionary<string, object> Arguments(Dictionary<string, object> record) => (Dictionary<string, object>)record["args"];

    static string Argument(Dictionary<string, object> record, string name) => Arguments(record).TryGetValue(name, out object value) ? value as string ?? "(no text)" : "(none)";

    static string Kinds(IEnumerable<Dictionary<string, object>> records) => string.Join(" ", records.Select(one => Text(one).Split(' ')[0] + (Text(one).Contains(" begin ") ? ":begin" : Text(one).Contains(" end ") ? ":end" : "")));

    public static void ActivitiesAreSpansWithTheIdsOfW3C()
    {
        Ended ended = Recorded.Program("Orders");
        List<Dictionary<string, object>> found = Recorded.Records(ended.File);
        Check.Same("order:begin pay:begin parent pay pay:end order order order order:end", Kinds(found), "records");
        string[] ids = ended.Output.Split('\n')[0].Split(' ');
        Dictionary<string, object> order = found[0], pay = found[1];
        Check.Same(ids[0], Argument(order, "trace_id"), "the trace of the outer activity");
        Check.Same(ids[1], Argument(order, "span_id"), "the outer activity");
        Check.Same("b7ad6b7169203331", Argument(order, "parent_id"), "the caller of the outer activity");
        Check.Same(ids[0], Argument(pay, "trace_id"), "the trace of the inner activity");
        Check.Same(ids[2], Argument(pay, "span_id"), "the inner activity");
        Check.Same(ids[1], Argument(pay, "parent_id"), "the parent of the inner activity");
        Check.That(Text(order).Contains("kind=Server") && !Text(pay).Contains("kind="), Text(order) + " | " + Text(pay));
        Check.That(found.All(one => (string)one["category"] == "Shop.Orders"), "the category is the source's name");
    }

    public static void TheEndHasTagsStatusAndEvents()
    {
        List<Dictionary<string, object>> found = Records("Orders");
        Dictionary<string, object> pay = found[3], order = found[5];
        Check.That(Arguments(pay)["amount"] is Json.Number && Arguments(pay)["urgent"] is true && Argument(pay, "currency") == "EUR", "typed tags: " + Text(pay));
        Check.That(Text(pay).Contains("duration=250 ms"), Text(pay));
        Check.Same("Error", Argument(order, "status"), "the status");
        Check.Same("card refused", Argument(order, "status_description"), "its description");
        Check.Same("order of Ada", Argument(order, "display_name"), "the name for people");
        Check.Same("vendor=1", Argument(order, "trace_state"), "the state of the trace");
        Check.That(Text(order).Contains("0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7"), "a link: " + Text(order));
        Check.That(Text(order).Contains("field.span.id=mine"), "a tag with a reserved name: " + Text(order));
        Check.That(Text(found[6]).Contains("event=retried") && Text(found[6]).Contains("happened=2026-01-02T03:04:05") && !Text(found[6]).Contains("tags"), Text(found[6]));
        Check.That(Text(found[7]).Contains("event=exception") && Text(found[7]).Contains("\"exception.type\": \"Refused\""), Text(found[7]));
    }

    public static void OtherProgramsSeeATree()
    {
        string file = Recorded.Program("Orders").File, lines = Recorded.Fresh(".otlp.jsonl");
        Ended ended = Recorded.Run(Recorded.Silverpoint, ["convert", "--to", "otlp", file, lines]);
        Check.Same(0, ended.Status, "convert: " + ended.Errors);
        var spans = new Dictionary<string, Dictionary<string, object>>();
        foreach (string line in File.ReadLines(lines)) Spans(Json.Parse(line), spans);
        Check.Same("order pay", string.Join(" ", spans.Keys.OrderBy(name => name, StringComparer.Ordinal)), "spans");
        Check.Same((string)spans["order"]["spanId"], (string)spans["pay"]["parentSpanId"], "the parent of the inner one");
        Check.Same((string)spans["order"]["traceId"], (string)spans["pay"]["traceId"], "the trace of both");
    }

    public static void BaggageIsAtTheBegin()
    {
        List<Dictionary<string, object>> found = Records("Baggage").Where(one => Text(one).Contains(" begin ")).ToList();
        string Of(string name)
        {
            Dictionary<string, object> arguments = Arguments(found.Single(one => Text(one).StartsWith(name + " ")));
            return arguments.TryGetValue("baggage", out object value) ? string.Join(" ", ((Dictionary<string, object>)value).Select(one => one.Key + "=" + (one.Value ?? "null"))) : "none";
        }
        Check.Same("none", Of("bare"), "an activity without baggage");
        Check.Same("user=Ann", Of("outer"), "its own");
        Check.Same("shop=north user=Bob later=1", Of("inner"), "its own, and that of the activity around it");
        string many = Of("many"), hostile = Of("hostile");
        Check.That(many.Contains("n999=") && many.EndsWith(" \u2026(+936)=null"), many);
        Check.That(hostile.Contains("=null") && hostile.Contains("\u2026(+"), hostile.Substring(0, Math.Min(hostile.Length, 300)));
    }

    // All spans within a message of OTLP.
    static void Spans(object value, Dictionary<string, Dictionary<string, object>> found)
    {
        if (value is List<object> list) list.ForEach(one => Spans(one, found));
        if (value is not Dictionary<string, object> map) return;
        if (map.ContainsKey("spanId") && map.ContainsKey("name")) found[(string)map["name"]] = map;
        foreach (object one in map.Values) Spans(one, found);
    }

    public static void ActivitiesMayStopElsewhere()
    {
        List<Dictionary<string, object>> found = Records("Wandering");
        Check.Same(200, found.Count(one => Text(one).StartsWith("wander begin")), "begins");
        Check.Same(200, found.Count(one => Text(one).StartsWith("wander end")), "ends");
        Same(found.Where(one => Text(one).StartsWith("wander begin")).Select(one => IdOf(Text(one))).OrderBy(one => one), found.Where(one => Text(one).StartsWith("wander end")).Select(one => IdOf(Text(one))).OrderBy(one => one));
    }

    static string IdOf(string text) => text.Split(' ').First(word => word.StartsWith("id="));

    public static void OldActivitiesHaveTheirOwnIds()
    {
        List<Dictionary<string, object>> found = Records("OldActivities");
        Check.Same("outer:begin inner:begin parent inner inner:end outer outer:end", Kinds(found), "records");
        Check.That(Argument(found[1], "parent_id") == Argument(found[0], "span_id") && Argument(found[0], "span_id").StartsWith("|"), Text(found[0]) + Text(found[1]));
        Check.That(found.All(one => (string)one["category"] == "activities"), "the category of activities without a source");
    }

    public static void PatternsAndSamplingChoose() => Same(["a1", "kept", "thrown"], Records("Sampled").Where(one => Text(one).Contains(" begin ")).Select(one => Text(one).Split(' ')[0]));

    public static void NamesOfRunTimeShareASiteAtTheEnd()
    {
        List<Dictionary<string, object>> found = Records("ManyActivityNames");
        Check.Same(5000, found.Count(one => Text(one).Contains(" begin ")), "begins");
        Check.Same(5000, found.Count(one => Text(one).Contains(" end ")), "ends");
        Check.Same(4096, found.Where(one => Text(one).Contains(" begin ") && (string)one["category"] == "Many").Count(), "operations with a site of their own");
        Dictionary<string, object> last = found.Last(one => Text(one).Contains(" begin "));
        Check.That(Argument(last, "source") == "Many" && Argument(last, "operation") == "request-4999", Text(last));
    }

    public static void HostileTagsAreRecordedOrCounted()
    {
        List<Dictionary<string, object>> found = Records("HostileActivities");
        string all = string.Join("\n", found.Select(one => Text(one).Substring(0, Math.Min(300, Text(one).Length))));
        Check.That(found.Any(one => Text(one).Contains("bad=\"<error: InvalidOperationException>\"")), "a value that throws: " + all);
        Check.That(found.Any(one => Text(one).StartsWith("wide") && Text(one).Contains("tags={\"t0\": 0")), "a thousand tags: " + all);
        Check.Same(100, found.Count(one => Text(one).StartsWith("turn end")), "ends");
        Check.That(found.Any(one => Text(one).StartsWith("turn ") && Text(one).Contains("tags={\"tag99\": 99}")), "tags of many names: " + all);
        Check.That(found.Any(one => Text(one).Contains("event=…(+44)")), "three hundred events: " + all);
        Check.Same(2, found.Count(one => Text(one).StartsWith("activity ") && (Text(one).Contains(" begin ") || Text(one).Contains(" end "))), "both ends of an activity with a name of 1,000 letters");
        Check.Same("last end", string.Join(" ", Text(found.Last()).Split(' ').Take(2)), "the last record");
    }

    public static void TheListenerAddsNoGarbage() => Check.Same("nothing\n", Recorded.Program("ActivityGarbage").Output, "what the listener allocates besides the runtime");
}

static partial class Programs
{
    static readonly ActivitySource orders = new ActivitySource("Shop.Orders");

    public static int Orders(string[] arguments)
    {
        using var listener = new SilverpointActivityListener("Shop.*");
        var caller = new ActivityContext(ActivityTraceId.CreateFromString("0af7651916cd43dd8448eb211c80319c"), ActivitySpanId.CreateFromString("b7ad6b7169203331"), ActivityTraceFlags.Recorded, "vendor=1", true);
        var other = new ActivityContext(ActivityTraceId.CreateFromString("0af7651916cd43dd8448eb211c80319c"), ActivitySpanId.CreateFromString("00f067aa0ba902b7"), ActivityTraceFlags.None);
        Activity order = orders.StartActivity("order", ActivityKind.Server, caller, null, [new ActivityLink(other)]);
        Activity pay = orders.StartActivity("pay");
        Console.WriteLine(order.TraceId + " " + order.SpanId + " " + pay.SpanId);
        pay.SetTag("amount", 12.5);
        pay.SetTag("currency", "EUR");
        pay.SetTag("urgent", true);
        pay.SetEndTime(pay.StartTimeUtc.AddMilliseconds(250));
        pay.Stop();
        order.SetTag("span.id", "mine");
        order.DisplayName = "order of Ada";
        order.SetStatus(ActivityStatusCode.Error, "card refused");
        order.AddEvent(new ActivityEvent("retried", new DateTimeOffset(2026, 1, 2, 3, 4, 5, TimeSpan.Zero)));
        order.AddEvent(new ActivityEvent("exception", default, new ActivityTagsCollection { ["exception.type"] = "Refused" }));
        order.Stop();
        return 0;
    }

    public static int Baggage(string[] arguments)
    {
        using var listener = new SilverpointActivityListener("Shop.Orders");
        orders.StartActivity("bare").Dispose();
        using (Activity outer = orders.CreateActivity("outer", ActivityKind.Internal).AddBaggage("user", "Ann").Start())
        {
            outer.AddBaggage("later", "1");
            orders.CreateActivity("inner", ActivityKind.Internal).AddBaggage("user", "Bob").AddBaggage("shop", "north").Start().Dispose();
        }
        Activity many = orders.CreateActivity("many", ActivityKind.Internal);
        for (int i = 0; i < 1000; ++i) many.AddBaggage("n" + i, "v");
        many.Start().Dispose();
        orders.CreateActivity("hostile", ActivityKind.Internal).AddBaggage(null, null).AddBaggage(new string('n', 100000), new string('v', 1000000)).Start().Dispose();
        orders.StartActivity("last").Dispose();
        return 0;
    }

    public static int Wandering(string[] arguments)
    {
        using var listener = new SilverpointActivityListener("Shop.Orders");
        Task.WaitAll(Enumerable.Range(0, 200).Select(async i =>
        {
            using Activity activity = orders.StartActivity("wander");
            await Task.Delay(i % 5);
            activity.SetTag("number", i);
        }).ToArray());
        return 0;
    }

    public static int OldActivities(string[] arguments)
    {
        using var listener = new SilverpointActivityListener();
        Activity.ForceDefaultIdFormat = true;
        Activity.DefaultIdFormat = ActivityIdFormat.Hierarchical;
        Activity outer = new Activity("outer").Start(), inner = new Activity("inner").Start();
        inner.Stop();
        outer.Stop();
        return 0;
    }

    public static int Sampled(string[] arguments)
    {
        using var a = new ActivitySource("A");
        using var b = new ActivitySource("B");
        using var c = new ActivitySource("C");
        var first = new SilverpointActivityListener("A, D*");
        a.StartActivity("a1")?.Dispose();
        b.StartActivity("b1")?.Dispose();
        first.Dispose();
        first.Dispose();
        a.StartActivity("a2")?.Dispose();
        using var none = new SilverpointActivityListener("C", ActivitySamplingResult.None);
        c.StartActivity("c1")?.Dispose();
        using var some = new SilverpointActivityListener("B", (ref ActivityCreationOptions<ActivityContext> options) => options.Name switch
        {
            "kept" => ActivitySamplingResult.AllData,
            "thrown" => throw new InvalidOperationException(),
            _ => ActivitySamplingResult.PropagationData,
        });
        b.StartActivity("kept")?.Dispose();
        b.StartActivity("thrown")?.Dispose();
        b.StartActivity("passed on")?.Dispose();
        return 0;
    }

    public static int ManyActivityNames(string[] arguments)
    {
        using var source = new ActivitySource("Many");
        using var listener = new SilverpointActivityListener("Many");
        for (int i = 0; i < 5000; ++i) source.StartActivity("request-" + i).Dispose();
        return 0;
    }

    sealed class Throws
    {
        public override string ToString() => throw new InvalidOperationException();
    }

    public static int HostileActivities(string[] arguments)
    {
        using var listener = new SilverpointActivityListener("Shop.Orders");
        using (Activity one = orders.StartActivity("bad")) one.SetTag("bad", new Throws());
        using (Activity one = orders.StartActivity("wide"))
            for (int i = 0; i < 1000; ++i) one.AddTag("t" + i, i);
        for (int i = 0; i < 100; ++i)
            using (Activity one = orders.StartActivity("turn")) one.SetTag("tag" + i, i);
        using (Activity one = orders.StartActivity("long"))
        {
            one.SetTag(new string('n', 5000), new string('v', 1000000));
            one.SetTag("null", null);
            for (int i = 0; i < 300; ++i) one.AddEvent(new ActivityEvent(null));
        }
        // Its tags change while it stops.
        using (Activity one = orders.StartActivity("changed"))
        {
            bool isDone = false;
            var thread = new Thread(() =>
            {
                for (int i = 0; !Volatile.Read(ref isDone) && i < 100000; ++i) one.SetTag("t" + i % 10, i);
            });
            thread.Start();
            one.Stop();
            Volatile.Write(ref isDone, true);
            thread.Join();
        }
        orders.StartActivity(new string('o', 1000)).Dispose();
        orders.StartActivity("last").Dispose();
        return 0;
    }

    public static int ActivityGarbage(string[] arguments)
    {
        object text = "EUR", number = 5;
        long Bytes() => Garbage.Of(_ =>
        {
            Activity activity = orders.StartActivity("pay");
            // (Texts of ids are made when they are asked for, and kept.)
            activity.TraceId.ToHexString();
            activity.SpanId.ToHexString();
            activity.SetTag("currency", text);
            activity.SetTag("number", number);
            activity.Stop();
        });
        var empty = new ActivityListener { ShouldListenTo = _ => true, Sample = (ref ActivityCreationOptions<ActivityContext> _) => ActivitySamplingResult.AllDataAndRecorded };
        ActivitySource.AddActivityListener(empty);
        long without = Bytes();
        empty.Dispose();
        using var listener = new SilverpointActivityListener();
        long with = Bytes();
        Console.WriteLine(with <= without + 1000 ? "nothing" : with - without + " bytes in 10,000 activities");
        return 0;
    }
}
