using System;

namespace Silverpoint
{
    // Values in other notations, without garbage.
    internal static unsafe class Texts
    {
        // The order of its text: .NET keeps the first three groups as numbers.
        internal static byte* PutGuid(byte* at, byte* value)
        {
            at[0] = value[3];
            at[1] = value[2];
            at[2] = value[1];
            at[3] = value[0];
            at[4] = value[5];
            at[5] = value[4];
            at[6] = value[7];
            at[7] = value[6];
            *(ulong*)(at + 8) = *(ulong*)(value + 8);
            return at + 16;
        }

        // A decimal as its invariant text, with all digits of its scale, at the end of `letters`. Gives where it begins.
        internal static int Write(decimal value, char[] letters)
        {
            // Flags, then the upper, the lower and the middle word of the digits: the layout of all runtimes.
            uint* words = (uint*)&value;
            uint flags = words[0], high = words[1], low = words[2], middle = words[3];
            int scale = (int)(flags >> 16 & 0xFF), at = letters.Length, digits = 0;
            while (high != 0 || middle != 0 || low != 0 || digits <= scale)
            {
                if (digits == scale && scale > 0) letters[--at] = '.';
                ulong rest = high;
                high = (uint)(rest / 10);
                rest = rest % 10 << 32 | middle;
                middle = (uint)(rest / 10);
                rest = rest % 10 << 32 | low;
                low = (uint)(rest / 10);
                letters[--at] = (char)('0' + rest % 10);
                ++digits;
            }
            if ((flags & 0x80000000) != 0 && !IsZero(letters, at)) letters[--at] = '-';
            return at;
        }

        private static bool IsZero(char[] letters, int at)
        {
            for (; at < letters.Length; ++at)
                if (letters[at] != '0' && letters[at] != '.') return false;
            return true;
        }

        // As a name in a signature (spec/wire.md, section 10).
        internal static string Name(string text)
        {
            var name = new System.Text.StringBuilder();
            foreach (byte letter in System.Text.Encoding.UTF8.GetBytes(text))
            {
                if (letter <= ' ' || letter > '~' || "%|:,;=><".IndexOf((char)letter) >= 0)
                    name.Append('%').Append(letter.ToString("X2", System.Globalization.CultureInfo.InvariantCulture));
                else
                    name.Append((char)letter);
            }
            return name.ToString();
        }
    }
}
