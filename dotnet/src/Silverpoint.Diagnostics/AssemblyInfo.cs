using System.Reflection;
using System.Runtime.CompilerServices;

[assembly: AssemblyTitle("Silverpoint.Diagnostics")]
[assembly: InternalsVisibleTo("Activities")]
