using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
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

    static int Unhandled => Recorded.IsMono ? 1 : 134;

    public static void AtTheEndOfMain() => Are("return", 0, "whole", "begun by another thread", "begun by the thread");

    public static void AtExit() => Are("exit", 3, "whole", "begun by another thread", "begun by the thread");

    public static void AtAnUnhandledException() => Are("unhandled", Unhandled, "whole", "begun by another thread", "begun by the thread");

    public static void BeforeTheRecordOfTheException() => Are("recorded", Unhandled, "whole", "begun by another thread", "begun by the thread", "unhandled exception");

    // .NET before 10 raises ProcessExit. Others end at once.
    public static void AtSigterm()
    {
        if (Recorded.Runtime == "core31" || Recorded.Runtime == "net8") Are("sigterm", 143, "whole", "begun by another thread", "begun by the thread");
        else Are("sigterm", 143, "whole");
    }

    // No code of the program runs then.
    public static void FailFastLosesThemButNoPieces() => Are("failfast", 134, "whole", "a piece");
}

static partial class Programs
{
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
        other.Start();
        while ((other.ThreadState & System.Threading.ThreadState.WaitSleepJoin) == 0) Thread.Yield();
        Trace.Write("begun by the thread");
        if (how == "failfast") new SilverpointTraceListener("lines=pieces").Write("a piece");
        if (how == "return") return 0;
        if (how == "sigterm")
        {
            Recorded.Run("kill", [Process.GetCurrentProcess().Id.ToString()]);
            Thread.Sleep(Timeout.Infinite);
        }
        var thread = new Thread(() => End(how == "recorded" ? "unhandled" : how));
        thread.Start();
        thread.Join();
        return 0;
    }
}
