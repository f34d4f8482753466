using System;
using System.Diagnostics;
using System.Diagnostics.Tracing;
using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using Silverpoint;

/// The table of S5: turns with the call, with Trace.Write and no listener, and without a call. They alternate in blocks of a hundred, so that
/// all see the same machine.
static class Turns
{
    const int Block = 100, Kinds = 3;

    // What a block has.
    const int With = 0, Bare = 1, Without = 2;

    static readonly byte[] data = new byte[10000];
    static readonly StringBuilder hex = new StringBuilder(32);
    static MD5 md5;

    public static int Run(string listener, int blocks, string file)
    {
        try
        {
            md5 = MD5.Create();
            md5.ComputeHash(data);
        }
        catch (Exception error)
        {
            Console.Error.WriteLine("no MD5: " + (error.InnerException ?? error).Message);
            return 3;
        }
        bool isEvents = listener == "events";
        if (listener != "default") Trace.Listeners.Clear();
        switch (listener)
        {
            case "none": case "default": break;
            case "text": Trace.Listeners.Add(new TextWriterTraceListener(file)); break;
            case "silverpoint": Trace.UseGlobalLock = false; Trace.Listeners.Add(new SilverpointTraceListener("lines=pieces")); break;
            case "events": EmptyListener.Start(); break;
            default: Console.Error.WriteLine("no such listener: " + listener); return 2;
        }
        var listeners = new TraceListener[Trace.Listeners.Count];
        Trace.Listeners.CopyTo(listeners, 0);
        int number = 0, written = 0;
        // Of the texts that were written, and of the others.
        ulong[] sums = new ulong[2];
        double[] with = new double[blocks], without = new double[blocks], above = new double[blocks], times = new double[blocks];
        // What is compiled at first use is not timed; what it writes counts.
        int warm = Math.Max(blocks / 5, 20);
        for (int block = -warm; block < blocks; ++block)
        {
            double[] took = new double[Kinds];
            for (int part = 0; part < Kinds; ++part)
            {
                int kind = (part + block + warm) % Kinds;
                Trace.Listeners.Clear();
                if (kind == With) Trace.Listeners.AddRange(listeners);
                long begun = Stopwatch.GetTimestamp();
                for (int i = 0; i < Block; ++i)
                {
                    string text = Digest(number++);
                    sums[kind == With ? 0 : 1] += ulong.Parse(text.Substring(0, 8), NumberStyles.HexNumber, CultureInfo.InvariantCulture);
                    if (kind == Without) continue;
                    if (isEvents && kind == With) TextEvents.Log.Text(text);
                    else Trace.Write(text);
                }
                took[kind] = (Stopwatch.GetTimestamp() - begun) * 1e6 / Stopwatch.Frequency / Block;
                if (kind == With) written += Block;
            }
            if (block < 0) continue;
            with[block] = took[With];
            without[block] = took[Without];
            above[block] = took[With] - took[Without];
            times[block] = took[With] / took[Bare];
        }
        // (The last turns may have been without listeners.)
        foreach (TraceListener one in listeners) one.Flush();
        if (isEvents && EmptyListener.Seen != written)
        {
            Console.Error.WriteLine("the listener has seen " + EmptyListener.Seen + " of " + written + " events");
            return 1;
        }
        Console.WriteLine(string.Format(CultureInfo.InvariantCulture, "{{\"with_us\":{0:F4},\"without_us\":{1:F4},\"above_us\":{2:F4},\"times\":{3:F4},\"written\":{4},\"sum\":{5}}}",
                                        Timing.Median(with), Timing.Median(without), Timing.Median(above), Timing.Median(times), written, sums[0]));
        return 0;
    }

    // As the source has it: the text belongs to the MD5 alone.
    static string Digest(int number)
    {
        data[0] = (byte)number;
        data[1] = (byte)(number >> 8);
        data[2] = (byte)(number >> 16);
        hex.Clear();
        foreach (byte one in md5.ComputeHash(data)) hex.Append(one.ToString("x2", CultureInfo.InvariantCulture));
        return hex.ToString();
    }
}

/// What stands for ETW: an event source of the program, and a listener that does nothing with its events.
[EventSource(Name = "Silverpoint-Bench")]
sealed class TextEvents : EventSource
{
    public static readonly TextEvents Log = new TextEvents();

    [Event(1, Level = EventLevel.Informational)]
    public void Text(string text)
    {
        if (IsEnabled()) WriteEvent(1, text);
    }
}

sealed class EmptyListener : EventListener
{
    public static long Seen;

    static EmptyListener listener;

    public static void Start()
    {
        listener = new EmptyListener();
        listener.EnableEvents(TextEvents.Log, EventLevel.Informational);
    }

    public static void Stop() => listener.Dispose();

    protected override void OnEventWritten(EventWrittenEventArgs one)
    {
        if (ReferenceEquals(one.EventSource, TextEvents.Log) && one.EventId == 1) ++Seen;
    }
}
