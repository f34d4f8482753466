using System.Text;

namespace Silverpoint
{
    // CBOR (spec/cbor.md): what an item of type `v` consists of. Containers have no length, since how many elements
    // there are is known at their end.
    internal static unsafe class Cbor
    {
        internal const byte Null = 0xF6, Array = 0x9F, Map = 0xBF, End = 0xFF;

        internal static void Head(Writer writer, int major, ulong value)
        {
            byte kind = (byte)(major << 5);
            if (value < 24)
            {
                writer.Put8((byte)(kind | (byte)value));
                return;
            }
            int bytes = value <= 0xFF ? 1 : value <= 0xFFFF ? 2 : value <= 0xFFFFFFFF ? 4 : 8;
            writer.Put8((byte)(kind | (bytes == 1 ? 24 : bytes == 2 ? 25 : bytes == 4 ? 26 : 27)));
            Big(writer, value, bytes);
        }

        private static void Big(Writer writer, ulong value, int bytes)
        {
            byte* at = writer.Reserve(bytes);
            if (at == null) return;
            for (int i = 0; i < bytes; ++i) at[i] = (byte)(value >> 8 * (bytes - 1 - i));
        }

        internal static void Integer(Writer writer, long value)
        {
            if (value >= 0) Head(writer, 0, (ulong)value);
            else Head(writer, 1, (ulong)(-1 - value));
        }

        internal static void Bool(Writer writer, bool value) => writer.Put8(value ? (byte)0xF5 : (byte)0xF4);

        internal static void Float(Writer writer, float value)
        {
            writer.Put8(0xFA);
            Big(writer, *(uint*)&value, 4);
        }

        internal static void Double(Writer writer, double value)
        {
            writer.Put8(0xFB);
            Big(writer, *(ulong*)&value, 8);
        }

        internal static void Bytes(Writer writer, byte[] value, int most)
        {
            int kept = value.Length < most ? value.Length : most;
            if (kept < value.Length) writer.IsCut = true;
            Head(writer, 2, (ulong)kept);
            byte* at = writer.Reserve(kept);
            if (at == null) return;
            for (int i = 0; i < kept; ++i) at[i] = value[i];
        }

        internal static void Guid(Writer writer, System.Guid value)
        {
            Head(writer, 6, 37);
            Head(writer, 2, 16);
            byte* at = writer.Reserve(16);
            if (at != null) Texts.PutGuid(at, (byte*)&value);
        }

        // At most so many bytes; a longer text is cut and says by how much.
        internal static void Text(Writer writer, string value, int most)
        {
            fixed (char* from = value) Text(writer, from, value.Length, most);
        }

        internal static void Text(Writer writer, char* from, int count, int most)
        {
            int bytes = count == 0 ? 0 : Encoding.UTF8.GetByteCount(from, count);
            if (bytes <= most)
            {
                Head(writer, 3, (ulong)bytes);
                byte* at = writer.Reserve(bytes);
                if (at != null && count > 0) Encoding.UTF8.GetBytes(from, count, at, bytes);
                return;
            }
            writer.IsCut = true;
            int kept = (most < 3 ? 0 : most) / 3;
            if (kept > 0 && char.IsHighSurrogate(from[kept - 1])) --kept;
            int prefix = kept == 0 ? 0 : Encoding.UTF8.GetByteCount(from, kept);
            byte[] mark = Encoding.UTF8.GetBytes("\u2026(+" + (bytes - prefix).ToString(System.Globalization.CultureInfo.InvariantCulture) + ")");
            Head(writer, 3, (ulong)(prefix + mark.Length));
            byte* to = writer.Reserve(prefix + mark.Length);
            if (to == null) return;
            if (kept > 0) Encoding.UTF8.GetBytes(from, kept, to, prefix);
            for (int i = 0; i < mark.Length; ++i) to[prefix + i] = mark[i];
        }
    }
}
