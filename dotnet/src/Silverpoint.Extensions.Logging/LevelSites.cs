using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Silverpoint.Extensions.Logging
{
    // What a category records at one level: its tracepoints, each made at its first record.
    internal sealed unsafe class LevelSites
    {
        // Templates of a category and level, and tracepoints of all: the program may make its templates at run time.
        internal const int MostTemplates = 1000, MostPoints = 16384;
        private const int Buckets = 64, MostNear = 4;

        private static readonly Bound points = new Bound(MostPoints);

        private readonly string category;
        private readonly Level level;
        private readonly BoundedTable<SiteKey, ListedSlot> templates = new BoundedTable<SiteKey, ListedSlot>(MostTemplates);
        // Sites of messages that are defined, by what their states share.
        private readonly DefinedSite[] defined = new DefinedSite[Buckets];
        private int definedCount;
        // The same for messages of LogInformation and its like.
        private readonly FormattedMessage[] formatted = new FormattedMessage[Buckets];
        private int formattedCount;
        // A chain of the first of them that have a tracepoint and no formats, found faster. Most categories have few messages of a level.
        // Null: there is none.
        internal DefinedSite Near;
        private DefinedSite lastNear;
        private int nearCount;
        // Messages that are one text, by what else there is.
        private readonly Tracepoint[] texts = new Tracepoint[(int)MessageParts.All + 1];

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
        internal Tracepoint Make(string template, string signature, string[] names) => points.Take() ? new ExtendedTracepoint(Describe(template), signature, names) : null;

        // Null: there are too many templates.
        internal ListedSlot OfTemplate(string template, MessageParts parts) => templates.FindOrAdd(new SiteKey(template, parts), template, (key, text) => new ListedSlot(text));

        // Null: it is not known yet.
        [MethodImpl(MethodImplOptions.NoInlining)]
        internal DefinedSite Find(object key, MessageParts parts)
        {
            for (DefinedSite one = Volatile.Read(ref defined[RuntimeHelpers.GetHashCode(key) & (Buckets - 1)]); one != null; one = one.Next)
                if (one.Key == key && one.Parts == parts) return one;
            return null;
        }

        // Null: it is not known yet.
        internal FormattedMessage FindFormatted(object key, MessageParts parts)
        {
            for (FormattedMessage one = Volatile.Read(ref formatted[RuntimeHelpers.GetHashCode(key) & (Buckets - 1)]); one != null; one = one.Next)
                if (one.Key == key && one.Parts == parts) return one;
            return null;
        }

        // Further ones are found by their templates.
        internal void KeepFormatted(object key, MessageParts parts, string[] names, ListedSlot slot)
        {
            lock (formatted)
            {
                if (formattedCount >= MostTemplates || FindFormatted(key, parts) != null) return;
                ++formattedCount;
                ref FormattedMessage first = ref formatted[RuntimeHelpers.GetHashCode(key) & (Buckets - 1)];
                Volatile.Write(ref first, new FormattedMessage(key, parts, names, slot, first));
            }
        }

        // Null: there are too many.
        internal DefinedSite Define(object key, MessageParts parts, List<IFieldValue> values, IReadOnlyList<KeyValuePair<string, object>> list)
        {
            lock (defined)
            {
                DefinedSite found = Find(key, parts);
                if (found != null || definedCount >= MostTemplates) return found;
                ++definedCount;
                int bucket = RuntimeHelpers.GetHashCode(key) & (Buckets - 1);
                found = new DefinedSite(this, key, parts, values, list, defined[bucket]);
                Volatile.Write(ref defined[bucket], found);
                if (nearCount < MostNear && found.Point != null && found.Formats == null)
                {
                    ++nearCount;
                    if (lastNear == null) Volatile.Write(ref Near, found);
                    else Volatile.Write(ref lastNear.NextNear, found);
                    lastNear = found;
                }
                return found;
            }
        }

        internal void RecordText(string text, MessageEnd end)
        {
            MessageParts parts = end.Parts;
            Tracepoint point = Volatile.Read(ref texts[(int)parts]) ?? MakeText(parts);
            Writer writer = Writer.Take(3);
            try
            {
                writer.PutArgument(text);
                end.Pack(writer);
                Ring.Write(point, writer);
            }
            finally
            {
                writer.GiveBack();
            }
        }

        private Tracepoint MakeText(MessageParts parts)
        {
            lock (texts)
            {
                if (texts[(int)parts] != null) return texts[(int)parts];
                var names = new List<string> { "message" };
                MessageEnd.AddNames(names, parts);
                Volatile.Write(ref texts[(int)parts], new ExtendedTracepoint(Describe("{}"), "S" + MessageEnd.Signature(parts), names.ToArray()));
                return texts[(int)parts];
            }
        }

        private struct SiteKey : IEquatable<SiteKey>
        {
            private readonly string template;
            private readonly MessageParts parts;

            internal SiteKey(string template, MessageParts parts)
            {
                this.template = template;
                this.parts = parts;
            }

            public bool Equals(SiteKey other) => parts == other.parts && template == other.template;
            public override bool Equals(object other) => other is SiteKey && Equals((SiteKey)other);
            public override int GetHashCode() => template.GetHashCode() * 4 + (int)parts;
        }
    }
}
