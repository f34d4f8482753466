using System.Reflection;
using System.Runtime.CompilerServices;

[assembly: AssemblyTitle("Silverpoint")]
[assembly: AssemblyVersion("0.1.0.0")]
[assembly: InternalsVisibleTo("Silverpoint.Tests")]
[assembly: InternalsVisibleTo("Silverpoint.Extensions.Logging")]
[assembly: InternalsVisibleTo("Silverpoint.Diagnostics")]
