namespace System.Runtime.CompilerServices
{
    // What the C# compiler looks for by name. The API of .NET Framework 4.8 lacks them.
    [AttributeUsage(AttributeTargets.Class | AttributeTargets.Struct, AllowMultiple = false, Inherited = false)]
    internal sealed class InterpolatedStringHandlerAttribute : Attribute { }

    [AttributeUsage(AttributeTargets.Parameter, AllowMultiple = false, Inherited = false)]
    internal sealed class InterpolatedStringHandlerArgumentAttribute : Attribute
    {
        public InterpolatedStringHandlerArgumentAttribute(string argument) { Arguments = new[] { argument }; }

        public string[] Arguments { get; }
    }

    // Locals begin without a value where the compiler has seen that none is read before it is set.
    internal sealed class SkipLocalsInitAttribute : Attribute { }
}
