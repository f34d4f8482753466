// That this runtime is the one that scripts/dotnet has asked for, and runs what the compiler makes for all of them.
using System;
using System.Collections.Generic;
using System.Linq;

static class Smoke
{
    static int passed, failed;

    static int Main()
    {
        string wanted = Environment.GetEnvironmentVariable("SILVERPOINT_RUNTIME") ?? "";
        Check("runtime", IsRuntime(wanted), $"{wanted} was asked for, this is {Environment.Version}, Mono: {IsMono}");
        Check("csharp_12", Sum([1, 2, 3]) == 6, "a collection expression is wrong");
        Console.WriteLine($"{passed} passed, {failed} failed, 0 skipped");
        return failed == 0 ? 0 : 1;
    }

    static int Sum(List<int> numbers) => numbers.Sum();

    static bool IsMono => Type.GetType("Mono.Runtime") != null;

    static bool IsRuntime(string name) => name switch
    {
        "mono" => IsMono,
        "core31" => Environment.Version.Major == 3,
        "net8" => Environment.Version.Major == 8,
        "net10" => Environment.Version.Major == 10,
        _ => false,
    };

    static void Check(string name, bool holds, string why)
    {
        if (holds) passed++; else failed++;
        Console.WriteLine(holds ? $"ok {name}" : $"FAILED {name}: {why}");
    }
}
