using System;
using System.Collections;
using System.Globalization;
using System.Text;

namespace Silverpoint.Extensions.Logging
{
    // Values as the formatter of ILogger shows them.
    internal static class Values
    {
        private const int MostElements = 1000;

        // Numbers, texts and their like stay what they are; null, sequences and other objects become text.
        internal static object Shown(object value)
        {
            if (value == null) return Direct.Null;
            if (value is IConvertible || value is IFormattable || value is Exception) return value;
            return Text(value);
        }

        internal static string Text(object value)
        {
            if (value == null) return Direct.Null;
            var text = value as string;
            if (text != null) return text;
            var sequence = value as IEnumerable;
            if (sequence == null) return Convert.ToString(value, CultureInfo.InvariantCulture) ?? "";
            // An enumerable may never end.
            var joined = new StringBuilder();
            int count = 0;
            foreach (object one in sequence)
            {
                if (count++ > 0) joined.Append(", ");
                if (count > MostElements)
                {
                    joined.Append('\u2026');
                    break;
                }
                joined.Append(one == null ? Direct.Null : Convert.ToString(one, CultureInfo.InvariantCulture));
            }
            return joined.ToString();
        }
    }
}
