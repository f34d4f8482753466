using System;
using System.Diagnostics;
using System.Threading.Tasks;
using Silverpoint;

namespace Shop;

// Fills orders.
sealed class Exchange
{
    static readonly ActivitySource source = new("shop.exchange");
    static readonly Tracepoint<int, decimal> filled = Tracepoint.Event("exchange", Level.Info, "order.filled").With<int, decimal>("id", "price");
    static readonly Logger log = new("exchange");

    internal async Task Fill(Order order)
    {
        Limits.Check(order);
        decimal price = await Quote(order.Symbol);
        log.Debug($"{order} at {price}");                       // an interpolated string: nothing is evaluated while it is off
        filled.Record(order.Id, price * order.Count);           // arguments with names and types
    }

    static async Task<decimal> Quote(string symbol)
    {
        using Activity? activity = source.StartActivity("quote");
        activity?.SetTag("symbol", symbol);
        await Task.Delay(1);
        return symbol == "XAU" ? 101.25m : 17.5m;
    }
}

// Code from before: it traces as it always did.
static class Limits
{
    static readonly TraceSource limits = new("limits", SourceLevels.All);

    internal static void Check(Order order)
    {
        Trace.WriteLine("checking the limit");
        if (order.Count <= 1000) return;
        limits.TraceEvent(TraceEventType.Warning, 12, "{0} is more than {1}", order.Count, 1000);
        throw new InvalidOperationException("too many at once");
    }
}
