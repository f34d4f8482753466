using System;
using System.Collections.Generic;

namespace Silverpoint
{
    internal abstract class AnyPacker
    {
        // The type's part of the signature (spec/wire.md, section 10).
        internal abstract string Signature { get; }
    }

    // How values of a type are recorded where they are not packed straight into the ring.
    internal abstract class Packer<T> : AnyPacker
    {
        // Bytes of each value; 0: they vary.
        internal virtual int Fixed => 0;
        // The value in memory is the value in the record.
        internal virtual bool IsBlock => false;
        internal abstract void Put(Writer writer, T value);
    }

    // What is known of a type, found out once.
    internal static class Codec<T>
    {
        internal static readonly Packer<T> Packer = (Packer<T>)Packers.For(typeof(T));
        internal static readonly string Signature = Packer.Signature;
        // Bytes of a value that is packed as it lies in memory; 0: it is not.
        internal static readonly int Raw = Packer.IsBlock ? Packer.Fixed : 0;
    }

    // Chooses a packer by the type alone: values of one site all have its signature.
    internal static class Packers
    {
        // A longer part of a signature is replaced by "any value". Those of six arguments fit into 16,384 bytes.
        internal const int LongSignature = 2700;

        private static readonly Dictionary<Type, object> known = new Dictionary<Type, object>
        {
            { typeof(bool), new BoolPacker() },
            { typeof(char), new BlockPacker<char>("w", 2) },
            { typeof(sbyte), new BlockPacker<sbyte>("a", 1) },
            { typeof(byte), new BlockPacker<byte>("A", 1) },
            { typeof(short), new BlockPacker<short>("h", 2) },
            { typeof(ushort), new BlockPacker<ushort>("H", 2) },
            { typeof(int), new BlockPacker<int>("i", 4) },
            { typeof(uint), new BlockPacker<uint>("I", 4) },
            { typeof(long), new BlockPacker<long>("l", 8) },
            { typeof(ulong), new BlockPacker<ulong>("L", 8) },
            { typeof(float), new BlockPacker<float>("f", 4) },
            { typeof(double), new BlockPacker<double>("d", 8) },
            { typeof(IntPtr), new BlockPacker<IntPtr>("p", 8) },
            { typeof(UIntPtr), new BlockPacker<UIntPtr>("p", 8) },
            { typeof(string), new TextPacker() },
            { typeof(decimal), new DecimalPacker() },
            { typeof(Guid), new GuidPacker() },
            { typeof(DateTime), new TimePacker() },
            { typeof(DateTimeOffset), new OffsetTimePacker() },
            { typeof(TimeSpan), new DurationPacker() },
            { typeof(byte[]), new BytesPacker() },
        };

        internal static object For(Type type)
        {
            object packer;
            if (known.TryGetValue(type, out packer)) return packer;
            packer = type.IsEnum ? EnumPackers.For(type) : Container(type);
            return packer ?? Make(typeof(ItemPacker<>), type);
        }

        private static object Container(Type type)
        {
            Type packer = null;
            Type[] parts = type.IsArray ? new[] { type.GetElementType() } : type.IsGenericType ? type.GetGenericArguments() : Type.EmptyTypes;
            if (type.IsArray)
            {
                if (type.GetArrayRank() == 1 && type == parts[0].MakeArrayType()) packer = typeof(ArrayPacker<>);
            }
            else if (type.IsGenericType)
            {
                packer = OfGeneric(type.GetGenericTypeDefinition());
            }
            if (packer == null) return null;
            foreach (Type part in parts)
                if (part.IsPointer || !IsBounded(part, 0)) return null;
            object made = Make(packer, parts);
            return ((AnyPacker)made).Signature.Length > LongSignature ? null : made;
        }

        // Types may be nested without an end only by the program's own hand; readers accept 32 levels.
        private static bool IsBounded(Type type, int depth)
        {
            if (depth > 12) return false;
            if (type.IsArray) return IsBounded(type.GetElementType(), depth + 1);
            if (!type.IsGenericType || OfGeneric(type.GetGenericTypeDefinition()) == null) return true;
            foreach (Type part in type.GetGenericArguments())
                if (!IsBounded(part, depth + 1)) return false;
            return true;
        }

        private static Type OfGeneric(Type definition)
        {
            if (definition == typeof(Nullable<>)) return typeof(NullablePacker<>);
            if (definition == typeof(List<>)) return typeof(ListPacker<>);
            if (definition == typeof(ArraySegment<>)) return typeof(SegmentPacker<>);
            if (definition == typeof(HashSet<>)) return typeof(SetPacker<>);
            if (definition == typeof(Dictionary<,>)) return typeof(DictionaryPacker<,>);
            if (definition == typeof(KeyValuePair<,>)) return typeof(PairPacker<,>);
            if (definition == typeof(Tuple<,>)) return typeof(Tuple2Packer<,>);
            if (definition == typeof(Tuple<,,>)) return typeof(Tuple3Packer<,,>);
            if (definition == typeof(ValueTuple<,>)) return typeof(ValueTuple2Packer<,>);
            if (definition == typeof(ValueTuple<,,>)) return typeof(ValueTuple3Packer<,,>);
            if (definition == typeof(ValueTuple<,,,>)) return typeof(ValueTuple4Packer<,,,>);
            return null;
        }

        private static object Make(Type packer, params Type[] parts) => Activator.CreateInstance(packer.MakeGenericType(parts), true);
    }

    // Anything else: an item that carries its own types.
    internal sealed class ItemPacker<T> : Packer<T>
    {
        internal override string Signature => "v";

        internal override void Put(Writer writer, T value) => Items.PutArgument(writer, value);
    }
}
