using System.Reflection;
using System.Runtime.CompilerServices;

[assembly: AssemblyTitle("Silverpoint.Diagnostics")]
[assembly: AssemblyVersion("0.1.0.0")]
[assembly: InternalsVisibleTo("Activities")]
