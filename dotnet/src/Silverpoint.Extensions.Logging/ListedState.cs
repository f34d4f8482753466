using System;
using System.Collections.Generic;
using System.Text;
using System.Threading;

namespace Silverpoint.Extensions.Logging
{
    // States that are lists of names and values, the template last.
    internal static class ListedState
    {
        // Of one message; further ones are in its text.
        private const int MostValues = 100;

        // False: it is no such state, or is recorded as a text. With a key, all states that have it have these names and this template.
        internal static bool Record(LevelSites sites, object state, object key, MessageEnd end)
        {
            var list = state as IReadOnlyList<KeyValuePair<string, object>>;
            if (list == null) return false;
            int count = list.Count - 1;
            if (count < 0 || count > MostValues) return false;
            KeyValuePair<string, object> last = list[count];
            var template = last.Value as string;
            if (template == null || last.Key != MessageTemplate.Key) return false;
            ListedSlot slot = sites.OfTemplate(template, end.Parts);
            if (slot == null) return false;
            var names = new string[count];
            var values = new object[count];
            for (int i = 0; i < count; ++i)
            {
                KeyValuePair<string, object> one = list[i];
                names[i] = one.Key ?? "";
                values[i] = Values.Shown(one.Value);
            }
            ListedSite site = slot.FindOrMake(sites, names, values, end.Parts);
            if (site == null || site.Point == null) return false;
            if (key != null) sites.KeepFormatted(key, end.Parts, names, slot);
            Write(site, values, end);
            return true;
        }

        internal static void Write(ListedSite site, object[] values, MessageEnd end)
        {
            Writer writer = Writer.Take(values.Length + 2);
            try
            {
                site.Pack(writer, values);
                end.Pack(writer);
                Ring.Write(site.Point, writer);
            }
            finally
            {
                writer.GiveBack();
            }
        }
    }

    // A template, and its sites by the types of their values.
    internal sealed class ListedSlot
    {
        // Calls with further types record one text.
        private const int MostVariants = 16;

        private readonly string template;
        private ListedSite first;

        internal ListedSlot(string template) { this.template = template; }

        // Null: it is not there.
        internal ListedSite Find(string[] names, object[] values)
        {
            for (ListedSite one = Volatile.Read(ref first); one != null; one = one.Next)
                if (one.Fits(names, values)) return one;
            return null;
        }

        // Null: there are too many.
        internal ListedSite FindOrMake(LevelSites sites, string[] names, object[] values, MessageParts parts)
        {
            ListedSite found = Find(names, values), known = Volatile.Read(ref first);
            if (found != null) return found;
            if (known != null && known.Count >= MostVariants) return null;
            lock (this)
            {
                found = Find(names, values);
                if (found != null) return found;
                var made = new ListedSite(sites, template, names, values, parts, first);
                Volatile.Write(ref first, made);
                return made;
            }
        }
    }

    // A template with values of certain names and types.
    internal sealed class ListedSite
    {
        private readonly string[] names;
        private readonly Type[] types;
        // In the order of the record: those of the template's holes, then the others.
        private readonly FormatField[] fields;
        internal readonly ListedSite Next;
        internal readonly int Count;
        // Null: the message is a text.
        internal readonly Tracepoint Point;

        internal ListedSite(LevelSites sites, string template, string[] names, object[] values, MessageParts parts, ListedSite next)
        {
            Next = next;
            Count = next == null ? 1 : next.Count + 1;
            this.names = names;
            types = new Type[values.Length];
            for (int i = 0; i < types.Length; ++i) types[i] = FormatSite.TypeOf(values[i]);
            MessageTemplate parsed = MessageTemplate.Parse(template);
            if (parsed == null) return;
            var all = new List<FormatField>();
            var shown = new List<string>();
            var signature = new StringBuilder();
            var isUsed = new bool[names.Length];
            string text = parsed.Format.Template(part =>
            {
                int place = PlaceOf(parsed.Names[part.Index], part.Index);
                if (place < 0) return null;
                part.Index = place;
                isUsed[place] = true;
                var field = new FormatField(part, types[place]);
                Add(field, names[place], all, shown, signature);
                return field.Hole;
            });
            if (text == null) return;
            for (int i = 0; i < names.Length; ++i)
                if (!isUsed[i]) Add(new FormatField(new CompositeFormat.Part { Index = i }, types[i]), names[i], all, shown, signature);
            MessageEnd.AddNames(shown, parts);
            fields = all.ToArray();
            Point = sites.Make(text, signature.Append(MessageEnd.Signature(parts)).ToString(), shown.ToArray());
        }

        private static void Add(FormatField field, string name, List<FormatField> all, List<string> shown, StringBuilder signature)
        {
            all.Add(field);
            shown.Add(name);
            signature.Append(field.Signature);
        }

        // Where the value of a hole is: at its own place as a rule, since a name may stand in a template twice.
        private int PlaceOf(string name, int hole)
        {
            if (hole < names.Length && names[hole] == name) return hole;
            return Array.FindIndex(names, one => string.Equals(one, name, StringComparison.OrdinalIgnoreCase));
        }

        // Values of other types than these are not recorded as they are (Values.Shown), or have a site of their own.
        internal bool Fits(string[] otherNames, object[] values)
        {
            if (values.Length != types.Length) return false;
            for (int i = 0; i < types.Length; ++i)
                if (FormatSite.TypeOf(values[i]) != types[i] || (otherNames != names && otherNames[i] != names[i])) return false;
            return true;
        }

        internal void Pack(Writer writer, object[] values)
        {
            foreach (FormatField field in fields) field.Put(writer, values[field.Index]);
        }
    }
}
