// What bench/dotnet-runtimes measures on each runtime. Prints one JSON object a line.
//
//   Bench md5 LISTENER BLOCKS FILE     turns of MD5 of 10,000 bytes, its text and one Trace.Write of it
//   Bench calls BLOCKS FILE            nanoseconds and bytes of garbage of single calls
using System;
using System.Globalization;
using System.Linq;

static class Program
{
    static int Main(string[] arguments)
    {
        CultureInfo.CurrentCulture = CultureInfo.InvariantCulture;
        switch (arguments.FirstOrDefault())
        {
            case "md5" when arguments.Length == 4: return Turns.Run(arguments[1], int.Parse(arguments[2]), arguments[3]);
            case "calls" when arguments.Length == 3: return Calls.Run(int.Parse(arguments[1]), arguments[2]);
            default:
                Console.Error.WriteLine("usage: Bench md5 LISTENER BLOCKS FILE | Bench calls BLOCKS FILE");
                return 2;
        }
    }
}
