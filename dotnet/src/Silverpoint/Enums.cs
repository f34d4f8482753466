using System;
using System.Collections.Generic;
using System.Globalization;
using System.Text;

namespace Silverpoint
{
    // Enumerations: the number, with the names of its values in the signature.
    internal static class EnumPackers
    {
        internal static object For(Type type)
        {
            string code;
            int size;
            switch (Type.GetTypeCode(Enum.GetUnderlyingType(type)))
            {
                case TypeCode.SByte: code = "a"; size = 1; break;
                case TypeCode.Byte: code = "A"; size = 1; break;
                case TypeCode.Int16: code = "h"; size = 2; break;
                case TypeCode.UInt16: code = "H"; size = 2; break;
                case TypeCode.Int32: code = "i"; size = 4; break;
                case TypeCode.UInt32: code = "I"; size = 4; break;
                case TypeCode.Int64: code = "l"; size = 8; break;
                case TypeCode.UInt64: code = "L"; size = 8; break;
                default: return null;
            }
            string signature = type.IsDefined(typeof(FlagsAttribute), false) ? Flags(type, code) : Names(type, code);
            // One with more names is recorded as its number.
            if (signature.Length > Packers.LongSignature) signature = code;
            return Activator.CreateInstance(typeof(BlockPacker<>).MakeGenericType(type), System.Reflection.BindingFlags.Instance | System.Reflection.BindingFlags.NonPublic, null,
                                            new object[] { signature, size }, null);
        }

        private static string Names(Type type, string code)
        {
            var text = new StringBuilder("e").Append(Texts.Name(type.Name)).Append('|').Append(code).Append('|');
            foreach (var value in Values(type)) text.Append(value.Key).Append('=').Append(Texts.Name(value.Value)).Append(',');
            return text.Append(';').ToString();
        }

        private static string Flags(Type type, string code)
        {
            var flags = new StringBuilder();
            foreach (var value in Values(type))
            {
                if (flags.Length > 0) flags.Append(',');
                flags.Append(value.Key).Append('=').Append(value.Value);
            }
            return "@flags=" + Texts.Name(flags.ToString()) + ";" + code;
        }

        // Of several names of one value the first counts, as in Enum.ToString.
        private static IEnumerable<KeyValuePair<string, string>> Values(Type type)
        {
            var seen = new HashSet<string>();
            Array values = Enum.GetValues(type);
            // (Enum.ToString("D") would print the current culture's sign.)
            bool isLarge = Type.GetTypeCode(type) == TypeCode.UInt64;
            foreach (object value in values)
            {
                string number = isLarge ? Convert.ToUInt64(value, CultureInfo.InvariantCulture).ToString(CultureInfo.InvariantCulture)
                                        : Convert.ToInt64(value, CultureInfo.InvariantCulture).ToString(CultureInfo.InvariantCulture);
                if (seen.Add(number)) yield return new KeyValuePair<string, string>(number, Enum.GetName(type, value));
            }
        }
    }
}
