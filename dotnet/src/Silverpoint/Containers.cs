#pragma warning disable CS8500 // Memory of elements is copied as a block only where their packer says so.
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;

namespace Silverpoint
{
    // Elements one after the other, behind their number.
    internal static unsafe class Elements
    {
        internal static void Put<T>(Writer writer, T[] from, int offset, int count)
        {
            if (Codec<T>.Raw > 0)
            {
                fixed (T* at = from) writer.PutUnits((byte*)at + (long)offset * Codec<T>.Raw, count, Codec<T>.Raw);
                return;
            }
            Packer<T> packer = Codec<T>.Packer;
            writer.Put32((uint)count);
            for (int i = 0; i < count && !writer.IsFull; ++i) packer.Put(writer, from[offset + i]);
        }
    }

    // Null is none.
    internal sealed class ArrayPacker<T> : Packer<T[]>
    {
        internal override string Signature => "?[" + Codec<T>.Signature;

        internal override void Put(Writer writer, T[] value)
        {
            writer.Put8(value == null ? (byte)0 : (byte)1);
            if (value != null) Elements.Put(writer, value, 0, value.Length);
        }
    }

    internal sealed class SegmentPacker<T> : Packer<ArraySegment<T>>
    {
        internal override string Signature => "[" + Codec<T>.Signature;

        internal override void Put(Writer writer, ArraySegment<T> value) => Elements.Put(writer, value.Array, value.Offset, value.Count);
    }

    // Another thread may change the container meanwhile: the elements before that are recorded.
    internal sealed class ListPacker<T> : Packer<List<T>>
    {
        internal override string Signature => "?[" + Codec<T>.Signature;

        internal override void Put(Writer writer, List<T> value)
        {
            writer.Put8(value == null ? (byte)0 : (byte)1);
            if (value == null) return;
            Packer<T> packer = Codec<T>.Packer;
            int place = writer.Mark();
            Writer.Place end = writer.Here;
            uint count = 0;
            try
            {
                foreach (T one in value)
                {
                    packer.Put(writer, one);
                    if (writer.IsFull) return;
                    ++count;
                    end = writer.Here;
                }
            }
            catch (InvalidOperationException)
            {
                writer.Back(end);
            }
            writer.Patch(place, count);
        }
    }

    internal sealed class SetPacker<T> : Packer<HashSet<T>>
    {
        internal override string Signature => "?$" + Codec<T>.Signature;

        internal override void Put(Writer writer, HashSet<T> value)
        {
            writer.Put8(value == null ? (byte)0 : (byte)1);
            if (value == null) return;
            int place = writer.Mark();
            Writer.Place end = writer.Here;
            uint count = 0;
            try
            {
                foreach (T one in value)
                {
                    Codec<T>.Packer.Put(writer, one);
                    if (writer.IsFull) return;
                    ++count;
                    end = writer.Here;
                }
            }
            catch (InvalidOperationException)
            {
                writer.Back(end);
            }
            writer.Patch(place, count);
        }
    }

    internal sealed class DictionaryPacker<TKey, TValue> : Packer<Dictionary<TKey, TValue>>
    {
        internal override string Signature => "?{" + Codec<TKey>.Signature + Codec<TValue>.Signature;

        internal override void Put(Writer writer, Dictionary<TKey, TValue> value)
        {
            writer.Put8(value == null ? (byte)0 : (byte)1);
            if (value == null) return;
            int place = writer.Mark();
            Writer.Place end = writer.Here;
            uint count = 0;
            try
            {
                foreach (KeyValuePair<TKey, TValue> one in value)
                {
                    Codec<TKey>.Packer.Put(writer, one.Key);
                    Codec<TValue>.Packer.Put(writer, one.Value);
                    if (writer.IsFull) return;
                    ++count;
                    end = writer.Here;
                }
            }
            catch (InvalidOperationException)
            {
                writer.Back(end);
            }
            writer.Patch(place, count);
        }
    }

    internal sealed class NullablePacker<T> : Packer<T?> where T : struct
    {
        internal override string Signature => "?" + Codec<T>.Signature;

        internal override void Put(Writer writer, T? value)
        {
            writer.Put8(value.HasValue ? (byte)1 : (byte)0);
            if (value.HasValue) Codec<T>.Packer.Put(writer, value.GetValueOrDefault());
        }
    }

    internal sealed class PairPacker<TKey, TValue> : Packer<KeyValuePair<TKey, TValue>>
    {
        internal override string Signature => "(" + Codec<TKey>.Signature + Codec<TValue>.Signature + ")";

        internal override void Put(Writer writer, KeyValuePair<TKey, TValue> value)
        {
            Codec<TKey>.Packer.Put(writer, value.Key);
            Codec<TValue>.Packer.Put(writer, value.Value);
        }
    }

    internal sealed class ValueTuple2Packer<T1, T2> : Packer<(T1, T2)>
    {
        internal override string Signature => "(" + Codec<T1>.Signature + Codec<T2>.Signature + ")";

        internal override void Put(Writer writer, (T1, T2) value)
        {
            Codec<T1>.Packer.Put(writer, value.Item1);
            Codec<T2>.Packer.Put(writer, value.Item2);
        }
    }

    internal sealed class ValueTuple3Packer<T1, T2, T3> : Packer<(T1, T2, T3)>
    {
        internal override string Signature => "(" + Codec<T1>.Signature + Codec<T2>.Signature + Codec<T3>.Signature + ")";

        internal override void Put(Writer writer, (T1, T2, T3) value)
        {
            Codec<T1>.Packer.Put(writer, value.Item1);
            Codec<T2>.Packer.Put(writer, value.Item2);
            Codec<T3>.Packer.Put(writer, value.Item3);
        }
    }

    internal sealed class ValueTuple4Packer<T1, T2, T3, T4> : Packer<(T1, T2, T3, T4)>
    {
        internal override string Signature => "(" + Codec<T1>.Signature + Codec<T2>.Signature + Codec<T3>.Signature + Codec<T4>.Signature + ")";

        internal override void Put(Writer writer, (T1, T2, T3, T4) value)
        {
            Codec<T1>.Packer.Put(writer, value.Item1);
            Codec<T2>.Packer.Put(writer, value.Item2);
            Codec<T3>.Packer.Put(writer, value.Item3);
            Codec<T4>.Packer.Put(writer, value.Item4);
        }
    }

    internal sealed class Tuple2Packer<T1, T2> : Packer<Tuple<T1, T2>>
    {
        internal override string Signature => "?(" + Codec<T1>.Signature + Codec<T2>.Signature + ")";

        internal override void Put(Writer writer, Tuple<T1, T2> value)
        {
            writer.Put8(value == null ? (byte)0 : (byte)1);
            if (value == null) return;
            Codec<T1>.Packer.Put(writer, value.Item1);
            Codec<T2>.Packer.Put(writer, value.Item2);
        }
    }

    internal sealed class Tuple3Packer<T1, T2, T3> : Packer<Tuple<T1, T2, T3>>
    {
        internal override string Signature => "?(" + Codec<T1>.Signature + Codec<T2>.Signature + Codec<T3>.Signature + ")";

        internal override void Put(Writer writer, Tuple<T1, T2, T3> value)
        {
            writer.Put8(value == null ? (byte)0 : (byte)1);
            if (value == null) return;
            Codec<T1>.Packer.Put(writer, value.Item1);
            Codec<T2>.Packer.Put(writer, value.Item2);
            Codec<T3>.Packer.Put(writer, value.Item3);
        }
    }
}
