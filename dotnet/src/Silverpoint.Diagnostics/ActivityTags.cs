using System;
using System.Collections.Generic;
using System.Diagnostics;

namespace Silverpoint
{
    // The tags of one activity, copied: other threads may add some meanwhile. One for each thread, so that there is no garbage.
    internal sealed class ActivityTags
    {
        // More tags are one argument.
        internal const int MostFields = 64;
        // Still more are left out, and counted.
        private const int Most = 1000;

        [ThreadStatic] private static ActivityTags own;

        private string[] names = new string[16];
        private object[] values = new object[16];

        internal int Count { get; private set; }
        internal int LeftOut { get; private set; }

        internal static ActivityTags Of(Activity activity)
        {
            ActivityTags tags = own ??= new ActivityTags();
            foreach (ref readonly KeyValuePair<string, object> tag in activity.EnumerateTagObjects()) tags.Add(tag.Key, tag.Value);
            return tags;
        }

        internal string Name(int index) => names[index];
        internal object Value(int index) => values[index];

        internal void Add(string name, object value)
        {
            if (Count == Most)
            {
                LeftOut++;
                return;
            }
            if (Count == names.Length)
            {
                Array.Resize(ref names, 2 * Count);
                Array.Resize(ref values, 2 * Count);
            }
            names[Count] = name ?? "";
            values[Count++] = value;
        }

        internal void Put(Writer writer)
        {
            if (LeftOut > 0) writer.IsCut = true;
            Items.PutFields(writer, new ArraySegment<string>(names, 0, Count), new ArraySegment<object>(values, 0, Count));
        }

        // Nothing keeps the values alive.
        internal void Clear()
        {
            Array.Clear(names, 0, Count);
            Array.Clear(values, 0, Count);
            Count = LeftOut = 0;
        }
    }
}
