using System;
using System.Collections.Concurrent;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Silverpoint.Extensions.Logging
{
    // What a category records at one level: its tracepoints, each made at its first record.
    internal sealed unsafe class LevelSites
    {
        // Templates of a category and level, and tracepoints of all: the program may make its templates at run time.
        internal const int MostTemplates = 1000, MostPoints = 16384;
        private const int Buckets = 64;

        private static int points;

        private readonly string category;
        private readonly Level level;
        private readonly ConcurrentDictionary<SiteKey, ListedSlot> templates = new ConcurrentDictionary<SiteKey, ListedSlot>();
        private int count;
        // Sites of states that are read without their list, by the formatter of the state.
        private readonly KeyedSite[] keyed = new KeyedSite[Buckets];
        private int keyedCount;
        // Messages that are one text, by what else there is: an event 1, an exception 2.
        private readonly Tracepoint[] texts = new Tracepoint[4];

        internal LevelSites(string category, Level level)
        {
            this.category = category;
            this.level = level;
            texts[0] = new Tracepoint(Describe("{}"), "S");
        }

        // One switch for the category and the level: directives do not know templates.
        internal NativeSite* Switch => texts[0].Site;

        private TracepointDescription Describe(string template) => Tracepoint.Log(category, level, template, "", 0, "");

        // Null: there are too many.
        internal Tracepoint Make(string template, string signature, string[] names)
        {
            if (Interlocked.Increment(ref points) <= MostPoints) return new ExtendedTracepoint(Describe(template), signature, names);
            Interlocked.Decrement(ref points);
            return null;
        }

        // Null: there are too many templates.
        internal ListedSlot OfTemplate(string template, int id, bool hasException)
        {
            var key = new SiteKey(template, id, hasException);
            ListedSlot slot;
            if (templates.TryGetValue(key, out slot)) return slot;
            if (Volatile.Read(ref count) >= MostTemplates) return null;
            slot = new ListedSlot(template);
            if (!templates.TryAdd(key, slot)) return templates[key];
            Interlocked.Increment(ref count);
            return slot;
        }

        // Null: it is not known yet.
        internal KeyedSite Find(object key, int id, bool hasException)
        {
            for (KeyedSite one = Volatile.Read(ref keyed[RuntimeHelpers.GetHashCode(key) & (Buckets - 1)]); one != null; one = one.Next)
                if (one.Key == key && one.Id == id && one.HasException == hasException) return one;
            return null;
        }

        // Whether another state's formatter may be remembered.
        internal bool HasRoom => Volatile.Read(ref keyedCount) < MostTemplates;

        internal void Add(KeyedSite site)
        {
            lock (keyed)
            {
                if (!HasRoom || Find(site.Key, site.Id, site.HasException) != null) return;
                ++keyedCount;
                int bucket = RuntimeHelpers.GetHashCode(site.Key) & (Buckets - 1);
                site.Next = keyed[bucket];
                Volatile.Write(ref keyed[bucket], site);
            }
        }

        internal void RecordText(string text, int id, Exception exception)
        {
            int parts = (id != 0 ? 1 : 0) | (exception != null ? 2 : 0);
            Tracepoint point = Volatile.Read(ref texts[parts]) ?? MakeText(parts);
            Writer writer = Writer.Take(3);
            try
            {
                writer.Next();
                writer.PutText(text);
                PutExtras(writer, id, exception);
                Ring.Write(point, writer);
            }
            finally
            {
                writer.GiveBack();
            }
        }

        private Tracepoint MakeText(int parts)
        {
            lock (texts)
            {
                if (texts[parts] == null) Volatile.Write(ref texts[parts], new ExtendedTracepoint(Describe("{}"), "S" + ExtraSignature(parts), ("message" + ExtraNames(parts)).Split(' ')));
                return texts[parts];
            }
        }

        // What follows the arguments of a template.
        private static string ExtraSignature(int parts) => ((parts & 1) != 0 ? "i" : "") + ((parts & 2) != 0 ? "v" : "");
        private static string ExtraNames(int parts) => ((parts & 1) != 0 ? " event" : "") + ((parts & 2) != 0 ? " exception" : "");

        internal static string ExtraSignature(int id, bool hasException) => ExtraSignature((id != 0 ? 1 : 0) | (hasException ? 2 : 0));

        internal static void AddExtraNames(System.Collections.Generic.List<string> names, int id, bool hasException)
        {
            if (id != 0) names.Add("event");
            if (hasException) names.Add("exception");
        }

        internal static void PutExtras(Writer writer, int id, Exception exception)
        {
            writer.Next();
            if (id != 0) Codec<int>.Packer.Put(writer, id);
            writer.Next();
            if (exception != null) Items.PutArgument(writer, exception);
        }

        private struct SiteKey : IEquatable<SiteKey>
        {
            private readonly string template;
            private readonly int id;
            private readonly bool hasException;

            internal SiteKey(string template, int id, bool hasException)
            {
                this.template = template;
                this.id = id;
                this.hasException = hasException;
            }

            public bool Equals(SiteKey other) => id == other.id && hasException == other.hasException && template == other.template;
            public override bool Equals(object other) => other is SiteKey && Equals((SiteKey)other);
            public override int GetHashCode() => (template.GetHashCode() * 31 + id) * 2 + (hasException ? 1 : 0);
        }
    }

    // A site that is found by an object, such as the formatter that all states of one message share.
    internal abstract class KeyedSite
    {
        internal readonly object Key;
        internal readonly int Id;
        internal readonly bool HasException;
        internal KeyedSite Next;

        internal KeyedSite(object key, int id, bool hasException)
        {
            Key = key;
            Id = id;
            HasException = hasException;
        }
    }
}
