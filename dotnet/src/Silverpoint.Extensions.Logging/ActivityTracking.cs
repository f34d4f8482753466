using System.Collections.Generic;
using System.Diagnostics;
using Microsoft.Extensions.Logging;

namespace Silverpoint.Extensions.Logging
{
    // Fields of the current activity, as ActivityTrackingOptions asks for them. The context of the flow has them, so they
    // cost something where the current activity changes, and nothing at a record.
    internal static class ActivityTracking
    {
        // Tags and baggage change without notice.
        private const ActivityTrackingOptions Known =
            ActivityTrackingOptions.SpanId | ActivityTrackingOptions.TraceId | ActivityTrackingOptions.ParentId | ActivityTrackingOptions.TraceState | ActivityTrackingOptions.TraceFlags;

        private static readonly object changing = new object();
        // What all factories of the process ask for.
        private static volatile ActivityTrackingOptions tracked;

        internal static void Track(ActivityTrackingOptions options)
        {
            if ((options & Known) == 0) return;
            lock (changing)
            {
                if (tracked == 0) Activity.CurrentChanged += (_, change) => Show(change.Current);
                tracked |= options & Known;
            }
            Show(Activity.Current);
        }

        // Runs in the flow whose activity has changed: both follow the flow alike from here on.
        private static void Show(Activity current) => Context.Exchange(current == null ? null : Of(current));

        // The library's names, without those that have no value.
        private static List<KeyValuePair<string, object>> Of(Activity activity)
        {
            ActivityTrackingOptions options = tracked;
            bool isW3C = activity.IdFormat == ActivityIdFormat.W3C;
            var fields = new List<KeyValuePair<string, object>>(5);
            if ((options & ActivityTrackingOptions.SpanId) != 0) Add(fields, "SpanId", isW3C ? activity.SpanId.ToHexString() : activity.Id);
            if ((options & ActivityTrackingOptions.TraceId) != 0) Add(fields, "TraceId", isW3C ? activity.TraceId.ToHexString() : activity.RootId);
            if ((options & ActivityTrackingOptions.ParentId) != 0) Add(fields, "ParentId", !isW3C ? activity.ParentId : activity.ParentSpanId == default(ActivitySpanId) ? null : activity.ParentSpanId.ToHexString());
            if ((options & ActivityTrackingOptions.TraceState) != 0) Add(fields, "TraceState", activity.TraceStateString);
            if ((options & ActivityTrackingOptions.TraceFlags) != 0) Add(fields, "TraceFlags", activity.ActivityTraceFlags.ToString());
            return fields;
        }

        private static void Add(List<KeyValuePair<string, object>> fields, string name, string value)
        {
            if (!string.IsNullOrEmpty(value)) fields.Add(new KeyValuePair<string, object>(name, value));
        }
    }
}
