using System;
using System.Globalization;
using System.Text;

namespace Silverpoint
{
    // A format string with arguments of certain types, of one source and level.
    internal sealed class FormatSite
    {
        // Argument types that one format string is known with; calls with others record one text.
        private const int MostVariants = 16;

        private readonly Type[] types;
        private readonly FormatField[] fields;
        private readonly FormatSite next;
        private readonly int count;
        internal readonly Tracepoint Point;

        private FormatSite(TraceSite site, string format, object[] arguments, FormatSite next)
        {
            this.next = next;
            count = next == null ? 1 : next.count + 1;
            types = new Type[arguments.Length];
            for (int i = 0; i < types.Length; ++i) types[i] = TypeOf(arguments[i]);
            CompositeFormat parsed = count > MostVariants ? null : CompositeFormat.Parse(format);
            if (parsed == null || !CanFormat(parsed, arguments.Length)) return;
            int items = parsed.Parts.FindAll(part => part.Literal == null).Count, number = 0;
            fields = new FormatField[items];
            var template = new StringBuilder();
            var signature = new StringBuilder();
            foreach (CompositeFormat.Part part in parsed.Parts)
            {
                if (part.Literal != null)
                {
                    template.Append(part.Literal.Replace("{", "{{").Replace("}", "}}"));
                    continue;
                }
                var field = new FormatField(part, types[part.Index]);
                fields[number++] = field;
                signature.Append(field.Signature);
                template.Append(field.Specification.Length == 0 ? "{}" : "{:" + field.Specification + "}");
            }
            Point = site.Make(template.ToString(), signature.ToString());
        }

        private static bool CanFormat(CompositeFormat format, int arguments)
        {
            foreach (CompositeFormat.Part part in format.Parts)
                if (part.Literal == null && part.Index >= arguments) return false;
            return true;
        }

        private static Type TypeOf(object argument) => argument == null ? null : argument.GetType();

        // Whether the format string was understood; else the record is one text.
        internal bool IsTyped => fields != null;

        private bool Fits(object[] arguments)
        {
            if (arguments.Length != types.Length) return false;
            for (int i = 0; i < types.Length; ++i)
                if (TypeOf(arguments[i]) != types[i]) return false;
            return true;
        }

        // The one for these arguments, made if there is none; `first` becomes the newest.
        internal static FormatSite Find(TraceSite site, string format, object[] arguments, ref FormatSite first)
        {
            FormatSite known = System.Threading.Volatile.Read(ref first);
            for (FormatSite one = known; one != null; one = one.next)
                if (one.Fits(arguments) || one.count > MostVariants) return one;
            var made = new FormatSite(site, format, arguments, known);
            // If another thread was faster, this one is used once, and made again when it is needed.
            System.Threading.Interlocked.CompareExchange(ref first, made, known);
            return made;
        }

        internal void Pack(Writer writer, object[] arguments)
        {
            foreach (FormatField field in fields) field.Put(writer, arguments[field.Index]);
        }

        // What is recorded where string.Format would throw, too.
        internal static string Text(string format, object[] arguments)
        {
            try
            {
                return string.Format(CultureInfo.InvariantCulture, format, arguments);
            }
            catch (FormatException)
            {
                var text = new StringBuilder(format);
                foreach (object argument in arguments) text.Append(' ').Append(Convert.ToString(argument, CultureInfo.InvariantCulture));
                return text.ToString();
            }
        }
    }
}
