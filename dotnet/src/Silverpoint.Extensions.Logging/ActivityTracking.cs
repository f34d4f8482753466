using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.Runtime.CompilerServices;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Silverpoint.Extensions.Logging
{
    // Fields of the current activity, as ActivityTrackingOptions asks for them. The context of the flow has them, so they
    // cost something where the current activity changes, and nothing at a record.
    internal static class ActivityTracking
    {
        // Options of the library, by its numbers. It has them since version 5, and this assembly is compiled for version 3.1.
        // Tags and baggage change without notice, so they are left out.
        private const int SpanId = 1, TraceId = 2, ParentId = 4, TraceState = 8, TraceFlags = 16;
        private const int Known = SpanId | TraceId | ParentId | TraceState | TraceFlags;

        private static readonly object changing = new object();
        // What all factories of the process ask for.
        private static volatile int tracked;

        // As the options of the factory say.
        internal static void Track(IServiceProvider services)
        {
            int asked = Asked(services) & Known;
            if (asked != 0) Track(asked);
        }

        private static int Asked(IServiceProvider services)
        {
            Type type = typeof(LoggerFactory).Assembly.GetType("Microsoft.Extensions.Logging.LoggerFactoryOptions");
            if (type == null) return 0;
            Type wrapped = typeof(IOptions<>).MakeGenericType(type);
            object options = services.GetService(wrapped);
            if (options == null) return 0;
            return Convert.ToInt32(type.GetProperty("ActivityTrackingOptions").GetValue(wrapped.GetProperty("Value").GetValue(options, null), null), CultureInfo.InvariantCulture);
        }

        // (Not inlined: an older library comes with activities that cannot be followed.)
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Track(int asked)
        {
            lock (changing)
            {
                if (tracked == 0) Activity.CurrentChanged += (_, change) => Show(change.Current);
                tracked |= asked;
            }
            Show(Activity.Current);
        }

        // Runs in the flow whose activity has changed: both follow the flow alike from here on.
        private static void Show(Activity current) => Context.Exchange(current == null ? null : Of(current));

        // The library's names, without those that have no value.
        private static List<KeyValuePair<string, object>> Of(Activity activity)
        {
            int options = tracked;
            bool isW3C = activity.IdFormat == ActivityIdFormat.W3C;
            var fields = new List<KeyValuePair<string, object>>(5);
            if ((options & SpanId) != 0) Add(fields, "SpanId", isW3C ? activity.SpanId.ToHexString() : activity.Id);
            if ((options & TraceId) != 0) Add(fields, "TraceId", isW3C ? activity.TraceId.ToHexString() : activity.RootId);
            if ((options & ParentId) != 0) Add(fields, "ParentId", !isW3C ? activity.ParentId : activity.ParentSpanId == default(ActivitySpanId) ? null : activity.ParentSpanId.ToHexString());
            if ((options & TraceState) != 0) Add(fields, "TraceState", activity.TraceStateString);
            if ((options & TraceFlags) != 0) Add(fields, "TraceFlags", activity.ActivityTraceFlags.ToString());
            return fields;
        }

        private static void Add(List<KeyValuePair<string, object>> fields, string name, string value)
        {
            if (!string.IsNullOrEmpty(value)) fields.Add(new KeyValuePair<string, object>(name, value));
        }
    }
}
