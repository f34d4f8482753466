// A program of a user of the package Silverpoint.
using Silverpoint;

static class PackageUser
{
    static readonly Tracepoint<int, string> answer = Tracepoint.Log("package", Level.Info, "the answer {} of {}").With<int, string>();

    static int Main(string[] arguments) => PackageTest.Run(arguments, () => answer.Record(42, arguments[0]), "the answer 42 of package", typeof(Tracepoint));
}
