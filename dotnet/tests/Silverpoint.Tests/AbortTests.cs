using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using Silverpoint;

/// Thread.Abort, at any place of a record.
static class AbortTests
{
    public static void AbortedThreadsLeaveNoLaneBusy()
    {
        if (!Recorded.IsMono) throw new Skipped(".NET has no Thread.Abort");
        List<string> found = Recorded.Lines(Recorded.Program("Aborted").File, "test").ToList();
        Check.Same("20 threads were aborted", found[found.Count - 1], "the last record");
        Check.Same(20, found.Count(text => text.StartsWith("still records")), "threads that record after Thread.Abort and ResetAbort");
        Check.Same(20, found.Count(text => text == "still records in its own lane"), "threads whose lane is not busy after Thread.Abort");
    }

    public static void ARecordThatIsBeingMadeIsWhole()
    {
        if (!Recorded.IsMono) throw new Skipped(".NET has no Thread.Abort");
        string[] found = Recorded.Texts(Recorded.Program("AbortedWithin").File).ToArray();
        Check.Same("before|waited 1|waited 7|aborted|counts 1 0|still records in its own lane", string.Join("|", found), "records");
    }

    public static void AValueThatIsBeingReadIsGivenUp()
    {
        if (!Recorded.IsMono) throw new Skipped(".NET has no Thread.Abort");
        string[] found = Recorded.Texts(Recorded.Program("AbortedInGetter").File).ToArray();
        Check.Same("before|aborted|counts 1 0|still records in its own lane|{\"Id\": 7}", string.Join("|", found), "records");
    }
}

static partial class Programs
{
    static readonly Tracepoint<long, string> turns = Tracepoint.Log("test", Level.Info, "turn {} {}").With<long, string>();
    static readonly Tracepoint<int> waited = Tracepoint.Log("test", Level.Info, "waited {}").With<int>();

    // The native library makes the record in another lane where the thread's own is busy.
    static unsafe void RecordAndTell()
    {
        byte* before = Ring.Position;
        counts.Record(1, 0);
        line.Record(Ring.Position != before ? "still records in its own lane" : "still records, but not in its own lane");
    }

    // Threads are aborted wherever they are.
    public static int Aborted(string[] arguments)
    {
        int aborted = 0;
        for (int turn = 0; turn < 20; ++turn)
        {
            int made = 0;
            var thread = new Thread(() =>
            {
                try
                {
                    for (;;)
                    {
                        turns.Record(made, "of a thread that will be aborted");
                        Volatile.Write(ref made, made + 1);
                    }
                }
                catch (ThreadAbortException)
                {
                    Thread.ResetAbort();
                    RecordAndTell();
                }
            });
            thread.Start();
            while (Volatile.Read(ref made) < 100 * (turn + 1)) Thread.Yield();
            thread.Abort();
            thread.Join();
            ++aborted;
        }
        line.Record(aborted + " threads were aborted");
        return 0;
    }

    static int isWithin, isAborted;

    // Says that a record is being made, and waits until the abort is requested, and longer.
    static void AwaitAbort()
    {
        Volatile.Write(ref isWithin, 1);
        while (Volatile.Read(ref isAborted) == 0) Thread.SpinWait(10);
        for (int i = 0; i < 2000; ++i) Thread.SpinWait(1000);
    }

    // An argument that is packed straight into the ring.
    unsafe struct Waiting : IArguments
    {
        public int Count => 1;
        public int Size() => 4;
        public void Pack(Writer writer) => throw new InvalidOperationException("the record was made outside of the ring");

        public byte* Put(byte* at)
        {
            AwaitAbort();
            *(int*)at = 7;
            return at + 4;
        }
    }

    static void AbortWithin(Action record)
    {
        var thread = new Thread(() =>
        {
            line.Record("before");
            try
            {
                record();
                for (;;) Thread.SpinWait(10);
            }
            catch (ThreadAbortException)
            {
                Thread.ResetAbort();
                line.Record("aborted");
                RecordAndTell();
            }
        });
        thread.Start();
        while (Volatile.Read(ref isWithin) == 0) Thread.Yield();
        thread.Abort();
        Volatile.Write(ref isAborted, 1);
        thread.Join();
    }

    public static int AbortedWithin(string[] arguments)
    {
        AbortWithin(() =>
        {
            waited.Record(1);
            var value = new Waiting();
            Ring.Write(waited, ref value);
        });
        return 0;
    }

    sealed class AwaitingAbort
    {
        public int Items
        {
            get
            {
                AwaitAbort();
                return 42;
            }
        }
    }

    public static int AbortedInGetter(string[] arguments)
    {
        AbortWithin(() => any.Record(new AwaitingAbort()));
        any.Record(new { Id = 7 });
        return 0;
    }
}
