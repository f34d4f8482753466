using System;
using System.Collections.Generic;

namespace Silverpoint
{
    // EventCounters of a source. The runtime reports each of them at every interval, by an event whose payload is a dictionary.
    internal sealed class SourceCounters
    {
        internal const string EventName = "EventCounters";
        // Programs may make names at run time. Counters beyond these numbers are recorded as events.
        internal const int MostOfSource = 1000, Most = 8192;
        private const int MostText = 500;

        // What follows the value.
        [Flags]
        private enum Parts
        {
            None = 0,
            // Of several values that the program wrote in the interval: the value is their mean.
            Statistics = 1,
            Metadata = 2,
        }

        // By name: a source that is made again uses the counters of the one before it.
        private static readonly BoundedTable<string, SourceCounters> all = new BoundedTable<string, SourceCounters>(Most);
        private static readonly Bound ofAllSources = new Bound(Most);

        private readonly string source;
        private readonly BoundedTable<(string Name, string Unit, Parts Parts), Tracepoint> points = new BoundedTable<(string Name, string Unit, Parts Parts), Tracepoint>(MostOfSource, ofAllSources);

        private SourceCounters(string source)
        {
            this.source = source;
        }

        // Null: there are too many.
        internal static SourceCounters Of(string source) => all.FindOrAdd(source, 0, (name, none) => new SourceCounters(name));

        // False: this is no counter's event, or there are too many counters.
        internal bool Record(IList<object> payload)
        {
            var values = payload != null && payload.Count == 1 ? payload[0] as IDictionary<string, object> : null;
            if (values == null) return false;
            string name = Text(values, "Name"), unit = Text(values, "DisplayUnits"), metadata = Text(values, "Metadata");
            if (name.Length == 0 || name.Length > MostText || unit.Length > MostText) return false;
            Parts parts = metadata.Length > 0 ? Parts.Metadata : 0;
            double value;
            int number = 1;
            if (Find(values, "Mean", out value))
            {
                if (!Find(values, "Count", out number)) number = 1;
                // The program wrote nothing in the interval.
                if (number == 0) return true;
                if (number != 1) parts |= Parts.Statistics;
            }
            else if (!Find(values, "Increment", out value))
            {
                return false;
            }
            Tracepoint point = points.FindOrAdd((name, unit, parts), source, (key, category) => Make(category, key.Name, key.Unit, key.Parts));
            if (point == null) return false;
            if (!point.IsEnabled) return true;
            Writer writer = Writer.Take(6);
            try
            {
                Codec<double>.Packer.Put(writer, value);
                if ((parts & Parts.Statistics) != 0)
                {
                    Codec<int>.Packer.Put(writer, number);
                    foreach (string field in statistics) Codec<double>.Packer.Put(writer, Find(values, field, out value) ? value : double.NaN);
                }
                if ((parts & Parts.Metadata) != 0) writer.PutArgument(metadata);
                Ring.Write(point, writer);
            }
            finally
            {
                writer.GiveBack();
            }
            return true;
        }

        // The runtime's names of what is recorded as min, max and deviation.
        private static readonly string[] statistics = { "Min", "Max", "StandardDeviation" };

        private static Tracepoint Make(string source, string name, string unit, Parts parts)
        {
            string value = Codec<double>.Signature, signature = Units.Of(unit, value);
            var names = new List<string> { "value" };
            if ((parts & Parts.Statistics) != 0)
            {
                names.AddRange(new[] { "count", "min", "max", "deviation" });
                signature += Codec<int>.Signature + value + value + value;
            }
            if ((parts & Parts.Metadata) != 0)
            {
                names.Add("metadata");
                signature += Codec<string>.Signature;
            }
            return new Tracepoint(new TracepointDescription(Kind.Counter, source, Level.Debug, name, "", 0, ""), signature, names.ToArray());
        }

        private static string Text(IDictionary<string, object> values, string name)
        {
            object found;
            return values.TryGetValue(name, out found) ? found as string ?? "" : "";
        }

        private static bool Find<T>(IDictionary<string, object> values, string name, out T value)
        {
            object found;
            bool isThere = values.TryGetValue(name, out found) && found is T;
            value = isThere ? (T)found : default(T);
            return isThere;
        }
    }
}
