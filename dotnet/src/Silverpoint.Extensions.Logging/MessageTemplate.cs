using System.Collections.Generic;
using System.Globalization;
using System.Text;

namespace Silverpoint.Extensions.Logging
{
    // A template of ILogger, "order {Id} at {Price:F2}": the format string of string.Format with the numbers of its holes, and their names.
    internal sealed class MessageTemplate
    {
        internal const string Key = "{OriginalFormat}";

        internal readonly CompositeFormat Format;
        internal readonly List<string> Names = new List<string>();

        private MessageTemplate(CompositeFormat format, List<string> names)
        {
            Format = format;
            Names = names;
        }

        // Null: it is none, and the message is a text.
        internal static MessageTemplate Parse(string text)
        {
            var numbered = new StringBuilder();
            var names = new List<string>();
            for (int at = 0; at < text.Length; ++at)
            {
                char letter = text[at];
                numbered.Append(letter);
                if (letter != '{' && letter != '}') continue;
                if (at + 1 < text.Length && text[at + 1] == letter)
                {
                    numbered.Append(letter);
                    ++at;
                    continue;
                }
                int end = text.IndexOf('}', at);
                if (letter == '}' || end < 0) return null;
                int stop = text.IndexOfAny(ends, at + 1);
                names.Add(text.Substring(at + 1, stop - at - 1));
                numbered.Append((names.Count - 1).ToString(CultureInfo.InvariantCulture)).Append(text, stop, end - stop + 1);
                at = end;
            }
            CompositeFormat format = CompositeFormat.Parse(numbered.ToString());
            return format == null ? null : new MessageTemplate(format, names);
        }

        private static readonly char[] ends = { ',', ':', '}' };
    }
}
