#pragma warning disable CS8500 // An address is taken to compare it with another one.
using System;
using System.Collections.Generic;

namespace Silverpoint
{
    // The arguments of one record, as a list of structs: the compiler at run time makes one function of it.
    internal unsafe interface IArguments
    {
        int Count { get; }
        // Bytes in the record; negative when some are not packed straight into the ring (Direct.Elsewhere).
        int Size();
        byte* Put(byte* at);
        // Packs them outside of the ring. May run code of the program.
        void Pack(Writer writer);
    }

    // Arguments that are a list of structs themselves.
    internal unsafe interface IArgumentList : IArguments
    {
        // The types of all values, and how far they are from an address.
        void Locate(byte* start, List<Type> types, List<int> offsets);
    }

    internal unsafe struct NoArguments : IArgumentList
    {
        public int Count => 0;
        public int Size() => 0;
        public byte* Put(byte* at) => at;
        public void Pack(Writer writer) { }
        public void Locate(byte* start, List<Type> types, List<int> offsets) { }
    }

    internal unsafe struct Arguments<T, TRest> : IArgumentList where TRest : struct, IArgumentList
    {
        internal T Value;
        internal TRest Rest;

        public int Count => 1 + Rest.Count;

        // (A sum without a branch: the compiler at run time then knows the size of numbers.)
        public int Size() => Direct.Size(Value) + Rest.Size();

        public byte* Put(byte* at) => Rest.Put(Direct.Put(at, Value));

        public void Pack(Writer writer)
        {
            writer.Next();
            Codec<T>.Packer.Put(writer, Value);
            Rest.Pack(writer);
        }

        public void Locate(byte* start, List<Type> types, List<int> offsets)
        {
            types.Add(typeof(T));
            fixed (T* at = &Value) offsets.Add((int)((byte*)at - start));
            Rest.Locate(start, types, offsets);
        }
    }

    // What was packed outside of the ring.
    internal unsafe struct PackedArguments : IArguments
    {
        internal byte* Bytes;
        internal int Length;

        public int Count => 0;
        public int Size() => Length;

        public byte* Put(byte* at)
        {
            System.Buffer.MemoryCopy(Bytes, at, Length, Length);
            return at + Length;
        }

        public void Pack(Writer writer)
        {
            byte* at = writer.Reserve(Length);
            if (at != null) Put(at);
        }
    }
}
