// A program whose listeners, switches and settings are in app.config. It names nothing of Silverpoint.
using System;
using System.Diagnostics;
using System.IO;
using System.Reflection;

static class AppConfig
{
    static int passed, failed, skipped;

    static int Main(string[] arguments)
    {
        if (arguments.Length > 0) return arguments[0] == "configured" ? Configured() : InstallOrder.Run(arguments[0]);
        if (Environment.GetEnvironmentVariable("SILVERPOINT_RUNTIME") == "core31")
        {
            // It has no reader of <system.diagnostics>, with or without the package.
            Console.WriteLine("SKIPPED: app_config: .NET Core 3.1 reads no listeners from app.config");
            ++skipped;
        }
        else
        {
            string program = Setting("SILVERPOINT_PROGRAM"), file = Path.Combine(Path.GetTempPath(), "configured.silver");
            Output(program, "run -o " + file + " -- " + Setting("SILVERPOINT_AGAIN") + " configured");
            string text = Output(program, "cat " + file);
            Check("trace_goes_to_the_listener", Line(text, "by Trace"), "'by Trace' is missing: " + text);
            Check("initializeData_sets_level_and_category", Line(text, "by Trace", "WARN", "legacy"), "no 'WARN' and 'legacy' in: " + text);
            Check("source_goes_to_the_listener", Line(text, "order 7 is late", "WARN", "shop"), "no warning of 'shop': " + text);
            Check("switch_keeps_out_what_is_below", !Line(text, "order 7 is there"), "the switch lets information pass: " + text);
            foreach (string order in new[] { "install-register", "register-install", "install", "install-register-refresh" })
            {
                // Mono reports no new source: one made later may still have its default listener.
                if (Environment.GetEnvironmentVariable("SILVERPOINT_RUNTIME")!.StartsWith("mono"))
                {
                    Console.WriteLine("SKIPPED: " + order + ": Mono reads app.config by itself, and reports no new sources");
                    ++skipped;
                    continue;
                }
                string said = Output(program, "run -o " + file + " -- " + Setting("SILVERPOINT_AGAIN") + " " + order);
                Check(order + "_leaves_no_default_listener", said.Contains("default listeners 0, own listeners 3"), said);
                text = Output(program, "cat " + file);
                foreach (string wanted in new[] { "by early", "by plain", "by shop", "by Trace" }) Check(order + "_records_" + wanted.Substring(3), Line(text, wanted), "'" + wanted + "' is missing: " + text);
                Check(order + "_keeps_switches", !Line(text, "below the switch"), "the switch lets information pass: " + text);
            }
        }
        Console.WriteLine($"{passed} passed, {failed} failed, {skipped} skipped");
        return failed == 0 ? 0 : 1;
    }

    static int Configured()
    {
        Register();
        Trace.WriteLine("by Trace");
        var source = new TraceSource("shop");
        source.TraceEvent(TraceEventType.Information, 1, "order {0} is there", 7);
        source.TraceEvent(TraceEventType.Warning, 2, "order {0} is late", 7);
        return 0;
    }

    /// .NET 7 and later read the file when they are asked to.
    internal static void Register()
    {
        if (Type.GetType("Mono.Runtime") != null) return;
        Type? configuration = Type.GetType("System.Diagnostics.TraceConfiguration, System.Configuration.ConfigurationManager");
        if (configuration == null) throw new InvalidOperationException("there is no System.Configuration.ConfigurationManager");
        configuration.GetMethod("Register", BindingFlags.Public | BindingFlags.Static)!.Invoke(null, null);
    }

    /// Whether a line holds all of these.
    static bool Line(string text, params string[] parts) => Array.Exists(text.Split('\n'), line => Array.TrueForAll(parts, part => line.IndexOf(part, StringComparison.OrdinalIgnoreCase) >= 0));

    static string Setting(string name) => Environment.GetEnvironmentVariable(name) ?? throw new InvalidOperationException(name + " is not set: run this by scripts/dotnet test");

    static string Output(string file, string arguments)
    {
        using Process process = Process.Start(new ProcessStartInfo(file, arguments) { UseShellExecute = false, RedirectStandardOutput = true })!;
        string output = process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        return output;
    }

    static void Check(string name, bool holds, string why)
    {
        if (holds) passed++; else failed++;
        Console.WriteLine(holds ? $"ok {name}" : $"FAILED {name}: {why}");
    }
}
