using System;
using System.Collections;
using System.Collections.Generic;
using System.Diagnostics;
using System.Reflection;
using System.Threading;

namespace Silverpoint
{
    /// <summary>Puts a <see cref="SilverpointTraceListener"/> in the place of the default listener, for <see cref="Trace"/>, <see cref="Debug"/> and all sources.</summary>
    public static class SilverpointTrace
    {
        // How often sources are looked for that were made later, where the runtime does not report them.
        private const int Milliseconds = 50;

        private static readonly object installing = new object();
        private static SilverpointTraceListener listener;
        private static Timer timer;
        private static bool isReported;

        /// <summary>The listener that <see cref="Install()"/> has installed; null before.</summary>
        public static SilverpointTraceListener Listener => listener;

        /// <summary>
        /// Removes the default listener from Trace and from every TraceSource, and adds a Silverpoint listener where it was.
        /// The same happens to sources that are made later: on .NET 7 and later before their first event, on others within
        /// about 50 ms. <see cref="Adopt"/> does it at once. Other listeners stay. Trace's global lock is switched off, since it would make threads wait for each other.
        /// A second call changes only what has a default listener again.
        /// </summary>
        /// <returns>What it did, in sentences. A record of category <c>silverpoint</c> says the same.</returns>
        public static string Install() => Install("");

        /// <summary>The same, with settings for the listener as in <see cref="SilverpointTraceListener(string)"/>.</summary>
        /// <exception cref="ArgumentException">A setting is not known.</exception>
        public static string Install(string initializeData)
        {
            lock (installing)
            {
                if (listener == null) listener = new SilverpointTraceListener(initializeData);
                var done = new List<string>();
                int removed = Replace(Trace.Listeners, true);
                done.Add(removed > 0 ? "replaced the default listener of Trace" : "Trace had no default listener");
                if (Trace.UseGlobalLock)
                {
                    Trace.UseGlobalLock = false;
                    done.Add("switched off Trace.UseGlobalLock");
                }
                int sources = 0, changed = 0;
                bool isKnown = Sweep(ref sources, ref changed);
                done.Add(isKnown ? "replaced it in " + changed + " of " + sources + " trace sources" : "could not find trace sources: use SilverpointTrace.Adopt for each");
                if (!isReported && timer == null)
                {
                    isReported = Subscribe();
                    if (!isReported && isKnown) timer = new Timer(_ => SweepQuietly(), null, Milliseconds, Milliseconds);
                }
                done.Add(isReported ? "later sources are changed before their first event" : isKnown ? "later sources are changed within about " + Milliseconds + " ms" : "later sources are not changed");
                string text = "silverpoint: " + string.Join("; ", done.ToArray());
                Report.Record(text);
                return text;
            }
        }

        private static readonly Tracepoint<string> Report = Tracepoint.Log("silverpoint", Level.Info, "{}", "", 0, "").With<string>();

        /// <summary>Puts the installed listener in the place of the default listener of one source.</summary>
        /// <exception cref="ArgumentNullException">There is no source.</exception>
        /// <exception cref="InvalidOperationException"><see cref="Install()"/> has not been called.</exception>
        public static void Adopt(TraceSource source)
        {
            if (source == null) throw new ArgumentNullException(nameof(source));
            if (listener == null) throw new InvalidOperationException("silverpoint: call SilverpointTrace.Install before Adopt");
            Replace(source.Listeners, false);
        }

        // How many default listeners were removed.
        private static int Replace(TraceListenerCollection listeners, bool always)
        {
            lock (((ICollection)listeners).SyncRoot)
            {
                int removed = 0;
                bool isThere = false;
                for (int i = listeners.Count - 1; i >= 0; --i)
                {
                    if (listeners[i] is SilverpointTraceListener) isThere = true;
                    if (listeners[i].GetType() != typeof(DefaultTraceListener)) continue;
                    if (isThere || listeners.Contains(listener)) listeners.RemoveAt(i);
                    else listeners[i] = listener;
                    isThere = true;
                    ++removed;
                }
                if (!isThere && always) listeners.Add(listener);
                return removed;
            }
        }

        // The framework's own list of all sources. False: it has another name in this runtime.
        private static bool Sweep(ref int sources, ref int changed)
        {
            FieldInfo field = typeof(TraceSource).GetField("s_tracesources", BindingFlags.Static | BindingFlags.NonPublic) ?? typeof(TraceSource).GetField("tracesources", BindingFlags.Static | BindingFlags.NonPublic);
            var list = field == null ? null : field.GetValue(null) as IEnumerable;
            if (!(list is List<WeakReference>) && !(list is List<WeakReference<TraceSource>>)) return false;
            var alive = new List<TraceSource>();
            lock (list)
            {
                foreach (object one in list)
                {
                    TraceSource source = null;
                    if (one is WeakReference) source = ((WeakReference)one).Target as TraceSource;
                    else if (one is WeakReference<TraceSource>) ((WeakReference<TraceSource>)one).TryGetTarget(out source);
                    if (source != null) alive.Add(source);
                }
            }
            foreach (TraceSource source in alive)
            {
                ++sources;
                if (Replace(source.Listeners, false) > 0) ++changed;
            }
            return true;
        }

        private static void SweepQuietly()
        {
            try
            {
                int sources = 0, changed = 0;
                Sweep(ref sources, ref changed);
            }
            catch (Exception error) when (error is SystemException || error.GetType().Name == "ConfigurationErrorsException")
            {
                // A source whose configuration is wrong tells its own user.
            }
        }

        // .NET 7 and later report a source before its listeners are read for the first time.
        private static bool Subscribe()
        {
            EventInfo initializing = typeof(TraceSource).GetEvent("Initializing", BindingFlags.Static | BindingFlags.Public);
            if (initializing == null) return false;
            initializing.AddEventHandler(null, Delegate.CreateDelegate(initializing.EventHandlerType, typeof(SilverpointTrace).GetMethod(nameof(Begin), BindingFlags.Static | BindingFlags.NonPublic)));
            return true;
        }

        // The event's arguments are of a type that older runtimes lack.
        private static void Begin(object sender, EventArgs arguments)
        {
            var source = arguments.GetType().GetProperty("TraceSource").GetValue(arguments, null) as TraceSource;
            PropertyInfo was = arguments.GetType().GetProperty("WasInitialized");
            if (source == null) return;
            Replace(source.Listeners, false);
            if ((bool)was.GetValue(arguments, null)) return;
            // Else the runtime would add a default listener behind this event.
            if (source.Listeners.Count == 0) source.Listeners.Add(listener);
            was.SetValue(arguments, true, null);
        }
    }
}
