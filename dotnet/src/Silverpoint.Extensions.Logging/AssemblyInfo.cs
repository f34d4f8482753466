using System.Reflection;

[assembly: AssemblyTitle("Silverpoint.Extensions.Logging")]
[assembly: AssemblyVersion("0.1.0.0")]
// As in Silverpoint.dll.
[module: System.Runtime.CompilerServices.SkipLocalsInit]
