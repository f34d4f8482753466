// Runs all tests of the classes whose names end with Tests; or, with arguments, one of the programs that tests record:
//
//   Silverpoint.Tests PROGRAM [ARGUMENT…]     a public static method of the class Programs
//   Silverpoint.Tests --only TEXT             the tests whose names hold the text
using System;
using System.Linq;
using System.Reflection;

static class Program
{
    static int Main(string[] arguments)
    {
        if (arguments.Length > 0 && arguments[0] != "--only")
        {
            MethodInfo program = typeof(Programs).GetMethod(arguments[0], BindingFlags.Static | BindingFlags.Public);
            if (program == null)
            {
                Console.Error.WriteLine("no such program: " + arguments[0]);
                return 2;
            }
            return (int)program.Invoke(null, [arguments.Skip(1).ToArray()]);
        }
        int passed = 0, failed = 0, skipped = 0;
        foreach (Type type in typeof(Program).Assembly.GetTypes().Where(one => one.Name.EndsWith("Tests")).OrderBy(one => one.Name))
        foreach (MethodInfo test in type.GetMethods(BindingFlags.Static | BindingFlags.Public))
        {
            string name = type.Name + "." + test.Name;
            if (arguments.Length > 1 && !name.Contains(arguments[1])) continue;
            try
            {
                Durations.Measure(name, () => test.Invoke(null, null));
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
        Console.WriteLine(Durations.Slowest());
        Console.WriteLine(passed + " passed, " + failed + " failed, " + skipped + " skipped");
        return failed == 0 ? 0 : 1;
    }
}
