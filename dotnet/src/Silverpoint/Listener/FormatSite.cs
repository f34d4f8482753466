using System;
using System.Collections.Generic;
using System.Globalization;
using System.Text;

namespace Silverpoint
{
    // Stands for values of a type whose text has to be recorded, too.
    internal struct Shown<T> { }

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

        private FormatSite(TraceSite site, string format, object[] arguments, bool hasId, FormatSite next)
        {
            this.next = next;
            count = next == null ? 1 : next.count + 1;
            types = new Type[arguments.Length];
            for (int i = 0; i < types.Length; ++i) types[i] = Group(TypeOf(arguments[i]));
            CompositeFormat parsed = count > MostVariants ? null : CompositeFormat.Parse(format);
            if (parsed == null || !CanFormat(parsed, arguments.Length)) return;
            var found = new List<FormatField>();
            var signature = new StringBuilder();
            string template = parsed.Template(part =>
            {
                var field = new FormatField(part, types[part.Index]);
                found.Add(field);
                signature.Append(field.Signature);
                return field.Hole;
            });
            fields = found.ToArray();
            Point = hasId ? site.MakeNamed(template, signature.Append('i').ToString(), Names(fields.Length)) : site.Make(template, signature.ToString());
        }

        // The number of the event follows the text by its name, so all have one.
        private static string[] Names(int items)
        {
            var names = new string[items + 1];
            for (int i = 0; i < items; ++i) names[i] = i.ToString(CultureInfo.InvariantCulture);
            names[items] = "id";
            return names;
        }

        private static bool CanFormat(CompositeFormat format, int arguments)
        {
            foreach (CompositeFormat.Part part in format.Parts)
                if (part.Literal == null && part.Index >= arguments) return false;
            return true;
        }

        // .NET Framework and Mono print 15 digits instead.
        private static readonly bool isShortest = (0.1 + 0.2).ToString(CultureInfo.InvariantCulture) != "0.3";

        // What decides how an argument is recorded: its type. Floats that readers print otherwise than .NET count as another.
        internal static Type TypeOf(object argument)
        {
            if (argument == null) return null;
            Type type = argument.GetType();
            if (type == typeof(double)) return IsPrintedAlike((double)argument) ? type : typeof(Shown<double>);
            if (type == typeof(float)) return IsPrintedAlike((float)argument) ? type : typeof(Shown<float>);
            return type;
        }

        // Both print the fewest digits that read back the same, in this range without an exponent.
        internal static bool IsPrintedAlike(double value)
        {
            double size = Math.Abs(value);
            return isShortest && (size >= 0.001 && size < 100000 || value == 0 && !(1 / value < 0));
        }

        // Whether the format string was understood; else the record is one text.
        internal bool IsTyped => fields != null;

        private bool Fits(object[] arguments)
        {
            if (arguments.Length != types.Length) return false;
            for (int i = 0; i < types.Length; ++i)
            {
                Type type = TypeOf(arguments[i]);
                if (type != types[i] && Group(type) != types[i]) return false;
            }
            return true;
        }

        // Types whose values are recorded alike are one. So none of the program's own types, which may be unloaded, is kept.
        private static Type Group(Type type)
        {
            ObjectPacker packer = type == null ? null : ObjectPacker.For(type);
            return packer == ExceptionPacker.Only ? typeof(Exception) : packer == null && type != null ? typeof(object) : type;
        }

        // The one for these arguments, made if there is none; `first` becomes the newest.
        internal static FormatSite Find(TraceSite site, string format, object[] arguments, bool hasId, ref FormatSite first)
        {
            FormatSite known = System.Threading.Volatile.Read(ref first);
            for (FormatSite one = known; one != null; one = one.next)
                if (one.Fits(arguments)) return one;
            if (known != null && known.count > MostVariants) return known;
            var made = new FormatSite(site, format, arguments, hasId, known);
            // If another thread was faster, this one is used once, and made again when it is needed.
            System.Threading.Interlocked.CompareExchange(ref first, made, known);
            return made;
        }

        internal void Pack(Writer writer, object[] arguments, int id)
        {
            foreach (FormatField field in fields) field.Put(writer, arguments[field.Index]);
            if (id != 0) Codec<int>.Packer.Put(writer, id);
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
                foreach (object argument in arguments) text.Append(' ').Append(Text(argument));
                return text.ToString();
            }
        }

        private static string Text(object argument)
        {
            try
            {
                return Convert.ToString(argument, CultureInfo.InvariantCulture);
            }
            catch (FormatException)
            {
                return "<error: FormatException>";
            }
        }
    }
}
