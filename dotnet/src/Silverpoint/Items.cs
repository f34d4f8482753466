using System;
using System.Collections;
using System.Collections.Generic;
using System.Globalization;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Silverpoint
{
    // Values whose types are known at run time alone, as one item of CBOR each. What their getters throw becomes a
    // text `<error: why>` in the place of the value. Depth and size are bounded.
    internal static class Items
    {
        // Containers and objects within each other; what is deeper is left out.
        internal const int MostDepth = 6;
        // Exceptions within each other.
        private const int MostInner = 8;
        // Room that each open container needs for its mark and its end.
        private const int ForEnd = 48;

        // A whole argument of type `v`.
        internal static void PutArgument(Writer writer, object value)
        {
            int place = writer.Mark();
            Put(writer, value, 0);
            writer.Patch(place, (uint)(writer.Size - place - 4));
        }

        // A whole argument of type `v`: values by their names. Those without one are numbered.
        internal static void PutFields(Writer writer, IList<string> names, IList<object> values)
        {
            int place = BeginFields(writer);
            int count = values == null ? 0 : values.Count;
            for (int i = 0; i < count; ++i)
            {
                string name = names != null && i < names.Count ? names[i] : null;
                Field(writer, name ?? "argument" + (i + 1).ToString(CultureInfo.InvariantCulture), values[i], 0);
            }
            EndFields(writer, place);
        }

        // A whole argument of type `v`, whose values the caller puts in between by Field.
        internal static int BeginFields(Writer writer)
        {
            int place = writer.Mark();
            writer.Put8(Cbor.Map);
            return place;
        }

        // `place`: from BeginFields.
        internal static void EndFields(Writer writer, int place)
        {
            writer.Put8(Cbor.End);
            writer.Patch(place, (uint)(writer.Size - place - 4));
        }

        // Bytes that a value at this depth may have.
        private static int Room(Writer writer, int depth) => writer.Room - (depth + 1) * ForEnd;

        internal static void Put(Writer writer, object value, int depth)
        {
            Writer.Place place = writer.Here;
            try
            {
                PutChecked(writer, value, depth);
            }
            catch (Exception error) when (!(error is OutOfMemoryException || error is ThreadAbortException))
            {
                writer.Back(place);
                Text(writer, Thrown(error), depth);
            }
        }

        // What stands for a value that could not be read.
        private static string Thrown(Exception error) => "<error: " + error.GetType().Name + ">";

        private static void Text(Writer writer, string text, int depth) => Cbor.Text(writer, text, Math.Max(Room(writer, depth), 0));

        private static void PutChecked(Writer writer, object value, int depth)
        {
            if (value == null)
            {
                writer.Put8(Cbor.Null);
                return;
            }
            if (value is Enum)
            {
                Text(writer, value.ToString(), depth);
                return;
            }
            switch (Type.GetTypeCode(value.GetType()))
            {
                case TypeCode.Boolean: Cbor.Bool(writer, (bool)value); return;
                case TypeCode.Char: Text(writer, value.ToString(), depth); return;
                case TypeCode.SByte: Cbor.Integer(writer, (sbyte)value); return;
                case TypeCode.Byte: Cbor.Integer(writer, (byte)value); return;
                case TypeCode.Int16: Cbor.Integer(writer, (short)value); return;
                case TypeCode.UInt16: Cbor.Integer(writer, (ushort)value); return;
                case TypeCode.Int32: Cbor.Integer(writer, (int)value); return;
                case TypeCode.UInt32: Cbor.Integer(writer, (uint)value); return;
                case TypeCode.Int64: Cbor.Integer(writer, (long)value); return;
                case TypeCode.UInt64: Cbor.Head(writer, 0, (ulong)value); return;
                case TypeCode.Single: Cbor.Float(writer, (float)value); return;
                case TypeCode.Double: Cbor.Double(writer, (double)value); return;
                case TypeCode.Decimal: Decimal(writer, (decimal)value, depth); return;
                case TypeCode.DateTime: Text(writer, ((DateTime)value).ToString("O", CultureInfo.InvariantCulture), depth); return;
                case TypeCode.String: Text(writer, (string)value, depth); return;
                case TypeCode.DBNull: writer.Put8(Cbor.Null); return;
            }
            if (value is Guid) Cbor.Guid(writer, (Guid)value);
            else if (value is TimeSpan) Text(writer, ((TimeSpan)value).ToString("c", CultureInfo.InvariantCulture), depth);
            else if (value is DateTimeOffset) Text(writer, ((DateTimeOffset)value).ToString("O", CultureInfo.InvariantCulture), depth);
            else if (value is byte[]) Cbor.Bytes(writer, (byte[])value, Math.Max(Room(writer, depth), 0));
            else if (depth >= MostDepth || Room(writer, depth) < ForEnd) Text(writer, "\u2026", depth);
            else if (value is Exception) Exception(writer, (Exception)value, depth, 0);
            else if (value is IDictionary) Map(writer, (IDictionary)value, depth);
            else if (value is IDictionary<string, object>) Named(writer, (IDictionary<string, object>)value, depth);
            else if (value is ITuple) Tuple(writer, (ITuple)value, depth);
            else if (value is ICollection || IsCounted(value)) List(writer, (IEnumerable)value, depth);
            else Properties.Put(writer, value, depth);
        }

        private static unsafe void Decimal(Writer writer, decimal value, int depth)
        {
            int at = Texts.Write(value, writer.Letters);
            fixed (char* from = writer.Letters) Cbor.Text(writer, from + at, writer.Letters.Length - at, Math.Max(Room(writer, depth), 0));
        }

        // Sets and read-only lists have a number of elements, but no common interface without a type. An enumerable
        // without one may compute its elements, or never end: it is not read.
        private static bool IsCounted(object value)
        {
            if (!(value is IEnumerable)) return false;
            foreach (Type one in value.GetType().GetInterfaces())
            {
                if (!one.IsGenericType) continue;
                Type definition = one.GetGenericTypeDefinition();
                if (definition == typeof(IReadOnlyCollection<>) || definition == typeof(ICollection<>)) return true;
            }
            return false;
        }

        private static void List(Writer writer, IEnumerable list, int depth)
        {
            writer.Put8(Cbor.Array);
            long left = 0, written = 0;
            var counted = list as ICollection;
            foreach (object one in list)
            {
                if (left == 0 && Room(writer, depth) >= 2 * ForEnd)
                {
                    Put(writer, one, depth + 1);
                    ++written;
                    continue;
                }
                ++left;
                if (counted == null) continue;
                left = Math.Max(counted.Count - written, 1);
                break;
            }
            End(writer, left);
        }

        private static void Tuple(Writer writer, ITuple tuple, int depth)
        {
            writer.Put8(Cbor.Array);
            long left = 0;
            for (int i = 0; i < tuple.Length; ++i)
            {
                if (left > 0 || Room(writer, depth) < 2 * ForEnd) ++left;
                else Put(writer, tuple[i], depth + 1);
            }
            End(writer, left);
        }

        private static void Map(Writer writer, IDictionary map, int depth)
        {
            writer.Put8(Cbor.Map);
            long left = 0;
            foreach (DictionaryEntry one in map)
            {
                if (left > 0 || Room(writer, depth) < 4 * ForEnd)
                {
                    ++left;
                    continue;
                }
                Put(writer, one.Key, depth + 1);
                Put(writer, one.Value, depth + 1);
            }
            if (left > 0)
            {
                Cbor.Text(writer, "\u2026(+" + left + ")", ForEnd);
                writer.Put8(Cbor.Null);
                writer.IsCut = true;
            }
            writer.Put8(Cbor.End);
        }

        // Objects that have their fields at run time: nested values of EventSource, ExpandoObject.
        private static void Named(Writer writer, IDictionary<string, object> map, int depth)
        {
            writer.Put8(Cbor.Map);
            foreach (KeyValuePair<string, object> one in map) Field(writer, one.Key ?? "", one.Value, depth);
            writer.Put8(Cbor.End);
        }

        private static void End(Writer writer, long left)
        {
            if (left > 0)
            {
                Cbor.Text(writer, "\u2026(+" + left + ")", ForEnd);
                writer.IsCut = true;
            }
            writer.Put8(Cbor.End);
        }

        internal static void Field(Writer writer, string name, object value, int depth)
        {
            if (Room(writer, depth) < 4 * ForEnd)
            {
                writer.IsCut = true;
                return;
            }
            Text(writer, name, depth + 1);
            Put(writer, value, depth + 1);
        }

        // Both are code of the program. If one throws, the rest of the exception is recorded nevertheless.
        private static string MessageOf(Exception error)
        {
            try
            {
                return error.Message;
            }
            catch (Exception thrown) when (!(thrown is OutOfMemoryException))
            {
                return Thrown(thrown);
            }
        }

        private static string StackOf(Exception error)
        {
            try
            {
                return error.StackTrace;
            }
            catch (Exception thrown) when (!(thrown is OutOfMemoryException))
            {
                return Thrown(thrown);
            }
        }

        // Type, message, stack, and the exceptions within.
        private static void Exception(Writer writer, Exception error, int depth, int inner)
        {
            writer.Put8(Cbor.Map);
            Field(writer, "type", error.GetType().FullName, depth);
            Field(writer, "message", MessageOf(error), depth);
            // Of the whole chain at most a part of what is left for each.
            string stack = StackOf(error);
            if (stack != null)
            {
                Text(writer, "stack", depth + 1);
                Cbor.Text(writer, stack, Math.Max(Room(writer, depth + 1) / 2, 0));
            }
            var several = error as AggregateException;
            if (several != null && several.InnerExceptions.Count > 0)
            {
                Text(writer, "inner", depth + 1);
                writer.Put8(Cbor.Array);
                long left = 0;
                foreach (Exception one in several.InnerExceptions)
                {
                    if (inner >= MostInner || Room(writer, depth) < 8 * ForEnd) ++left;
                    else Exception(writer, one, depth + 1, inner + 1);
                }
                End(writer, left);
            }
            else if (error.InnerException != null)
            {
                Text(writer, "inner", depth + 1);
                if (inner >= MostInner || Room(writer, depth) < 8 * ForEnd) Text(writer, "\u2026", depth + 1);
                else Exception(writer, error.InnerException, depth + 1, inner + 1);
            }
            writer.Put8(Cbor.End);
        }
    }
}
