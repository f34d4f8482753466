using System.Collections.Generic;
using System.Diagnostics.Tracing;

namespace Silverpoint
{
    // What is enabled of sources whose names match a pattern.
    internal sealed class EventRule
    {
        internal readonly string Pattern;
        internal readonly EventLevel Level;
        internal readonly EventKeywords Keywords;
        // Null: none.
        internal readonly IDictionary<string, string> Arguments;

        internal EventRule(string pattern, EventLevel level, EventKeywords keywords, IDictionary<string, string> arguments)
        {
            Pattern = pattern;
            Level = level;
            Keywords = keywords;
            Arguments = arguments;
        }

        // All that rules want of one source; null: nothing.
        internal static EventRule Of(EventRule[] rules, string source)
        {
            EventRule sum = null;
            foreach (EventRule one in rules)
                if (NamePattern.Matches(one.Pattern, source)) sum = sum == null ? one : sum.With(one);
            return sum;
        }

        private EventRule With(EventRule other)
        {
            // No level and no keywords mean all.
            EventLevel level = Level == EventLevel.LogAlways || (other.Level != EventLevel.LogAlways && Level > other.Level) ? Level : other.Level;
            EventKeywords keywords = Keywords == EventKeywords.None || other.Keywords == EventKeywords.None ? EventKeywords.None : Keywords | other.Keywords;
            return new EventRule("", level, keywords, Join(Arguments, other.Arguments));
        }

        private static IDictionary<string, string> Join(IDictionary<string, string> one, IDictionary<string, string> other)
        {
            if (one == null || other == null) return one ?? other;
            var all = new Dictionary<string, string>(one);
            foreach (KeyValuePair<string, string> pair in other) all[pair.Key] = pair.Value;
            return all;
        }

        internal bool Wants(EventLevel level, EventKeywords keywords) =>
            (Level == EventLevel.LogAlways || level <= Level) && (Keywords == EventKeywords.None || keywords == EventKeywords.None || (keywords & Keywords) != 0);
    }
}
