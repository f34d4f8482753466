using System.Threading;

namespace Silverpoint
{
    // All shapes of the process, by source and content. A source that is made again uses those of the one before it.
    internal static class EventShapes
    {
        // Programs may make names at run time. Beyond these numbers events have a site for each level, and their names are arguments.
        internal const int MostOfSource = 1000, Most = 8192;

        private static readonly BoundedTable<string, BoundedTable<string, EventShape>> sources = new BoundedTable<string, BoundedTable<string, EventShape>>(Most);
        private static readonly Bound ofAllSources = new Bound(Most);
        private static readonly EventShape[] shared = new EventShape[6 * 8];

        // For tests.
        internal static int Count => ofAllSources.Count;

        internal static EventShape Shared(Level level, EventParts parts)
        {
            int at = (int)level * 8 + (int)parts;
            EventShape found = Volatile.Read(ref shared[at]);
            if (found != null) return found;
            lock (shared)
            {
                if (shared[at] == null) Volatile.Write(ref shared[at], EventShape.MakeShared(level, parts));
                return shared[at];
            }
        }

        // Null: there are too many.
        internal static EventShape Find(string source, string name, int id, int version, string message, Level level, EventParts parts, ValueField[] fields, string[] names)
        {
            string signature = "";
            if (fields != null)
                foreach (ValueField field in fields) signature += field.Signature;
            // (Names have no line ends, and the message is the last.)
            string key = string.Join("\n", id, version, (int)level, (int)parts, signature, fields == null, name, names == null ? "" : string.Join("\n", names), message);
            BoundedTable<string, EventShape> known = ofAllSources.IsReached ? sources.Find(source) : sources.FindOrAdd(source, 0, (of, none) => new BoundedTable<string, EventShape>(MostOfSource, ofAllSources));
            return known?.FindOrAdd(key, (source, name, message, level, parts, fields, names), (_, of) => EventShape.Make(of.source, of.name, of.message, of.level, of.parts, of.fields, of.names));
        }
    }
}
