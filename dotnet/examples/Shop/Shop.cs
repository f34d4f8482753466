using System;
using System.Collections.Generic;
using System.Diagnostics;
using Silverpoint;

static class Shop
{
    static readonly Logger log = new Logger("shop");
    static readonly Tracepoint<string> fill = Tracepoint.Span("shop", "fill").With<string>("symbol");
    static readonly Tracepoint<int, decimal> filled = Tracepoint.Event("shop", Level.Info, "order.filled").With<int, decimal>("id", "price");

    static readonly TraceSource billing = new TraceSource("billing", SourceLevels.All);
    static Shop() { }                                         // with it, all of these exist before Main begins
    static void Main()
    {
        SilverpointTrace.Install();                           // Trace, Debug and every TraceSource record from here on

        int id = 7;
        double price = 101.25;
        using (fill.Begin("SPT"))                             // until the end of the block
        {
            log.Info($"order {id} at {price:F2}");            // a template and two typed values
            filled.Record(id, 101.25m);                       // named arguments
        }
        log.Debug($"open orders {new Dictionary<string, int> { ["XETR"] = 3, ["XNAS"] = 1 }}");
        log.Warn($"a reply {new { Status = 503, Retry = TimeSpan.FromSeconds(2) }}");

        Trace.WriteLine("old code writes this");
        billing.TraceEvent(TraceEventType.Warning, 12, "late by {0} days", 3);
        Debug.Assert(price < 100, "the price is too high");   // a record with its stack; the program goes on
    }
}
