using System;
using System.Collections;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Silverpoint;
using Silverpoint.Extensions.Logging;

static class Library
{
    // The library has these options since version 5; this program is compiled for version 3.1.
    internal static readonly Type Options = typeof(LoggerFactory).Assembly.GetType("Microsoft.Extensions.Logging.LoggerFactoryOptions");
}

/// The programs of LoggingTests.
static class Programs
{
    static readonly ILogger log = new SilverpointLoggerProvider().CreateLogger("Shop.Orders");

    static readonly Action<ILogger, int, double, string, Exception> filled = LoggerMessage.Define<int, double, string>(LogLevel.Information, new EventId(12, "Filled"), "order {Id} at {Price} by {Who}");
    static readonly Action<ILogger, int, double, string, Exception> defined = LoggerMessage.Define<int, double, string>(LogLevel.Information, default, "order {Id} at {Price} by {Who}");
    static readonly Action<ILogger, int, double, string, Exception> late = LoggerMessage.Define<int, double, string>(LogLevel.Warning, new EventId(12, "Filled"), "order {Id} at {Price} by {Who}");
    static readonly Action<ILogger, Exception> plain = LoggerMessage.Define(LogLevel.Information, default, "without values");
    static readonly Action<ILogger, int, double, Exception> rounded = LoggerMessage.Define<int, double>(LogLevel.Debug, default, "order {Id} at {Price:F2}");

    // Prints what the formatter makes, too.
    sealed class Printing(ILogger inner) : ILogger
    {
        public bool IsEnabled(LogLevel level) => inner.IsEnabled(level);
        public IDisposable BeginScope<TState>(TState state) => inner.BeginScope(state);

        public void Log<TState>(LogLevel level, EventId id, TState state, Exception error, Func<TState, Exception, string> formatter)
        {
            Console.WriteLine(formatter(state, error));
            inner.Log(level, id, state, error, formatter);
        }
    }

    enum Colour { Red, Green }

    public static void Texts()
    {
        CultureInfo.CurrentCulture = CultureInfo.InvariantCulture;
        ILogger both = new Printing(log);
        // From the second time on they are found without their list.
        for (int round = 0; round < 3; ++round)
        {
            both.LogInformation("a text");
            both.LogInformation("braces {{}} and {{{Value}}}", 5);
            both.LogInformation("{A} {A} {B}", 1, 2, "x");
            both.LogInformation("[{Wide,8}] [{Left,-8}] [{Fixed,10:F2}]", 1, "ab", 3.14159);
            both.LogInformation("{Null} {Yes} {Char} {Colour} {Access}", null, true, 'c', Colour.Green, FileAccess.ReadWrite);
            both.LogInformation("{Decimal} {Guid} {Time} {Date:yyyy-MM-dd} {Span}", 1.50m, new Guid("00112233-4455-6677-8899-aabbccddeeff"), new DateTime(2026, 11, 26, 1, 2, 3), new DateTime(2026, 11, 26), TimeSpan.FromSeconds(90));
            both.LogInformation("{List} {Names} {Empty}", new[] { 1, 2, 3 }, new List<string> { "a", null, "c" }, new int[0]);
            both.LogInformation("{Object} {Pair}", new Version(1, 2), new KeyValuePair<string, int>("k", 1));
            both.LogInformation("{@Order} {$Text} {0}", 1, 2, 3);
            both.LogInformation("{Hex:X4} {Number:N2} {Percent:P1}", 255, 12345.678, 0.5);
            both.LogInformation("\u00e4\u00f6 {Text} {Line}", "\U0001F600", "two lines");
            foreach (double value in new[] { 0, -0.0, 1.5, 0.1, 2.675, 1e20, 1e-7, double.NaN, double.PositiveInfinity })
            {
                both.LogInformation("{Value} {Same:F2}", value, value);
                defined(both, 1, value, "Ann", null);
            }
            foreach (object value in new object[] { 1, "x", null, 2.5, new[] { 1, 2 }, 1, 1e20, true }) both.LogInformation("any {Value}", value);
        }
    }

    enum Small : byte { None, Some }

    // All of them go the way without a list, as long as their values are printed alike.
    public static void Defined()
    {
        CultureInfo.CurrentCulture = CultureInfo.InvariantCulture;
        ILogger both = new Printing(log);
        var whole = LoggerMessage.Define<sbyte, byte, short, ushort, uint, ulong>(LogLevel.Information, new EventId(3), "{A} {B} {C} {D} {E} {F}");
        var others = LoggerMessage.Define<bool, char, Guid, decimal, Small, float>(LogLevel.Information, default, "{A} {B} {C} {D} {E} {F}");
        var texts = LoggerMessage.Define<string, long, string>(LogLevel.Information, new EventId(5), "<{A}> {B} <{C}>");
        var formats = LoggerMessage.Define<int, double, long, byte, string, uint>(LogLevel.Information, new EventId(5), "{A:X4} {B:F2} {C:D} {D:x} {E} {F}");
        var single = LoggerMessage.Define<int>(LogLevel.Information, default, "{A}{{}}");
        var objects = LoggerMessage.Define<object, DateTime, int?>(LogLevel.Information, default, "{A} {B} {C}");
        var wide = LoggerMessage.Define<int, string>(LogLevel.Information, default, "[{A,5}] [{B,-5}]");
        var named = LoggerMessage.Define<int, int>(LogLevel.Information, default, "{A} {A}");
        for (int i = 0; i < 2; ++i)
        {
            whole(both, sbyte.MinValue, byte.MaxValue, short.MinValue, ushort.MaxValue, uint.MaxValue, ulong.MaxValue, null);
            foreach (float value in new[] { 0.5f, -0f, 1e9f, float.NaN, 99999.9f }) others(both, i == 0, 'x', new Guid("00112233-4455-6677-8899-aabbccddeeff"), -1.50m, (Small)i, value, null);
            others(both, true, '\u20ac', Guid.Empty, decimal.MaxValue, (Small)77, 1, null);
            texts(both, null, long.MinValue, "", null);
            texts(both, new string('\u00e4', 2048), 1, new string('b', 2049), null);
            formats(both, 255, 0.25, 7, 11, "e", 6, null);
            formats(both, -1, 0.125, -7, 11, null, 6, null);
            single(both, i, null);
            objects(both, new Version(1, 2), new DateTime(2026, 11, 26, 1, 2, 3), null, null);
            wide(both, i, "ab", null);
            named(both, 1, 2, null);
        }
    }

    // As source-generated methods with more than six values have them.
    readonly struct Seven : IReadOnlyList<KeyValuePair<string, object>>
    {
        static readonly string[] names = ["G", "F", "E", "D", "C", "B", "A", "Extra"];

        public int Count => 9;
        public KeyValuePair<string, object> this[int i] => new(i == 8 ? "{OriginalFormat}" : names[i], i switch { 8 => "{A} {B} {C} {D} {E} {F} {G}", 7 => true, 0 => "seven", _ => 7 - i });
        public IEnumerator<KeyValuePair<string, object>> GetEnumerator() { for (int i = 0; i < Count; ++i) yield return this[i]; }
        IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();
    }

    public static void Typed()
    {
        filled(log, 7, 101.25, "Ann", null);
        late(log, 8, 1.5, null, null);
        rounded(log, 9, 0.25, null);
        log.LogError("{Count} items of {Name}", 3, "box");
        log.Log(LogLevel.Critical, 99, new Seven(), null, (state, error) => "not this");
    }

    static Exception Thrown()
    {
        try
        {
            throw new InvalidOperationException("no stock");
        }
        catch (InvalidOperationException error)
        {
            return error;
        }
    }

    public static void Exceptions()
    {
        log.LogError(Thrown(), "order {Id}", 7);
        filled(log, 7, 1.5, "Ann", Thrown());
        log.Log(LogLevel.Error, 0, 5, Thrown(), (state, error) => "a state that is no list");
    }

    static IEnumerable<KeyValuePair<string, object>> Endless()
    {
        for (int i = 0; ; ++i) yield return new KeyValuePair<string, object>("field" + i, i);
    }

    static IEnumerable<KeyValuePair<string, object>> Throwing()
    {
        yield return new KeyValuePair<string, object>("first", 1);
        throw new InvalidOperationException("no more");
    }

    public static void ScopesOfLoggers()
    {
        ILoggerFactory factory = LoggerFactory.Create(builder => builder.AddSilverpoint());
        ILogger made = factory.CreateLogger("Shop.Orders");
        using (made.BeginScope("a text")) made.LogInformation("in a text");
        using (made.BeginScope("order {Id} of {Who}", 7, "Ann")) made.LogInformation("in a template");
        using (made.BeginScope(new Dictionary<string, object> { ["Order"] = 7, ["Ids"] = new[] { 1, 2 } })) made.LogInformation("in a dictionary");
        using (made.BeginScope(new Dictionary<string, int> { ["Order"] = 7 }))
        {
            using (made.BeginScope(("Step", (object)"pay"))) made.LogInformation("nested");
            Tracepoint.Log("Shop", Level.Info, "by a tracepoint").With().Record();
            Task.Run(async () => { await Task.Yield(); made.LogInformation("behind an await"); }).Wait();
        }
        made.LogInformation("none");
        using (made.BeginScope(Throwing())) made.LogInformation("thrown");
        using (made.BeginScope(Endless())) made.LogInformation("endless");
    }

    static void TrackAll(ILoggingBuilder builder) => typeof(Programs).GetMethod(nameof(TrackAllOf), BindingFlags.Static | BindingFlags.NonPublic).MakeGenericMethod(Library.Options).Invoke(null, [builder]);

    static void TrackAllOf<T>(ILoggingBuilder builder) where T : class => builder.Services.Configure<T>(options =>
    {
        PropertyInfo tracking = typeof(T).GetProperty("ActivityTrackingOptions");
        tracking.SetValue(options, Enum.Parse(tracking.PropertyType, "SpanId, TraceId, ParentId, TraceState, TraceFlags, Tags, Baggage"), null);
    });

    // Prints the fields that each record has.
    public static void Tracking()
    {
        static string Ids(Activity one) => "SpanId:" + one.SpanId.ToHexString() + ",TraceId:" + one.TraceId.ToHexString() + (one.Parent == null ? "" : ",ParentId:" + one.Parent.SpanId.ToHexString());
        var before = new Activity("before").AddTag("tag", "not recorded").AddBaggage("baggage", "neither").Start();
        using ILoggerFactory factory = LoggerFactory.Create(builder => TrackAll(builder.AddSilverpoint()));
        ILogger made = factory.CreateLogger("Shop.Orders");
        void Say(string text, string fields)
        {
            made.LogInformation(text);
            Console.WriteLine(text + " " + fields);
        }
        string outer = "{" + Ids(before) + ",TraceFlags:None}";
        Say("an activity that is older than the factory", outer);
        using (made.BeginScope(new Dictionary<string, object> { ["Order"] = 7 }))
        {
            var inner = new Activity("inner") { TraceStateString = "a=1", ActivityTraceFlags = ActivityTraceFlags.Recorded }.Start();
            string within = "{Order:7," + Ids(inner) + ",TraceState:a=1,TraceFlags:Recorded}";
            Say("an inner activity", within);
            Task.Run(async () => { await Task.Yield(); Say("behind an await", within); }).Wait();
            Tracepoint.Log("Shop", Level.Info, "a tracepoint").With().Record();
            Console.WriteLine("a tracepoint " + within);
            inner.Stop();
            Say("the outer one again", "{Order:7," + outer.Substring(1));
        }
        Say("without the scope", outer);
        Activity.Current = null;
        Say("none", "");
        Activity.Current = before;
        Say("assigned", outer);
        before.Stop();
        Say("stopped", "");
        var old = new Activity("old").SetIdFormat(ActivityIdFormat.Hierarchical).SetParentId("|a.").Start();
        Say("an id of the older kind", "{SpanId:" + old.Id + ",TraceId:a,ParentId:|a.,TraceFlags:None}");
        old.Stop();
    }

    public static void Switches()
    {
        Console.WriteLine("Debug " + log.IsEnabled(LogLevel.Debug) + ", Information " + log.IsEnabled(LogLevel.Information) + ", None " + log.IsEnabled(LogLevel.None));
        var provider = new SilverpointLoggerProvider();
        provider.CreateLogger("Shop.One").LogInformation("one");
        provider.CreateLogger("Shop.Two").LogInformation("two");
        provider.CreateLogger("Shop.One").LogDebug("one in detail");
    }

    sealed class Lying : IReadOnlyList<KeyValuePair<string, object>>
    {
        public int Count => int.MaxValue;
        public KeyValuePair<string, object> this[int i] => new("{OriginalFormat}", "{A}");
        public IEnumerator<KeyValuePair<string, object>> GetEnumerator() => throw new InvalidOperationException("no enumerator");
        IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();
    }

    sealed class Bad
    {
        public override string ToString() => throw new InvalidOperationException("no text");
    }

    public static void Hostile()
    {
        log.Log(LogLevel.Information, 0, "state", null, (state, error) => throw new InvalidOperationException("no formatter"));
        log.LogInformation("{Bad}", new Bad());
        log.LogInformation("{Bad:Q9}", 5);
        log.Log(LogLevel.Information, 0, new Bad(), null, (state, error) => "the formatter's own");
        log.Log(LogLevel.Information, 0, new Lying(), null, (state, error) => "a list that lies");
        log.Log<object>(LogLevel.Information, 5, null, null, (state, error) => throw new InvalidOperationException());
        log.Log(LogLevel.Information, 0, "no formatter", null, null);
        log.Log(LogLevel.Information, 0, new[] { new KeyValuePair<string, object>("{OriginalFormat}", "unbalanced {0") }, null, (state, error) => "unbalanced {0");
        log.Log((LogLevel)77, 0, "no level", null, (state, error) => state);
        log.Log((LogLevel)(-1), 0, "no level", null, (state, error) => state);
        log.LogInformation("end");
    }

    public static void ManyTemplates()
    {
        for (int i = 0; i < 3000; ++i) log.LogInformation("made at run time " + i + " with {Value}", i);
        object[] values = [1, 2L, 3u, 4ul, "5", '6', 7.5, 8.5f, true, 10m, (byte)11, (sbyte)12, (short)13, (ushort)14, Guid.Empty, null, TimeSpan.Zero, 1e99, DateTime.MinValue, DateTimeOffset.MinValue];
        foreach (object value in values.Concat(values)) log.LogWarning("{Value}", value);
    }

    static readonly object[] boxed = [7, 101.25, "Ann"];

    public static void Allocations() =>
        Console.WriteLine(Garbage.Of(i => { filled(log, i, i + 0.5, "Ann", null); plain(log, null); }) + " bytes while on, " + Garbage.Of(i => rounded(log, i, 0.25, null)) + " bytes while off, " + Garbage.Of(i => log.LogInformation("order {Id} at {Price} by {Who}", boxed)) + " bytes beside the caller's boxes");

    // More messages than a level looks at first, all of them recorded for the first time by several threads at once.
    public static void Threads()
    {
        var messages = Enumerable.Range(0, 24).Select(i => LoggerMessage.Define<int, int, string>(LogLevel.Information, new EventId(i % 3), "message " + i + " of {Thread} in round {Round} {Text}")).ToArray();
        using var barrier = new Barrier(8);
        var threads = Enumerable.Range(0, 8).Select(number => new Thread(() =>
        {
            for (int round = 0; round < 200; ++round)
            {
                if (round == 0) barrier.SignalAndWait();
                foreach (var message in messages) message(log, number, round, "x", null);
            }
        })).ToList();
        threads.ForEach(one => one.Start());
        threads.ForEach(one => one.Join());
    }

    public static void Factory()
    {
        ILoggerFactory factory = LoggerFactory.Create(builder => builder.AddSilverpoint().AddSilverpoint());
        factory.CreateLogger("Shop").LogInformation("by a factory {Id}", 7);
        factory.Dispose();
    }
}
