using System;
using System.Collections;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Silverpoint
{
    /// <summary>Puts a <see cref="SilverpointTraceListener"/> in the place of the default listener, for <see cref="Trace"/>, <see cref="Debug"/> and all sources.</summary>
    public static class SilverpointTrace
    {
        // How often sources are looked for that were made later, where the runtime does not report them.
        private const int Milliseconds = 50;
        // For how many of these turns the new listeners of Trace are awaited after Trace.Refresh.
        private const int Turns = 1200;

        private static readonly object installing = new object();
        // Collections that have had their turn: a default listener that is in one later was added on purpose.
        private static readonly ConditionalWeakTable<TraceListenerCollection, object> treated = new ConditionalWeakTable<TraceListenerCollection, object>();
        private static SilverpointTraceListener listener;
        private static Timer timer, refreshing;
        private static int turnsLeft;
        private static bool isReported;

        // The listener that Install has installed; null before.
        internal static SilverpointTraceListener Listener => listener;

        /// <summary>
        /// Removes the default listener from Trace and from every TraceSource, and adds a Silverpoint listener where it was.
        /// The same happens to sources that are made later: on .NET 7 and later before their first event, on others within
        /// about 50 ms. <see cref="Adopt"/> does it at once. It happens again to Trace about 50 ms after Trace.Refresh. Other
        /// listeners stay, and so does a default listener that the program adds later. Trace's global lock is switched off,
        /// since it would make threads wait for each other. A second call changes only what has a default listener again.
        /// </summary>
        /// <remarks>
        /// On .NET 7 and later app.config is read by the package System.Configuration.ConfigurationManager. If that is there,
        /// TraceConfiguration.Register is called first, so the program may call it before or later.
        /// Other threads may trace meanwhile, as long as the program has not switched the global lock off itself.
        /// </remarks>
        /// <returns>What it did, in sentences. A record of category <c>silverpoint</c> says the same.</returns>
        public static string Install() => Install("");

        /// <summary>The same, with settings for the listener as in <see cref="SilverpointTraceListener(string)"/>. Settings of a second call are checked, but those of the first call stay.</summary>
        /// <exception cref="ArgumentException">A setting is not known.</exception>
        public static string Install(string initializeData)
        {
            ListenerSettings.Parse(initializeData);
            lock (installing)
            {
                var done = new List<string>();
                if (listener == null) listener = new SilverpointTraceListener(initializeData);
                else if (!string.IsNullOrEmpty(initializeData)) done.Add("kept the settings of the first call");
                string configured = Configure();
                if (configured != null) done.Add(configured);
                bool wasLocked = Trace.UseGlobalLock, isDone = false;
                // While threads read the listeners of Trace under this lock, these may be changed. So it is switched off last.
                Trace.UseGlobalLock = true;
                try
                {
                    int removed = Replace(Trace.Listeners, true);
                    done.Add(removed > 0 ? "replaced the default listener of Trace" : "Trace had no default listener");
                    if (wasLocked) done.Add("switched off Trace.UseGlobalLock");
                    int sources = 0, changed = 0;
                    bool isKnown = Sweep(true, ref sources, ref changed);
                    done.Add(isKnown ? "replaced it in " + changed + " of " + sources + " trace sources" : "could not find trace sources: use SilverpointTrace.Adopt for each");
                    if (!isReported && timer == null)
                    {
                        isReported = Subscribe();
                        if (!isReported && isKnown) timer = new Timer(_ => SweepQuietly(), null, Milliseconds, Milliseconds);
                    }
                    done.Add(isReported ? "later sources are changed before their first event" : isKnown ? "later sources are changed within about " + Milliseconds + " ms" : "later sources are not changed");
                    isDone = true;
                }
                finally
                {
                    Trace.UseGlobalLock = wasLocked && !isDone;
                }
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

        // How many default listeners were removed. Threads may read the collection meanwhile. Those of Trace enumerate it, and
        // Insert and RemoveAt take the lock that they hold. Those of a source count through it, and its length stays.
        private static int Replace(TraceListenerCollection listeners, bool isOfTrace)
        {
            treated.GetValue(listeners, _ => new object());
            lock (((ICollection)listeners).SyncRoot)
            {
                int removed = 0;
                bool isThere = false;
                for (int i = 0; i < listeners.Count; ++i) isThere |= listeners[i] is SilverpointTraceListener;
                for (int i = listeners.Count - 1; i >= 0; --i)
                {
                    if (listeners[i].GetType() != typeof(DefaultTraceListener)) continue;
                    if (!isThere && !isOfTrace)
                    {
                        listeners[i] = listener;
                    }
                    else
                    {
                        if (!isThere) listeners.Insert(i, listener);
                        listeners.RemoveAt(isThere ? i : i + 1);
                    }
                    isThere = true;
                    ++removed;
                }
                if (!isThere && isOfTrace) listeners.Add(listener);
                return removed;
            }
        }

        private static bool IsTreated(TraceListenerCollection listeners)
        {
            object found;
            return treated.TryGetValue(listeners, out found);
        }

        // Lets the package that reads app.config register its handlers before ours: a source's last handler decides. Null: there is nothing to do.
        private static string Configure()
        {
            if (typeof(TraceSource).GetEvent("Initializing", BindingFlags.Static | BindingFlags.Public) == null) return null;
            try
            {
                Type configuration = Type.GetType("System.Diagnostics.TraceConfiguration, System.Configuration.ConfigurationManager");
                MethodInfo register = configuration == null ? null : configuration.GetMethod("Register", BindingFlags.Static | BindingFlags.Public, null, Type.EmptyTypes, null);
                if (register == null) return null;
                register.Invoke(null, null);
                return "called TraceConfiguration.Register";
            }
            catch (Exception error) when (error is TargetInvocationException || error is IOException || error is BadImageFormatException)
            {
                return "could not read app.config: " + (error.InnerException ?? error).Message;
            }
        }

        // The framework's own list of all sources. False: it has another name in this runtime.
        private static bool Sweep(bool all, ref int sources, ref int changed)
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
                if ((all || !IsTreated(source.Listeners)) && Replace(source.Listeners, false) > 0) ++changed;
            }
            return true;
        }

        private static void SweepQuietly()
        {
            try
            {
                int sources = 0, changed = 0;
                Sweep(false, ref sources, ref changed);
                ReplaceAgain();
            }
            catch (Exception error) when (error is SystemException || error.GetType().Name == "ConfigurationErrorsException")
            {
                // A source whose configuration is wrong tells its own user.
            }
        }

        // Trace has made new listeners if Trace.Refresh was called. True: it has, and they were changed now.
        private static bool ReplaceAgain()
        {
            lock (installing)
            {
                if (IsTreated(Trace.Listeners)) return false;
                Trace.UseGlobalLock = true;
                Replace(Trace.Listeners, true);
                Trace.UseGlobalLock = false;
                return true;
            }
        }

        // Trace.Refresh makes new listeners behind this event.
        private static void Refresh(object sender, EventArgs arguments)
        {
            lock (installing)
            {
                turnsLeft = Turns;
                if (refreshing == null) refreshing = new Timer(_ => LookForRefreshed(), null, Milliseconds, Milliseconds);
            }
        }

        private static void LookForRefreshed()
        {
            lock (installing)
            {
                if (refreshing == null) return;
                bool isDone = --turnsLeft <= 0;
                try
                {
                    isDone |= ReplaceAgain();
                }
                catch (Exception error) when (error is SystemException || error.GetType().Name == "ConfigurationErrorsException")
                {
                    // The next use of Trace throws this again.
                }
                if (!isDone) return;
                refreshing.Dispose();
                refreshing = null;
            }
        }

        // .NET 7 and later report a source before its listeners are read for the first time.
        private static bool Subscribe()
        {
            EventInfo initializing = typeof(TraceSource).GetEvent("Initializing", BindingFlags.Static | BindingFlags.Public);
            if (initializing == null) return false;
            initializing.AddEventHandler(null, Delegate.CreateDelegate(initializing.EventHandlerType, typeof(SilverpointTrace).GetMethod(nameof(Begin), BindingFlags.Static | BindingFlags.NonPublic)));
            EventInfo refresh = typeof(Trace).GetEvent("Refreshing", BindingFlags.Static | BindingFlags.Public);
            if (refresh != null) refresh.AddEventHandler(null, Delegate.CreateDelegate(refresh.EventHandlerType, typeof(SilverpointTrace).GetMethod(nameof(Refresh), BindingFlags.Static | BindingFlags.NonPublic)));
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
