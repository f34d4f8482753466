// SilverpointTrace.Install before and behind the call that makes .NET read app.config. It is called by name: the program names nothing of Silverpoint.
using System;
using System.Diagnostics;
using System.Linq;
using System.Threading;

static class InstallOrder
{
    public static int Run(string order)
    {
        // Made before both: it has no listeners yet.
        var early = new TraceSource("early", SourceLevels.All);
        foreach (string step in order.Split('-'))
        {
            switch (step)
            {
                case "install": Install(); break;
                case "register": AppConfig.Register(); break;
                case "refresh": Refresh(); break;
                default: throw new ArgumentException("no such step: " + step);
            }
        }
        var plain = new TraceSource("plain", SourceLevels.All);
        var shop = new TraceSource("shop");
        int left = 0, ours = 0;
        foreach (TraceSource source in new[] { early, plain, shop })
        {
            source.TraceEvent(TraceEventType.Warning, 1, "by " + source.Name);
            left += source.Listeners.OfType<DefaultTraceListener>().Count();
            ours += source.Listeners.Cast<TraceListener>().Count(IsOurs);
        }
        shop.TraceEvent(TraceEventType.Information, 1, "below the switch");
        Trace.WriteLine("by Trace");
        Console.WriteLine("default listeners " + left + ", own listeners " + ours);
        return 0;
    }

    // Trace has new listeners then. Ours is among them a little later.
    static void Refresh()
    {
        Trace.Refresh();
        for (int wait = 0; wait < 6000 && !Trace.Listeners.Cast<TraceListener>().Any(IsOurs); ++wait) Thread.Sleep(50);
    }

    static bool IsOurs(TraceListener one) => one.GetType().Name == "SilverpointTraceListener";

    static void Install() => Type.GetType("Silverpoint.SilverpointTrace, Silverpoint", true)!.GetMethod("Install", Type.EmptyTypes)!.Invoke(null, null);
}
