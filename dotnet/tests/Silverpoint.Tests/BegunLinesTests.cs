using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading;
using Silverpoint;

/// A line that its thread has not ended when the program ends.
static class BegunLinesTests
{
    static void Are(string how, int status, params string[] wanted)
    {
        List<string> found = Recorded.Texts(Recorded.Program("BegunLines", [how], status).File);
        // The exception has a stack behind it.
        found = found.Where(text => !text.StartsWith("silverpoint: ")).Select(text => text.StartsWith("unhandled exception: ") ? "unhandled exception" : text).ToList();
        found.Sort(1, Math.Min(2, found.Count - 1), StringComparer.Ordinal);
        Check.Same(string.Join("\n", wanted), string.Join("\n", found.ToArray()), "records, when the program ends by " + how);
    }

    // In any order. SIGTERM ends the program.
    static void Has(string how, params string[] wanted)
    {
        IEnumerable<string> found = Recorded.Texts(Recorded.Program("BegunLines", [how], 143).File).Where(text => !text.StartsWith("silverpoint: "));
        Check.Same(string.Join("\n", wanted), string.Join("\n", found.OrderBy(text => text, StringComparer.Ordinal).ToArray()), "records, when the program ends by SIGTERM: " + how);
    }

    static int Unhandled => Recorded.IsMono ? 1 : 134;

    public static void AtTheEndOfMain() => Are("return", 0, "whole", "begun by another thread", "begun by the thread");

    public static void AtExit() => Are("exit", 3, "whole", "begun by another thread", "begun by the thread");

    public static void AtAnUnhandledException() => Are("unhandled", Unhandled, "whole", "begun by another thread", "begun by the thread");

    public static void BeforeTheRecordOfTheException() => Are("recorded", Unhandled, "whole", "begun by another thread", "begun by the thread", "unhandled exception");

    public static void AtSigterm() => Are("sigterm", 143, "whole", "begun by another thread", "begun by the thread");

    // A line that was begun again after its listener was closed.
    public static void AtSigtermAfterClose() => Has("closed", "begun again", "begun by another thread", "begun by the thread", "whole");

    // Other domains of Mono have come and gone.
    public static void AtSigtermAfterDomains()
    {
        if (!Recorded.IsMono) throw new Skipped(".NET has one AppDomain");
        Has("domains", "begun by another thread", "begun by the thread", "begun in a domain", "begun in a domain", "begun in a living domain", "whole");
    }

    // A program that ignores the signal goes on with its line. .NET 10 calls what is registered all the same.
    public static void AnIgnoredSigtermLosesNothing()
    {
        if (Recorded.Runtime == "core31" || Recorded.Runtime == "net8") throw new Skipped("this runtime ends at a SIGTERM that its caller ignores");
        string file = Recorded.Fresh(".silver");
        string again = string.Join(" ", Recorded.Again.ToArray());
        Ended ended = Recorded.Run(Recorded.Silverpoint, ["run", "-o", file, "--filter", "trace", "--", "sh", "-c", "trap '' TERM; exec " + again + " BegunLines ignored"]);
        Check.Same(0, ended.Status, "a program that ignores SIGTERM: " + ended.Errors);
        Check.Same("whole\nbegun by the thread" + (Recorded.IsMono ? "" : "\n") + " and ended", string.Join("\n", Recorded.Texts(file).Where(text => !text.StartsWith("silverpoint: ")).ToArray()), "records");
    }

    // No code of the program runs then.
    public static void FailFastLosesThemButNoPieces() => Are("failfast", 134, "whole", "a piece");
}

static partial class Programs
{
    static void BeginLine() => Trace.Write("begun in a domain");

    static void BeginLineThatStays() => Trace.Write("begun in a living domain");

    static void InDomain(CrossAppDomainDelegate work, bool isUnloaded)
    {
        AppDomain domain = AppDomain.CreateDomain("of a line");
        domain.DoCallBack(InstallInDomain);
        domain.DoCallBack(work);
        if (isUnloaded) AppDomain.Unload(domain);
    }

    // In a function of its own: .NET does not have the type of the delegate.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void BeginLinesInDomains()
    {
        InDomain(BeginLine, true);
        InDomain(BeginLine, true);
        InDomain(BeginLineThatStays, false);
    }

    static void InstallInDomain() => SilverpointTrace.Install();

    static void Terminate() => Recorded.Run("kill", [Process.GetCurrentProcess().Id.ToString()]);

    public static int BegunLines(string[] arguments)
    {
        string how = arguments[0];
        if (how == "recorded") UnhandledExceptions.Record();
        SilverpointTrace.Install();
        Trace.WriteLine("whole");
        var other = new Thread(() =>
        {
            Trace.Write("begun by ");
            Trace.Write("another thread");
            Thread.Sleep(Timeout.Infinite);
        }) { IsBackground = true };
        if (how != "ignored") other.Start();
        while (other.IsAlive && (other.ThreadState & System.Threading.ThreadState.WaitSleepJoin) == 0) Thread.Yield();
        Trace.Write("begun by the thread");
        if (how == "failfast") new SilverpointTraceListener("lines=pieces").Write("a piece");
        if (how == "return") return 0;
        if (how == "ignored")
        {
            Terminate();
            Thread.Sleep(500);
            Trace.WriteLine(" and ended");
            return 0;
        }
        if (how == "closed")
        {
            Trace.Close();
            Trace.Listeners[0].Write("begun again");
        }
        if (how == "domains") BeginLinesInDomains();
        if (how == "sigterm" || how == "closed" || how == "domains")
        {
            Terminate();
            Thread.Sleep(Timeout.Infinite);
        }
        var thread = new Thread(() => End(how == "recorded" ? "unhandled" : how));
        thread.Start();
        thread.Join();
        return 0;
    }
}
