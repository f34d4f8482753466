using System;
using System.Linq;
using System.Threading;
using Silverpoint;

/// What scripts/windows runs on Windows's runtimes.
static partial class Programs
{
    /// Programs without arguments, one after the other: a runtime starts slowly.
    public static int InTurn(string[] names) => names.Sum(name => (int)typeof(Programs).GetMethod(name).Invoke(null, [new string[0]]));

    /// `NAME: 0` to `NAME: COUNT-1` as debug output of two threads, in turn. Then the program ends in this way.
    public static int DebugLines(string[] arguments)
    {
        int count = int.Parse(arguments[1]);
        for (int i = 0; i < count; ++i)
        {
            int number = i;
            var thread = new Thread(() => DebugOutput.Write(arguments[0] + ": " + number + "\n"));
            if (i % 2 == 0) thread.Start();
            else DebugOutput.Write(arguments[0] + ": " + number + "\n");
            if (i % 2 == 0) thread.Join();
        }
        if (arguments[2] != "return") End(arguments[2]);
        return 0;
    }
}
