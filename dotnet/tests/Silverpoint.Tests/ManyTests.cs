using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Text;
using System.Threading;
using Silverpoint;

/// Many records of many threads: each is there once, in its thread's order, however the program ends.
static class ManyTests
{
    const int Threads = 8, Each = 125000;

    public static void AMillionRecordsOfEightThreadsAreAllThere()
    {
        Ended ended = Recorded.Program("Many", [Threads.ToString(), Each.ToString()]);
        Dictionary<string, long> found = ByThread(ended.File);
        Check.Same(0, found.Values.Sum(one => Each - one), "records that are missing");
        Check.Same(Threads, found.Count, "threads");
    }

    public static void AfterSigkillAllRecordsAreThereThatWereMade()
    {
        // At several moments: while threads begin, while their rings grow, and later.
        foreach (int least in new[] { 1, 300, 5000, 30000 }) AllAreThereBehind("kill", least, 137);
    }

    public static void AfterExitAllRecordsAreThereThatWereMade() => AllAreThereBehind("exit", 20000, 3);

    public static void AfterFailFastAllRecordsAreThereThatWereMade() => AllAreThereBehind("failfast", 20000, 134);

    public static void AfterAnUnhandledExceptionAllRecordsAreThereThatWereMade() => AllAreThereBehind("unhandled", 20000, Recorded.IsMono ? 1 : 134);

    static void AllAreThereBehind(string how, int least, int status)
    {
        Ended ended = Recorded.Program("ManyUntilTheEnd", [how, least.ToString()], status);
        // Mono's own shared memory, which a killed process leaves.
        File.Delete("/dev/shm/mono." + ended.Output.Split('\n').First(line => line.StartsWith("pid ")).Substring(4));
        // The last number of each thread before the program ended; what it says was recorded before.
        var made = ended.Output.Split('\n').Where(line => line.StartsWith("made ")).Select(line => line.Split(' ')).ToDictionary(words => words[1], words => long.Parse(words[2]));
        Check.Same(5, made.Count, "threads that said what they made: " + ended.Output);
        Dictionary<string, long> found = ByThread(ended.File);
        foreach (KeyValuePair<string, long> one in made)
            Check.That(found.ContainsKey(one.Key) && found[one.Key] >= one.Value, how + ": thread " + one.Key + " made " + one.Value + " records, found " + (found.ContainsKey(one.Key) ? found[one.Key] : 0));
        Check.That(made.Values.Min() >= Math.Min(least, 100), "each thread made many records");
        Check.Same(100, found["4"], how + ": records of the thread that ended the program");
    }

    // How many records each thread has. They must count from 0, without a gap.
    static Dictionary<string, long> ByThread(string file)
    {
        var next = new Dictionary<string, long>();
        foreach (string line in Recorded.Lines(file, "test"))
        {
            string[] words = line.Split(' ');
            next.TryGetValue(words[1], out long wanted);
            Check.Same(wanted, long.Parse(words[2], CultureInfo.InvariantCulture), "the next number of thread " + words[1]);
            next[words[1]] = wanted + 1;
        }
        return next;
    }
}

static partial class Programs
{
    static readonly Tracepoint<int, long> counts = Tracepoint.Log("test", Level.Info, "counts {} {}").With<int, long>();

    public static int Many(string[] arguments)
    {
        int threads = int.Parse(arguments[0]), each = int.Parse(arguments[1]);
        var all = new Thread[threads];
        for (int i = 0; i < threads; ++i)
        {
            int number = i;
            all[i] = new Thread(() =>
            {
                for (long n = 0; n < each; ++n) counts.Record(number, n);
            });
        }
        foreach (Thread one in all) one.Start();
        foreach (Thread one in all) one.Join();
        return 0;
    }

    public static int ManyUntilTheEnd(string[] arguments)
    {
        var made = new long[5];
        for (int i = 0; i < 4; ++i)
        {
            int number = i;
            new Thread(() =>
            {
                for (long n = 0; ; ++n)
                {
                    counts.Record(number, n);
                    Volatile.Write(ref made[number], n + 1);
                }
            }) { IsBackground = true }.Start();
        }
        int least = int.Parse(arguments[1]);
        while (made.Take(4).Select((_, i) => Volatile.Read(ref made[i])).Min() < least) Thread.Yield();
        var last = new Thread(() =>
        {
            for (; made[4] < 100; ++made[4]) counts.Record(4, made[4]);
            StringBuilder text = new StringBuilder("pid ").Append(Process.GetCurrentProcess().Id).Append('\n');
            for (int i = 0; i < made.Length; ++i) text.Append("made ").Append(i).Append(' ').Append(Volatile.Read(ref made[i])).Append('\n');
            Console.Out.Write(text);
            Console.Out.Flush();
            End(arguments[0]);
        });
        last.Start();
        Thread.Sleep(Timeout.Infinite);
        return 0;
    }

    // The ways in which a program ends.
    static void End(string how)
    {
        switch (how)
        {
            case "kill": Process.GetCurrentProcess().Kill(); break;
            case "exit": Environment.Exit(3); break;
            case "failfast": Environment.FailFast("the end"); break;
            case "unhandled": throw new InvalidOperationException("nobody catches this");
            default: throw new ArgumentException("no such end: " + how);
        }
        Thread.Sleep(Timeout.Infinite);
    }
}
