using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.IO.MemoryMappedFiles;
using System.Linq;
using System.Runtime.InteropServices;
using System.Threading;
using Silverpoint;

/// Many records of many threads: each is there once, in its thread's order, however the program ends.
static class ManyTests
{
    const int Threads = 8;

    // A million in all. MANY_RECORDS=1250000 makes it ten, and the last SIGKILL later.
    static readonly int each = int.Parse(Environment.GetEnvironmentVariable("MANY_RECORDS") ?? "125000", CultureInfo.InvariantCulture);

    public static void RecordsOfEightThreadsAreAllThere()
    {
        Ended ended = Recorded.Program("Many", [Threads.ToString(), each.ToString()]);
        Dictionary<string, long> found = ByThread(ended.File);
        Check.Same(0, found.Values.Sum(one => each - one), "records that are missing");
        Check.Same(Threads, found.Count, "threads");
    }

    public static void AfterSigkillAllRecordsAreThereThatWereMade()
    {
        // At several moments: while threads begin, while their rings grow, and later.
        foreach (int least in new[] { 1, 300, 5000, each / 4 }) AllAreThereBehind("kill", 137, Threads, least);
    }

    public static void AfterExitAllRecordsAreThereThatWereMade() => AllAreThereBehind("exit", 3);

    public static void AfterFailFastAllRecordsAreThereThatWereMade() => AllAreThereBehind("failfast", 134);

    public static void AfterAnUnhandledExceptionAllRecordsAreThereThatWereMade() => AllAreThereBehind("unhandled", Recorded.IsMono ? 1 : 134);

    static void AllAreThereBehind(string how, int status, int threads = 4, int least = 20000)
    {
        // How many records each thread has made, in memory that outlives the program.
        string table = Recorded.Fresh(".made");
        File.WriteAllBytes(table, new byte[8 * threads]);
        Ended ended = Recorded.Program("ManyUntilTheEnd", [how, least.ToString(), threads.ToString(), table], status);
        // Mono's own shared memory, which a killed process leaves.
        File.Delete("/dev/shm/mono." + ended.Output.Split('\n').First(line => line.StartsWith("pid ")).Substring(4));
        Dictionary<string, long> found = ByThread(ended.File);
        byte[] bytes = File.ReadAllBytes(table);
        for (int i = 0; i < threads; ++i)
        {
            long made = BitConverter.ToInt64(bytes, 8 * i);
            Check.That(made >= least, how + ": thread " + i + " has made " + made + " records only");
            // A thread may have ended between a record and its count.
            Check.That(found[i.ToString()] == made || found[i.ToString()] == made + 1, how + ": thread " + i + " has made " + made + " records, found are " + found[i.ToString()]);
        }
        Check.Same(100, found[threads.ToString()], how + ": records of the thread that ended the program");
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

    public static unsafe int ManyUntilTheEnd(string[] arguments)
    {
        int least = int.Parse(arguments[1]), threads = int.Parse(arguments[2]);
        using MemoryMappedFile file = MemoryMappedFile.CreateFromFile(arguments[3], FileMode.Open);
        using MemoryMappedViewAccessor view = file.CreateViewAccessor();
        byte* at = null;
        view.SafeMemoryMappedViewHandle.AcquirePointer(ref at);
        long* made = (long*)at;
        Console.Out.Write("pid " + Process.GetCurrentProcess().Id + "\n");
        Console.Out.Flush();
        for (int i = 0; i < threads; ++i)
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
        for (int i = 0; i < threads; ++i)
            while (Volatile.Read(ref made[i]) < least) Thread.Yield();
        var last = new Thread(() =>
        {
            for (int n = 0; n < 100; ++n) counts.Record(threads, n);
            End(arguments[0]);
        });
        last.Start();
        Thread.Sleep(Timeout.Infinite);
        return 0;
    }

    // (Process.Kill takes so long that threads make 100,000 records meanwhile.)
    [DllImport("libc")] static extern int kill(int process, int signal);
    [DllImport("libc")] static extern int getpid();
    [DllImport("kernel32")] static extern bool TerminateProcess(IntPtr process, uint status);
    [DllImport("kernel32")] static extern IntPtr GetCurrentProcess();

    static void Kill()
    {
        if (Environment.OSVersion.Platform == PlatformID.Win32NT) TerminateProcess(GetCurrentProcess(), 137);
        else kill(getpid(), 9);
    }

    // The ways in which a program ends.
    static void End(string how)
    {
        switch (how)
        {
            case "kill": Kill(); break;
            case "exit": Environment.Exit(3); break;
            case "failfast": Environment.FailFast("the end"); break;
            case "unhandled": throw new InvalidOperationException("nobody catches this");
            default: throw new ArgumentException("no such end: " + how);
        }
        Thread.Sleep(Timeout.Infinite);
    }
}
