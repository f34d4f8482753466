using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Silverpoint;

/// Fields of all records of a flow.
static class ContextTests
{
    // What stands in a record's context, as name=value.
    internal static string Fields(Dictionary<string, object> record)
    {
        object context;
        if (!record.TryGetValue("context", out context)) return "";
        return string.Join(" ", ((Dictionary<string, object>)context).Select(one => one.Key + "=" + Text(one.Value)).OrderBy(one => one, StringComparer.Ordinal).ToArray());
    }

    static string Text(object value) => value switch
    {
        List<object> list => "[" + string.Join(",", list.Select(Text).ToArray()) + "]",
        Dictionary<string, object> map => "{" + string.Join(",", map.Select(one => one.Key + ":" + Text(one.Value)).ToArray()) + "}",
        null => "null",
        true => "true",
        _ => value.ToString(),
    };

    // Without those about waits for room.
    static List<Dictionary<string, object>> Made(string program) => Recorded.Records(Recorded.Program(program).File).Where(one => one.ContainsKey("category") && (string)one["category"] == "test").ToList();

    static void Shown(string program, params string[] wanted)
    {
        string[] found = Recorded.Records(Recorded.Program(program).File).Select(one => one["message"] + " {" + Fields(one) + "}").ToArray();
        Check.Same(string.Join("\n", wanted), string.Join("\n", found), "records and their fields");
    }

    public static void FieldsLastUntilTheEndOfTheirScope() => Shown("NestedContexts",
        "before {}", "outer {request=7}", "inner {request=7 step=charge user=Ann}", "hidden {request=8}", "outer again {request=7}", "after {}",
        "the outer one has ended {b=2 c=3}", "and the innermost {b=2}", "twice {b=2}", "none {}");

    public static void ValuesKeepTheirTypes() => Shown("TypedContexts",
        "all {big=18446744073709551615 guid=00112233-4455-6677-8899-aabbccddeeff list=[1,2] map={a:1} negative=-1 none=null number=1.5 text=äöü time=00:00:01 yes=true}");

    public static void AThousandTasksHaveTheirOwnFields()
    {
        List<Dictionary<string, object>> found = Made("ManyFlows");
        Check.Same(1000 * 12, found.Count, "records");
        foreach (Dictionary<string, object> one in found)
        {
            string[] words = ((string)one["message"]).Split(' ');
            string wanted = words[0] == "outside" ? "" : words[0] == "inner" ? "flow=" + words[1] + " inner=" + words[2] : "flow=" + words[1];
            Check.Same(wanted, Fields(one), "the fields of '" + one["message"] + "'");
        }
        Check.That(found.Select(one => one["tid"].ToString()).Distinct().Count() > 1, "one thread made all records");
    }

    public static void FieldsFollowTheFlow() => Shown("FlowsOfContexts",
        "begin {request=1}", "Task.Run {request=1}", "behind the await {request=1}", "new Thread {request=1}", "QueueUserWorkItem {request=1}", "UnsafeQueueUserWorkItem {}",
        "suppressed {}", "the callee's own {inner=2 request=1}", "not the callee's {request=1}", "disposed by another flow {request=1}", "end {}", "a task that outlives the scope {request=1}");

    public static void HostileFieldsAreBounded()
    {
        List<Dictionary<string, object>> found = Recorded.Records(Recorded.Program("HostileContexts").File);
        Check.Same("endless,throws,throwing values,long,many,deep,none", string.Join(",", found.Select(one => (string)one["message"]).ToArray()), "records");
        string[] fields = found.Select(Fields).ToArray();
        Check.That(fields[0].Contains("f0=0 ") && fields[0].Contains("f9=9") && fields[0].Length > 500 && fields[0].Length < 3000, fields[0]);
        Check.Same("first=1", fields[1], "the fields before the enumerator threw");
        Check.Same("after=2 bad={Name:<error: InvalidOperationException>}", fields[2], "a getter that throws");
        Check.That(fields[3].Contains("\u2026(+") && fields[3].Length < 1500, fields[3]);
        Check.That(fields[4].StartsWith("keep=1") || fields[4].Contains(" keep=1"), fields[4]);
        Check.Same(24, fields[5].Split(' ').Length, "the fields of a thousand scopes: " + fields[5]);
        Check.Same("", fields[6], "behind all scopes");
        foreach (int i in new[] { 0, 1, 3, 4 }) Check.That(found[i].Values.All(value => value != null), "a record is whole");
    }

    public static void RecordsInAContextMakeNoGarbage()
    {
        string output = Recorded.Program("ContextAllocations").Output;
        Check.That(output == "0 bytes\n" || output == "0 collections\n", output);
    }

    // (The bytes of a ring are used many times: the fields are stated again in each eighth.)
    public static void EachOfAHundredThousandRecordsHasTheFields()
    {
        string[] fields = Recorded.Lines(Recorded.Program("LongContext").File, "test", "{context}").ToArray();
        Check.Same(100000, fields.Length, "records");
        Check.Same(0, fields.Count(one => one != "request=7"), "records without the fields");
    }

    public static void EndsOfSpansAreRecordedInAContext()
    {
        List<Dictionary<string, object>> found = Recorded.Records(Recorded.Program("SpanAndContext").File);
        Check.Same("begins {} | within {request=7} | begins {} done", string.Join(" | ", found.Select(one => ((string)one["message"]).Split(' ')[0] + " {" + Fields(one) + "}" + (((string)one["message"]).Contains("done") ? " done" : "")).ToArray()), "records");
    }
}

static partial class Programs
{
    public static int NestedContexts(string[] arguments)
    {
        line.Record("before");
        using (Context.Push("request", 7))
        {
            line.Record("outer");
            using (Context.Push("step", "charge", "user", "Ann")) line.Record("inner");
            using (Context.Push("request", 8)) line.Record("hidden");
            using (Context.Push("unused", 1)) { }
            line.Record("outer again");
        }
        line.Record("after");
        Context a = Context.Push("a", 1), b = Context.Push("b", 2), c = Context.Push("c", 3);
        a.Dispose();
        line.Record("the outer one has ended");
        c.Dispose();
        line.Record("and the innermost");
        c.Dispose();
        a.Dispose();
        line.Record("twice");
        b.Dispose();
        line.Record("none");
        return 0;
    }

    public static int TypedContexts(string[] arguments)
    {
        var fields = new Dictionary<string, object>
        {
            ["number"] = 1.5, ["negative"] = -1, ["big"] = ulong.MaxValue, ["text"] = "äöü", ["none"] = null, ["yes"] = true, ["guid"] = new Guid("00112233-4455-6677-8899-aabbccddeeff"),
            ["time"] = TimeSpan.FromSeconds(1), ["list"] = new[] { 1, 2 }, ["map"] = new Dictionary<string, int> { ["a"] = 1 },
        };
        using (Context.Push(fields)) line.Record("all");
        return 0;
    }

    static readonly Tracepoint<int, int> flowing = Tracepoint.Log("test", Level.Info, "flow {} {}").With<int, int>();
    static readonly Tracepoint<int, int> inner = Tracepoint.Log("test", Level.Info, "inner {} {}").With<int, int>();
    static readonly Tracepoint<int> outside = Tracepoint.Log("test", Level.Info, "outside {}").With<int>();

    static async Task Flow(int number)
    {
        outside.Record(number);
        using (Context.Push("flow", number))
        {
            for (int i = 0; i < 3; ++i)
            {
                flowing.Record(number, i);
                await Task.Yield();
                using (Context.Push("inner", i))
                {
                    await Task.Delay(number % 3).ConfigureAwait(false);
                    inner.Record(number, i);
                }
                flowing.Record(number, -i);
            }
        }
        outside.Record(number);
        await Task.Yield();
        outside.Record(number);
    }

    public static int ManyFlows(string[] arguments)
    {
        Task.WaitAll(Enumerable.Range(0, 1000).Select(number => Task.Run(() => Flow(number))).ToArray());
        return 0;
    }

    static async Task Callee()
    {
        Context.Push("inner", 2);
        line.Record("the callee's own");
        await Task.Yield();
    }

    static async Task FlowAsync()
    {
        var late = new TaskCompletionSource<int>();
        Task outliving;
        Context request = Context.Push("request", 1);
        using (request)
        {
            line.Record("begin");
            await Task.Run(() => line.Record("Task.Run")).ConfigureAwait(false);
            line.Record("behind the await");
            var thread = new Thread(() => line.Record("new Thread"));
            thread.Start();
            thread.Join();
            using (var done = new ManualResetEventSlim())
            {
                ThreadPool.QueueUserWorkItem(_ => { line.Record("QueueUserWorkItem"); done.Set(); });
                done.Wait();
                done.Reset();
                ThreadPool.UnsafeQueueUserWorkItem(_ => { line.Record("UnsafeQueueUserWorkItem"); done.Set(); }, null);
                done.Wait();
                done.Reset();
                using (ExecutionContext.SuppressFlow()) ThreadPool.QueueUserWorkItem(_ => { line.Record("suppressed"); done.Set(); });
                done.Wait();
            }
            await Callee();
            line.Record("not the callee's");
            await Task.Run(() => request.Dispose());
            line.Record("disposed by another flow");
            outliving = Outliving(late.Task);
        }
        line.Record("end");
        late.SetResult(0);
        await outliving;
    }

    static async Task Outliving(Task begun)
    {
        await begun.ConfigureAwait(false);
        await Task.Yield();
        line.Record("a task that outlives the scope");
    }

    public static int FlowsOfContexts(string[] arguments)
    {
        FlowAsync().GetAwaiter().GetResult();
        return 0;
    }

    static IEnumerable<KeyValuePair<string, object>> EndlessFields()
    {
        for (int i = 0; ; ++i) yield return new KeyValuePair<string, object>("f" + i, i);
    }

    static IEnumerable<KeyValuePair<string, object>> ThrowingFields()
    {
        yield return new KeyValuePair<string, object>("first", 1);
        throw new InvalidOperationException("no more");
    }

    sealed class ThrowingName
    {
        public string Name => throw new InvalidOperationException("no name");
    }

    public static int HostileContexts(string[] arguments)
    {
        using (Context.Push(EndlessFields())) line.Record("endless");
        using (Context.Push(ThrowingFields())) line.Record("throws");
        using (Context.Push("bad", new ThrowingName(), "after", 2)) line.Record("throwing values");
        using (Context.Push(new string('n', 100000), new string('\u00e4', 100000))) line.Record("long");
        using (Context.Push("keep", 1))
        using (Context.Push("text", new string('x', 5000)))
        using (Context.Push("more", new string('y', 5000)))
        using (Context.Push(null, null)) line.Record("many");
        var all = new List<Context>();
        for (int i = 0; i < 1000; ++i) all.Add(Context.Push("d" + i, i));
        line.Record("deep");
        foreach (Context one in all) one.Dispose();
        Context.Push((IEnumerable<KeyValuePair<string, object>>)null).Dispose();
        line.Record("none");
        return 0;
    }

    public static int ContextAllocations(string[] arguments)
    {
        using (Context.Push("request", 7)) PrintGarbage(i => flowing.Record(i, i));
        return 0;
    }

    public static int LongContext(string[] arguments)
    {
        using (Context.Push("request", 7))
            for (int i = 0; i < 100000; ++i) flowing.Record(i, i);
        return 0;
    }

    public static int SpanAndContext(string[] arguments)
    {
        TraceSpan span = Tracepoint.Span("test", "begins").With().Begin();
        using (Context.Push("request", 7)) line.Record("within");
        span.Dispose();
        return 0;
    }
}
