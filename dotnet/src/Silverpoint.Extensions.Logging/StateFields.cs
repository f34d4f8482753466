using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Reflection.Emit;
using System.Text;
using Microsoft.Extensions.Logging;

namespace Silverpoint.Extensions.Logging
{
    // Reads one field of a state without boxing it.
    internal delegate T FieldReader<TState, T>(ref TState state);

    // The states of LoggerMessage.Define, which source-generated methods use, too. Their list would box each value. So
    // the values are read from the fields, as long as readers print them as .NET does; else the list is read.
    internal sealed class StateFields<TState>
    {
        // Null: states of this type are read through their list.
        internal static readonly StateFields<TState> Only = Find();

        private readonly FieldReader<TState, object> formatter;
        private readonly StateField<TState>[] fields;

        private StateFields(FieldReader<TState, object> formatter, StateField<TState>[] fields)
        {
            this.formatter = formatter;
            this.fields = fields;
        }

        private static StateFields<TState> Find()
        {
            Type type = typeof(TState);
            if (!type.IsValueType || type.DeclaringType != typeof(LoggerMessage) || (type.Name != "LogValues" && !type.Name.StartsWith("LogValues`", StringComparison.Ordinal))) return null;
            try
            {
                Type[] types = type.GetGenericArguments();
                var found = new StateField<TState>[types.Length];
                for (int i = 0; i < found.Length; ++i)
                {
                    FieldInfo field = Field("_value" + i.ToString(System.Globalization.CultureInfo.InvariantCulture), types[i]);
                    if (field == null) return null;
                    found[i] = (StateField<TState>)Activator.CreateInstance(typeof(StateField<,>).MakeGenericType(type, types[i]), BindingFlags.Instance | BindingFlags.NonPublic, null, new object[] { field }, null);
                }
                FieldInfo form = Field("_formatter", null);
                return form == null || form.FieldType.IsValueType ? null : new StateFields<TState>(Reader<object>(form), found);
            }
            catch (Exception)
            {
                // No code can be made at run time here, or that version of the library is another one.
                return null;
            }
        }

        private static FieldInfo Field(string name, Type type)
        {
            FieldInfo field = typeof(TState).GetField(name, BindingFlags.Instance | BindingFlags.NonPublic | BindingFlags.Public);
            return field != null && (type == null || field.FieldType == type) ? field : null;
        }

        internal static FieldReader<TState, T> Reader<T>(FieldInfo field)
        {
            var method = new DynamicMethod("silverpoint_" + field.Name, typeof(T), new[] { typeof(TState).MakeByRefType() }, typeof(StateFields<TState>).Module, true);
            ILGenerator code = method.GetILGenerator();
            code.Emit(OpCodes.Ldarg_0);
            code.Emit(OpCodes.Ldfld, field);
            code.Emit(OpCodes.Ret);
            return (FieldReader<TState, T>)method.CreateDelegate(typeof(FieldReader<TState, T>));
        }

        // False: the list has to be read.
        internal bool Record(LevelSites sites, int id, ref TState state, Exception exception)
        {
            object key = formatter(ref state);
            if (key == null) return false;
            var site = sites.Find(key, id, exception != null) as FieldSite<TState>;
            if (site == null)
            {
                if (!sites.HasRoom) return false;
                site = new FieldSite<TState>(sites, fields, (IReadOnlyList<KeyValuePair<string, object>>)state, key, id, exception != null);
                // If another thread was faster, this one is used once.
                sites.Add(site);
            }
            return site.Record(ref state, exception);
        }
    }

    // How a field of a state is recorded.
    internal abstract class StateField<TState>
    {
        internal abstract string Signature { get; }
        // Whether all values, or those for which IsPrintedAlike says so, have the same text as in .NET with this format; null: without one.
        internal abstract bool CanPrint(string format);
        // Whether it depends on the value.
        internal abstract bool IsChecked(string format);
        internal abstract bool IsPrintedAlike(ref TState state, string format);
        internal abstract void Put(Writer writer, ref TState state);
    }

    internal sealed class StateField<TState, T> : StateField<TState>
    {
        private static readonly bool isBool = typeof(T) == typeof(bool);
        private static readonly bool isPlain = isBool || typeof(T) == typeof(string) || typeof(T) == typeof(char) || typeof(T) == typeof(Guid) || typeof(T) == typeof(decimal) || IsInteger() || IsFloat() || IsEnum();

        private readonly FieldReader<TState, T> read;

        private StateField(FieldInfo field) { read = StateFields<TState>.Reader<T>(field); }

        private static bool IsInteger() => typeof(T) == typeof(sbyte) || typeof(T) == typeof(byte) || typeof(T) == typeof(short) || typeof(T) == typeof(ushort) || typeof(T) == typeof(int) ||
                                           typeof(T) == typeof(uint) || typeof(T) == typeof(long) || typeof(T) == typeof(ulong);
        private static bool IsFloat() => typeof(T) == typeof(float) || typeof(T) == typeof(double);
        // Sets of flags have other separators.
        private static bool IsEnum() => typeof(T).IsEnum && !typeof(T).IsDefined(typeof(FlagsAttribute), false);

        // .NET prints False and True.
        internal override string Signature => isBool ? ObjectPacker.For(typeof(bool)).Signature : Codec<T>.Signature;

        internal override bool CanPrint(string format) => format == null ? isPlain : LogFormat.IsPrintedAlike(format, default(T));

        internal override bool IsChecked(string format) => format != null || IsFloat();

        internal override bool IsPrintedAlike(ref TState state, string format)
        {
            if (format != null) return LogFormat.IsPrintedAlike(format, read(ref state));
            if (typeof(T) == typeof(double)) return FormatSite.IsPrintedAlike((double)(object)read(ref state));
            if (typeof(T) == typeof(float)) return FormatSite.IsPrintedAlike((float)(object)read(ref state));
            return true;
        }

        internal override void Put(Writer writer, ref TState state)
        {
            writer.Next();
            Codec<T>.Packer.Put(writer, read(ref state));
        }
    }

    // A message whose values are read from the fields of its state.
    internal sealed class FieldSite<TState> : KeyedSite
    {
        private readonly StateField<TState>[] fields;
        private readonly string[] formats;
        // Fields of which not all values are printed alike.
        private readonly int[] uncertain = new int[0];
        // Null: the list is read.
        private readonly Tracepoint point;

        internal FieldSite(LevelSites sites, StateField<TState>[] fields, IReadOnlyList<KeyValuePair<string, object>> list, object key, int id, bool hasException) : base(key, id, hasException)
        {
            this.fields = fields;
            formats = new string[fields.Length];
            var template = list[list.Count - 1].Value as string;
            MessageTemplate parsed = template == null ? null : MessageTemplate.Parse(template);
            if (parsed == null || parsed.Names.Count != fields.Length) return;
            var text = new StringBuilder();
            var signature = new StringBuilder();
            foreach (CompositeFormat.Part part in parsed.Format.Parts)
            {
                if (part.Literal != null)
                {
                    text.Append(CompositeFormat.Escape(part.Literal));
                    continue;
                }
                StateField<TState> field = fields[part.Index];
                if (part.Alignment != 0 || !field.CanPrint(part.Format)) return;
                formats[part.Index] = part.Format;
                text.Append(part.Format == null ? "{}" : "{:" + LogFormat.Specification(part.Format) + "}");
                signature.Append(field.Signature);
            }
            uncertain = Enumerable.Range(0, fields.Length).Where(i => fields[i].IsChecked(formats[i])).ToArray();
            var names = new List<string>(parsed.Names);
            LevelSites.AddExtraNames(names, id, hasException);
            point = sites.Make(text.ToString(), signature.Append(LevelSites.ExtraSignature(id, hasException)).ToString(), names.ToArray());
        }

        // False: the list has to be read.
        internal bool Record(ref TState state, Exception exception)
        {
            if (point == null) return false;
            foreach (int i in uncertain)
                if (!fields[i].IsPrintedAlike(ref state, formats[i])) return false;
            Writer writer = Writer.Take(fields.Length + 2);
            try
            {
                foreach (StateField<TState> field in fields) field.Put(writer, ref state);
                LevelSites.PutExtras(writer, Id, exception);
                Ring.Write(point, writer);
            }
            finally
            {
                writer.GiveBack();
            }
            return true;
        }
    }
}
