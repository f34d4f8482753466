using System.Collections.Generic;

namespace Silverpoint.Extensions.Logging
{
    // The values of a state, as a list of structs: the compiler at run time makes one function of it. `state` is the
    // address of a state in the caller's stack.
    internal unsafe interface IStateFields
    {
        int Count { get; }
        // As IArguments has it.
        int Size(byte* state);
        byte* Put(byte* at, byte* state);
        void Pack(Writer writer, byte* state);
        // Whether readers print all values as .NET does: without formats, or with these.
        bool ArePrintedAlike(byte* state);
        bool ArePrintedAlike(byte* state, string[] formats, int field);
        // Where the fields are in a state.
        void Locate(int[] offsets, int field);
        void Describe(List<IFieldValue> values);
    }

    internal unsafe struct NoStateFields : IStateFields
    {
        public int Count => 0;
        public int Size(byte* state) => 0;
        public byte* Put(byte* at, byte* state) => at;
        public void Pack(Writer writer, byte* state) { }
        public bool ArePrintedAlike(byte* state) => true;
        public bool ArePrintedAlike(byte* state, string[] formats, int field) => true;
        public void Locate(int[] offsets, int field) { }
        public void Describe(List<IFieldValue> values) { }
    }

    internal unsafe struct StateFields<TValue, TRest> : IStateFields where TValue : struct, IFieldValue where TRest : struct, IStateFields
    {
        private int offset;
        private TRest rest;

        public int Count => 1 + rest.Count;

        public int Size(byte* state)
        {
            int mine = default(TValue).Size(state + offset), others = rest.Size(state);
            return (mine | others) < 0 ? -1 : mine + others;
        }

        public byte* Put(byte* at, byte* state) => rest.Put(default(TValue).Put(at, state + offset), state);

        public void Pack(Writer writer, byte* state)
        {
            writer.Next();
            default(TValue).Pack(writer, state + offset);
            rest.Pack(writer, state);
        }

        public bool ArePrintedAlike(byte* state) => default(TValue).IsPrintedAlike(state + offset) && rest.ArePrintedAlike(state);

        public bool ArePrintedAlike(byte* state, string[] formats, int field) =>
            (formats[field] == null ? default(TValue).IsPrintedAlike(state + offset) : default(TValue).IsPrintedAlike(state + offset, formats[field])) && rest.ArePrintedAlike(state, formats, field + 1);

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
