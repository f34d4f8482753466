using System.Reflection;

// The version of all assemblies: that of dotnet/Directory.Build.props, which a test of the packages compares.
[assembly: AssemblyVersion("0.1.0.0")]
[assembly: AssemblyFileVersion("0.1.0.0")]
[assembly: AssemblyInformationalVersion("0.1.0")]
