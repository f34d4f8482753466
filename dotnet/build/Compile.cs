// The command line of csc. Roslyn's libraries come without the program in the packages of scripts/dotnet-runtimes, so this is it:
//
//     Compile FOLDER ARGUMENT… [-- ARGUMENT…]…
//
// FOLDER holds Microsoft.CodeAnalysis.dll and Microsoft.CodeAnalysis.CSharp.dll. Arguments are those of csc; -- begins the next assembly.
// Mono's mcs compiles this file and cannot read those libraries: they are bound at run time.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Text;

static class Compile
{
    static Assembly code, csharp;

    static int Main(string[] arguments)
    {
        if (arguments.Length < 2)
        {
            Console.Error.WriteLine("usage: Compile FOLDER ARGUMENT... [-- ARGUMENT...]...");
            return 2;
        }
        code = Assembly.LoadFrom(Path.Combine(arguments[0], "Microsoft.CodeAnalysis.dll"));
        csharp = Assembly.LoadFrom(Path.Combine(arguments[0], "Microsoft.CodeAnalysis.CSharp.dll"));
        var line = new List<string>();
        foreach (string argument in arguments.Skip(1).Concat(new[] { "--" }))
        {
            if (argument != "--")
            {
                line.Add(argument);
                continue;
            }
            if (!One(line.ToArray()))
            {
                Console.Error.WriteLine("dotnet: it does not compile: " + string.Join(" ", line));
                return 1;
            }
            line.Clear();
        }
        return 0;
    }

    /// Whether the assembly was written. Its diagnostics are on standard error.
    static bool One(string[] arguments)
    {
        Type parser = csharp.GetType("Microsoft.CodeAnalysis.CSharp.CSharpCommandLineParser", true);
        dynamic compiler = parser.GetProperty("Default").GetValue(null, null);
        dynamic line = compiler.Parse(arguments, Directory.GetCurrentDirectory(), null, null);
        if (Report(line.Errors)) return false;

        Type treeType = code.GetType("Microsoft.CodeAnalysis.SyntaxTree", true);
        dynamic trees = Activator.CreateInstance(typeof(List<>).MakeGenericType(treeType));
        Type parse = csharp.GetType("Microsoft.CodeAnalysis.CSharp.CSharpSyntaxTree", true);
        foreach (dynamic file in line.SourceFiles)
            trees.Add((dynamic)Call(parse, "ParseText", File.ReadAllText(file.Path), line.ParseOptions, file.Path, Encoding.UTF8));

        Type referenceType = code.GetType("Microsoft.CodeAnalysis.MetadataReference", true);
        dynamic references = Activator.CreateInstance(typeof(List<>).MakeGenericType(referenceType));
        bool isForNet = false;
        foreach (dynamic reference in line.MetadataReferences) isForNet |= Path.GetFileName((string)reference.Reference) == "System.Private.CoreLib.dll";
        foreach (dynamic reference in line.MetadataReferences)
        {
            byte[] changed = isForNet ? null : ForFramework((string)reference.Reference);
            references.Add(changed == null ? (dynamic)Call(referenceType, "CreateFromFile", reference.Reference, reference.Properties)
                                           : (dynamic)Call(referenceType, "CreateFromImage", changed, reference.Properties));
        }

        string output = Path.Combine(line.OutputDirectory, line.OutputFileName);
        // It applies -pathmap: without it the symbols and the records of a program name folders of this machine.
        dynamic resolver = Activator.CreateInstance(code.GetType("Microsoft.CodeAnalysis.SourceFileResolver", true), (object)line.SourcePaths, (object)line.BaseDirectory, (object)line.PathMap);
        dynamic options = line.CompilationOptions.WithSourceReferenceResolver(resolver);
        dynamic compilation = Call(csharp.GetType("Microsoft.CodeAnalysis.CSharp.CSharpCompilation", true), "Create",
                                   Path.GetFileNameWithoutExtension(output), trees, references, options);
        using (var program = new MemoryStream())
        using (var symbols = new MemoryStream())
        using (var documentation = new MemoryStream())
        {
            // Without a folder in the path of the symbols the assembly is the same in every checkout.
            dynamic result = compilation.Emit(program, line.EmitPdb ? symbols : null, line.DocumentationPath == null ? null : documentation,
                                              options: line.EmitOptions.WithPdbFilePath(Path.ChangeExtension((string)line.OutputFileName, ".pdb")));
            if (Report(result.Diagnostics) || !result.Success) return false;
            File.WriteAllBytes(output, program.ToArray());
            if (line.EmitPdb) File.WriteAllBytes(Path.ChangeExtension(output, ".pdb"), symbols.ToArray());
            if (line.DocumentationPath != null) File.WriteAllBytes((string)line.DocumentationPath, documentation.ToArray());
        }
        return true;
    }

    /// An assembly that was made for .NET, with references as one for .NET Framework has them: to version 4 of System.Runtime and its like.
    /// Packages hold one assembly for each. What programs name of them is the same, and only one is at hand. Null: it has them already.
    static byte[] ForFramework(string path)
    {
        byte[] image = File.ReadAllBytes(path);
        bool isChanged = false;
        Assembly library = Assembly.Load("System.Reflection.Metadata");
        using (dynamic file = Activator.CreateInstance(library.GetType("System.Reflection.PortableExecutable.PEReader", true), new MemoryStream(image)))
        {
            dynamic reader = Call(library.GetType("System.Reflection.Metadata.PEReaderExtensions", true), "GetMetadataReader", (object)file);
            Type offsets = library.GetType("System.Reflection.Metadata.Ecma335.MetadataReaderExtensions", true);
            object table = Enum.ToObject(library.GetType("System.Reflection.Metadata.Ecma335.TableIndex", true), 0x23);
            int size = (int)Call(offsets, "GetTableRowSize", (object)reader, table);
            int at = (int)file.PEHeaders.MetadataStartOffset + (int)Call(offsets, "GetTableMetadataOffset", (object)reader, table);
            foreach (dynamic handle in reader.AssemblyReferences)
            {
                dynamic reference = reader.GetAssemblyReference(handle);
                // A row begins with four numbers of 16 bits: the version.
                if (((string)reader.GetString(reference.Name)).StartsWith("System.", StringComparison.Ordinal) && (int)reference.Version.Major > 4)
                {
                    Array.Copy(new byte[] { 4, 0, 0, 0, 0, 0, 0, 0 }, 0, image, at, 8);
                    isChanged = true;
                }
                at += size;
            }
        }
        return isChanged ? image : null;
    }

    /// A static method whose first parameters take these values; the others get their defaults.
    static object Call(Type type, string name, params object[] values)
    {
        foreach (MethodInfo method in type.GetMethods(BindingFlags.Public | BindingFlags.Static).Where(one => one.Name == name))
        {
            ParameterInfo[] parameters = method.GetParameters();
            if (parameters.Length < values.Length || values.Where((value, i) => value != null && !parameters[i].ParameterType.IsInstanceOfType(value)).Any()) continue;
            if (parameters.Skip(values.Length).Any(one => !one.IsOptional)) continue;
            var all = parameters.Select((one, i) => i < values.Length ? values[i] : Default(one)).ToArray();
            return method.Invoke(null, all);
        }
        throw new MissingMethodException(type.FullName, name);
    }

    static object Default(ParameterInfo parameter)
    {
        object value = parameter.DefaultValue;
        if (value != null && value != DBNull.Value && value != Missing.Value) return value;
        return parameter.ParameterType.IsValueType ? Activator.CreateInstance(parameter.ParameterType) : null;
    }

    /// Whether an error is among them. Warnings are shown.
    static bool Report(dynamic diagnostics)
    {
        bool failed = false;
        foreach (dynamic diagnostic in diagnostics)
        {
            int severity = (int)diagnostic.Severity;
            if (severity < 2 || diagnostic.IsSuppressed) continue;
            failed |= severity == 3;
            Console.Error.WriteLine((string)diagnostic.ToString());
        }
        return failed;
    }
}
