using System;
using System.Collections.Generic;

namespace Silverpoint
{
    // How one value is recorded whose type is known at run time alone. It holds types of the framework only: those of
    // the program may be unloaded.
    internal sealed class ValueField
    {
        private static readonly Dictionary<Type, ObjectPacker> packers = new Dictionary<Type, ObjectPacker>
        {
            { typeof(bool), new ObjectPacker<bool>(false, true) },
            { typeof(IntPtr), new ObjectPacker<IntPtr>(false, true) },
            { typeof(UIntPtr), new ObjectPacker<UIntPtr>(false, true) },
            { typeof(byte[]), new ObjectPacker<byte[]>(false, true) },
            { typeof(string[]), new ObjectPacker<string[]>(false, true) },
            { typeof(bool[]), new ObjectPacker<bool[]>(false, true) },
            { typeof(int[]), new ObjectPacker<int[]>(false, true) },
            { typeof(uint[]), new ObjectPacker<uint[]>(false, true) },
            { typeof(long[]), new ObjectPacker<long[]>(false, true) },
            { typeof(ulong[]), new ObjectPacker<ulong[]>(false, true) },
            { typeof(float[]), new ObjectPacker<float[]>(false, true) },
            { typeof(double[]), new ObjectPacker<double[]>(false, true) },
        };

        private static readonly Type[] known =
        {
            typeof(sbyte), typeof(byte), typeof(short), typeof(ushort), typeof(int), typeof(uint), typeof(long), typeof(ulong), typeof(float), typeof(double), typeof(char),
            typeof(string), typeof(decimal), typeof(Guid), typeof(DateTime), typeof(DateTimeOffset), typeof(TimeSpan),
        };

        static ValueField()
        {
            foreach (Type type in known) packers.Add(type, ObjectPacker.For(type));
        }

        // Null: any value.
        private readonly Type type;
        private readonly ObjectPacker packer;
        private readonly FormatField format;

        private ValueField(Type type, FormatField format)
        {
            this.type = type;
            this.format = format;
            packer = type == null ? ExceptionPacker.Only : packers[type];
        }

        // For values like this one.
        internal static ValueField For(object value)
        {
            Type type = value == null ? null : value.GetType();
            return new ValueField(type != null && packers.ContainsKey(type) ? type : null, null);
        }

        // The same value as a format string wants it: as .NET's text, with the value behind it where that says more.
        internal ValueField As(CompositeFormat.Part part) => part.Format == null && part.Alignment == 0 ? this : new ValueField(type, new FormatField(part, type));

        internal string Signature => format != null ? format.Signature : packer.Signature;

        // Behind the colon in the template.
        internal string Specification => format != null ? format.Specification : "";

        internal bool Fits(object value)
        {
            if (value == null) return type == null || type == typeof(string);
            Type found = value.GetType();
            return found == type || (type == null && !packers.ContainsKey(found));
        }

        internal void Put(Writer writer, object value)
        {
            if (format != null)
            {
                format.Put(writer, value);
                return;
            }
            writer.Next();
            packer.Put(writer, value);
        }
    }
}
