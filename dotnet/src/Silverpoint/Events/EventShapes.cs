using System.Collections.Generic;
using System.Threading;

namespace Silverpoint
{
    // All shapes of the process, by source and content. A source that is made again uses those of the one before it.
    internal static class EventShapes
    {
        // Programs may make names at run time. Beyond these numbers events have a site for each level, and their names are arguments.
        internal const int MostOfSource = 1000, Most = 8192;

        private static readonly Dictionary<string, Dictionary<string, EventShape>> sources = new Dictionary<string, Dictionary<string, EventShape>>();
        private static int count;
        private static readonly EventShape[] shared = new EventShape[6 * 8];

        // For tests.
        internal static int Count
        {
            get
            {
                lock (sources) return count;
            }
        }

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
            lock (sources)
            {
                Dictionary<string, EventShape> known;
                if (!sources.TryGetValue(source, out known))
                {
                    if (count >= Most) return null;
                    sources[source] = known = new Dictionary<string, EventShape>();
                }
                EventShape shape;
                if (known.TryGetValue(key, out shape)) return shape;
                if (count >= Most || known.Count >= MostOfSource) return null;
                shape = EventShape.Make(source, name, message, level, parts, fields, names);
                known[key] = shape;
                ++count;
                return shape;
            }
        }
    }
}
