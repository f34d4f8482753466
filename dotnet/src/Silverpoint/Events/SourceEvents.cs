using System;
using System.Collections.Generic;
using System.Diagnostics.Tracing;
using System.Text;
using System.Threading;

namespace Silverpoint
{
    // One source as one listener has enabled it, and its events that were seen: found without a lock or garbage.
    internal sealed class SourceEvents
    {
        private const string Runtime = "Microsoft-Windows-DotNETRuntime";
        private const int Slots = 64;
        // How often a shape is searched for among those of all sources, when there are too many.
        private const int MostMisses = 1000;
        // Letters of a name. An event with a longer one has no site of its own; a longer message is no template.
        private const int MostName = 500, MostMessage = 8000;

        private sealed class Seen
        {
            internal int Id;
            internal Level Level;
            internal EventParts Parts;
            // Of events without a number.
            internal string Name;
            internal string[] Names;
            // Null: too many arguments.
            internal ValueField[] Fields;
            internal EventShape Shape;
            internal Seen Next;
        }

        private readonly string source;
        private readonly bool isLate;
        private SourceCounters counters;
        private readonly Seen[] slots = new Seen[Slots];
        private int count;
        private int misses;
        // What the source was enabled with; null: it is not. The runtime does not compare self-describing events with it.
        private volatile EventRule rule;

        internal SourceEvents(EventSource of)
        {
            source = of.Name ?? "";
            isLate = source == Runtime && EventOrigin.IsKnown;
        }

        internal EventRule Rule
        {
            get { return rule; }
            set { rule = value; }
        }

        internal void Record(EventWrittenEventArgs written)
        {
            EventRule own = rule;
            // Events of number 0 are the source's own complaints.
            bool isDescribed = written.EventId < 0;
            if (own == null || (isDescribed && !own.Wants(written.Level, written.Keywords))) return;
            IList<object> payload = written.Payload;
            if (isDescribed && written.EventName == SourceCounters.EventName && IsCounter(payload)) return;
            Guid activity = written.ActivityId, related = written.RelatedActivityId;
            EventParts parts = (activity != Guid.Empty ? EventParts.Activity : 0) | (related != Guid.Empty ? EventParts.Related : 0) | (isLate ? EventParts.Origin : 0);
            Level level = LevelOf(written.Level);
            try
            {
                EventShape shape = Find(written, payload, level, parts, isDescribed) ?? EventShapes.Shared(level, parts);
                shape.Record(written, payload, activity, related);
                return;
            }
            catch (Exception)
            {
                // A value refuses the format that the message has for it: any value has an item.
            }
            EventShapes.Shared(level, parts).Record(written, payload, activity, related);
        }

        private bool IsCounter(IList<object> payload)
        {
            if (counters == null) counters = SourceCounters.Of(source);
            return counters != null && counters.Record(payload);
        }

        private Seen Search(EventWrittenEventArgs written, IList<object> payload, Level level, EventParts parts, bool isDescribed, int slot)
        {
            for (Seen one = Volatile.Read(ref slots[slot]); one != null; one = one.Next)
            {
                if (one.Id != written.EventId || one.Level != level || one.Parts != parts || !Fits(one.Fields, payload)) continue;
                if (!isDescribed || (one.Name == written.EventName && HasNames(one.Names, written.PayloadNames))) return one;
            }
            return null;
        }

        // Null: it has none of its own.
        private EventShape Find(EventWrittenEventArgs written, IList<object> payload, Level level, EventParts parts, bool isDescribed)
        {
            int slot = (isDescribed && written.EventName != null ? written.EventName.GetHashCode() : written.EventId) & (Slots - 1);
            Seen found = Search(written, payload, level, parts, isDescribed, slot);
            if (found != null) return found.Shape;
            if ((written.EventName ?? "").Length > MostName || Volatile.Read(ref misses) >= MostMisses || Volatile.Read(ref count) >= EventShapes.MostOfSource) return null;
            lock (slots)
            {
                found = Search(written, payload, level, parts, isDescribed, slot);
                if (found != null) return found.Shape;
                var made = new Seen { Id = written.EventId, Level = level, Parts = parts, Next = slots[slot] };
                string[] names = null;
                int number = payload == null ? 0 : payload.Count;
                if (number <= EventShape.MostFields)
                {
                    names = NamesOf(written.PayloadNames, number);
                    if (names != null)
                    {
                        made.Fields = new ValueField[number];
                        for (int i = 0; i < number; ++i) made.Fields[i] = ValueField.For(payload[i]);
                    }
                }
                if (isDescribed)
                {
                    made.Name = written.EventName;
                    made.Names = OwnNames(written.PayloadNames);
                }
                string name = (written.EventName ?? "").Replace('\n', ' ');
                if (name.Length == 0) name = "event " + written.EventId.ToString(System.Globalization.CultureInfo.InvariantCulture);
                // (The message of an event without a number is its argument.)
                string message = written.EventId > 0 && !string.IsNullOrEmpty(written.Message) && written.Message.Length <= MostMessage ? written.Message : null;
                made.Shape = EventShapes.Find(source, name, written.EventId, isDescribed ? 0 : written.Version, message, level, parts, made.Fields, names);
                if (made.Shape == null)
                {
                    ++misses;
                    return null;
                }
                ++count;
                Volatile.Write(ref slots[slot], made);
                return made.Shape;
            }
        }

        private static bool Fits(ValueField[] fields, IList<object> payload)
        {
            int number = payload == null ? 0 : payload.Count;
            if (fields == null) return true;
            if (fields.Length != number) return false;
            for (int i = 0; i < fields.Length; ++i)
                if (!fields[i].Fits(payload[i])) return false;
            return true;
        }

        private static bool HasNames(string[] names, IList<string> others)
        {
            if (names == null || others == null || names.Length != others.Count) return names == null && others == null;
            for (int i = 0; i < names.Length; ++i)
                if (names[i] != others[i]) return false;
            return true;
        }

        private static string[] OwnNames(IList<string> names)
        {
            if (names == null) return null;
            var own = new string[names.Count];
            names.CopyTo(own, 0);
            return own;
        }

        // A name for each argument; null: they are too long for a site.
        private static string[] NamesOf(IList<string> given, int number)
        {
            var names = new string[number];
            int bytes = 0;
            for (int i = 0; i < number; ++i)
            {
                string name = given != null && i < given.Count ? given[i] : null;
                names[i] = string.IsNullOrEmpty(name) ? "argument" + (i + 1).ToString(System.Globalization.CultureInfo.InvariantCulture) : name.Replace('\n', ' ');
                bytes += Encoding.UTF8.GetByteCount(names[i]) + 1;
                if (bytes > EventShape.MostNames) return null;
            }
            return names;
        }

        private static Level LevelOf(EventLevel level)
        {
            switch (level)
            {
                case EventLevel.Critical: return Level.Fatal;
                case EventLevel.Error: return Level.Error;
                case EventLevel.Warning: return Level.Warn;
                case EventLevel.Verbose: return Level.Debug;
                default: return Level.Info;
            }
        }
    }
}
