using System.Reflection;
using System.Runtime.CompilerServices;

[assembly: AssemblyTitle("Silverpoint")]
[assembly: InternalsVisibleTo("Silverpoint.Tests")]
[assembly: InternalsVisibleTo("Silverpoint.Extensions.Logging")]
[assembly: InternalsVisibleTo("Silverpoint.Diagnostics")]
// A record does not clear what it sets: that was 6 % of a tracepoint.
[module: SkipLocalsInit]
