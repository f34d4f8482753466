using System;
using System.Collections;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Threading;
using Silverpoint;

/// The programs of ValuesTests.
static partial class Programs
{
    static readonly Tracepoint<object> any = Tracepoint.Log("test", Level.Info, "{}").With<object>();
    static readonly Tracepoint<string> line = Tracepoint.Log("test", Level.Info, "{}").With<string>();

    public static int Scalars(string[] arguments)
    {
        if (arguments.Length > 0) CultureInfo.CurrentCulture = Foreign();
        Tracepoint.Log("test", Level.Info, "{} {} {} {} {} {}").With<sbyte, byte, short, ushort, int, uint>().Record(-128, 255, -32768, 65535, int.MinValue, uint.MaxValue);
        Tracepoint.Log("test", Level.Info, "{} {} {} {} {} {}").With<long, ulong, float, double, bool, char>().Record(long.MinValue, ulong.MaxValue, 0.1f, 0.1, true, '\u00e4');
        Tracepoint.Log("test", Level.Info, "{} {} {} {} {} {}").With<decimal, Guid, IntPtr, Colour, Colour, FileAccess>()
            .Record(1.50m, new Guid("00112233-4455-6677-8899-aabbccddeeff"), (IntPtr)16, Colour.Green, (Colour)77, FileAccess.ReadWrite);
        var time = new DateTime(2026, 11, 26, 1, 2, 3, DateTimeKind.Utc);
        Tracepoint.Log("test", Level.Info, "{} {} {} {} {} {}").With<DateTime, DateTimeOffset, TimeSpan, DateTime, TimeSpan, string>()
            .Record(time, new DateTimeOffset(time).ToOffset(TimeSpan.FromHours(2)), TimeSpan.FromTicks(15000000), DateTime.MinValue, TimeSpan.MaxValue, null);
        Tracepoint.Log("test", Level.Info, "{} {}").With<Below, Below>().Record(Below.Minus, (Below)(-7));
        return 0;
    }

    enum Below { Minus = -1, Zero }

    // The signs of Swedish. Not each runtime knows that culture.
    static CultureInfo Foreign()
    {
        var culture = (CultureInfo)CultureInfo.InvariantCulture.Clone();
        culture.NumberFormat.NegativeSign = "\u2212";
        culture.NumberFormat.NumberDecimalSeparator = ",";
        culture.NumberFormat.NumberGroupSeparator = "\u00a0";
        culture.DateTimeFormat.DateSeparator = "-";
        culture.DateTimeFormat.TimeSeparator = ".";
        return culture;
    }

    public static int Containers(string[] arguments)
    {
        Tracepoint.Log("test", Level.Info, "{} {} {} {} {} {}").With<int[], int[], List<string>, Dictionary<string, int>, (int, string), byte[]>()
            .Record([1, 2], null, ["a", "b"], new Dictionary<string, int> { ["a"] = 1 }, (1, "x"), [1, 2]);
        Tracepoint.Log("test", Level.Info, "{} {} {} {} {} {}").With<int?, int?, HashSet<int>, KeyValuePair<string, int>, (int, string, double), int[][]>()
            .Record(null, 5, [1, 2], new KeyValuePair<string, int>("k", 7), (1, "x", 2.5), [[1], null]);
        Tracepoint.Log("test", Level.Info, "{} {} {} {} {} {}").With<(int, int, int, int), Tuple<int, string>, Tuple<int, int, int>, List<Colour>, List<KeyValuePair<string, int>>, int?[]>()
            .Record((1, 2, 3, 4), Tuple.Create(5, "y"), null, [Colour.Green], [new KeyValuePair<string, int>("k", 1)], [null, 3]);
        return 0;
    }

    struct Point
    {
        public int X { get; set; }
        public int Y { get; set; }
    }

    sealed class Broken
    {
        public int Good => 1;
        public int Bad => throw new InvalidOperationException("no");
        public int Last => 2;
        // Neither of these is read.
        public int this[int index] => index;
        public int WriteOnly { set { } }
    }

    sealed class Chain
    {
        public string Name { get; set; }
        public Chain Next { get; set; }
    }

    sealed class Endless : IReadOnlyCollection<int>
    {
        public int Count => 3;
        public IEnumerator<int> GetEnumerator()
        {
            for (int i = 1; i <= 3; ++i) yield return i;
        }
        IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();
    }

    sealed class Unreadable : IEnumerable, ICollection
    {
        public int Count => 1;
        public bool IsSynchronized => false;
        public object SyncRoot => this;
        public void CopyTo(Array array, int index) { }
        public IEnumerator GetEnumerator() => throw new NotSupportedException("no");
    }

    public static int Objects(string[] arguments)
    {
        any.Record(null);
        any.Record(new { Id = 7, Name = "x", Inner = new { Price = 1.50m } });
        any.Record(new Point { X = 1, Y = 2 });
        any.Record(new object[] { 1, "two", new[] { 3 } });
        any.Record(new Broken());
        Chain chain = null;
        for (int i = 9; i >= 0; --i) chain = new Chain { Name = i.ToString(), Next = chain };
        any.Record(chain);
        any.Record(new SortedList { ["one"] = 1, ["two"] = new[] { 2 } });
        any.Record(new Version(1, 2, 3));
        any.Record(DayOfWeek.Friday);
        any.Record(new Unreadable());
        any.Record(new Endless());
        return 0;
    }

    public static int Exceptions(string[] arguments)
    {
        Tracepoint<Exception> failed = Tracepoint.Log("test", Level.Error, "failed: {}").With<Exception>();
        try
        {
            try
            {
                throw new InvalidOperationException("inner");
            }
            catch (Exception inner)
            {
                throw new ApplicationException("outer", inner);
            }
        }
        catch (Exception outer)
        {
            failed.Record(outer);
        }
        failed.Record(new AggregateException(new Exception("first"), new Exception("second")));
        failed.Record(new Exception("around it", new Silent(new Exception("innermost"))));
        return 0;
    }

    sealed class Silent(Exception inner) : Exception("", inner)
    {
        public override string Message => throw new NotSupportedException("no message");
        public override string StackTrace => throw new TimeoutException("no stack");
    }

    public static int LongValues(string[] arguments)
    {
        Tracepoint.Log("test", Level.Info, "{} {}").With<string, string>().Record(new string('\u20ac', 400000), "behind it");
        Tracepoint.Log("test", Level.Info, "{}").With<int[]>().Record(new int[300000]);
        any.Record(new string('x', 400000));
        any.Record(new int[300000]);
        line.Record("after all");
        return 0;
    }

    public static int SpansAndOthers(string[] arguments)
    {
        using (Tracepoint.Span("test", "load").With<string>("path").Begin("a b")) line.Record("inside");
        Tracepoint.Counter("test", "depth").With<int>().Record(17);
        Tracepoint.Instant("test", "tick").With().Record();
        ulong id = Tracepoint.NewId();
        Tracepoint.AsyncBegin("test", "fetch").With<ulong, string>("id", "url").Record(id - id + 1, "http://x");
        Tracepoint.AsyncInstant("test", "fetch").With<ulong, int>("id", "bytes").Record(1, 5);
        Tracepoint.AsyncEnd("test", "fetch").With<ulong>().Record(1);
        Tracepoint.FlowBegin("test", "path").With<ulong>().Record(2);
        Tracepoint.FlowStep("test", "path").With<ulong>().Record(2);
        Tracepoint.FlowEnd("test", "path").With<ulong>().Record(2);
        return 0;
    }

    sealed class Recording
    {
        public int Items
        {
            get
            {
                line.Record("a nested record");
                return 42;
            }
        }
    }

    // The getter records by itself, and another one throws: the record around them is whole.
    public static int NestedRecords(string[] arguments)
    {
        line.Record("before");
        any.Record(new Recording());
        try
        {
            Tracepoint.Log("test", Level.Info, "{}").With<int>().Begin(1);
        }
        catch (InvalidOperationException)
        {
            line.Record("caught");
        }
        line.Record("after");
        return 0;
    }

    public static int Allocations(string[] arguments)
    {
        var three = Tracepoint.Log("test", Level.Info, "{} {} {}").With<int, double, string>();
        var times = Tracepoint.Log("test", Level.Info, "{} {} {}").With<DateTime, decimal, Colour>();
        DateTime now = DateTime.UtcNow;
        string text = "order 12345 filled", ended = "order 12345 filled\r\n";
        // The listener's lines are free of garbage, too.
        var listener = new SilverpointTraceListener();
        PrintGarbage(i =>
        {
            three.Record(i, 1.5, text);
            times.Record(now, 12.50m, Colour.Green);
            listener.WriteLine(text);
            listener.Write(ended);
            listener.TraceEvent(null, "app", System.Diagnostics.TraceEventType.Warning, 0, text);
            listener.TraceEvent(null, "app", System.Diagnostics.TraceEventType.Warning, 7, text);
        });
        return 0;
    }

    static void PrintGarbage(Action<int> call) => Console.Write(Garbage.Of(call) + " " + Garbage.Unit + "\n");

    public static int Unhandled(string[] arguments)
    {
        UnhandledExceptions.Record();
        line.Record("before");
        var thread = new Thread(() => throw new InvalidOperationException("nobody catches this"));
        thread.Start();
        thread.Join();
        Thread.Sleep(Timeout.Infinite);
        return 0;
    }

    public static int WithoutLibrary(string[] arguments)
    {
        line.Record("nowhere");
        any.Record(new { A = 1 });
        using (Tracepoint.Span("test", "load").With<string>("path").Begin("x")) { }
        new SilverpointTraceListener().WriteLine("nowhere");
        Console.WriteLine((line.IsEnabled ? "on" : "off") + ", and goes on");
        return 0;
    }
}
