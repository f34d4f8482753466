using System;
using System.Collections.Generic;

namespace Silverpoint
{
    // Packs boxed values of one type.
    internal abstract class ObjectPacker
    {
        private static readonly Dictionary<Type, ObjectPacker> known = new Dictionary<Type, ObjectPacker>
        {
            { typeof(sbyte), new ObjectPacker<sbyte>(true, true) },
            { typeof(byte), new ObjectPacker<byte>(true, true) },
            { typeof(short), new ObjectPacker<short>(true, true) },
            { typeof(ushort), new ObjectPacker<ushort>(true, true) },
            { typeof(int), new ObjectPacker<int>(true, true) },
            { typeof(uint), new ObjectPacker<uint>(true, true) },
            { typeof(long), new ObjectPacker<long>(true, true) },
            { typeof(ulong), new ObjectPacker<ulong>(true, true) },
            { typeof(string), new ObjectPacker<string>(false, true) },
            { typeof(char), new ObjectPacker<char>(false, true) },
            { typeof(Guid), new ObjectPacker<Guid>(false, true) },
            { typeof(bool), new NamedBoolPacker() },
            { typeof(float), new ObjectPacker<float>(true, true) },
            { typeof(double), new ObjectPacker<double>(true, true) },
            { typeof(Shown<float>), new ObjectPacker<float>(true, false) },
            { typeof(Shown<double>), new ObjectPacker<double>(true, false) },
            { typeof(decimal), new ObjectPacker<decimal>(false, true) },
            { typeof(DateTime), new ObjectPacker<DateTime>(false, false) },
            { typeof(DateTimeOffset), new ObjectPacker<DateTimeOffset>(false, false) },
            { typeof(TimeSpan), new ObjectPacker<TimeSpan>(false, false) },
        };

        internal abstract string Signature { get; }
        internal abstract bool IsNumber { get; }
        // Readers print it as string.Format does without a format.
        internal abstract bool IsPrintedAlike { get; }
        // A value whose text differs is recorded beside it.
        internal virtual bool IsWorthKeeping => true;
        internal abstract void Put(Writer writer, object value);

        // Null: such values are texts.
        internal static ObjectPacker For(Type type)
        {
            ObjectPacker found;
            if (known.TryGetValue(type, out found)) return found;
            if (typeof(Exception).IsAssignableFrom(type)) return ExceptionPacker.Only;
            return null;
        }
    }

    internal sealed class ObjectPacker<T> : ObjectPacker
    {
        private readonly bool isNumber, isPrintedAlike;

        internal ObjectPacker(bool isNumber, bool isPrintedAlike)
        {
            this.isNumber = isNumber;
            this.isPrintedAlike = isPrintedAlike;
        }

        internal override string Signature => Codec<T>.Signature;
        internal override bool IsNumber => isNumber;
        internal override bool IsPrintedAlike => isPrintedAlike;
        // A second text would say nothing.
        internal override bool IsWorthKeeping => typeof(T) != typeof(string) && typeof(T) != typeof(char) && typeof(T) != typeof(decimal);
        internal override void Put(Writer writer, object value) => Codec<T>.Packer.Put(writer, (T)value);
    }

    // .NET prints False and True.
    internal sealed class NamedBoolPacker : ObjectPacker
    {
        internal override string Signature => "eBoolean|b|0=False,1=True,;";
        internal override bool IsNumber => false;
        internal override bool IsPrintedAlike => true;
        internal override void Put(Writer writer, object value) => writer.Put8((bool)value ? (byte)1 : (byte)0);
    }

    internal sealed class ExceptionPacker : ObjectPacker
    {
        internal static readonly ExceptionPacker Only = new ExceptionPacker();

        internal override string Signature => "v";
        internal override bool IsNumber => false;
        internal override bool IsPrintedAlike => false;
        internal override void Put(Writer writer, object value) => Items.PutArgument(writer, value);
    }
}
