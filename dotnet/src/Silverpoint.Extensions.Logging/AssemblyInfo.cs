using System.Reflection;

[assembly: AssemblyTitle("Silverpoint.Extensions.Logging")]
// As in Silverpoint.dll.
[module: System.Runtime.CompilerServices.SkipLocalsInit]
