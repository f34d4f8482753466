using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Text;
using System.Threading;

namespace Silverpoint
{
    // One operation of a source: its sites, each made when it is needed.
    internal sealed class ActivityOperation
    {
        // Sets of tags that an operation is known with; those of further activities are one argument.
        private const int MostVariants = 32;
        // Of all operations.
        private const int MostOfAll = 8192;
        private const int MostEvents = 256;

        private static int variantsOfAll;

        private readonly string category;
        private readonly string name;
        // Stands for all operations that have no sites of their own.
        private readonly bool isShared;
        // By what an activity has: a parent, a kind, baggage.
        private readonly Tracepoint[] begins = new Tracepoint[8];
        private readonly Tracepoint end;
        private Tracepoint eventWithTags;
        private Tracepoint eventWithout;
        private ActivityFields first;
        private int variants;
        private ActivityFields anyFields;

        internal ActivityOperation(string category, string name, bool isShared)
        {
            this.category = category;
            this.name = name;
            this.isShared = isShared;
            end = Make(Kind.AsyncEnd, "L", "id");
        }

        private Tracepoint Make(Kind kind, string signature, params string[] names) => new Tracepoint(new TracepointDescription(kind, category, Level.Debug, name, "", 0, ""), signature, names);

        private Tracepoint BeginWith(bool hasParent, bool hasKind, bool hasBaggage)
        {
            int at = (hasParent ? 1 : 0) + (hasKind ? 2 : 0) + (hasBaggage ? 4 : 0);
            Tracepoint found = Volatile.Read(ref begins[at]);
            if (found != null) return found;
            lock (begins)
            {
                if (begins[at] != null) return begins[at];
                var names = new List<string> { "id", "trace_id", "span_id" };
                var signature = new StringBuilder("LSS");
                if (hasParent)
                {
                    names.Add("parent_id");
                    signature.Append('S');
                }
                if (hasKind)
                {
                    names.Add("kind");
                    signature.Append(Codec<ActivityKind>.Signature);
                }
                if (isShared)
                {
                    names.Add("source");
                    names.Add("operation");
                    signature.Append("SS");
                }
                if (hasBaggage)
                {
                    names.Add("baggage");
                    signature.Append('v');
                }
                Volatile.Write(ref begins[at], Make(Kind.AsyncBegin, signature.ToString(), names.ToArray()));
                return begins[at];
            }
        }

        internal void Begin(ulong id, Activity activity)
        {
            bool isW3C = activity.IdFormat == ActivityIdFormat.W3C;
            string parent = isW3C ? ParentOf(activity) : activity.ParentId;
            bool hasBaggage = ActivityBaggage.IsThere(activity);
            Tracepoint point = BeginWith(!string.IsNullOrEmpty(parent), activity.Kind != ActivityKind.Internal, hasBaggage);
            if (!point.IsEnabled) return;
            Writer writer = Writer.Take(7);
            try
            {
                Codec<ulong>.Packer.Put(writer, id);
                writer.PutArgument(isW3C ? activity.TraceId.ToHexString() : activity.RootId);
                writer.PutArgument(isW3C ? activity.SpanId.ToHexString() : activity.Id);
                if (!string.IsNullOrEmpty(parent)) writer.PutArgument(parent);
                if (activity.Kind != ActivityKind.Internal) Codec<ActivityKind>.Packer.Put(writer, activity.Kind);
                if (isShared)
                {
                    writer.PutArgument(activity.Source.Name);
                    writer.PutArgument(activity.OperationName);
                }
                if (hasBaggage) ActivityBaggage.Put(writer, activity);
                Ring.Write(point, writer);
            }
            finally
            {
                writer.GiveBack();
            }
        }

        private static string ParentOf(Activity activity)
        {
            ActivitySpanId parent = activity.ParentSpanId;
            return parent == default(ActivitySpanId) ? null : parent.ToHexString();
        }

        internal void End(ulong id, Activity activity)
        {
            if (!end.IsEnabled) return;
            ActivityTags tags = ActivityTags.Of(activity);
            try
            {
                FieldsOf(activity, tags).Record(id, activity, tags);
            }
            finally
            {
                tags.Clear();
            }
            RecordEvents(id, activity, tags);
            Writer writer = Writer.Take(1);
            try
            {
                Codec<ulong>.Packer.Put(writer, id);
                Ring.Write(end, writer);
            }
            finally
            {
                writer.GiveBack();
            }
        }

        private ActivityFields FieldsOf(Activity activity, ActivityTags tags)
        {
            ActivityParts parts = ActivityFields.PartsOf(activity);
            for (ActivityFields one = Volatile.Read(ref first); one != null; one = one.Next)
                if (one.Fits(parts, tags)) return one;
            if (isShared || Volatile.Read(ref variants) >= MostVariants || !ActivityFields.CanHold(tags)) return AnyFields;
            lock (begins)
            {
                for (ActivityFields one = first; one != null; one = one.Next)
                    if (one.Fits(parts, tags)) return one;
                if (variants >= MostVariants || Interlocked.Increment(ref variantsOfAll) > MostOfAll)
                {
                    variants = MostVariants;
                    return AnyFields;
                }
                ++variants;
                Volatile.Write(ref first, new ActivityFields(category, name, parts, tags, first));
                return first;
            }
        }

        private ActivityFields AnyFields
        {
            get
            {
                lock (begins) return anyFields ??= new ActivityFields(category, name, ActivityParts.All, null, null);
            }
        }

        // The runtime does not report events when they are added: they carry their time.
        private void RecordEvents(ulong id, Activity activity, ActivityTags tags)
        {
            int count = 0, left = 0;
            foreach (ref readonly ActivityEvent one in activity.EnumerateEvents())
            {
                if (count >= MostEvents)
                {
                    ++left;
                    continue;
                }
                ++count;
                foreach (ref readonly KeyValuePair<string, object> tag in one.EnumerateTagObjects()) tags.Add(tag.Key, tag.Value);
                try
                {
                    RecordEvent(id, one.Name, one.Timestamp.UtcDateTime, tags);
                }
                finally
                {
                    tags.Clear();
                }
            }
            if (left > 0) RecordEvent(id, "\u2026(+" + left.ToString(System.Globalization.CultureInfo.InvariantCulture) + ")", DateTime.UtcNow, tags);
        }

        private void RecordEvent(ulong id, string what, DateTime time, ActivityTags tags)
        {
            Tracepoint point = EventWith(tags.Count > 0);
            if (!point.IsEnabled) return;
            Writer writer = Writer.Take(4);
            try
            {
                Codec<ulong>.Packer.Put(writer, id);
                writer.PutArgument(what);
                Codec<DateTime>.Packer.Put(writer, time);
                writer.Next();
                if (tags.Count > 0) tags.Put(writer);
                Ring.Write(point, writer);
            }
            finally
            {
                writer.GiveBack();
            }
        }

        private Tracepoint EventWith(bool hasTags)
        {
            Tracepoint found = hasTags ? Volatile.Read(ref eventWithTags) : Volatile.Read(ref eventWithout);
            if (found != null) return found;
            lock (begins)
            {
                string signature = "LS" + Codec<DateTime>.Signature;
                if (hasTags) return eventWithTags ??= Make(Kind.AsyncInstant, signature + "v", "id", "event", "happened", "tags");
                return eventWithout ??= Make(Kind.AsyncInstant, signature, "id", "event", "happened");
            }
        }
    }
}
