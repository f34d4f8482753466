using System;
using System.Collections.Generic;
using System.Diagnostics.Metrics;
using System.Threading;

namespace Silverpoint
{
    // One instrument by its names and unit: its sites, each made when it is needed. One that is made again uses the same.
    internal sealed class MeterInstrument
    {
        // Programs may make names at run time. Instruments beyond this number share their sites.
        internal const int Most = 4096;
        // Letters of a name or unit of an instrument that has sites of its own.
        private const int MostName = 500;

        private static readonly BoundedTable<(string Meter, string Name, string Unit), MeterInstrument> all = new BoundedTable<(string Meter, string Name, string Unit), MeterInstrument>(Most);
        private static readonly MeterInstrument shared = new MeterInstrument("meters", "measurement", "", true);

        private readonly string category;
        private readonly string name;
        private readonly string unit;
        // Stands for all instruments that have no sites of their own.
        private readonly bool isShared;
        // By the value's type, and whether there are tags.
        private readonly Tracepoint[] points = new Tracepoint[4];

        private MeterInstrument(string category, string name, string unit, bool isShared)
        {
            this.category = category;
            this.name = name;
            this.unit = unit;
            this.isShared = isShared;
        }

        internal static MeterInstrument Of(Instrument instrument)
        {
            string meter = string.IsNullOrEmpty(instrument.Meter.Name) ? "meters" : instrument.Meter.Name, unit = instrument.Unit ?? "";
            if (meter.Length > MostName || instrument.Name.Length > MostName || unit.Length > MostName) return shared;
            return all.FindOrAdd((meter, instrument.Name, unit), 0, (key, none) => new MeterInstrument(key.Meter, key.Name, key.Unit, false)) ?? shared;
        }

        internal void Record<T>(Instrument instrument, T value, KeyValuePair<string, object>[] tags) where T : struct
        {
            Tracepoint point = Point<T>(tags.Length > 0);
            if (!point.IsEnabled) return;
            Writer writer = Writer.Take(4);
            try
            {
                Codec<T>.Packer.Put(writer, value);
                if (isShared)
                {
                    writer.PutArgument(instrument.Meter.Name);
                    writer.PutArgument(instrument.Name);
                }
                if (tags.Length > 0)
                {
                    writer.Next();
                    int place = Items.BeginFields(writer);
                    foreach (KeyValuePair<string, object> tag in tags) Items.Field(writer, tag.Key ?? "", tag.Value, 0);
                    Items.EndFields(writer, place);
                }
                Ring.Write(point, writer);
            }
            finally
            {
                writer.GiveBack();
            }
        }

        // Values are integers of 64 bits, or floats of 64.
        private Tracepoint Point<T>(bool hasTags)
        {
            int at = (typeof(T) == typeof(long) ? 1 : 0) + (hasTags ? 2 : 0);
            Tracepoint found = Volatile.Read(ref points[at]);
            if (found != null) return found;
            lock (points)
            {
                if (points[at] != null) return points[at];
                var names = new List<string> { "value" };
                string signature = Units.Of(unit, Codec<T>.Signature);
                if (isShared)
                {
                    names.Add("meter");
                    names.Add("instrument");
                    signature += "SS";
                }
                if (hasTags)
                {
                    names.Add("tags");
                    signature += "v";
                }
                Volatile.Write(ref points[at], new Tracepoint(new TracepointDescription(Kind.Counter, category, Level.Debug, name, "", 0, ""), signature, names.ToArray()));
                return points[at];
            }
        }
    }
}
