using System.Collections.Generic;

namespace Silverpoint
{
    // The fields of a struct, as a list of structs: the compiler at run time makes one function of it. `owner` is the address of
    // the struct in the caller's stack.
    internal unsafe interface IPlacedFields
    {
        int Count { get; }
        // As IArguments has it.
        int Size(byte* owner);
        byte* Put(byte* at, byte* owner);
        void Pack(Writer writer, byte* owner);
        // Whether readers print all values as .NET does: without formats, or with these.
        bool ArePrintedAlike(byte* owner);
        bool ArePrintedAlike(byte* owner, string[] formats, int field);
        // Where the fields are in the struct.
        void Locate(int[] offsets, int field);
        void Describe(List<IFieldValue> values);
    }

    internal unsafe struct NoFields : IPlacedFields
    {
        public int Count => 0;
        public int Size(byte* owner) => 0;
        public byte* Put(byte* at, byte* owner) => at;
        public void Pack(Writer writer, byte* owner) { }
        public bool ArePrintedAlike(byte* owner) => true;
        public bool ArePrintedAlike(byte* owner, string[] formats, int field) => true;
        public void Locate(int[] offsets, int field) { }
        public void Describe(List<IFieldValue> values) { }
    }

    internal unsafe struct PlacedFields<TValue, TRest> : IPlacedFields where TValue : struct, IFieldValue where TRest : struct, IPlacedFields
    {
        private int offset;
        private TRest rest;

        public int Count => 1 + rest.Count;

        public int Size(byte* owner) => default(TValue).Size(owner + offset) + rest.Size(owner);

        public byte* Put(byte* at, byte* owner) => rest.Put(default(TValue).Put(at, owner + offset), owner);

        public void Pack(Writer writer, byte* owner)
        {
            writer.Next();
            default(TValue).Pack(writer, owner + offset);
            rest.Pack(writer, owner);
        }

        public bool ArePrintedAlike(byte* owner) => default(TValue).IsPrintedAlike(owner + offset) && rest.ArePrintedAlike(owner);

        public bool ArePrintedAlike(byte* owner, string[] formats, int field) =>
            (formats[field] == null ? default(TValue).IsPrintedAlike(owner + offset) : default(TValue).IsPrintedAlike(owner + offset, formats[field])) && rest.ArePrintedAlike(owner, formats, field + 1);

        public void Locate(int[] offsets, int field)
        {
            offset = offsets[field];
            rest = new TRest();
            rest.Locate(offsets, field + 1);
        }

        public void Describe(List<IFieldValue> values)
        {
            values.Add(default(TValue));
            rest.Describe(values);
        }
    }
}
