// Runs the tests of LoggingTests; or, with arguments, one of the programs that they record:
//
//   Silverpoint.Extensions.Logging.Tests PROGRAM     a public static method of the class Programs
//   Silverpoint.Extensions.Logging.Tests --only TEXT the tests whose names hold the text
using System;
using System.Linq;
using System.Reflection;

static class Program
{
    static int Main(string[] arguments)
    {
        if (arguments.Length > 0 && arguments[0] != "--only")
        {
            typeof(Programs).GetMethod(arguments[0], BindingFlags.Static | BindingFlags.Public).Invoke(null, null);
            return 0;
        }
        int passed = 0, failed = 0, skipped = 0;
        // (No method that names a type of Microsoft.Extensions.Logging runs before this.)
        string missing = Missing();
        foreach (MethodInfo test in typeof(LoggingTests).GetMethods(BindingFlags.Static | BindingFlags.Public))
        {
            string name = "LoggingTests." + test.Name;
            if (arguments.Length > 1 && !name.Contains(arguments[1])) continue;
            if (missing != null)
            {
                ++skipped;
                Console.WriteLine("SKIPPED: " + name + ": " + missing);
                continue;
            }
            try
            {
                test.Invoke(null, null);
                ++passed;
                Console.WriteLine("ok " + name);
            }
            catch (TargetInvocationException error) when (error.InnerException is Skipped)
            {
                ++skipped;
                Console.WriteLine("SKIPPED: " + name + ": " + error.InnerException.Message);
            }
            catch (TargetInvocationException error)
            {
                ++failed;
                Console.WriteLine("FAILED " + name + ": " + error.InnerException);
            }
        }
        Console.WriteLine(passed + " passed, " + failed + " failed, " + skipped + " skipped");
        return failed == 0 ? 0 : 1;
    }

    // Why there is no library that this runtime can load; null: there is one.
    static string Missing()
    {
        if (Type.GetType("Mono.Runtime") != null) return "Microsoft.Extensions.Logging is at hand for .NET Core and .NET alone";
        try
        {
            Type.GetType("Microsoft.Extensions.Logging.LoggerFactory, Microsoft.Extensions.Logging", true).GetMethods();
            return null;
        }
        catch (Exception error) when (error is System.IO.IOException || error is BadImageFormatException || error is TypeLoadException)
        {
            return "Microsoft.Extensions.Logging cannot be loaded: " + error.Message;
        }
    }
}
