// What bench/dotnet-runtimes measures of activities: nanoseconds and bytes of garbage of single calls.
//
//   BenchActivities BLOCKS
using System;
using System.Diagnostics;
using Silverpoint;

static class Program
{
    static readonly ActivitySource source = new ActivitySource("bench");
    static object sink;

    static int Main(string[] arguments)
    {
        int blocks;
        if (arguments.Length != 1 || !int.TryParse(arguments[0], out blocks))
        {
            Console.Error.WriteLine("usage: BenchActivities BLOCKS");
            return 2;
        }
        Timing.Begin(blocks);
        Timing.Of("Activity, no listener", 0, StartAndStop);
        using (var empty = new ActivityListener { ShouldListenTo = _ => true, Sample = (ref ActivityCreationOptions<ActivityContext> _) => ActivitySamplingResult.AllDataAndRecorded })
        {
            ActivitySource.AddActivityListener(empty);
            Timing.Of("Activity, an empty listener", 0, StartAndStop);
            Timing.Of("Activity with two tags, an empty listener", 0, Tagged);
        }
        // Its begin, what is known at its end, and its end.
        using (new SilverpointActivityListener("bench"))
        {
            Timing.Of("Activity, silverpoint", 3, StartAndStop);
            Timing.Of("Activity with two tags, silverpoint", 3, Tagged);
        }
        Timing.End();
        return 0;
    }

    static void StartAndStop(int calls)
    {
        for (int i = 0; i < calls; ++i)
            using (Activity activity = source.StartActivity("order")) sink = activity;
    }

    static void Tagged(int calls)
    {
        for (int i = 0; i < calls; ++i)
            using (Activity activity = source.StartActivity("order"))
            {
                activity.SetTag("id", 7);
                activity.SetTag("symbol", "SPT");
            }
    }
}
