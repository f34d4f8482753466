using System;
using System.Diagnostics;

namespace Silverpoint
{
    /// <summary>
    /// Records each <see cref="Activity"/> of chosen sources as a span, which may end in another thread. It has the ids of
    /// W3C Trace Context as <c>trace_id</c>, <c>span_id</c> and <c>parent_id</c>. At its end it gets its tags with their types, its status
    /// and its events. It works until it is disposed of.
    /// </summary>
    /// <remarks>
    /// The category is the source's name, the level is debug. All threads may use activities meanwhile. Nothing is thrown
    /// into the code that starts or stops one. Names of sources and operations are kept as long as the process: up to
    /// 1,000 and 4,096. Further ones share one site, with the names as arguments.
    /// </remarks>
    public sealed class SilverpointActivityListener : IDisposable
    {
        [ThreadStatic] private static bool isBusy;

        private readonly ActivityListener listener;
        private readonly string[] patterns;

        /// <summary>Listens from now on to sources whose names match one of the patterns, with commas between. A <c>*</c> stands for any letters. Activities without a source have the empty name.</summary>
        /// <exception cref="ArgumentNullException">There is no pattern.</exception>
        public SilverpointActivityListener(string sources = "*", ActivitySamplingResult sampling = ActivitySamplingResult.AllDataAndRecorded)
        {
            patterns = Split(sources);
            listener = New();
            listener.Sample = (ref ActivityCreationOptions<ActivityContext> options) => sampling;
            listener.SampleUsingParentId = (ref ActivityCreationOptions<string> options) => sampling;
            ActivitySource.AddActivityListener(listener);
        }

        /// <summary>The same with a choice for each activity. One that the choice does not want all data of is not recorded. If the choice throws, the activity is recorded.</summary>
        /// <exception cref="ArgumentNullException">There is no pattern, or no choice.</exception>
        public SilverpointActivityListener(string sources, SampleActivity<ActivityContext> sample)
        {
            if (sample == null) throw new ArgumentNullException(nameof(sample));
            patterns = Split(sources);
            listener = New();
            listener.Sample = (ref ActivityCreationOptions<ActivityContext> options) =>
            {
                try
                {
                    return sample(ref options);
                }
                catch (Exception)
                {
                    return ActivitySamplingResult.AllDataAndRecorded;
                }
            };
            ActivitySource.AddActivityListener(listener);
        }

        /// <summary>Ends the recording. Activities that are not stopped have no end then. May be called more than once.</summary>
        public void Dispose() => listener.Dispose();

        private static string[] Split(string sources)
        {
            if (sources == null) throw new ArgumentNullException(nameof(sources));
            return NamePattern.Split(sources);
        }

        private ActivityListener New() => new ActivityListener
        {
            ShouldListenTo = source => NamePattern.MatchesAny(patterns, source.Name),
            ActivityStarted = activity => Run(activity, true),
            ActivityStopped = activity => Run(activity, false),
        };

        // A value of a tag may use activities itself, when its text is made: those are not recorded.
        private static void Run(Activity activity, bool begins)
        {
            if (isBusy || activity == null || !activity.IsAllDataRequested) return;
            isBusy = true;
            try
            {
                if (begins) Begin(activity);
                else ActivityOperations.Of(activity.Source).Operation(activity.OperationName).End(IdOf(activity), activity);
            }
            catch (Exception)
            {
                // Nothing is thrown into the program: the loss is counted.
                Native.spn_lose(Native.NoSite);
            }
            finally
            {
                isBusy = false;
            }
        }

        private static void Begin(Activity activity)
        {
            ActivityOperations source = ActivityOperations.Of(activity.Source);
            ulong id = IdOf(activity);
            source.Operation(activity.OperationName).Begin(id, activity);
            Activity parent = activity.Parent;
            if (parent != null && parent.IsAllDataRequested && ActivityOperations.Knows(parent.Source)) source.Parent.Record(IdOf(parent), id);
        }

        // The number of the span: both ends know it, and so do its children. 0 and multiples of 1,024 are no numbers.
        private static ulong IdOf(Activity activity)
        {
            ulong id = 0;
            if (activity.IdFormat == ActivityIdFormat.W3C)
            {
                foreach (char digit in activity.SpanId.ToHexString()) id = id << 4 | (uint)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
            }
            else
            {
                id = 14695981039346656037;
                foreach (char letter in activity.Id ?? "") id = (id ^ letter) * 1099511628211;
            }
            return (id & 1023) == 0 ? id | 1 : id;
        }
    }
}
