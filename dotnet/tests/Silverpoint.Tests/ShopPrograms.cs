using System;
using System.Collections.Generic;
using System.Globalization;
using Silverpoint;

/// What test_lttng.py and test_kernel.py compare: the same records in the ring and in another tracer.
static partial class Programs
{
    static readonly Logger shop = new Logger("shop");
    static readonly Tracepoint<int, long, double> shopNumbers = Tracepoint.Log("shop", Level.Info, "numbers {} {} {}").With<int, long, double>();
    static readonly Tracepoint<string, decimal, byte> shopTexts = Tracepoint.Event("shop", Level.Info, "texts").With<string, decimal, byte>("customer", "price", "share");
    static readonly Tracepoint<Side, List<int>> shopLists = Tracepoint.Event("shop", Level.Warn, "lists").With<Side, List<int>>("side", "items");
    static readonly Tracepoint<string> shopSpan = Tracepoint.Span("shop", "fill").With<string>("symbol");
    static readonly Tracepoint shopTick = Tracepoint.Instant("shop", "tick").With();

    static void ShopOnce(int i)
    {
        using (shopSpan.Begin("SPT" + i))
        {
            shopNumbers.Record(i, (long)i << 40, -i / 8.0);
            shopTexts.Record(i % 2 == 0 ? "Ada" : "Grac\u00e9 \u20ac", i / 4m, (byte)i);
            shopLists.Record(i % 2 == 0 ? Side.Buy : Side.Sell, new List<int> { i, -i, 7 });
            shop.Info($"order {i} at {i / 4.0:F2} of {"text " + i}");
        }
    }

    /// For each line of input, `ticks` makes one event and `rounds` a round.
    public static int Shop(string[] arguments)
    {
        if (arguments[0] == "ticks") return ForEachLine(_ => shopTick.Record());
        if (arguments[0] == "rounds") return ForEachLine(ShopOnce);
        int times = int.Parse(arguments[0], CultureInfo.InvariantCulture);
        ShopOnce(0);
        if (Console.In.ReadLine() == null) return 1;
        for (int i = 1; i <= times; ++i) ShopOnce(i);
        return 0;
    }

    static int ForEachLine(Action<int> make)
    {
        for (int i = 1; Console.In.ReadLine() != null; ++i)
        {
            make(i);
            Console.Out.Write("done\n");
            Console.Out.Flush();
        }
        return 0;
    }
}
