// A program of a user of the package Silverpoint.Extensions.Logging.
using Microsoft.Extensions.Logging;
using Silverpoint;
using Silverpoint.Extensions.Logging;

static class LoggingPackageUser
{
    static int Main(string[] arguments)
    {
        void Program()
        {
            using ILoggerFactory factory = LoggerFactory.Create(builder => builder.AddSilverpoint());
            factory.CreateLogger("package").LogInformation("the answer {Answer} of {From}", 42, arguments[0]);
        }
        return PackageTest.Run(arguments, Program, "the answer 42 of package", typeof(SilverpointLoggerProvider), typeof(Tracepoint));
    }
}
