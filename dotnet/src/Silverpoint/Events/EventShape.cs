using System;
using System.Collections.Generic;
using System.Diagnostics.Tracing;
using System.Text;

namespace Silverpoint
{
    // What follows the payload of an event: each is absent or there.
    [Flags]
    internal enum EventParts
    {
        None = 0,
        Activity = 1,
        Related = 2,
        // When and where it happened: of events that the runtime delivers later, from a thread of its own.
        Origin = 4,
    }

    // An event with a payload of certain types: its tracepoint, and how it is packed.
    internal sealed class EventShape
    {
        // More arguments, and longer names, are one argument.
        internal const int MostFields = 64, MostNames = 1900;

        internal readonly Tracepoint Point;
        private readonly EventParts parts;
        // Null: the payload is one value.
        private readonly ValueField[] fields;
        // Names of what has no site of its own.
        private readonly bool isShared;

        private EventShape(Tracepoint point, EventParts parts, ValueField[] fields, bool isShared)
        {
            Point = point;
            this.parts = parts;
            this.fields = fields;
            this.isShared = isShared;
        }

        // Of one event. The fields are null where there are too many.
        internal static EventShape Make(string source, string name, string message, Level level, EventParts parts, ValueField[] fields, string[] names)
        {
            string template = fields == null || message == null ? null : Template(message, ref fields);
            var signature = new StringBuilder();
            var all = new List<string>();
            if (fields == null)
            {
                signature.Append('v');
                all.Add("payload");
            }
            else
            {
                foreach (ValueField field in fields) signature.Append(field.Signature);
                all.AddRange(names);
            }
            End(parts, signature, all);
            // A message has its event's name where other messages have their function's.
            TracepointDescription description = template == null ? Tracepoint.Event(source, level, name, "", 0, "") : Tracepoint.Log(source, level, template, "", 0, name);
            return new EventShape(new ExtendedTracepoint(description, signature.ToString(), all.ToArray()), parts, fields, false);
        }

        // For all events of a level that have no site of their own.
        internal static EventShape MakeShared(Level level, EventParts parts)
        {
            var signature = new StringBuilder("SSiv");
            var names = new List<string> { "source", "name", "id", "payload" };
            End(parts, signature, names);
            return new EventShape(new ExtendedTracepoint(Tracepoint.Event("events", level, "event", "", 0, ""), signature.ToString(), names.ToArray()), parts, null, true);
        }

        private static void End(EventParts parts, StringBuilder signature, List<string> names)
        {
            if ((parts & EventParts.Activity) != 0)
            {
                signature.Append('u');
                names.Add("activityId");
            }
            if ((parts & EventParts.Related) != 0)
            {
                signature.Append('u');
                names.Add("relatedActivityId");
            }
            if ((parts & EventParts.Origin) == 0) return;
            signature.Append(Codec<DateTime>.Signature).Append('l');
            names.Add("happened");
            names.Add("thread");
        }

        // The message as a template; null: it is none. A value that it formats is recorded so.
        private static string Template(string message, ref ValueField[] fields)
        {
            CompositeFormat parsed = CompositeFormat.Parse(message);
            if (parsed == null) return null;
            var shown = (ValueField[])fields.Clone();
            foreach (CompositeFormat.Part part in parsed.Parts)
            {
                if (part.Literal != null) continue;
                if (part.Index >= fields.Length) return null;
                if (shown[part.Index] == fields[part.Index]) shown[part.Index] = fields[part.Index].As(part);
            }
            fields = shown;
            return parsed.Template(part => CompositeFormat.Hole(shown[part.Index].Specification, part.Index.ToString(System.Globalization.CultureInfo.InvariantCulture)));
        }

        internal void Record(EventWrittenEventArgs written, IList<object> payload, Guid activity, Guid related)
        {
            if (!Point.IsEnabled) return;
            int count = payload == null ? 0 : payload.Count;
            Writer writer = Writer.Take(fields == null ? 6 : fields.Length + 4);
            try
            {
                if (isShared)
                {
                    writer.PutArgument(written.EventSource.Name);
                    writer.PutArgument(written.EventName);
                    Codec<int>.Packer.Put(writer, written.EventId);
                }
                if (fields == null)
                {
                    writer.Next();
                    Items.PutFields(writer, written.PayloadNames, payload);
                }
                else
                {
                    for (int i = 0; i < fields.Length; ++i) fields[i].Put(writer, i < count ? payload[i] : null);
                }
                if ((parts & EventParts.Activity) != 0) Codec<Guid>.Packer.Put(writer, activity);
                if ((parts & EventParts.Related) != 0) Codec<Guid>.Packer.Put(writer, related);
                if ((parts & EventParts.Origin) != 0) EventOrigin.Put(writer, written);
                Ring.Write(Point, writer);
            }
            finally
            {
                writer.GiveBack();
            }
        }
    }
}
