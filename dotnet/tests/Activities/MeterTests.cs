using System;
using System.Collections.Generic;
using System.Diagnostics.Metrics;
using System.Linq;
using System.Threading;
using Silverpoint;

/// What instruments measure, and the counters that are recorded of it.
static class MeterTests
{
    static List<Dictionary<string, object>> Records(string program) => Recorded.Records(Recorded.Program(program).File);

    static string Text(Dictionary<string, object> record) => (string)record["message"];

    public static void MeasurementsHaveNameValueUnitAndTags()
    {
        List<Dictionary<string, object>> found = Records("Measurements");
        Check.Same(string.Join("\n",
        [
            "orders = 2", "orders value=3 tags={\"shop\": \"north\", \"urgent\": true}", "open = -1 {orders}", "latency value=1.5 ms tags={\"route\": \"/x\", \"status\": 200}", "latency = 2.5 ms", "small = 255",
            "price = 12.25 EUR", "ratio = 0.5", "late = 7",
        ]), string.Join("\n", found.Select(Text)), "records");
        Check.That(found.All(one => (string)one["kind"] == "counter" && ((string)one["level"]).ToLowerInvariant() == "debug"), "all records are counters of level debug");
        Check.Same("Shop.Orders Shop.Late", string.Join(" ", found.Select(one => (string)one["category"]).Distinct()), "categories");
    }

    public static void ObservableInstrumentsAreAskedAtEachInterval()
    {
        List<Dictionary<string, object>> found = Records("Observables");
        List<string> texts = found.Select(Text).ToList();
        Check.That(texts.Count(text => text == "depth = 17 items") >= 3, string.Join(", ", texts));
        Check.That(texts.Contains("queue value=1 tags={\"name\": \"a\"}") && texts.Contains("queue value=2 tags={\"name\": \"b\"}"), string.Join(", ", texts));
    }

    public static void NamesOfRunTimeShareASiteAtTheEnd()
    {
        List<string> found = Recorded.Lines(Recorded.Program("ManyInstruments").File, "*", "{category} {message}").ToList();
        Check.Same(5000, found.Count, "records");
        Check.Same(4096, found.Count(text => text.StartsWith("Many ")), "instruments with a site of their own");
        Check.Same("meters measurement value=4999 meter=Many instrument=i4999", found[4999], "the last record");
    }

    public static void HostileTagsAreRecordedOrCounted()
    {
        List<Dictionary<string, object>> found = Records("HostileMeasurements");
        Check.That(Text(found[0]).Contains("\"bad\": \"<error: InvalidOperationException>\""), "a value that throws: " + Text(found[0]));
        Check.That(Text(found[1]).Contains("\"t0\": 0") && Text(found[1]).Contains("\"t9999\": 9999"), "ten thousand tags");
        Check.That(Text(found[2]).Contains("\u2026(+"), "a text of a million letters is cut");
        Check.Same("hostile value=4 tags={\"\": null}", Text(found[3]), "a tag without a name");
        Check.Same("measurement value=5 meter=Hostile instrument=" + new string('n', 255), Text(found[4]).Replace(" = ", " value="), "an instrument with a unit of 1,000 letters");
        Check.Same("hostile = 6", Text(found[5]), "the last record");
    }

    public static void MeasurementsWithoutTagsMakeNoGarbage() => Check.Same("0 bytes\n", Recorded.Program("MeterGarbage").Output, "what the listener allocates");
}

static partial class Programs
{
    static KeyValuePair<string, object> Tag(string name, object value) => new KeyValuePair<string, object>(name, value);

    public static int Measurements(string[] arguments)
    {
        using var shop = new Meter("Shop.Orders");
        using var other = new Meter("Other");
        Counter<int> orders = shop.CreateCounter<int>("orders");
        orders.Add(1);
        var listener = new SilverpointMeterListener("Shop.*, None");
        orders.Add(2);
        orders.Add(3, Tag("shop", "north"), Tag("urgent", true));
        shop.CreateUpDownCounter<long>("open", "{orders}").Add(-1);
        Histogram<double> latency = shop.CreateHistogram<double>("latency", "ms");
        latency.Record(1.5, Tag("route", "/x"), Tag("status", 200));
        latency.Record(2.5);
        shop.CreateCounter<byte>("small").Add(255);
        shop.CreateHistogram<decimal>("price", "EUR").Record(12.25m);
        shop.CreateHistogram<float>("ratio").Record(0.5f);
        other.CreateCounter<int>("not this one").Add(1);
        using var late = new Meter("Shop.Late");
        late.CreateCounter<short>("late").Add(7);
        listener.Dispose();
        listener.Dispose();
        orders.Add(4);
        return 0;
    }

    public static int Observables(string[] arguments)
    {
        using var meter = new Meter("Observed");
        int asked = 0;
        meter.CreateObservableGauge("throws", int () => throw new InvalidOperationException());
        meter.CreateObservableGauge("depth", () =>
        {
            Interlocked.Increment(ref asked);
            return 17;
        }, "items");
        meter.CreateObservableUpDownCounter("queue", () => new[] { new Measurement<long>(1, Tag("name", "a")), new Measurement<long>(2, Tag("name", "b")) });
        using var never = new SilverpointMeterListener("Observed");
        using var listener = new SilverpointMeterListener("Observed", TimeSpan.FromMilliseconds(20));
        while (Volatile.Read(ref asked) < 4) Thread.Sleep(1);
        return 0;
    }

    public static int ManyInstruments(string[] arguments)
    {
        using var meter = new Meter("Many");
        using var listener = new SilverpointMeterListener("Many");
        for (int i = 0; i < 5000; ++i) meter.CreateCounter<int>("i" + i).Add(i);
        // Made again, they have the same sites.
        using var again = new Meter("Many");
        for (int i = 0; i < 5000; ++i) again.CreateCounter<int>("i" + i);
        return 0;
    }

    public static int HostileMeasurements(string[] arguments)
    {
        using var meter = new Meter("Hostile");
        using var listener = new SilverpointMeterListener("Hostile");
        Counter<int> hostile = meter.CreateCounter<int>("hostile");
        hostile.Add(1, Tag("bad", new Throws()));
        hostile.Add(2, Enumerable.Range(0, 10000).Select(i => Tag("t" + i, i)).ToArray());
        hostile.Add(3, Tag("long", new string('x', 1000000)));
        hostile.Add(4, Tag(null, null));
        meter.CreateCounter<int>(new string('n', 255), new string('u', 1000)).Add(5);
        hostile.Add(6);
        return 0;
    }

    public static int MeterGarbage(string[] arguments)
    {
        using var meter = new Meter("Garbage");
        using var listener = new SilverpointMeterListener("Garbage");
        Counter<int> counter = meter.CreateCounter<int>("counter");
        Histogram<double> histogram = meter.CreateHistogram<double>("histogram", "ms");
        Console.Write(Garbage.Of(i =>
        {
            counter.Add(i);
            histogram.Record(0.5);
        }) + " " + Garbage.Unit + "\n");
        return 0;
    }
}
