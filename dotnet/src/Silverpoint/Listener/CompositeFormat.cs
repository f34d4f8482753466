using System;
using System.Collections.Generic;
using System.Globalization;
using System.Text;

namespace Silverpoint
{
    // The format strings of string.Format, in parts: literal texts, and items {index,alignment:format}.
    internal sealed class CompositeFormat
    {
        private const int MostItems = 200, MostNumber = 1000000;

        internal struct Part
        {
            // Null for an item.
            internal string Literal;
            internal int Index;
            internal int Alignment;
            // Null: none.
            internal string Format;
        }

        internal readonly List<Part> Parts = new List<Part>();

        // A literal text as it stands in a format string, and in a template.
        internal static string Escape(string literal) => literal.Replace("{", "{{").Replace("}", "}}");

        // A hole of a template with this specification behind its colon; empty: without one.
        internal static string Hole(string specification, string number = "") => specification.Length == 0 ? "{" + number + "}" : "{" + number + ":" + specification + "}";

        // The template with these holes in the places of the items. Null: there is none for an item.
        internal string Template(Func<Part, string> hole)
        {
            var template = new StringBuilder();
            foreach (Part part in Parts)
            {
                string text = part.Literal != null ? Escape(part.Literal) : hole(part);
                if (text == null) return null;
                template.Append(text);
            }
            return template.ToString();
        }

        // Null: string.Format would refuse it with any arguments.
        internal static CompositeFormat Parse(string text)
        {
            var found = new CompositeFormat();
            var literal = new StringBuilder();
            int at = 0, items = 0;
            while (at < text.Length)
            {
                char letter = text[at++];
                if (letter != '{' && letter != '}')
                {
                    literal.Append(letter);
                    continue;
                }
                if (at < text.Length && text[at] == letter)
                {
                    literal.Append(letter);
                    ++at;
                    continue;
                }
                if (letter == '}' || ++items > MostItems) return null;
                if (literal.Length > 0) found.Parts.Add(new Part { Literal = literal.ToString() });
                literal.Clear();
                Part part;
                if (!ParseItem(text, ref at, out part)) return null;
                found.Parts.Add(part);
            }
            if (literal.Length > 0) found.Parts.Add(new Part { Literal = literal.ToString() });
            return found;
        }

        private static bool ParseItem(string text, ref int at, out Part part)
        {
            part = new Part();
            if (!Number(text, ref at, out part.Index)) return false;
            Spaces(text, ref at);
            if (at < text.Length && text[at] == ',')
            {
                ++at;
                Spaces(text, ref at);
                bool left = at < text.Length && text[at] == '-';
                if (left) ++at;
                if (!Number(text, ref at, out part.Alignment)) return false;
                if (left) part.Alignment = -part.Alignment;
                Spaces(text, ref at);
            }
            if (at < text.Length && text[at] == ':')
            {
                int begin = ++at;
                while (at < text.Length && text[at] != '}')
                {
                    // Braces within a format differ between runtimes: string.Format makes the whole text.
                    if (text[at] == '{') return false;
                    ++at;
                }
                part.Format = text.Substring(begin, at - begin);
                if (part.Format.Length == 0) part.Format = null;
                if (at + 1 < text.Length && text[at + 1] == '}' && part.Format != null) return false;
            }
            if (at >= text.Length || text[at] != '}') return false;
            ++at;
            return true;
        }

        private static void Spaces(string text, ref int at)
        {
            while (at < text.Length && text[at] == ' ') ++at;
        }

        private static bool Number(string text, ref int at, out int number)
        {
            number = 0;
            int begin = at;
            while (at < text.Length && text[at] >= '0' && text[at] <= '9')
            {
                number = number * 10 + text[at++] - '0';
                if (number >= MostNumber) return false;
            }
            return at > begin;
        }

        // One item as string.Format takes it.
        internal static string Item(Part part)
        {
            string text = "{0";
            if (part.Alignment != 0) text += "," + part.Alignment.ToString(CultureInfo.InvariantCulture);
            if (part.Format != null) text += ":" + part.Format;
            return text + "}";
        }
    }
}
