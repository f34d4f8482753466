using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading;
using Silverpoint;

/// How long a listener stays in memory, and which of its lines are recorded at the end.
static class ListenerLifeTests
{
    public static void ListenersThatNobodyUsesAreCollected() => Check.Same("unused collected, closed collected, handlers 0", Recorded.Program("ListenersAreCollected").Output.Trim(), "ListenersAreCollected");

    public static void LinesBegunAfterCloseAreRecorded() => Check.Same(
        "before Close\nafter Close\nother listener", string.Join("\n", Recorded.Texts(Recorded.Program("LinesAfterClose").File).ToArray()), "records");
}

static partial class Programs
{
    const int MadeListeners = 50;

    // In a function, and a thread, of their own: no stack refers to them later.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static List<WeakReference> MakeListeners(bool isClosed)
    {
        var made = new List<WeakReference>();
        for (int i = 0; i < MadeListeners; ++i)
        {
            var listener = new SilverpointTraceListener();
            listener.WriteLine("a line");
            if (isClosed)
            {
                listener.Write("begun");
                listener.Close();
            }
            made.Add(new WeakReference(listener));
        }
        return made;
    }

    public static int ListenersAreCollected(string[] arguments)
    {
        List<WeakReference> unused = null, closed = null;
        using var isMade = new ManualResetEvent(false);
        using var isDone = new ManualResetEvent(false);
        // The thread goes on to live: its begun lines are not those of a thread that has ended.
        var thread = new Thread(() =>
        {
            unused = MakeListeners(false);
            closed = MakeListeners(true);
            isMade.Set();
            isDone.WaitOne();
        });
        thread.Start();
        isMade.WaitOne();
        // Mono looks at stacks as if each word was a reference: a few may stay.
        bool AreCollected(List<WeakReference> some)
        {
            for (int turn = 0; turn < 300 && some.Count(one => one.IsAlive) > MadeListeners / 5; ++turn)
            {
                GC.Collect();
                GC.WaitForPendingFinalizers();
                Thread.Sleep(10);
            }
            return some.Count(one => one.IsAlive) <= MadeListeners / 5;
        }
        string words = "unused " + (AreCollected(unused) ? "collected" : "alive") + ", closed " + (AreCollected(closed) ? "collected" : "alive");
        isDone.Set();
        thread.Join();
        Console.WriteLine(words + ", handlers " + OpenListeners.Count);
        return 0;
    }

    public static int LinesAfterClose(string[] arguments)
    {
        var listener = new SilverpointTraceListener();
        listener.Write("before Close");
        listener.Close();
        listener.Write("after ");
        listener.Write("Close");
        var other = new SilverpointTraceListener();
        other.Write("other ");
        other.Write("listener");
        alive.Add(listener);
        alive.Add(other);
        return 0;
    }

    static readonly List<SilverpointTraceListener> alive = [];
}
