// The driver of the table of S5: MD5 of 10,000 bytes, its text, and one Trace.Write of it. The listener is an argument.
//
//   driver.exe LISTENER CALLS FILE      prints one JSON object
//
// Blocks of turns with the Trace.Write and without it alternate, as many of each as CALLS. `mean_us` and `block_deviation_us` are of the blocks with it. `helpers_us` is the
// CPU time of the processes that serve a session, a text, until they have stored it.
//
// LISTENER: md5 (no Trace.Write at all), none (no listener), default (DefaultTraceListener), text (TextWriterTraceListener into FILE), silverpoint (a listener over
// a tracepoint of C). The bytes change from call to call, so each text is another one; `sum` adds up the first eight digits of each.
using System;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Runtime.InteropServices;
using System.Security.Cryptography;
using System.Text;

/// <summary>What a listener over the C frontend takes: the text as UTF-8 in a buffer of the thread, and one call.</summary>
sealed class SilverpointListener : TraceListener
{
    [DllImport("bench_tracepoint")]
    static extern void bench_tracepoint(byte[] text, IntPtr size);

    [DllImport("bench_tracepoint")]
    static extern double bench_helpers_us();

    /// <summary>CPU time of collector and supervisor, as soon as nothing waits for them; negative when something does after all.</summary>
    public static double HelpersMicroseconds() => bench_helpers_us();

    [ThreadStatic] static byte[] buffer;

    public override bool IsThreadSafe => true;

    public override void Write(string message)
    {
        int most = Encoding.UTF8.GetMaxByteCount(message.Length);
        if (buffer == null || buffer.Length < most) buffer = new byte[most];
        bench_tracepoint(buffer, (IntPtr)Encoding.UTF8.GetBytes(message, 0, message.Length, buffer, 0));
    }

    public override void WriteLine(string message) => Write(message);
}

static class Driver
{
    const int Block = 100;

    static readonly byte[] data = new byte[10000];
    static readonly MD5 md5 = MD5.Create();
    static readonly StringBuilder hex = new StringBuilder(32);

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

    static ulong Run(int calls, int first, bool writes)
    {
        ulong sum = 0;
        for (int number = first; number < first + calls; ++number)
        {
            string text = Digest(number);
            if (writes) Trace.Write(text);
            for (int i = 0, value = 0; i < 8; ++i)
            {
                value = value << 4 | Convert.ToInt32(text[i] <= '9' ? text[i] - '0' : text[i] - 'a' + 10);
                if (i == 7) sum += (uint)value;
            }
        }
        return sum;
    }

    static int Main(string[] arguments)
    {
        if (arguments.Length != 3) return 2;
        int calls = int.Parse(arguments[1], CultureInfo.InvariantCulture);
        bool writes = arguments[0] != "md5";
        switch (arguments[0])
        {
            case "default": break;
            case "md5": case "none": Trace.Listeners.Clear(); break;
            case "text": Trace.Listeners.Clear(); Trace.Listeners.Add(new TextWriterTraceListener(arguments[2])); break;
            case "silverpoint": Trace.Listeners.Clear(); Trace.Listeners.Add(new SilverpointListener()); break;
            default: return 2;
        }
        // What is compiled at first use is not timed; what it writes counts.
        int made = Math.Max(calls / 10, 100), written = made;
        ulong sum = Run(made, 0, writes);
        // Turns with the call and without it follow each other closely: their difference is the call.
        int blocks = Math.Max(calls / Block, 1);
        double[] above = new double[blocks], turn = new double[blocks];
        bool isOurs = arguments[0] == "silverpoint";
        double helpers = isOurs ? SilverpointListener.HelpersMicroseconds() : 0;
        TimeSpan cpu = Process.GetCurrentProcess().TotalProcessorTime;
        for (int block = 0; block < blocks; ++block)
        {
            bool first = (block & 1) == 0;
            double with = 0, without = 0;
            for (int half = 0; half < 2; ++half)
            {
                bool writing = first == (half == 0);
                long begun = Stopwatch.GetTimestamp();
                ulong found = Run(Block, made, writes && writing);
                double us = (Stopwatch.GetTimestamp() - begun) * 1e6 / Stopwatch.Frequency / Block;
                if (writing) with = us; else without = us;
                if (writing || !writes) { sum += found; written += Block; }
                made += Block;
            }
            turn[block] = with;
            above[block] = with - without;
        }
        double used = (Process.GetCurrentProcess().TotalProcessorTime - cpu).TotalMilliseconds * 1000 / blocks / Block / 2;
        if (isOurs)
        {
            double now = SilverpointListener.HelpersMicroseconds();
            if (helpers < 0 || now < 0) return 1;
            helpers = (now - helpers) / blocks / Block;
        }
        double mean = 0, squares = 0;
        foreach (double one in turn) mean += one / blocks;
        foreach (double one in turn) squares += (one - mean) * (one - mean);
        double deviation = blocks > 1 ? Math.Sqrt(squares / (blocks - 1)) : 0;
        Stopwatch flushing = Stopwatch.StartNew();
        Trace.Flush();
        double flush = flushing.Elapsed.TotalMilliseconds * 1000;
        Array.Sort(turn);
        Array.Sort(above);
        Console.WriteLine(string.Format(CultureInfo.InvariantCulture, "{{\"case\":\"{0}\",\"us\":{1:F4},\"above_us\":{2:F4},\"flush_us\":{3:F1},\"cpu_us\":{4:F4},\"mean_us\":{5:F4},\"block_deviation_us\":{6:F4},\"helpers_us\":{7:F4},\"written\":{8},\"sum\":{9}}}",
                                        arguments[0], turn[blocks / 2], above[blocks / 2], flush, used, mean, deviation, helpers, written, sum));
        return 0;
    }
}
