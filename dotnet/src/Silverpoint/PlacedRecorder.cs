#pragma warning disable CS8500 // The address of arguments is used while they are in the stack.
using System;
using System.Collections.Generic;
using System.Reflection;

namespace Silverpoint
{
    // Records arguments of which some are texts. All generic types of reference types share their code, which looks up at run time what
    // it is for. That takes longer than the record. So texts have a type of their own here, and are read by their address.
    internal abstract unsafe class PlacedRecorder
    {
        // As Ring.Write. `arguments` is the address of an Arguments in the caller's stack.
        internal abstract ulong Write(Tracepoint point, byte* arguments);

        // The type of the list of values of these types.
        internal static Type FieldsOf(Type[] types)
        {
            Type fields = typeof(NoFields);
            for (int i = types.Length - 1; i >= 0; --i)
                fields = typeof(PlacedFields<,>).MakeGenericType(types[i] == typeof(string) ? typeof(TextValue) : typeof(FieldValue<>).MakeGenericType(types[i]), fields);
            return fields;
        }

        internal static PlacedRecorder Find<TArguments>() where TArguments : struct, IArgumentList
        {
            // Its shared code is faster.
            if (Ring.IsMono) return null;
            var types = new List<Type>();
            var offsets = new List<int>();
            var arguments = new TArguments();
            arguments.Locate((byte*)&arguments, types, offsets);
            if (!types.Contains(typeof(string)) || !types.TrueForAll(type => type.IsValueType || type == typeof(string))) return null;
            try
            {
                return (PlacedRecorder)Activator.CreateInstance(typeof(PlacedRecorder<>).MakeGenericType(FieldsOf(types.ToArray())), BindingFlags.Instance | BindingFlags.NonPublic, null, new object[] { offsets.ToArray() }, null);
            }
            catch (Exception)
            {
                // No code can be made at run time here.
                return null;
            }
        }
    }

    internal sealed unsafe class PlacedRecorder<TFields> : PlacedRecorder where TFields : struct, IPlacedFields
    {
        // There is one type of arguments with these fields. (Not read-only: each call would copy it.)
        private static TFields fields;

        private PlacedRecorder(int[] offsets)
        {
            var located = new TFields();
            located.Locate(offsets, 0);
            fields = located;
        }

        internal override ulong Write(Tracepoint point, byte* arguments)
        {
            var placed = new PlacedArguments { At = arguments };
            return Ring.Write(point, ref placed);
        }

        private struct PlacedArguments : IArguments
        {
            internal byte* At;

            public int Count => fields.Count;
            public int Size() => fields.Size(At);
            public byte* Put(byte* at) => fields.Put(at, At);
            public void Pack(Writer writer) => fields.Pack(writer, At);
        }
    }

    // The recorder of one type of arguments.
    internal static class PlacedRecorders<TArguments> where TArguments : struct, IArgumentList
    {
        // Null: they are no texts and numbers, or numbers alone.
        internal static readonly PlacedRecorder Only = PlacedRecorder.Find<TArguments>();
    }
}
