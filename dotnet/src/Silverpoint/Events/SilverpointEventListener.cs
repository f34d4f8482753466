using System;
using System.Collections.Generic;
using System.Diagnostics.Tracing;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Silverpoint
{
    /// <summary>
    /// Records the events of every <see cref="EventSource"/> that is enabled, those of the runtime included. The category of a
    /// record is the source's name, its arguments are the payload with its names and types. An event with a message is a
    /// message with this template. Keep a reference to the listener, and dispose of it to end.
    /// </summary>
    /// <remarks>
    /// All threads may use it. An event that was seen before is found without a lock, and adds no garbage to what the
    /// runtime makes. Nothing is thrown into the code that writes an event. Events that are written while another one is
    /// recorded, by a property of its payload, are not recorded. Mono has no events: nothing is recorded there.
    /// </remarks>
    public sealed class SilverpointEventListener : EventListener
    {
        [ThreadStatic] private static bool isBusy;
        private static volatile bool isPrepared;

        // The constructor of EventListener reports all sources before that of this class runs: until then there are no rules.
        private volatile EventRule[] rules = new EventRule[0];
        private readonly ConditionalWeakTable<EventSource, SourceEvents> sources = new ConditionalWeakTable<EventSource, SourceEvents>();
        private volatile bool isDisposed;

        /// <summary>A listener that records nothing yet: see <see cref="Enable"/>.</summary>
        public SilverpointEventListener() { }

        /// <summary>A listener for the sources of these names; see <see cref="Enable"/>.</summary>
        /// <exception cref="ArgumentNullException">There is no pattern.</exception>
        public SilverpointEventListener(string pattern, EventLevel level = EventLevel.Informational, EventKeywords keywords = EventKeywords.All)
        {
            Enable(pattern, level, keywords);
        }

        /// <summary>
        /// Enables sources by their names, where <c>*</c> stands for any letters and case does not matter. It holds for those
        /// there are, and for those made later. What several patterns want of a source is added up. An event is recorded
        /// if it is at least as important as the level and has one of the keywords, or none. Arguments go to the source. A source's
        /// code for commands runs in this call.
        /// </summary>
        /// <remarks>
        /// With the argument <c>EventCounterIntervalSec</c> EventCounters of the source are recorded at this interval, in seconds. Each one
        /// is a counter with its name and unit. Its value is the mean of the interval, or by how much the number has grown.
        /// </remarks>
        /// <exception cref="ArgumentNullException">There is no pattern.</exception>
        public void Enable(string pattern, EventLevel level = EventLevel.Informational, EventKeywords keywords = EventKeywords.All, IDictionary<string, string> arguments = null)
        {
            if (pattern == null) throw new ArgumentNullException(nameof(pattern));
            var added = new EventRule(pattern, level, keywords, arguments);
            Change(old =>
            {
                var all = new EventRule[old.Length + 1];
                old.CopyTo(all, 0);
                all[old.Length] = added;
                return all;
            });
        }

        /// <summary>Takes back what was enabled by this pattern.</summary>
        /// <exception cref="ArgumentNullException">There is no pattern.</exception>
        public void Disable(string pattern)
        {
            if (pattern == null) throw new ArgumentNullException(nameof(pattern));
            Change(old => Array.FindAll(old, one => one.Pattern != pattern));
        }

        /// <summary>Ends the recording. May be called more than once.</summary>
        public override void Dispose()
        {
            isDisposed = true;
            base.Dispose();
        }

        /// <summary>Called by the runtime for each source, also by the constructor of the base class.</summary>
        protected override void OnEventSourceCreated(EventSource eventSource)
        {
            base.OnEventSourceCreated(eventSource);
            if (eventSource != null && rules.Length > 0) Apply(eventSource);
        }

        /// <summary>Called by the runtime for each event.</summary>
        protected override void OnEventWritten(EventWrittenEventArgs eventData)
        {
            if (isBusy || isDisposed || eventData == null) return;
            isBusy = true;
            try
            {
                SourceEvents source;
                if (eventData.EventSource != null && sources.TryGetValue(eventData.EventSource, out source)) source.Record(eventData);
            }
            catch (Exception)
            {
                // The event cannot even be read. Nothing is thrown into the code that wrote it.
                Native.spn_lose(Native.NoSite);
            }
            finally
            {
                isBusy = false;
            }
        }

        private void Change(Func<EventRule[], EventRule[]> change)
        {
            if (!isPrepared)
            {
                EventPreparation.Run();
                isPrepared = true;
            }
            EventRule[] old;
            do
            {
                old = rules;
            }
#pragma warning disable CS0420 // Interlocked treats it as volatile.
            while (Interlocked.CompareExchange(ref rules, change(old), old) != old);
#pragma warning restore CS0420
            foreach (EventSource source in AllSources()) Apply(source);
        }

        private static IEnumerable<EventSource> AllSources()
        {
            try
            {
                return EventSource.GetSources();
            }
            catch (NotImplementedException)
            {
                // Mono.
                return new EventSource[0];
            }
        }

        // Tells a source what the rules want of it. No lock is held meanwhile: the runtime has its own.
        private void Apply(EventSource source)
        {
            EventRule[] applied;
            do
            {
                applied = rules;
                EventRule wanted = EventRule.Of(applied, source.Name ?? "");
                SourceEvents known;
                if (wanted == null)
                {
                    if (!sources.TryGetValue(source, out known) || known.Rule == null) continue;
                    known.Rule = null;
                    DisableEvents(source);
                    continue;
                }
                known = sources.GetValue(source, one => new SourceEvents(one));
                known.Rule = wanted;
                EnableEvents(source, wanted.Level, wanted.Keywords, wanted.Arguments);
            }
            while (applied != rules);
        }
    }
}
