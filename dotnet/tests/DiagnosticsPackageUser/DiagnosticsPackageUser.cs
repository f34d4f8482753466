// A program of a user of the package Silverpoint.Diagnostics.
using System.Diagnostics;
using Silverpoint;

static class DiagnosticsPackageUser
{
    static readonly ActivitySource source = new ActivitySource("package");

    static int Main(string[] arguments)
    {
        void Program()
        {
            using var activities = new SilverpointActivityListener("package");
            using Activity? activity = source.StartActivity("answer");
            activity?.SetTag("of", arguments[0]);
        }
        return PackageTest.Run(arguments, Program, "of=package", typeof(SilverpointActivityListener), typeof(Tracepoint));
    }
}
