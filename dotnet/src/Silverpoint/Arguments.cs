namespace Silverpoint
{
    // The arguments of one record, as a list of structs: the compiler at run time makes one function of it.
    internal unsafe interface IArguments
    {
        int Count { get; }
        // Bytes in the record; negative when some are not packed straight into the ring.
        int Size();
        byte* Put(byte* at);
        // Packs them outside of the ring. May run code of the program.
        void Pack(Writer writer);
    }

    internal unsafe struct NoArguments : IArguments
    {
        public int Count => 0;
        public int Size() => 0;
        public byte* Put(byte* at) => at;
        public void Pack(Writer writer) { }
    }

    internal unsafe struct Arguments<T, TRest> : IArguments where TRest : struct, IArguments
    {
        internal T Value;
        internal TRest Rest;

        public int Count => 1 + Rest.Count;

        public int Size()
        {
            int mine = Direct.Size(Value), others = Rest.Size();
            return (mine | others) < 0 ? -1 : mine + others;
        }

        public byte* Put(byte* at) => Rest.Put(Direct.Put(at, Value));

        public void Pack(Writer writer)
        {
            writer.Next();
            Codec<T>.Packer.Put(writer, Value);
            Rest.Pack(writer);
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
