using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Text;

namespace Silverpoint
{
    // What else there is of an activity at its end.
    [Flags]
    internal enum ActivityParts
    {
        None = 0,
        Status = 1,
        Description = 2,
        DisplayName = 4,
        TraceState = 8,
        Links = 16,
        All = 31,
    }

    // The fields that an activity has at its end, with tags of certain names and types.
    internal sealed class ActivityFields
    {
        private const int MostNames = 1900;
        // Names that say how spans belong together (spec/wire.md, section 7).
        private static readonly string[] reserved = { "span.id", "span.begun", "span.parent" };

        private readonly ActivityParts parts;
        private readonly string[] names;
        // Null: all tags are one argument.
        private readonly ValueField[] fields;
        internal readonly Tracepoint Point;
        internal readonly ActivityFields Next;

        // The tags are null for those of any names.
        internal ActivityFields(string category, string operation, ActivityParts parts, ActivityTags tags, ActivityFields next)
        {
            Next = next;
            this.parts = parts;
            var all = new List<string> { "span.id", "duration" };
            var signature = new StringBuilder("L").Append(Codec<TimeSpan>.Signature);
            Add(ActivityParts.Status, "status", "S", all, signature);
            Add(ActivityParts.Description, "status_description", "S", all, signature);
            Add(ActivityParts.DisplayName, "display_name", "S", all, signature);
            Add(ActivityParts.TraceState, "trace_state", "S", all, signature);
            Add(ActivityParts.Links, "links", "v", all, signature);
            if (tags == null)
            {
                signature.Append('v');
                all.Add("tags");
            }
            else
            {
                names = new string[tags.Count];
                fields = new ValueField[tags.Count];
                for (int i = 0; i < fields.Length; ++i)
                {
                    names[i] = tags.Name(i);
                    fields[i] = ValueField.For(tags.Value(i));
                    signature.Append(fields[i].Signature);
                    all.Add(reserved.Contains(names[i]) ? "field." + names[i] : names[i]);
                }
            }
            Point = new Tracepoint(new TracepointDescription(Kind.AsyncInstant, category, Level.Debug, operation, "", 0, ""), signature.ToString(), all.ToArray());
        }

        private void Add(ActivityParts part, string name, string code, List<string> all, StringBuilder signature)
        {
            if ((parts & part) == 0) return;
            all.Add(name);
            signature.Append(code);
        }

        // Whether such tags may be arguments of their own.
        internal static bool CanHold(ActivityTags tags)
        {
            int bytes = 0;
            for (int i = 0; i < tags.Count; ++i) bytes += Encoding.UTF8.GetByteCount(tags.Name(i)) + 1;
            return tags.Count <= ActivityTags.MostFields && bytes <= MostNames;
        }

        internal bool Fits(ActivityParts others, ActivityTags tags)
        {
            if (parts != others || fields == null || fields.Length != tags.Count) return false;
            for (int i = 0; i < fields.Length; ++i)
                if (names[i] != tags.Name(i) || !fields[i].Fits(tags.Value(i))) return false;
            return true;
        }

        internal static ActivityParts PartsOf(Activity activity)
        {
            ActivityParts parts = 0;
            if (activity.Status != ActivityStatusCode.Unset) parts |= ActivityParts.Status;
            if (!string.IsNullOrEmpty(activity.StatusDescription)) parts |= ActivityParts.Description;
            if (activity.DisplayName != activity.OperationName) parts |= ActivityParts.DisplayName;
            if (!string.IsNullOrEmpty(activity.TraceStateString)) parts |= ActivityParts.TraceState;
            if (activity.EnumerateLinks().MoveNext()) parts |= ActivityParts.Links;
            return parts;
        }

        internal void Record(ulong id, Activity activity, ActivityTags tags)
        {
            Writer writer = Writer.Take(8 + (fields == null ? 0 : fields.Length));
            try
            {
                Codec<ulong>.Packer.Put(writer, id);
                Codec<TimeSpan>.Packer.Put(writer, activity.Duration);
                if ((parts & ActivityParts.Status) != 0) writer.PutArgument(activity.Status.ToString());
                if ((parts & ActivityParts.Description) != 0) writer.PutArgument(activity.StatusDescription);
                if ((parts & ActivityParts.DisplayName) != 0) writer.PutArgument(activity.DisplayName);
                if ((parts & ActivityParts.TraceState) != 0) writer.PutArgument(activity.TraceStateString);
                if ((parts & ActivityParts.Links) != 0)
                {
                    writer.Next();
                    Items.PutArgument(writer, LinksOf(activity));
                }
                if (fields == null)
                {
                    writer.Next();
                    tags.Put(writer);
                }
                else
                {
                    for (int i = 0; i < fields.Length; ++i) fields[i].Put(writer, tags.Value(i));
                }
                Ring.Write(Point, writer);
            }
            finally
            {
                writer.GiveBack();
            }
        }

        private static List<string> LinksOf(Activity activity)
        {
            var links = new List<string>();
            foreach (ref readonly ActivityLink link in activity.EnumerateLinks()) links.Add(link.Context.TraceId.ToHexString() + "-" + link.Context.SpanId.ToHexString());
            return links;
        }
    }
}
