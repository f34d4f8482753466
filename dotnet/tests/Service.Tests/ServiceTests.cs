using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Text.RegularExpressions;

/// The example dotnet/examples/Service: each order has its records of all frontends, in one timeline.
static class ServiceTests
{
    const int Orders = 20;
    // By level, category and the begin of the message. Each seventh order is too large.
    static readonly string[] taken = ["info Shop-Queue order ", "debug shop.workers order begin id=", "info Shop.Workers received ", "info trace checking the limit"];
    static readonly string[] filled = [.. taken, "debug shop.exchange quote begin id=", "debug shop.exchange parent from=", "debug shop.exchange quote span.id=", "debug shop.exchange quote end id=",
                                       "debug exchange {\"Id\": ", "info exchange order.filled id=", "debug shop.workers order span.id=", "debug shop.workers order end id="];
    static readonly string[] rejected = [.. taken, "warn limits 5000 is more than 1000 id=12", "error Shop.Workers rejected event=2 exception=", "debug shop.workers order span.id=", "debug shop.workers order end id="];

    static readonly Lazy<string> file = new(() => Recorded.Program("Service").File);

    public static void EachOrderHasItsRecordsOfAllFrontends()
    {
        List<Dictionary<string, object>> found = Recorded.Records(file.Value);
        int count = 0;
        for (int id = 1; id <= Orders; ++id)
        {
            Dictionary<string, object>[] ofOrder = found.Where(record => Field(record, "order") == id.ToString()).ToArray();
            string[] wanted = id % 7 == 0 ? rejected : filled;
            string[] lines = ofOrder.Select(record => record["level"] + " " + record["category"] + " " + record["message"]).ToArray();
            for (int i = 0; i < Math.Max(lines.Length, wanted.Length); ++i)
                Check.That(i < lines.Length && i < wanted.Length && lines[i].StartsWith(wanted[i], StringComparison.OrdinalIgnoreCase), "order " + id + ", record " + i + " of " + wanted.Length + ":\n  " + string.Join("\n  ", lines));
            // All but the queue's event are made by one worker.
            string[] workers = ofOrder.Skip(1).Select(record => Field(record, "worker")).Distinct().ToArray();
            Check.That(workers.Length == 1 && int.Parse(workers[0]) is >= 1 and <= 4, "order " + id + " is of the workers '" + string.Join("', '", workers) + "'");
            count += lines.Length;
        }
        string[] others = found.Where(record => Field(record, "order") == "").Select(record => (string)record["category"]).Distinct().Order().ToArray();
        Check.Same("Microsoft.Extensions.Hosting.Internal.Host Microsoft.Hosting.Lifetime silverpoint", string.Join(" ", others), "categories of records without an order");
        Check.Same(18 * filled.Length + 2 * rejected.Length, count, "records of orders");
    }

    /// The commands of the page show what the page shows, but for numbers of spans, times and stacks.
    public static void ThePageShowsWhatIsRecorded()
    {
        string page = File.ReadAllText(Path.Combine(Recorded.Top, "dotnet", "examples", "Service", "README.md"));
        string[] blocks = page.Split("```").Where(block => block.StartsWith("console\n$ silverpoint ")).ToArray();
        Check.Same(2, blocks.Length, "blocks of the page");
        foreach (string block in blocks)
        {
            string[] lines = block.Split('\n');
            string[] words = Regex.Matches(lines[1], @"'([^']*)'|[^\s']+").Select(word => word.Groups[1].Success ? word.Groups[1].Value : word.Value).Skip(2).ToArray();
            Ended ended = Recorded.Run(Recorded.Silverpoint, words.Select(word => word == "service.silver" ? file.Value : word));
            Check.Same(Masked(string.Join("\n", lines.Skip(2))).TrimEnd(), Masked(ended.Output).TrimEnd(), lines[1] + "\n" + ended.Errors);
        }
    }

    static string Masked(string lines) => Regex.Replace(Regex.Replace(lines, @"""stack"": ""[^""]*""", "stack"), @"^\+[0-9.]+|(?<=id=|from=|to=)[0-9a-f]{8,}|(?<=duration=)\S+ \S+|(?<=behind )\d", "…", RegexOptions.Multiline);

    static string Field(Dictionary<string, object> record, string name)
    {
        object context, value = null;
        if (record.TryGetValue("context", out context)) ((Dictionary<string, object>)context).TryGetValue(name, out value);
        return value?.ToString() ?? "";
    }
}

static class Programs
{
    public static int Service(string[] arguments)
    {
        Assembly.Load("Service").EntryPoint.Invoke(null, [arguments]);
        return 0;
    }
}
