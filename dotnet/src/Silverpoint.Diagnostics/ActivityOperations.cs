using System.Collections.Concurrent;
using System.Diagnostics;
using System.Threading;

namespace Silverpoint
{
    // All operations of the process, by the names of source and operation: found without a lock or garbage.
    internal sealed class ActivityOperations
    {
        // Programs may make names at run time. Operations beyond these numbers share their sites.
        internal const int Most = 4096, MostSources = 1000;

        // Letters of a name that has sites of its own.
        private const int MostName = 500;

        private static readonly ConcurrentDictionary<string, ActivityOperations> sources = new ConcurrentDictionary<string, ActivityOperations>();
        private static readonly ActivityOperations shared = new ActivityOperations("activities");
        private static readonly ActivityOperation sharedOperation = new ActivityOperation("activities", "activity", true);
        // How many there are. (The dictionary's own Count takes all of its locks.)
        private static int count, sourceCount;

        private readonly string category;
        private readonly ConcurrentDictionary<string, ActivityOperation> operations = new ConcurrentDictionary<string, ActivityOperation>();
        // Says in which activity another one lies.
        internal readonly Tracepoint<ulong, ulong> Parent;

        private ActivityOperations(string name)
        {
            category = name.Length == 0 ? "activities" : name;
            Parent = new TracepointDescription(Kind.Link, category, Level.Debug, "parent", "", 0, "").With<ulong, ulong>("from", "to");
        }

        internal static bool Knows(ActivitySource source) => sources.ContainsKey(source.Name) || Volatile.Read(ref sourceCount) >= MostSources;

        internal static ActivityOperations Of(ActivitySource source)
        {
            string name = source.Name;
            ActivityOperations found;
            if (sources.TryGetValue(name, out found)) return found;
            if (Volatile.Read(ref sourceCount) >= MostSources) return shared;
            found = new ActivityOperations(name);
            if (!sources.TryAdd(name, found)) return sources[name];
            Interlocked.Increment(ref sourceCount);
            return found;
        }

        internal ActivityOperation Operation(string name)
        {
            ActivityOperation found;
            if (this == shared || name.Length > MostName) return sharedOperation;
            if (operations.TryGetValue(name, out found)) return found;
            lock (sources)
            {
                // (A name is looked up again at the end of its activity: once there is no room, there is none later.)
                if (operations.TryGetValue(name, out found)) return found;
                if (count >= Most) return sharedOperation;
                ++count;
                return operations[name] = new ActivityOperation(category, name, false);
            }
        }
    }
}
