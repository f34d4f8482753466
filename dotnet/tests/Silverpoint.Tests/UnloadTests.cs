using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;
using Silverpoint;

/// Code that is loaded, records and is unloaded, many times.
static class UnloadTests
{
    // A domain, and a context with a Silverpoint of its own, compile all code again: that takes its time.
    const int Rounds = 40, Own = 20, Domains = 12;

    public static void DomainsOfMonoMayBeUnloaded()
    {
        if (!Recorded.IsMono) throw new Skipped(".NET has one AppDomain");
        Ended ended = Recorded.Program("UnloadDomains", [Domains.ToString()]);
        Check.That(ended.Output.Contains("grown by: 0 sites; shared memory: little"), ended.Output + ended.Errors);
        // Each domain has two threads that end, and one that is aborted.
        Counts(ended, Domains, true);
    }

    // Mono keeps bytes for each comparison of types in generic code. So it does without us; and ours are not many more.
    public static void OfADomainMonoKeepsWhatItsCompilerHasMade()
    {
        if (!Recorded.IsMono) throw new Skipped(".NET has one AppDomain");
        long Kept(string what) => long.Parse(Recorded.Program("KeepDomains", [what]).Output, CultureInfo.InvariantCulture);
        long nothing = Kept("nothing"), comparisons = Kept("comparisons"), ours = Kept("ours");
        string found = "kept of each domain: " + nothing + " bytes of an empty one, " + comparisons + " with comparisons, " + ours + " with Silverpoint";
        Check.That(comparisons - nothing > 40 * Comparisons.Count, found);
        Check.That(ours < 128 << 10, found);
    }

    public static void CollectibleContextsAreCollected() => Collected("shared", Rounds);

    public static void CollectibleContextsWithASilverpointOfTheirOwnAreCollected() => Collected("own", Own);

    static void Collected(string silverpoint, int rounds)
    {
        if (Recorded.IsMono) throw new Skipped("Mono has no collectible AssemblyLoadContext");
        Ended ended = Recorded.Program("UnloadContexts", [rounds.ToString(), silverpoint]);
        Check.That(ended.Output.Contains("alive: few; grown by: 0 sites; "), ended.Output + ended.Errors);
        Counts(ended, rounds, false);
    }

    static void Counts(Ended ended, int rounds, bool hasAborted)
    {
        List<Dictionary<string, object>> found = Recorded.Records(ended.File);
        var next = new Dictionary<string, long>();
        int others = 0;
        foreach (string text in found.Select(one => (string)one["message"]))
        {
            if (!text.StartsWith("counts "))
            {
                if (!text.StartsWith("silverpoint: ")) ++others;
                continue;
            }
            string[] words = text.Split(' ');
            next.TryGetValue(words[1], out long wanted);
            Check.Same(wanted, long.Parse(words[2], CultureInfo.InvariantCulture), "the next number of thread " + words[1]);
            next[words[1]] = wanted + 1;
        }
        for (int i = 0; i < 2 * rounds; ++i) Check.Same(20, next[i.ToString()], "records of thread " + i);
        Check.Same(rounds * Plugin.Records, others, "other records");
        for (int i = 0; hasAborted && i < rounds; ++i) Check.That(next[(1000000 + i).ToString()] >= 100, "records of the aborted thread " + i);
        Check.Same((hasAborted ? 3 : 2) * rounds, next.Count, "threads");
        Check.That(found.Any(one => ((string)one["message"]).Contains("\"Number\": 7, \"Shape\": \"Square\"")), "a value of a type that was unloaded");
    }
}

/// Code as that of Direct.cs, without Silverpoint.
static class Comparisons
{
    public const int Count = 12 * 8;

    static int Of<T>()
    {
        if (typeof(T) == typeof(int) || typeof(T) == typeof(uint) || typeof(T) == typeof(float)) return 1;
        if (typeof(T) == typeof(long) || typeof(T) == typeof(ulong) || typeof(T) == typeof(double)) return 2;
        if (typeof(T) == typeof(short) || typeof(T) == typeof(ushort) || typeof(T) == typeof(char)) return 3;
        return typeof(T) == typeof(byte) || typeof(T) == typeof(sbyte) || typeof(T) == typeof(Guid) ? 4 : 5;
    }

    public static void Run()
    {
        // Each is compared to the end.
        int sum = Of<bool>() + Of<decimal>() + Of<DateTime>() + Of<DateTimeOffset>() + Of<TimeSpan>() + Of<IntPtr>() + Of<UIntPtr>() + Of<KeyValuePair<int, int>>();
        if (sum != 8 * 5) throw new InvalidOperationException();
    }
}

static partial class Programs
{
    static long SharedMemory() => long.Parse(File.ReadAllLines("/proc/self/status").First(text => text.StartsWith("RssShmem:")).Split(' ').Reverse().Skip(1).First(), CultureInfo.InvariantCulture);

    // What has grown in the second half of all rounds. (.NET has code that it compiles in shared memory, too.)
    static void PrintGrowth(int rounds, Action<int> round, Func<string> more)
    {
        ulong sites = 0;
        long shared = 0;
        for (int i = 0; i < rounds; ++i)
        {
            if (i == rounds / 2)
            {
                sites = (ulong)Native.spn_sites();
                shared = SharedMemory();
            }
            round(i);
        }
        long grown = SharedMemory() - shared;
        Console.Write(more() + "grown by: " + ((ulong)Native.spn_sites() - sites) + " sites; shared memory: " + (grown < 4096 ? "little" : grown + " KiB") + "\n");
    }

    static void RunInDomain()
    {
        AppDomain domain = AppDomain.CurrentDomain;
        int round = (int)domain.GetData("round");
        SilverpointTrace.Install();
        Plugin.Run(round);
        using var isRunning = new ManualResetEvent(false);
        var endless = new Thread(() => Plugin.RunForever(1000000 + round, number =>
        {
            if (number == 100) isRunning.Set();
        })) { IsBackground = true };
        endless.Start();
        isRunning.WaitOne();
    }

    public static int UnloadDomains(string[] arguments)
    {
        PrintGrowth(int.Parse(arguments[0]), round =>
        {
            AppDomain domain = AppDomain.CreateDomain("round " + round);
            domain.SetData("round", round);
            domain.DoCallBack(RunInDomain);
            AppDomain.Unload(domain);
        }, () => "");
        return 0;
    }

    [StructLayout(LayoutKind.Sequential)]
    struct AllocatorState
    {
        public UIntPtr Arena, Ordinary, Small, MappedCount, Mapped, MostUsed, SmallFree, Used, Free, Top;
    }

    [DllImport("libc")] static extern AllocatorState mallinfo2();

    // What malloc has given and not got back.
    static long Allocated()
    {
        GC.Collect();
        GC.WaitForPendingFinalizers();
        AllocatorState state = mallinfo2();
        return (long)(ulong)state.Used + (long)(ulong)state.Mapped;
    }

    static void RunPlugin() => Plugin.Run((int)AppDomain.CurrentDomain.GetData("round"));

    static void RunNothing() { }

    /// Prints how many bytes stay of each domain. The first ones make what is made once.
    public static int KeepDomains(string[] arguments)
    {
        const int First = 5, Counted = 10;
        CrossAppDomainDelegate run = arguments[0] switch { "ours" => RunPlugin, "comparisons" => Comparisons.Run, _ => RunNothing };
        long before = 0;
        for (int round = 0; round < First + Counted; ++round)
        {
            if (round == First) before = Allocated();
            AppDomain domain = AppDomain.CreateDomain("round " + round);
            domain.SetData("round", round);
            domain.DoCallBack(run);
            AppDomain.Unload(domain);
        }
        Console.Write((Allocated() - before) / Counted + "\n");
        return 0;
    }

    // In a function of its own: no stack refers to the context later.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static WeakReference RunInContext(int round, bool hasOwn)
    {
        string folder = AppContext.BaseDirectory;
        Type type = Type.GetType("System.Runtime.Loader.AssemblyLoadContext, System.Runtime.Loader", true);
        object context = type.GetConstructor([typeof(string), typeof(bool)]).Invoke(["round " + round, true]);
        MethodInfo load = type.GetMethod("LoadFromAssemblyPath");
        if (hasOwn) load.Invoke(context, [Path.Combine(folder, "Silverpoint.dll")]);
        var plugin = (Assembly)load.Invoke(context, [Path.Combine(folder, "Plugin.dll")]);
        ((Action<int>)Delegate.CreateDelegate(typeof(Action<int>), plugin.GetType("Plugin", true).GetMethod("Run")))(round);
        type.GetMethod("Unload").Invoke(context, null);
        return new WeakReference(context);
    }

    public static int UnloadContexts(string[] arguments)
    {
        SilverpointTrace.Install();
        var all = new List<WeakReference>();
        PrintGrowth(int.Parse(arguments[0]), round =>
        {
            all.Add(RunInContext(round, arguments[1] == "own"));
            if (round % 10 == 9) GC.Collect();
        }, () =>
        {
            for (int turn = 0; turn < 100 && all.Count(one => one.IsAlive) > all.Count / 10; ++turn)
            {
                GC.Collect();
                GC.WaitForPendingFinalizers();
                Thread.Sleep(10);
            }
            int alive = all.Count(one => one.IsAlive);
            return "alive: " + (alive <= all.Count / 10 ? "few" : alive.ToString()) + "; ";
        });
        return 0;
    }
}
