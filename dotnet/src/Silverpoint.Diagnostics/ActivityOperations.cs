using System.Diagnostics;

namespace Silverpoint
{
    // All operations of the process, by the names of source and operation: found without a lock or garbage.
    internal sealed class ActivityOperations
    {
        // Programs may make names at run time. Operations beyond these numbers share their sites.
        internal const int Most = 4096, MostSources = 1000;

        // Letters of a name that has sites of its own.
        private const int MostName = 500;

        private static readonly BoundedTable<string, ActivityOperations> sources = new BoundedTable<string, ActivityOperations>(MostSources);
        private static readonly Bound ofAllSources = new Bound(Most);
        private static readonly ActivityOperations shared = new ActivityOperations("activities");
        private static readonly ActivityOperation sharedOperation = new ActivityOperation("activities", "activity", true);

        private readonly string category;
        private readonly BoundedTable<string, ActivityOperation> operations = new BoundedTable<string, ActivityOperation>(Most, ofAllSources);
        // Says in which activity another one lies.
        internal readonly Tracepoint<ulong, ulong> Parent;

        private ActivityOperations(string name)
        {
            category = name.Length == 0 ? "activities" : name;
            Parent = new TracepointDescription(Kind.Link, category, Level.Debug, "parent", "", 0, "").With<ulong, ulong>("from", "to");
        }

        internal static bool Knows(ActivitySource source) => sources.Find(source.Name) != null || sources.IsFull;

        internal static ActivityOperations Of(ActivitySource source) => sources.FindOrAdd(source.Name, 0, (name, none) => new ActivityOperations(name)) ?? shared;

        // (A name is looked up again at the end of its activity: once there is no room, there is none later.)
        internal ActivityOperation Operation(string name)
        {
            if (this == shared || name.Length > MostName) return sharedOperation;
            return operations.FindOrAdd(name, category, (key, source) => new ActivityOperation(source, key, false)) ?? sharedOperation;
        }
    }
}
