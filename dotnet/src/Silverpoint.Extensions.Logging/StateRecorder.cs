#pragma warning disable CS8500 // Fields are read where the runtime has put them.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using Microsoft.Extensions.Logging;

namespace Silverpoint.Extensions.Logging
{
    // Records the states of LoggerMessage.Define, which source-generated methods use, too. Their list would box each value. So
    // the values are read from the fields, straight into the ring, as long as readers print them as .NET does. Else the list
    // is read. `state` is the address of a state in the caller's stack.
    internal abstract unsafe class StateRecorder
    {
        // Where a state has the object that all states of one message share.
        private readonly int key;

        private protected StateRecorder(int key) { this.key = key; }

        internal object KeyOf(byte* state) => *(object*)(state + key);

        // Records a message that is known. False: it is not, or its list has to be read.
        internal abstract bool Record(LevelSites sites, byte* state, int id);
        // The same with an exception, or of a message that is not known yet. False: its list has to be read.
        internal abstract bool Record(LevelSites sites, byte* state, IReadOnlyList<KeyValuePair<string, object>> list, MessageEnd end);

        // Of states of this type; null: they are read through their list.
        internal static StateRecorder Find(Type type)
        {
            if (!type.IsValueType || type.DeclaringType != typeof(LoggerMessage) || (type.Name != "LogValues" && !type.Name.StartsWith("LogValues`", StringComparison.Ordinal))) return null;
            try
            {
                int key = Offset(type, "_formatter", null);
                Type[] types = type.GetGenericArguments();
                var offsets = new int[types.Length];
                for (int i = 0; i < types.Length; ++i) offsets[i] = Offset(type, "_value" + i.ToString(CultureInfo.InvariantCulture), types[i]);
                return (StateRecorder)Activator.CreateInstance(typeof(StateRecorder<>).MakeGenericType(PlacedRecorder.FieldsOf(types)), BindingFlags.Instance | BindingFlags.NonPublic, null, new object[] { key, offsets }, null);
            }
            catch (Exception)
            {
                // No code can be made at run time here, or that version of the library is another one.
                return null;
            }
        }

        // Where states have this field: code that is made here has access to it. Without a type it is one of any class.
        internal static int Offset(Type state, string name, Type type)
        {
            FieldInfo field = state.GetField(name, BindingFlags.Instance | BindingFlags.NonPublic | BindingFlags.Public);
            if (field == null || (type == null ? field.FieldType.IsValueType : field.FieldType != type)) throw new MissingFieldException(state.FullName, name);
            var method = new DynamicMethod("silverpoint_offset", typeof(int), Type.EmptyTypes, typeof(StateRecorder).Module, true);
            ILGenerator code = method.GetILGenerator();
            code.DeclareLocal(state);
            code.Emit(OpCodes.Ldloca_S, (byte)0);
            code.Emit(OpCodes.Ldflda, field);
            code.Emit(OpCodes.Conv_U);
            code.Emit(OpCodes.Ldloca_S, (byte)0);
            code.Emit(OpCodes.Conv_U);
            code.Emit(OpCodes.Sub);
            code.Emit(OpCodes.Conv_I4);
            code.Emit(OpCodes.Ret);
            return ((Func<int>)method.CreateDelegate(typeof(Func<int>)))();
        }
    }

    internal sealed unsafe class StateRecorder<TFields> : StateRecorder where TFields : struct, IPlacedFields
    {
        // There is one type of states with these fields. (Not read-only: each call would copy it.)
        private static TFields fields;

        private StateRecorder(int key, int[] offsets) : base(key)
        {
            var located = new TFields();
            located.Locate(offsets, 0);
            fields = located;
        }

        internal override bool Record(LevelSites sites, byte* state, int id)
        {
            object key = KeyOf(state);
            MessageParts parts = id == 0 ? MessageParts.None : MessageParts.Event;
            for (DefinedSite site = sites.Near; site != null; site = site.NextNear)
                if (site.Key == key && site.Parts == parts) return fields.ArePrintedAlike(state) && Write(site, state, id);
            return RecordFar(sites.Find(key, parts), state, id);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static bool RecordFar(DefinedSite site, byte* state, int id) => site != null && site.Point != null && ArePrintedAlike(site, state) && Write(site, state, id);

        private static bool Write(DefinedSite site, byte* state, int id)
        {
            StateArguments arguments;
            arguments.State = state;
            arguments.Id = id;
            Ring.Write(site.Point, ref arguments);
            return true;
        }

        internal override bool Record(LevelSites sites, byte* state, IReadOnlyList<KeyValuePair<string, object>> list, MessageEnd end)
        {
            object key = KeyOf(state);
            if (key == null) return false;
            DefinedSite site = sites.Find(key, end.Parts);
            if (site == null)
            {
                var values = new List<IFieldValue>();
                fields.Describe(values);
                site = sites.Define(key, end.Parts, values, list);
            }
            if (site == null || site.Point == null || !ArePrintedAlike(site, state)) return false;
            Writer writer = Writer.Take(fields.Count + end.Count);
            try
            {
                fields.Pack(writer, state);
                end.Pack(writer);
                Ring.Write(site.Point, writer);
            }
            finally
            {
                writer.GiveBack();
            }
            return true;
        }

        private static bool ArePrintedAlike(DefinedSite site, byte* state) => site.Formats == null ? fields.ArePrintedAlike(state) : fields.ArePrintedAlike(state, site.Formats, 0);

        private struct StateArguments : IArguments
        {
            internal byte* State;
            // Of the event; 0: none.
            internal int Id;

            public int Count => fields.Count + 1;

            public int Size()
            {
                int values = fields.Size(State);
                return values < 0 || Id == 0 ? values : values + 4;
            }

            public byte* Put(byte* at)
            {
                at = fields.Put(at, State);
                return Id == 0 ? at : Direct.Put(at, Id);
            }

            public void Pack(Writer writer)
            {
                fields.Pack(writer, State);
                new MessageEnd(Id, null).Pack(writer);
            }
        }
    }

    // The recorder of one type of states.
    internal static class StateRecorders<TState>
    {
        // Null: states of this type are read through their list.
        internal static readonly StateRecorder Only = StateRecorder.Find(typeof(TState));
    }
}
