using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;
using Silverpoint;

/// Threads, tasks, processes and languages that record together.
static class TogetherTests
{
    public static void AChildProcessHasItsOwnRecords()
    {
        Ended ended = Recorded.Program("Parent");
        List<Dictionary<string, object>> found = Recorded.Records(ended.File).Where(one => ((string)one["message"]).StartsWith("step ")).ToList();
        string[] pids = ended.Output.Split('\n').Where(text => text.StartsWith("pid ")).Select(text => text.Substring(4)).ToArray();
        Check.Same(2, pids.Distinct().Count(), "processes that said who they are: " + ended.Output);
        string wanted = string.Join("\n", Enumerable.Range(0, 100).Select(i => pids[0] + " step " + i + " of the child")
            .Concat(Enumerable.Range(0, 100).Select(i => pids[1] + " step " + i + " of the parent")).ToArray());
        Check.Same(wanted, string.Join("\n", found.OrderBy(one => (string)one["message"] != "" && one["pid"].ToString() == pids[0] ? 0 : 1).Select(one => one["pid"] + " " + one["message"]).ToArray()), "records by process");
    }

    public static void TheThreadPoolLosesNothing()
    {
        List<string> found = Recorded.Texts(Recorded.Program("Pool").File);
        Check.Same(string.Join("\n", Enumerable.Range(0, 2000).Select(i => "job " + i).OrderBy(text => text, StringComparer.Ordinal).ToArray()),
                   string.Join("\n", found.OrderBy(text => text, StringComparer.Ordinal).ToArray()), "records of jobs");
    }

    public static void StepsOfAnAsyncMethodAreInOrder()
    {
        List<string> found = Recorded.Texts(Recorded.Program("Flows").File);
        Check.Same(8 * 25, found.Count, "records");
        foreach (IGrouping<string, string> flow in found.GroupBy(text => text.Split(' ')[1]))
            Check.Same(string.Join("\n", Enumerable.Range(0, 25).Select(i => "flow " + flow.Key + " step " + i).ToArray()), string.Join("\n", flow.ToArray()), "records of one flow");
    }

    public static void CppInTheProcessSharesItsSession()
    {
        List<Dictionary<string, object>> found = Recorded.Records(Recorded.Program("WithCpp").File);
        Check.Same(string.Join("\n", Enumerable.Range(0, 200).Select(i => "step " + i + (i % 2 == 0 ? " in C#" : " in C++")).ToArray()), string.Join("\n", found.Select(one => (string)one["message"]).ToArray()), "one timeline");
        Check.Same(1, found.Select(one => one["pid"] + " " + one["tid"]).Distinct().Count(), "threads");
    }
}

static partial class Programs
{
    static readonly Tracepoint<int, string> steps = Tracepoint.Log("test", Level.Info, "step {} {}").With<int, string>();

    static void Steps(string whose)
    {
        for (int i = 0; i < 100; ++i) steps.Record(i, whose);
        Console.Write("pid " + System.Diagnostics.Process.GetCurrentProcess().Id + "\n");
    }

    public static int Child(string[] arguments)
    {
        Steps("of the child");
        return 0;
    }

    public static int Parent(string[] arguments)
    {
        // The session exists when the child begins.
        line.Record("before");
        Ended child = Recorded.Run(Recorded.Again[0], Recorded.Again.Skip(1).Concat(["Child"]));
        Console.Write(child.Output + child.Errors);
        Steps("of the parent");
        return child.Status;
    }

    static readonly Tracepoint<int> jobs = Tracepoint.Log("test", Level.Info, "job {}").With<int>();

    public static int Pool(string[] arguments)
    {
        using var all = new CountdownEvent(2000);
        for (int i = 0; i < 2000; ++i)
        {
            ThreadPool.QueueUserWorkItem(number =>
            {
                jobs.Record((int)number);
                all.Signal();
            }, i);
        }
        all.Wait();
        return 0;
    }

    static readonly Tracepoint<int, int> flows = Tracepoint.Log("test", Level.Info, "flow {} step {}").With<int, int>();

    static async Task StepsOf(int number)
    {
        for (int i = 0; i < 25; ++i)
        {
            flows.Record(number, i);
            if (i % 5 == 0) await Task.Delay(1);
            else await Task.Yield();
        }
    }

    public static int Flows(string[] arguments)
    {
        Task.WaitAll(Enumerable.Range(0, 8).Select(StepsOf).ToArray());
        return 0;
    }

    [DllImport("native_part")] static extern void native_part(int number);

    public static int WithCpp(string[] arguments)
    {
        for (int i = 0; i < 200; ++i)
        {
            if (i % 2 == 0) steps.Record(i, "in C#");
            else native_part(i);
        }
        return 0;
    }
}
