using System;
using System.Collections.Generic;
using System.Diagnostics;

namespace Silverpoint
{
    // What an activity passes on to those within it and to other programs: names and texts, its own and those of the activities around it.
    internal static class ActivityBaggage
    {
        // Further items are left out, and counted.
        private const int Most = 64;

        internal static bool IsThere(Activity activity)
        {
            using (IEnumerator<KeyValuePair<string, string>> all = activity.Baggage.GetEnumerator()) return all.MoveNext();
        }

        // Of several items of one name the innermost activity's counts: it comes first.
        internal static void Put(Writer writer, Activity activity)
        {
            var names = new string[Most];
            int count = 0, left = 0;
            writer.Next();
            int place = Items.BeginFields(writer);
            foreach (KeyValuePair<string, string> item in activity.Baggage)
            {
                string name = item.Key ?? "";
                if (Array.IndexOf(names, name, 0, count) >= 0) continue;
                if (count == Most)
                {
                    ++left;
                    continue;
                }
                names[count++] = name;
                Items.Field(writer, name, item.Value, 0);
            }
            if (left > 0)
            {
                Items.Field(writer, "\u2026(+" + left.ToString(System.Globalization.CultureInfo.InvariantCulture) + ")", null, 0);
                writer.IsCut = true;
            }
            Items.EndFields(writer, place);
        }
    }
}
