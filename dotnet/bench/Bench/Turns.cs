using System;
using System.Diagnostics;
using System.Diagnostics.Tracing;
using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using Silverpoint;

/// The table of S5: turns with the call and without it alternate in blocks of a hundred, so that both see the same machine.
static class Turns
{
    const int Block = 100;

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
        int number = 0, written = 0;
        // Of the texts that were written, and of the others.
        ulong[] sums = new ulong[2];
        double[] with = new double[blocks], without = new double[blocks], above = new double[blocks];
        // What is compiled at first use is not timed; what it writes counts.
        for (int block = -Math.Max(blocks / 5, 20); block < blocks; ++block)
        {
            double[] took = new double[2];
            for (int half = 0; half < 2; ++half)
            {
                bool writes = half == 0 == ((block & 1) == 0);
                long begun = Stopwatch.GetTimestamp();
                for (int i = 0; i < Block; ++i)
                {
                    string text = Digest(number++);
                    sums[writes ? 0 : 1] += ulong.Parse(text.Substring(0, 8), NumberStyles.HexNumber, CultureInfo.InvariantCulture);
                    if (!writes) continue;
                    if (isEvents) TextEvents.Log.Text(text);
                    else Trace.Write(text);
                }
                if (writes) written += Block;
                took[writes ? 0 : 1] = (Stopwatch.GetTimestamp() - begun) * 1e6 / Stopwatch.Frequency / Block;
            }
            if (block < 0) continue;
            with[block] = took[0];
            without[block] = took[1];
            above[block] = took[0] - took[1];
        }
        Trace.Flush();
        if (isEvents && EmptyListener.Seen != written)
        {
            Console.Error.WriteLine("the listener has seen " + EmptyListener.Seen + " of " + written + " events");
            return 1;
        }
        Console.WriteLine(string.Format(CultureInfo.InvariantCulture, "{{\"with_us\":{0:F4},\"without_us\":{1:F4},\"above_us\":{2:F4},\"written\":{3},\"sum\":{4}}}",
                                        Timing.Median(with), Timing.Median(without), Timing.Median(above), written, sums[0]));
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
